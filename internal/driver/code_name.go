package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// nameTable keeps names as C strings for good. A program may hold on to one after its module is gone, and modules loaded
// again and again bring the same names, so each is kept once.
type nameTable struct {
	mu   lockrank.Mutex[lockrank.DriverNames]
	at   map[string]hostmem.Ptr // guarded by mu
	free hostmem.Ptr            // guarded by mu: unused part of the last block
	left uint64                 // guarded by mu
}

// nameBlock is how much is mapped at a time.
const nameBlock = 64 << 10

// get is the address of name with a NUL behind it.
func (n *nameTable) get(name string) (hostmem.Ptr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, ok := n.at[name]; ok {
		return p, nil
	}
	size := uint64(len(name)) + 1
	if size > n.left {
		addr, length, err := mapHost(max(size, nameBlock))
		if err != nil {
			return 0, err
		}
		n.free, n.left = hostmem.Ptr(addr), length
	}
	p := n.free
	hostmem.PutString(p, int(size), name)
	n.free, n.left = n.free.Add(size), n.left-size
	if n.at == nil {
		n.at = map[string]hostmem.Ptr{}
	}
	n.at[name] = p
	return p, nil
}

// putName writes the address of a name to out.
func (s *state) putName(out hostmem.Ptr, name string) error {
	if out == hostmem.Nil {
		return errInvalidValue
	}
	p, err := s.names.get(name)
	if err != nil {
		return err
	}
	hostmem.Store(out, p)
	return nil
}

// FuncGetName writes the address of a kernel's name.
func (t *Thread) FuncGetName(out hostmem.Ptr, h cu.CUfunction) error {
	f, err := t.named(h)
	if err != nil {
		return err
	}
	return f.mod.ctx.state.putName(out, f.decl.Name)
}

// KernelGetName writes the address of a kernel's name.
func (t *Thread) KernelGetName(out hostmem.Ptr, h cu.CUkernel) error {
	if h == 0 { // cuFuncGetName answers so too
		if _, err := t.enter(); err != nil {
			return err
		}
		return errInvalidValue
	}
	k, err := t.kernel(h)
	if err != nil {
		return err
	}
	return current.Load().putName(out, k.name)
}

// PutName is putName for libraries above the driver.
func PutName(out hostmem.Ptr, name string) error { return current.Load().putName(out, name) }

// Ask calls a function of the program with two arguments, 0 standing for none. It may call nothing of ours: who asks holds locks.
func Ask(fn, a, b uint64) uint64 {
	if fn == 0 {
		return 0
	}
	return current.Load().callQuiet(fn, a, b, 0, 0)
}
