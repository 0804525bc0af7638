package devices

import (
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// fallback runs, on the interpreter and in the cpu devices' memory, what the compiler cannot.
type fallback struct {
	mu   lockrank.Mutex[lockrank.Fallback]
	devs []backend.Device // guarded by mu; only grows, before the first load

	once sync.Once
	dev  interp.Device
}

func (f *fallback) add(d backend.Device) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.devs = append(f.devs, d)
}

// finder is memory that knows its allocations and the range that all of them lie in.
type finder interface {
	Lookup(backend.Addr) (base backend.Addr, size uint64, ok bool)
	Range() (base, size uint64)
}

const (
	page      = 4096
	firstHost = 16 * page // nothing is ever mapped below: a null pointer and its fields
	endHost   = 1 << 48
)

// Find looks an address up in the memory of every device. Any other address may be memory of the program, which kernels
// of these devices may touch: the page and the next are given, and if nothing is there, the access faults.
func (f *fallback) Find(addr uint64) (base, size uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.devs {
		m, is := d.Memory().(finder)
		if !is {
			continue
		}
		if b, n, ok := m.Lookup(backend.Addr(addr)); ok {
			return uint64(b), n, true
		}
		if base, size := m.Range(); addr-base < size {
			return 0, 0, false
		}
	}
	if addr < firstHost || addr >= endHost {
		return 0, 0, false
	}
	return addr &^ (page - 1), 2 * page, true
}

// LoadWith makes an interpreter program over variables that the cpu program placed.
func (f *fallback) LoadWith(m *backend.Module, vars func(string) (backend.Addr, uint64, error)) (backend.Program, error) {
	f.once.Do(func() {
		f.mu.Lock()
		first := f.devs[0]
		f.mu.Unlock()
		f.dev = interp.NewDevice(first.Info(), f, first.Memory(), logx.Stdout, logx.Stderr)
	})
	p, err := f.dev.LoadWith(m, vars)
	if err != nil {
		return nil, err
	}
	return program{p}, nil
}

// program gives kernels that run on the calling goroutine.
type program struct{ backend.Program }

// Kernel finds a kernel.
func (p program) Kernel(name string) (backend.Kernel, error) {
	k, err := p.Program.Kernel(name)
	if err != nil {
		return nil, err
	}
	return kernel{k}, nil
}

type kernel struct{ backend.Kernel }

// Run executes a launch and returns when it is over.
func (k kernel) Run(l *backend.Launch) error { return interp.RunNow(k.Kernel, l) }
