package devices

import (
	"io"
	"os"
	"regexp"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/compare"
	"kudzu/internal/backend/dumper"
	"kudzu/internal/backend/interp"
	"kudzu/internal/backend/tap"
	"kudzu/internal/config"
	"kudzu/internal/dump"
	"kudzu/internal/logx"
)

// watched has launches of a backend dumped or compared where the environment asks for it.
func watched(b backend.Backend, env func(string) string) backend.Backend {
	if file := env(config.Dump); file != "" {
		return dumped(b, file, env)
	}
	return compared(b, env)
}

// dumped writes a launch to a file: which one, KUDZU_DUMP_KERNEL and KUDZU_DUMP_LAUNCH say.
func dumped(b backend.Backend, file string, env func(string) string) backend.Backend {
	c := dumper.Config{File: file}
	if err := c.Parse(env(config.DumpLaunch)); err != nil {
		logx.Warnf(config.DumpLaunch+": %v", err)
		return b
	}
	if s := env(config.DumpKernel); s != "" {
		re, err := regexp.Compile(s)
		if err != nil {
			logx.Warnf(config.DumpKernel+": %v", err)
			return b
		}
		c.Kernel = re
	}
	return dumper.New(b, c)
}

// compared has launches compared with another executor where KUDZU_COMPARE asks for it. KUDZU_COMPARE_REPORT names a file for what came
// out, KUDZU_COMPARE_DUMP a folder for launches that differ, KUDZU_COMPARE_WITH where kudzu compare listens, if the other executor
// is not the interpreter in this process.
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
	c := compare.Config{Device: b, Limits: lim, Report: env(config.CompareReport), Dump: env(config.CompareDump)}
	if c.Tolerances, err = tolerances(env(config.CompareBounds)); err != nil {
		logx.Warnf(config.CompareBounds+": %v", err)
		return b
	}
	if socket := env(config.CompareWith); socket != "" {
		c.Other = &elsewhere{socket}
	} else if b.Name() != "cpu" {
		return b // kudzu compare can; there is nothing in this process to compare with
	}
	return Compare(c)
}

func tolerances(file string) (dump.Tolerances, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return dump.ReadTolerances(f)
}

// Compare is a backend whose launches are compared, with the interpreter if no other reference is given.
func Compare(cfg compare.Config) backend.Backend {
	if cfg.Reference == nil {
		cfg.Reference = Interpreter
	}
	return compare.New(cfg)
}

// Interpreter is the reference of a comparison. What its kernels print, the device's print too.
func Interpreter(dev backend.Device, space *tap.Space) compare.Loader {
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
func (k timedKernel) RunFor(l *backend.Launch, limit time.Duration, changed func(addr, size uint64)) error {
	return interp.RunWith(k.Kernel, l, interp.With{Limit: limit, Changed: changed})
}
