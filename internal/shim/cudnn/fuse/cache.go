package fuse

import (
	"container/list"
	"runtime"
	"weak"

	"kudzu/internal/lockrank"
	"kudzu/internal/shim"
)

// compiled is a kernel of a program for tensors of a shape. Its modules are unloaded when nobody has it any more: no program that
// ran it, which is part of a plan, no launch under way, and not the cache. Graphs of the driver keep what they captured themselves.
type compiled struct {
	kernels *shim.Kernels
	facts   []fact
	place   *list.Element // in cache.recent, guarded by cache.mu; nil: not there
}

// cache has all kernels that anybody has, and keeps those that were launched last.
type cache struct {
	most int // it keeps

	mu     lockrank.Mutex[lockrank.DNNFused]
	all    map[string]weak.Pointer[compiled] // guarded by mu: by the keys of program and shape
	recent list.List                         // guarded by mu: of *compiled, the last launched first
}

// mostKernels is what is kept for programs that make the same plan again and again. A kernel takes about 120 KiB with the code of
// all its block shapes.
const mostKernels = 512

var kernels = newCache(mostKernels)

func newCache(most int) *cache { return &cache{most: most, all: map[string]weak.Pointer[compiled]{}} }

// compiled is the program's kernel for a shape.
func (p *Program) compiled(s shape) *compiled {
	var room [64]byte
	k := s.key(room[:0])
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.used[string(k)]; c != nil {
		kernels.touch(c)
		return c
	}
	c := kernels.get(p.key()+string(k), func() *compiled {
		t, facts := text(p, s)
		return &compiled{kernels: &shim.Kernels{Name: "cuDNN fused operations", Text: func() string { return t }}, facts: facts}
	})
	if p.used == nil {
		p.used = map[string]*compiled{}
	}
	p.used[string(k)] = c
	return c
}

// get finds a kernel, or makes it.
func (a *cache) get(key string, make func() *compiled) *compiled {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.all[key].Value()
	if c == nil {
		c = make()
		a.all[key] = weak.Make(c)
		runtime.AddCleanup(c, a.ended, unused{key, c.kernels})
	}
	a.first(c)
	return c
}

// touch says that a kernel is launched.
func (a *cache) touch(c *compiled) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.first(c)
}

// first puts a kernel in front of those that are kept, and lets the last go.
//
// Preconditions: a.mu is held.
func (a *cache) first(c *compiled) {
	if c.place != nil {
		a.recent.MoveToFront(c.place)
		return
	}
	c.place = a.recent.PushFront(c)
	for a.recent.Len() > a.most {
		last := a.recent.Back()
		a.recent.Remove(last).(*compiled).place = nil
	}
}

// unused is what is left of a kernel that nobody has.
type unused struct {
	key     string
	kernels *shim.Kernels
}

// ended unloads the modules of a kernel that nobody has.
func (a *cache) ended(u unused) {
	a.mu.Lock()
	if a.all[u.key].Value() == nil { // otherwise it was made again meanwhile
		delete(a.all, u.key)
	}
	a.mu.Unlock()
	u.kernels.Discard()
}
