package cufft

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/fft"
	"kudzu/internal/spec/rt"
)

// plan is what cufftCreate gives. cuFFT's handles are small numbers: the least that is free.
type plan struct {
	mu       lockrank.Mutex[lockrank.FftPlan]
	stream   cu.CUstream // guarded by mu, as all that follows
	made     bool
	auto     bool // the work area is ours
	geometry geometry
	types    types
	context  cu.CUcontext
	variants map[form]*variant
	size     uint64 // of the work area
	area     driver.DevPtr
	own      driver.DevPtr // our part of it
	patient  int64
	kept     map[Provider]*any // what providers keep with it
	jit      map[fft.CufftXtCallbackType]*callback
	sides    sides
	many     *spread // what several devices have of it, nil if there is one
	alone    *spread // what the one device has of it, once there is a call with a descriptor
}

// form is what the addresses of a call decide.
type form struct{ inPlace, aligned bool }

// variant is a plan's operations for one form.
type variant struct {
	ops    []*op
	work   uint64
	tables driver.DevPtr
	extra  driver.DevPtr // a work area of its own, for a form that was not foreseen
}

var (
	plansMu lockrank.Mutex[lockrank.FftPlans]
	plans   = map[fft.CufftHandle]*plan{} // guarded by plansMu
)

func find(h fft.CufftHandle) *plan {
	plansMu.Lock()
	defer plansMu.Unlock()
	return plans[h]
}

// change runs f on a live plan.
func change(h fft.CufftHandle, f func(p *plan) error) error {
	p := find(h)
	if p == nil {
		return invalidPlan
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return f(p)
}

// Create makes a plan that says nothing yet.
func (t *Thread) Create() (fft.CufftHandle, error) {
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, setupFailed
	}
	plansMu.Lock()
	defer plansMu.Unlock()
	h := fft.CufftHandle(1)
	for plans[h] != nil {
		h++
	}
	plans[h] = &plan{auto: true, variants: map[form]*variant{}}
	return h, nil
}

// noPlan is a handle that may be destroyed though there is none.
const noPlan fft.CufftHandle = -1

// Destroy ends a plan, after the work that uses its memory.
func (t *Thread) Destroy(h fft.CufftHandle) error {
	if h == noPlan {
		return nil
	}
	plansMu.Lock()
	p := plans[h]
	delete(plans, h)
	plansMu.Unlock()
	if p == nil {
		return invalidPlan
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropMany(t.driver())
	p.dropKept(t.driver())
	p.drop(t.driver())
	return nil
}

// drop gives memory back. Preconditions: p.mu is held.
func (p *plan) drop(d *driver.Thread) {
	for _, v := range p.variants {
		v.drop(d)
	}
	if p.own != 0 {
		_ = d.GiveMemory(p.own)
	}
	p.own, p.area, p.variants = 0, 0, map[form]*variant{}
}

func (v *variant) drop(d *driver.Thread) {
	for _, at := range []driver.DevPtr{v.tables, v.extra} {
		if at != 0 {
			_ = d.GiveMemory(at)
		}
	}
}

// SetStream sends later work of the plan to a stream.
func (t *Thread) SetStream(h fft.CufftHandle, s rt.CudaStream_t) error {
	return change(h, func(p *plan) error {
		p.stream = cu.CUstream(s)
		return nil
	})
}

// SetAutoAllocation says whether plans that are made later have a work area.
func (t *Thread) SetAutoAllocation(h fft.CufftHandle, auto int32) error {
	return change(h, func(p *plan) error {
		p.auto = auto != 0
		return nil
	})
}

// SetWorkArea gives a plan its work area.
func (t *Thread) SetWorkArea(h fft.CufftHandle, area hostmem.Ptr) error {
	return change(h, func(p *plan) error {
		p.setArea(t.driver(), driver.DevPtr(area))
		return nil
	})
}

// setArea takes the program's work area instead of our own. Preconditions: p.mu is held.
func (p *plan) setArea(d *driver.Thread, area driver.DevPtr) {
	if p.own != 0 {
		_ = d.GiveMemory(p.own)
		p.own = 0
	}
	p.area = area
}

// GetSize is the size of the work area that a plan needs.
func (t *Thread) GetSize(h fft.CufftHandle, out hostmem.Ptr) error {
	return change(h, func(p *plan) error {
		if out == hostmem.Nil {
			return invalidValue
		}
		if !p.made {
			return invalidPlan
		}
		if p.many != nil {
			copy(hostmem.Slice[uint64](out, len(p.many.sizes)), p.many.sizes)
			return nil
		}
		hostmem.Store(out, p.size)
		return nil
	})
}

// property finds a property of a plan. It changes no results here: kernels are there before a plan is. The library on Linux refuses the
// number of threads.
func (p *plan) property(which fft.CufftProperty) (*int64, error) {
	switch which {
	case fft.NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT:
		return &p.patient, nil
	case fft.NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS:
		return nil, notSupported
	}
	return nil, invalidValue
}

// SetPlanPropertyInt64 sets a property before the plan is made.
func (t *Thread) SetPlanPropertyInt64(h fft.CufftHandle, which fft.CufftProperty, v int64) error {
	return change(h, func(p *plan) error {
		if p.made {
			return notSupported
		}
		at, err := p.property(which)
		if err != nil {
			return err
		}
		*at = v
		return nil
	})
}

// GetPlanPropertyInt64 reads it.
func (t *Thread) GetPlanPropertyInt64(h fft.CufftHandle, which fft.CufftProperty) (v int64, err error) {
	err = change(h, func(p *plan) error {
		at, err := p.property(which)
		if err != nil {
			return err
		}
		v = *at
		return nil
	})
	return v, err
}

// ResetPlanProperty sets it to what it was.
func (t *Thread) ResetPlanProperty(h fft.CufftHandle, which fft.CufftProperty) error {
	return t.SetPlanPropertyInt64(h, which, 0)
}

// XtSetWorkAreaPolicy chooses how much work area a plan may use. There is one way to do a transform here, so the minimum is what is
// needed anyhow, and less is refused.
func (t *Thread) XtSetWorkAreaPolicy(h fft.CufftHandle, policy fft.CufftXtWorkAreaPolicy, size hostmem.Ptr) error {
	return change(h, func(p *plan) error {
		if !p.made {
			return invalidPlan
		}
		switch policy {
		case fft.CUFFT_WORKAREA_MINIMAL, fft.CUFFT_WORKAREA_PERFORMANCE:
			return nil
		case fft.CUFFT_WORKAREA_USER:
			if size == hostmem.Nil {
				return invalidValue
			}
			if hostmem.Load[uint64](size) < p.size {
				return invalidSize
			}
			return nil
		}
		return invalidSize
	})
}
