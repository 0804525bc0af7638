// Package devices is the one list of backends: which kinds of device there are, in order of preference, and how they lean
// on each other. The Go image, the command line and the tests all take it from here.
package devices

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"

	"kudzu/internal/backend"
	"kudzu/internal/backend/cpu"
	"kudzu/internal/backend/cuda"
	"kudzu/internal/backend/hip"
	"kudzu/internal/backend/interp"
	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/logx"
)

// Config changes what the list is made of. The zero value is what a program gets.
type Config struct {
	Compiler []string        // command that starts the compiler process; nil: the kudzu program of this installation
	Image    string          // the path of libkudzu.so, "" in a program that is not using it
	Cache    *cache.Cache    // nil: the user's
	Target   compile.Target  // what to compile for; the zero value is this machine
	Strict   bool            // a kernel that cannot be compiled fails instead of being interpreted, and is optimised at once
	Shared   *compile.Client // whom all backends of a list ask; nil: one of their own

	Order  backend.Order          // in which blocks of the cpu backend begin
	Change func(*compile.Request) // changes what the cpu backend asks for; nil: nothing
}

// All gives the backends in order of preference. Nothing is opened.
func All(cfg Config) []backend.Backend {
	cfg.Shared = Client(cfg)
	list := []backend.Backend{CPU(cfg), interp.New(interp.Config{}), CUDA(cfg, config.Get(config.CUDAVia) == "simt"), HIP(cfg)}
	for i := range list {
		list[i] = watched(list[i], config.Get)
	}
	return list
}

// CUDA is a real driver, with our own compiler in front of it where that is asked for: PTX in, PTX out.
func CUDA(cfg Config, compiled bool) backend.Backend {
	if !compiled {
		return cuda.New(cuda.Config{})
	}
	return cuda.New(cuda.Config{Through: through(cfg)})
}

func through(cfg Config) func(text, target string) (string, error) {
	client := Client(cfg)
	return func(text, target string) (string, error) {
		t, _ := compile.GPUTarget(target)
		r, err := client.Object(&compile.Request{PTX: text, Target: t}, func(code []byte) error {
			if !bytes.Contains(code, []byte(".version")) {
				return errors.New("no PTX")
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		return string(r.Image), nil
	}
}

// HIP is AMD's GPUs.
func HIP(cfg Config) backend.Backend { return hip.New(hip.Config{Compiler: Client(cfg)}) }

// CPU is the compiling backend, with the interpreter for what it cannot compile.
func CPU(cfg Config) backend.Backend {
	b := &cpuBackend{fallback: &fallback{}}
	c := cpu.Config{Compiler: Client(cfg), Fallback: b.fallback, Order: cfg.Order}
	if cfg.Change != nil {
		c.Compiler = changed{Client(cfg), cfg.Change}
	}
	if cfg.Strict {
		c.Fallback, c.Env = nil, oneTier
	}
	b.Backend = cpu.New(c)
	return b
}

// changed asks for other code than the backend does.
type changed struct {
	*compile.Client
	change func(*compile.Request)
}

// Compile asks for an image.
func (c changed) Compile(req *compile.Request) (*compile.Result, error) {
	r := *req
	c.change(&r)
	return c.Client.Compile(&r)
}

// Cached looks for it in the cache.
func (c changed) Cached(req *compile.Request) (*compile.Result, bool) {
	r := *req
	c.change(&r)
	return c.Client.Cached(&r)
}

// oneTier is the environment where kernels are optimised unless it says otherwise: no baseline code stands in for them.
func oneTier(name string) string {
	if name == config.Tier {
		return cmp.Or(config.Get(name), compile.Optimised.String())
	}
	return config.Get(name)
}

// Client asks for compiled kernels: from the cache, else from the compiler process.
func Client(cfg Config) *compile.Client {
	if cfg.Shared != nil {
		return cfg.Shared
	}
	if cfg.Cache == nil {
		c := cache.FromEnv(config.Get)
		c.Warn = func(s string) { logx.Warnf("%s", s) }
		cfg.Cache = cache.Open(c)
	}
	if cfg.Compiler == nil {
		cfg.Compiler = []string{compilerPath(cfg.Image), "compiler"}
	}
	c := compile.Config{Command: cfg.Compiler, Cache: cfg.Cache, Target: cfg.Target, Log: func(s string) { logx.Debugf("%s", s) }}
	if p := newProgress(logx.Messages, 2); p != nil {
		c.Busy = p.begin
	}
	return compile.New(c)
}

// compilerPath finds the kudzu program: KUDZU_COMPILER, or ../bin/kudzu seen from the folder of the image, or this program
// itself when it is kudzu.
func compilerPath(image string) string {
	if p := config.Get(config.Compiler); p != "" {
		return p
	}
	if image != "" {
		return filepath.Join(filepath.Dir(image), "..", "bin", "kudzu")
	}
	self, err := os.Executable()
	if err != nil {
		return "kudzu"
	}
	return self
}

// cpuBackend tells the fallback about the devices' memory once they are open.
type cpuBackend struct {
	*cpu.Backend
	fallback *fallback
}

// Open opens the devices.
func (b *cpuBackend) Open() ([]backend.Device, error) {
	devs, err := b.Backend.Open()
	for _, d := range devs {
		b.fallback.add(d)
	}
	return devs, err
}
