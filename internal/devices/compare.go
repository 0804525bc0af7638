package devices

import (
	"io"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/compare"
	"kudzu/internal/backend/interp"
	"kudzu/internal/config"
	"kudzu/internal/logx"
)

// compared has launches of a CPU's device compared with the interpreter where KUDZU_COMPARE asks for it. KUDZU_COMPARE_REPORT names a
// file for what came out, KUDZU_COMPARE_DUMP a folder for launches that differ.
func compared(b backend.Backend, env func(string) string) backend.Backend {
	s := env(config.Compare)
	if s == "" || s == "0" {
		return b
	}
	lim, err := compare.ParseLimits(s)
	if err != nil {
		logx.Warnf(config.Compare+": %v", err)
		return b
	}
	return Compare(compare.Config{Device: b, Limits: lim, Report: env(config.CompareReport), Dump: env(config.CompareDump)})
}

// Compare is a backend whose launches are compared, with the interpreter if no other reference is given.
func Compare(cfg compare.Config) backend.Backend {
	if cfg.Reference == nil {
		cfg.Reference = Interpreter
	}
	return compare.New(cfg)
}

// Interpreter is the reference of a comparison. What its kernels print, the device's print too.
func Interpreter(dev backend.Device, space *compare.Space) compare.Loader {
	return oracle{interp.NewDevice(dev.Info(), space, dev.Memory(), io.Discard, io.Discard)}
}

type oracle struct{ dev interp.Device }

// LoadWith takes a module whose variables have places.
func (o oracle) LoadWith(m *backend.Module, vars func(string) (backend.Addr, uint64, error)) (backend.Program, error) {
	p, err := o.dev.LoadWith(m, vars)
	if err != nil {
		return nil, err
	}
	return timed{p}, nil
}

// timed gives kernels that run for a limited time.
type timed struct{ backend.Program }

// Kernel finds a kernel.
func (p timed) Kernel(name string) (backend.Kernel, error) {
	k, err := p.Program.Kernel(name)
	if err != nil {
		return nil, err
	}
	return timedKernel{k}, nil
}

type timedKernel struct{ backend.Kernel }

// RunFor executes a launch for at most so long.
func (k timedKernel) RunFor(l *backend.Launch, limit time.Duration) error {
	return interp.RunFor(k.Kernel, l, limit)
}
