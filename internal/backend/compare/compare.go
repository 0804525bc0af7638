// Package compare runs launches of a program twice from the same memory, on a reference and on the device, and says where the two leave
// different memory.
//
// It is a taker of launches (backend/tap). A launch that is chosen waits until all work is done. Where the reference is the interpreter in
// this process, all memory is copied, the reference runs, what it changed is kept and undone, and then the device runs as it would have.
// Otherwise the launch is captured, the device runs, and another process replays it from the same memory (Other). Either way a program
// gets the device's own results, and a launch that the reference cannot run is only counted. The reference is slow, so not every launch
// is chosen: see Limits.
package compare

import (
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/tap"
	"kudzu/internal/dump"
	"kudzu/internal/lockrank"
)

// Reference makes the second executor over a device's memory. Space tells it what memory there is.
type Reference func(dev backend.Device, space *tap.Space) Loader

// Loader takes modules whose variables the device has placed. The kernels of its programs are Runners.
type Loader interface {
	LoadWith(m *backend.Module, vars func(name string) (backend.Addr, uint64, error)) (backend.Program, error)
}

// Runner is a kernel that runs a launch on the calling goroutine for at most so long: backend.ErrTime if that is not enough. changed, if
// there is one, is told of each atomic that changes a value or adds to a float, by several goroutines at a time.
type Runner interface {
	RunFor(l *backend.Launch, limit time.Duration, changed func(addr, size uint64)) error
}

// Other runs captured launches again, elsewhere.
type Other interface {
	// Replay gives the memory that the reference leaves in each region, or its fault. An error is why it could not.
	Replay(f *dump.File, limit time.Duration) (after [][]byte, fault *backend.Fault, err error)
}

// Compiled is a kernel that tells whether a launch will run compiled code. Otherwise there is nothing to compare with an interpreter.
type Compiled interface {
	Compiled(l *backend.Launch) (bool, error)
}

// Config makes a backend that compares.
type Config struct {
	Device     backend.Backend
	Reference  Reference
	Other      Other // instead of Reference
	Limits     Limits
	Tolerances dump.Tolerances
	Report     string // file to which a line for each launch is added; "": none
	Dump       string // folder into which launches that differ are written; "": none
}

// comparer is the taker.
type comparer struct {
	cfg    Config
	report *report
	before []byte // where memory is copied to; used only while the device is quiet

	mu     lockrank.Mutex[lockrank.CompareDevice]
	refs   map[*tap.Device]*reference // guarded by mu
	states map[*tap.Kernel]*kernel    // guarded by mu
}

type reference struct {
	space  *tap.Space
	loader Loader
}

// kernel is what was compared of one.
type kernel struct {
	*tap.Kernel
	mu    lockrank.Mutex[lockrank.CompareKernel]
	seen  int               // guarded by mu: launches that Every counts
	use   map[[3]uint32]use // guarded by mu: by block shape
	large bool              // guarded by mu: a launch was too large, and that was said
}

var _ tap.Forgetter = (*comparer)(nil)

// New makes the backend. Nothing starts before Open.
func New(cfg Config) backend.Backend {
	c := &comparer{cfg: cfg, report: newReport(cfg.Report), refs: map[*tap.Device]*reference{}, states: map[*tap.Kernel]*kernel{}}
	return tap.New(cfg.Device, c)
}

func (c *comparer) kernel(k *tap.Kernel) *kernel {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.states[k]
	if s == nil {
		s = &kernel{Kernel: k, use: map[[3]uint32]use{}}
		c.states[k] = s
	}
	return s
}

// Forget drops what is known of kernels that are gone.
func (c *comparer) Forget(list []*tap.Kernel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range list {
		delete(c.states, k)
	}
}

// reference is that of a device.
func (c *comparer) reference(d *tap.Device) (*reference, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.refs[d]
	if r == nil {
		space, err := d.Space()
		if err != nil {
			return nil, err
		}
		r = &reference{space, c.cfg.Reference(d.Inner(), space)}
		c.refs[d] = r
	}
	return r, nil
}

// Launch compares the launch if it is chosen.
func (c *comparer) Launch(q *tap.Queue, tk *tap.Kernel, l *backend.Launch) error {
	k := c.kernel(tk)
	chosen, why := k.chosen(l, &c.cfg.Limits)
	if chosen {
		return c.compare(q, k, l)
	}
	if why != "" {
		c.skip(k.line(l), why)
	}
	return q.Put(func() error { return q.Direct(k.Kernel, l) })
}
