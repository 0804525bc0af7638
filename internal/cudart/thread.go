package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// Thread is the runtime's view of one host thread. It is the driver's block, so that a program which mixes both interfaces
// sees one current context.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// primaries says which primary contexts the runtime holds: one reference a device, whichever thread needed it first.
var primaries struct {
	mu   lockrank.Mutex[lockrank.RuntimePrimaries]
	held map[int32]bool // guarded by mu
}

// chosen is the device of a thread that has no context yet.
func (t *Thread) chosen() int32 { return max(0, t.Device-1) }

// ready is the driver with a context for work. The current context serves, whoever made it; where there is none, the
// primary one of the thread's device is woken, and where that was reset, it is woken again.
func (t *Thread) ready() (*driver.Thread, error) {
	d := t.driver()
	switch d.ContextState() {
	case driver.ContextLive, driver.ContextDestroyed: // one that was destroyed is for the driver to answer
		return d, nil
	case driver.NoDriver:
		if err := d.Init(0); err != nil {
			return nil, err
		}
		return t.ready()
	case driver.PrimaryAsleep:
		dev, err := d.CtxGetDevice()
		if err != nil {
			return nil, err
		}
		_, err = t.wake(dev)
		return d, err
	case driver.NoContext:
	}
	return d, t.use(t.chosen())
}

// use makes a device's primary context the current one.
func (t *Thread) use(dev int32) error {
	h, err := t.wake(dev)
	if err != nil {
		return err
	}
	return t.driver().CtxSetCurrent(h)
}

// wake is a device's primary context, alive and held once by the runtime.
func (t *Thread) wake(dev int32) (cu.CUcontext, error) {
	d := t.driver()
	primaries.mu.Lock()
	defer primaries.mu.Unlock()
	_, active, err := d.DevicePrimaryCtxGetState(dev)
	if err != nil {
		return 0, err
	}
	held := primaries.held[dev]
	if held && active != 0 {
		return d.PrimaryContext(dev)
	}
	h, err := d.DevicePrimaryCtxRetain(dev)
	if err != nil {
		return 0, err
	}
	if held { // somebody reset it through the driver: our reference still counts
		err = d.DevicePrimaryCtxRelease(dev)
	}
	if primaries.held == nil {
		primaries.held = map[int32]bool{}
	}
	primaries.held[dev] = true
	return h, err
}

// reset ends a device's primary context and gives the runtime's reference back.
func (t *Thread) reset(dev int32) error {
	d := t.driver()
	primaries.mu.Lock()
	defer primaries.mu.Unlock()
	if err := d.DevicePrimaryCtxReset(dev); err != nil {
		return err
	}
	if !primaries.held[dev] {
		return nil
	}
	delete(primaries.held, dev)
	return d.DevicePrimaryCtxRelease(dev)
}

// started is the driver, initialised; no context is made.
func (t *Thread) started() (*driver.Thread, error) {
	d := t.driver()
	return d, d.Init(0)
}

// Ready and Started are ready and started for the bindings, which call the driver for rows that are marked driver=.
func (t *Thread) Ready() (*driver.Thread, error) { return t.ready() }

// Started is started.
func (t *Thread) Started() (*driver.Thread, error) { return t.started() }
