package cufft

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/again"
	"kudzu/internal/spec/fft"
)

// run executes a plan. Preconditions: p.mu is held.
func (p *plan) run(d *driver.Thread, in, out hostmem.Ptr, inverse bool) error {
	if err := cudart.Ready(d); err != nil {
		return setupFailed
	}
	ctx, err := d.CtxGetCurrent()
	if err != nil {
		return err
	}
	if ctx != p.context {
		return invalidDevice
	}
	f := form{aligned: true}
	if p.types.kind != complexKind {
		f.inPlace = p.geometry.basic && in == out
		f.aligned = (in|out)%hostmem.Ptr(p.types.precision().complex()) == 0
	}
	if p.sides != (sides{}) {
		// Our kernels only, and nothing is done again: a function of the program's may do anything.
	} else if done, err := p.elsewhere(d, f, in, out, inverse); done {
		return err
	}
	v := p.variants[f]
	if v == nil {
		if err := p.prepare(d, f); err != nil {
			return err
		}
		v = p.variants[f]
		if v.work > p.size {
			if v.extra, err = d.TakeMemory(v.work); err != nil {
				return err
			}
		}
	}
	area := p.area
	if v.extra != 0 {
		area = v.extra
	}
	if v.work > 0 && area == 0 {
		return noWorkspace
	}
	c := &call{at: [3]uint64{uint64(in), uint64(out), uint64(area)}, tables: uint64(v.tables), inverse: inverse}
	launch := func() error {
		for _, o := range v.ops {
			if err := o.launch(d, p.stream, c); err != nil {
				return err
			}
		}
		return nil
	}
	if again.On() && !p.geometry.empty && p.sides == (sides{}) {
		return again.Do(d, p.stream, p.again(f, uint64(in), uint64(out), inverse), launch)
	}
	return launch()
}

// exec executes a plan in a direction. The library does not ask whether the function is the one of the plan's types.
func (t *Thread) exec(h fft.CufftHandle, in, out hostmem.Ptr, sign int32) error {
	return change(h, func(p *plan) error {
		switch {
		case !p.made:
			return invalidPlan
		case p.many != nil:
			return invalidType
		}
		forward, inverse := sign == fft.CUFFT_FORWARD, sign == fft.CUFFT_INVERSE
		if p.types.kind != toRealKind && forward || p.types.kind != fromRealKind && inverse {
			return p.run(t.driver(), in, out, inverse)
		}
		return invalidValue
	})
}

// ExecC2C transforms complex numbers in single precision.
func (t *Thread) ExecC2C(h fft.CufftHandle, in, out hostmem.Ptr, sign int32) error {
	return t.exec(h, in, out, sign)
}

// ExecZ2Z transforms complex numbers in double precision.
func (t *Thread) ExecZ2Z(h fft.CufftHandle, in, out hostmem.Ptr, sign int32) error {
	return t.exec(h, in, out, sign)
}

// ExecR2C transforms real numbers in single precision.
func (t *Thread) ExecR2C(h fft.CufftHandle, in, out hostmem.Ptr) error {
	return t.exec(h, in, out, fft.CUFFT_FORWARD)
}

// ExecD2Z transforms real numbers in double precision.
func (t *Thread) ExecD2Z(h fft.CufftHandle, in, out hostmem.Ptr) error {
	return t.exec(h, in, out, fft.CUFFT_FORWARD)
}

// ExecC2R transforms to real numbers in single precision.
func (t *Thread) ExecC2R(h fft.CufftHandle, in, out hostmem.Ptr) error {
	return t.exec(h, in, out, fft.CUFFT_INVERSE)
}

// ExecZ2D transforms to real numbers in double precision.
func (t *Thread) ExecZ2D(h fft.CufftHandle, in, out hostmem.Ptr) error {
	return t.exec(h, in, out, fft.CUFFT_INVERSE)
}

// XtExec executes a plan of any types.
func (t *Thread) XtExec(h fft.CufftHandle, in, out hostmem.Ptr, sign int32) error {
	return t.exec(h, in, out, sign)
}
