package driver

import (
	"runtime"
	"weak"

	"kudzu/internal/backend"
	"kudzu/internal/spec/cu"
)

// Discard ends a module of LoadText that its library will not ask for again. Graphs and their executables may still have its kernels:
// the code is unloaded when none does, which the garbage collector finds out, or with the context. Launches that queues have by then
// are done first (backend.Program.Unload). Of a module that went with its context nothing is left to do.
func Discard(h cu.CUmodule) {
	s := current.Load()
	if s == nil || !s.ready.Load() {
		return
	}
	m := s.modules.Get(handleValue(h))
	if m == nil {
		return
	}
	c, kept := m.ctx, m.keepForGraphs()
	c.mu.Lock()
	_, here := c.modules[m]
	if here {
		delete(c.modules, m)
		if c.discarded == nil {
			c.discarded = map[backend.Program][]cu.CUfunction{}
		}
		c.discarded[m.prog] = kept
	}
	c.mu.Unlock()
	if !here {
		s.graphsLose(kept)
		return
	}
	m.forget()
	runtime.AddCleanup(m, c.unload, m.prog)
}

// keepForGraphs lets graphs find the functions of a module that loses its handles.
func (m *Module) keepForGraphs() (kept []cu.CUfunction) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.funcs {
		m.ctx.state.graphOnly.Store(f.handle, weak.Make(f))
		kept = append(kept, f.handle)
	}
	return kept
}

// unload ends the code of a discarded module that nobody has any more.
func (c *Context) unload(p backend.Program) {
	c.mu.Lock()
	kept, mine := c.discarded[p]
	delete(c.discarded, p)
	c.mu.Unlock()
	if mine {
		c.state.unload(p, kept)
	}
}

// unload ends the code of a discarded module, and the functions that graphs could find.
func (s *state) unload(p backend.Program, kept []cu.CUfunction) {
	s.graphsLose(kept)
	_ = p.Unload() // nobody is left to hear of it
}

func (s *state) graphsLose(kept []cu.CUfunction) {
	for _, f := range kept {
		s.graphOnly.Delete(f)
	}
}

// inGraphs is a function of a discarded module that graphs still have: their nodes tell its handle, and programs may set it again.
func (s *state) inGraphs(h cu.CUfunction) *Function {
	if w, ok := s.graphOnly.Load(h); ok {
		return w.(weak.Pointer[Function]).Value()
	}
	return nil
}
