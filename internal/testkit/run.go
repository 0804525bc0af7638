package testkit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"kudzu/internal/backend"
)

// Outcome is what one launch did.
type Outcome struct {
	Results map[int][]uint64
	Fault   string
}

// Execute runs every launch of the case on a device.
func (c *Case) Execute(d backend.Device, module func(ptx string) (*backend.Module, error)) ([]*Outcome, error) {
	m, err := module(c.PTX)
	if err != nil {
		return nil, err
	}
	var out []*Outcome
	for i, r := range c.Runs {
		// A program of its own for each launch: module variables start fresh, and a fault leaves nothing behind.
		o, err := r.execute(d, m)
		if err != nil {
			return nil, fmt.Errorf("run %d: %s: %w", i+1, r.Line, err)
		}
		out = append(out, o)
	}
	return out, nil
}

func (r *Run) execute(d backend.Device, m *backend.Module) (out *Outcome, err error) {
	p, err := d.Load(m)
	if err != nil {
		return nil, err
	}
	faulted := false
	defer func() {
		if !faulted {
			err = errors.Join(err, p.Unload())
		}
	}()
	k, err := p.Kernel(r.Kernel)
	if err != nil {
		return nil, err
	}
	q, err := d.NewQueue(0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if !faulted {
			err = errors.Join(err, q.Close())
		}
	}()
	dev, params, err := r.place(d, q)
	defer func() {
		if !faulted {
			for _, a := range dev {
				if a != 0 {
					err = errors.Join(err, d.Memory().Free(a))
				}
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	err = q.Launch(k, &backend.Launch{Grid: r.Grid, Block: r.Block, DynamicShared: r.Shared, Params: params, Cooperative: r.Coop, Cluster: r.Cluster})
	if err == nil {
		err = q.Sync()
	}
	var f *backend.Fault
	if errors.As(err, &f) {
		faulted = true
		return &Outcome{Fault: faultWord[f.Kind]}, nil
	}
	if err != nil {
		return nil, err
	}
	return r.collect(q, dev)
}

var faultWord = map[backend.FaultKind]string{
	backend.FaultAddress: "address", backend.FaultMisaligned: "misaligned", backend.FaultInstruction: "instruction", backend.FaultTrap: "trap",
	backend.FaultAssert: "assert", backend.FaultStack: "address", backend.FaultDeadlock: "deadlock", backend.FaultTimeout: "timeout",
}

// place allocates and fills the buffers and lays the parameters out, each at its natural alignment.
func (r *Run) place(d backend.Device, q backend.Queue) (dev []backend.Addr, params []byte, err error) {
	dev = make([]backend.Addr, len(r.Args))
	for i, a := range r.Args {
		size, value := a.Type.Size(), uint64(0)
		if a.Buffer {
			size = 8
			if dev[i], err = d.Memory().Alloc(uint64(len(a.Values)*a.Type.Size()), 256); err != nil {
				return dev, nil, err
			}
			if err = upload(q, dev[i], a); err != nil {
				return dev, nil, err
			}
			value = uint64(dev[i])
		} else {
			value = a.Values[0]
		}
		for len(params)%size != 0 {
			params = append(params, 0)
		}
		params = binary.LittleEndian.AppendUint64(params, value)[:len(params)+size]
	}
	return dev, params, nil
}

func upload(q backend.Queue, to backend.Addr, a Arg) error {
	h, err := newHostBuffer(len(a.Values) * a.Type.Size())
	if err != nil {
		return err
	}
	defer h.free()
	for i, v := range a.Values {
		putValue(h.b[i*a.Type.Size():], a.Type, v)
	}
	if err := q.Copy(to, h.addr(), uint64(len(a.Values)*a.Type.Size())); err != nil {
		return err
	}
	return q.Sync()
}

func (r *Run) collect(q backend.Queue, dev []backend.Addr) (*Outcome, error) {
	o := &Outcome{Results: map[int][]uint64{}}
	for i, a := range r.Args {
		if a.Result < 0 {
			continue
		}
		n := len(a.Values) * a.Type.Size()
		h, err := newHostBuffer(n)
		if err != nil {
			return nil, err
		}
		err = q.Copy(h.addr(), dev[i], uint64(n))
		if err == nil {
			err = q.Sync()
		}
		vals := make([]uint64, len(a.Values))
		for j := range vals {
			vals[j] = getValue(h.b[j*a.Type.Size():], a.Type)
		}
		h.free()
		if err != nil {
			return nil, err
		}
		o.Results[a.Result] = vals
	}
	return o, nil
}

func putValue(b []byte, t Type, v uint64) {
	for i := range t.Size() {
		b[i] = byte(v >> (8 * i))
	}
}

func getValue(b []byte, t Type) uint64 {
	var v uint64
	for i := range t.Size() {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// Compare checks an outcome against what was written by hand and what hardware answered.
func (r *Run) Compare(o *Outcome) error {
	want := r.Fault
	if want == "" {
		want = r.RecFault
	}
	if o.Fault != want {
		return fmt.Errorf("fault %q, want %q", o.Fault, want)
	}
	if want != "" {
		return nil
	}
	for _, a := range r.Args {
		if a.Result < 0 {
			continue
		}
		n := a.Result
		_, hand := r.Want[n]
		_, rec := r.Recorded[n]
		if !hand && !rec {
			return fmt.Errorf("o%d: nothing to compare with", n)
		}
		if hand {
			if err := r.compareBuffer(n, a.Type, o.Results[n], r.Want[n], Tolerance{}, "written"); err != nil {
				return err
			}
		}
		if rec {
			if err := r.compareBuffer(n, a.Type, o.Results[n], r.Recorded[n], r.Near[n], "recorded"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Run) compareBuffer(n int, t Type, got, want []uint64, near Tolerance, which string) error {
	if len(got) != len(want) {
		return fmt.Errorf("o%d: %d values, %d %s", n, len(got), len(want), which)
	}
	if r.Sorted[n] {
		got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	}
	bad, first := 0, ""
	for i := range got {
		if got[i] == want[i] || near.allows(t, got[i], want[i]) {
			continue
		}
		if bad++; bad == 1 {
			first = fmt.Sprintf("o%d[%d] = %#x, %s %#x%s", n, i, got[i], which, want[i], r.inputsAt(i))
		}
	}
	if bad > 0 {
		return fmt.Errorf("%s (%d of %d differ)", first, bad, len(got))
	}
	return nil
}

// inputsAt shows element i of every input buffer, which in element-wise cases is what went in.
func (r *Run) inputsAt(i int) string {
	s := ""
	for _, a := range r.Args {
		if a.Buffer && a.Result < 0 && i < len(a.Values) {
			s += fmt.Sprintf(" %#x", a.Values[i])
		}
	}
	if s != "" {
		s = " for" + s
	}
	return s
}
