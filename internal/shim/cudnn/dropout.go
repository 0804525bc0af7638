package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
)

// dropping is the value of a dropout descriptor.
type dropping struct {
	rate   float32
	states uint64 // on the device
	size   uint64
	seed   uint64
}

// CreateDropoutDescriptor makes one.
func (t *Thread) CreateDropoutDescriptor() (uint64, error) { return create(dropping{}) }

// DestroyDropoutDescriptor ends one.
func (t *Thread) DestroyDropoutDescriptor(h dropoutDesc) error { return destroy[dropping](h) }

// DropoutGetStatesSize is the memory that random numbers come from.
func (t *Thread) DropoutGetStatesSize(h Handle) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	return nn.DropoutState, nil
}

// DropoutGetReserveSpaceSize is the memory of the mask: a bit an element.
func (t *Thread) DropoutGetReserveSpaceSize(x tensorDesc) (uint64, error) {
	v, err := look[tensor](x)
	return uint64(nn.DropoutMask(count(v.dim))), err
}

func (t *Thread) setDropout(h Handle, desc dropoutDesc, v dropping) error {
	if _, err := find(h); err != nil {
		return err
	}
	if v.states != 0 && v.size < nn.DropoutState {
		return because(badParam, "%d bytes of states, not %d", v.size, nn.DropoutState)
	}
	return set(desc, v)
}

// SetDropoutDescriptor says how much is dropped, and seeds the states if there are any.
func (t *Thread) SetDropoutDescriptor(desc dropoutDesc, h Handle, rate float32, states hostmem.Ptr, size, seed uint64) error {
	if err := t.setDropout(h, desc, dropping{rate, uint64(states), size, seed}); err != nil || states == hostmem.Nil {
		return err
	}
	return t.on(h).DropoutSeed(uint64(states), seed)
}

// RestoreDropoutDescriptor says how much is dropped by states that are there already.
func (t *Thread) RestoreDropoutDescriptor(desc dropoutDesc, h Handle, rate float32, states hostmem.Ptr, size, seed uint64) error {
	return t.setDropout(h, desc, dropping{rate, uint64(states), size, seed})
}

// GetDropoutDescriptor tells what was set.
func (t *Thread) GetDropoutDescriptor(desc dropoutDesc, h Handle, states hostmem.Ptr) (rate float32, seed uint64, err error) {
	v, err := look[dropping](desc)
	if err != nil {
		return 0, 0, err
	}
	if states != hostmem.Nil {
		hostmem.Store(states, v.states)
	}
	return v.rate, v.seed, nil
}

// DropoutForward makes y of x, and a mask.
func (t *Thread) DropoutForward(h Handle, desc dropoutDesc, xDesc tensorDesc, x hostmem.Ptr, yDesc tensorDesc, y, reserve hostmem.Ptr, size uint64) error {
	c := t.on(h)
	v, in, out := take[dropping](c, desc), c.tensor(xDesc, x), c.tensor(yDesc, y)
	c.need(v.states != 0 && reserve != hostmem.Nil && int64(size) >= nn.DropoutMask(in.Count()), badParam, "states at %#x, %d bytes of masks", v.states, size)
	return c.run(func() error { return c.Dropout(float64(v.rate), v.states, uint64(reserve), in, out) })
}

// DropoutBackward makes dx of dy and the mask.
func (t *Thread) DropoutBackward(h Handle, desc dropoutDesc, dyDesc tensorDesc, dy hostmem.Ptr, dxDesc tensorDesc, dx, reserve hostmem.Ptr, size uint64) error {
	c := t.on(h)
	v, in, out := take[dropping](c, desc), c.tensor(dyDesc, dy), c.tensor(dxDesc, dx)
	c.need(reserve != hostmem.Nil && int64(size) >= nn.DropoutMask(in.Count()), badParam, "%d bytes of masks", size)
	return c.run(func() error { return c.Undrop(float64(v.rate), uint64(reserve), in, out) })
}
