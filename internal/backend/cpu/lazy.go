package cpu

import (
	"fmt"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/image"
	"kudzu/internal/logx"
)

// Functions that only tables name (backend.Lazy). A kernel's code has a list of those that its blocks have called. The engine asks for
// code that is missing; the block waits meanwhile. A function is a Kernel of the program, with variants of both tiers, but nobody
// launches it.

// lazy is how the kernel's functions are compiled one by one; nil if they are not.
func (k *Kernel) lazy() *backend.Lazy {
	k.lazyOnce.Do(func() {
		switch {
		case k.caller != nil:
			k.ways = k.caller.lazy()
		case k.p.m.Lazy != nil:
			k.ways = k.p.m.Lazy(k.decl.Name)
		}
	})
	return k.ways
}

// sliced is the kernel's text.
func (k *Kernel) sliced() (text string, line func(int) int, err error) {
	if a := k.lazy(); a != nil {
		_, text, line, err = a.Slice(k.function)
		return text, line, err
	}
	return k.p.m.Slice(k.decl.Name)
}

// calls gives the code of a kernel or function its list. Of a function it is needed only where it calls others so.
func (v *variant) calls(text string) error {
	k := v.kernel
	if k.lazy() == nil {
		return nil
	}
	if k.caller == nil || strings.Contains(text, ".callprototype") {
		s, shared := v.shape, v.image.Meta.SharedStatic
		list, err := engine.NewLazy(func(f engine.Function, id uint64) {
			if err := k.supply(s, shared, f, id); err != nil {
				logx.Warnf("kernel %s: a function that it calls: %v", k.decl.Name, err)
				f.Put(nil)
			}
		})
		if err != nil {
			return err
		}
		v.lazy = list
	}
	v.code.Calls(v.lazy, v.vars)
	return nil
}

// supply compiles the function that a block of the kernel waits for. Both have the same static shared memory, or it cannot be called so.
func (k *Kernel) supply(s shape, shared uint32, f engine.Function, id uint64) error {
	fn, err := k.called(id)
	if err != nil {
		return err
	}
	var v *variant
	if s.clusters {
		v, err = fn.clustered(&backend.Launch{Block: s.block})
	}
	if v == nil && err == nil {
		v, err = fn.variant(s.block)
	}
	if err != nil {
		return err
	}
	if v.run != nil || v.launches || v.image.Meta.SharedStatic != shared {
		return fmt.Errorf("function %s: it cannot be compiled by itself", fn.function)
	}
	fn.mu.Lock()
	defer fn.mu.Unlock()
	if fn.gone.Load() {
		return backend.ErrClosed
	}
	now := fn.find(v.block)
	if v.clusters {
		now = fn.inClusters[v.block]
	}
	if now != nil { // another may have taken its place
		v = now
	}
	v.puts = append(v.puts, f)
	f.Put(v.code)
	return nil
}

// called finds the function of an id, as this kernel calls it.
func (k *Kernel) called(id uint64) (*Kernel, error) {
	root := k
	if k.caller != nil {
		root = k.caller
	}
	a := root.lazy()
	for _, name := range a.Functions {
		if image.FuncID(name) != id {
			continue
		}
		entry, _, _, err := a.Slice(name)
		if err != nil {
			return nil, err
		}
		return k.p.function(root, name, entry)
	}
	return nil, fmt.Errorf("none has the address %#x", id)
}

// function is the one Kernel of a function that root calls.
func (p *Program) function(root *Kernel, name, entry string) (*Kernel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded {
		return nil, backend.ErrClosed
	}
	for _, fn := range p.functions {
		if fn.caller == root && fn.function == name {
			return fn, nil
		}
	}
	decl := &backend.KernelDecl{Name: entry, MaxRegisters: root.decl.MaxRegisters, MaxBlock: root.decl.MaxBlock, ReqBlock: root.decl.ReqBlock}
	fn := &Kernel{p: p, decl: decl, caller: root, function: name}
	p.functions = append(p.functions, fn)
	return fn, nil
}
