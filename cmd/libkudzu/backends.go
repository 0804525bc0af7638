package main

import (
	"os"
	"path/filepath"
	"sync"

	"kudzu/internal/abi"
	"kudzu/internal/backend"
	"kudzu/internal/backend/cpu"
	"kudzu/internal/backend/cuda"
	"kudzu/internal/backend/interp"
	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/engine"
	"kudzu/internal/logx"
)

// backends are the kinds of device, in order of preference. KUDZU_BACKEND names another.
func backends() []backend.Backend {
	return []backend.Backend{
		cpu.New(cpu.Config{Compiler: compiler(), Fallback: &fallback{}}),
		interp.New(interp.Config{}),
		cuda.New(),
	}
}

// compiler is the client of the compiler process, which is the command installed with us.
func compiler() *compile.Client {
	store := cache.FromEnv(os.Getenv)
	store.Warn = func(s string) { logx.Warnf("%s", s) }
	return compile.New(compile.Config{
		Command: []string{command(), "compiler"},
		Cache:   cache.Open(store),
		Log:     func(s string) { logx.Debugf("%s", s) },
	})
}

// command is bin/kudzu beside our lib folder, or kudzu in the same folder.
func command() string {
	dir := filepath.Dir(abi.Path())
	if same := filepath.Join(dir, "kudzu"); isFile(same) {
		return same
	}
	return filepath.Join(dir, "..", "bin", "kudzu")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// fallback runs on the interpreter what cannot be compiled, in the memory that is there.
// It is made when first needed: most programs never do.
type fallback struct {
	once sync.Once
	dev  interp.Device
	err  error
}

func (f *fallback) LoadWith(m *backend.Module, vars func(string) (backend.Addr, uint64, error)) (backend.Program, error) {
	f.once.Do(func() {
		var mem *engine.Memory
		if mem, f.err = engine.NewMemory(heapLimit); f.err == nil {
			f.dev = interp.NewDevice(&backend.Info{Processors: 1, WarpSize: 32, SharedOptin: 227 << 10}, space{mem}, space{mem}, nil, nil)
		}
	})
	if f.err != nil {
		return nil, f.err
	}
	return f.dev.LoadWith(m, vars)
}

// heapLimit bounds what kernels on the fallback take with malloc.
const heapLimit = 1 << 30

// space is the engine's memory as the interpreter wants to see it.
type space struct{ *engine.Memory }

func (s space) Find(addr uint64) (base, size uint64, ok bool) { return s.Lookup(addr) }

func (s space) Alloc(n, align uint64) (backend.Addr, error) {
	a, err := s.Memory.Alloc(n, align)
	return backend.Addr(a), err
}

func (s space) Free(a backend.Addr) error { return s.Memory.Free(uint64(a)) }
