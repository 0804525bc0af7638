// Package abroad opens the libraries of a device's vendor: once, when the first call needs them, and none where there
// is none.
package abroad

import (
	"strings"
	"sync"

	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/logx"
)

// Library is a library that may be there.
type Library struct {
	Look  dl.Look
	Serve string // what it serves, for the log: "cuSOLVER"

	once sync.Once
	lib  *dl.Library // nil: there is none
	err  error       // why
}

// ROCm is a library of ROCm's. A path, if there is one, is the file; otherwise the variable names it, or one of the
// names is found.
func ROCm(serve, what, path, variable string, env func(string) string, symbol string, names ...string) *Library {
	if env == nil {
		env = config.Get
	}
	return &Library{Serve: serve, Look: dl.Look{
		What: what, Path: path, Variable: variable, Env: env, Names: names,
		Folders: []string{"/opt/rocm/lib/", "/opt/rocm/lib64/"}, Symbol: symbol,
	}}
}

// Open opens it, once; nil if there is none.
func (l *Library) Open() *dl.Library {
	l.once.Do(func() {
		l.lib, l.err = l.Look.Open()
		if l.err != nil {
			l.lib = nil
			logx.Infof("%s on this GPU: kernels of our own (%v)", l.Serve, l.err)
			return
		}
		logx.Infof("%s on this GPU: %s (%s)", l.Serve, l.Look.What, l.lib.Path())
	})
	return l.lib
}

// About says in one line which library there is, what it says of itself, and how many of the functions that we call
// it has.
func (l *Library) About(version string, names []string) (string, error) {
	if l.Open() == nil {
		return "", l.err
	}
	parts := []string{l.lib.Path()}
	if version != "" {
		parts = append(parts, version)
	}
	return strings.Join(append(parts, l.lib.Count(names)), ", "), nil
}

// Missing is the status of a function that this release does not have.
const Missing = -1

// Call calls a function that a table gives so many parameters. Preconditions: the library is open.
func (l *Library) Call(name string, params int, args ...uintptr) int64 {
	status, err := l.lib.Status(name, params, args...)
	if err != nil {
		return Missing
	}
	return int64(status)
}
