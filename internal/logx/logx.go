// Package logx writes Kudzu's messages to the standard error of the program it lives in: one line each, "kudzu: ..." in
// front. KUDZU_LOG=error|warn|info|debug says how much; the default is warn. A host program's own output must stay
// readable, so a message that can repeat is written once (Once) and long texts are cut.
package logx

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"kudzu/internal/config"
)

// Level is how much is said.
type Level int32

// The levels.
const (
	Error Level = iota
	Warn
	Info
	Debug
)

var names = [...]string{Error: "error", Warn: "warn", Info: "info", Debug: "debug"}

var (
	level atomic.Int32
	setup sync.Once
	seen  sync.Map // what Once has said
)

// The program's own outputs, for what Kudzu and its kernels print. os.Stdout and os.Stderr would end the process when
// nobody reads them any more, even if the program ignores SIGPIPE: Go's runtime believes that it owns that signal.
var (
	Stdout = output(1)
	Stderr = output(2)
)

type output int

var complaints atomic.Pointer[func(text []byte)]

// Complaints says how Stderr is written to in a program that is not ours.
func Complaints(write func(text []byte)) { complaints.Store(&write) }

// Write writes all of p, or gives the error that the program would have got.
func (o output) Write(p []byte) (int, error) {
	if write := complaints.Load(); write != nil && o == Stderr {
		(*write)(p)
		return len(p), nil
	}
	n := 0
	for n < len(p) {
		m, err := syscall.Write(int(o), p[n:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return n, err
		default:
			n += m
		}
	}
	return n, nil
}

// maxLine keeps one message from filling a terminal.
const maxLine = 2000

// SetLevel overrides the environment.
func SetLevel(l Level) {
	setup.Do(func() {})
	level.Store(int32(l))
}

// On reports whether messages of l are written; ask before building an expensive one.
func On(l Level) bool {
	setup.Do(fromEnv)
	return int32(l) <= level.Load()
}

func fromEnv() {
	level.Store(int32(Warn))
	word := strings.ToLower(config.Get(config.Log))
	for l, n := range names {
		if n == word {
			level.Store(int32(l))
			return
		}
	}
	if word != "" {
		write(config.Log + "=" + word + ": not one of error, warn, info, debug")
	}
}

func write(s string) {
	s = strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "; ")
	if len(s) > maxLine {
		s = s[:maxLine] + " ..."
	}
	Text([]byte("kudzu: " + s + "\n"))
}

var lines atomic.Pointer[func(text []byte)]

// Lines says how messages are written: in a program that is not ours, so that none harms it. A raw write to a pipe that nobody reads
// would end the program, and one to its number 2 may be one to a file of its own.
func Lines(say func(text []byte)) { lines.Store(&say) }

// Text writes messages that are whole lines. It is one call, so that lines of several threads do not mix.
func Text(text []byte) {
	if say := lines.Load(); say != nil {
		(*say)(text)
		return
	}
	_, _ = Stderr.Write(text)
}

// Messages is Text as a writer.
var Messages messages

type messages struct{}

func (messages) Write(p []byte) (int, error) {
	Text(p)
	return len(p), nil
}

func logf(l Level, format string, args []any) {
	if On(l) {
		write(fmt.Sprintf(format, args...))
	}
}

// Errorf says that something failed which the program may not report itself.
func Errorf(format string, args ...any) { logf(Error, format, args) }

// Warnf says that something works otherwise than the user may expect.
func Warnf(format string, args ...any) { logf(Warn, format, args) }

// Infof says what was chosen.
func Infof(format string, args ...any) { logf(Info, format, args) }

// Debugf says what happens.
func Debugf(format string, args ...any) { logf(Debug, format, args) }

// Once is Warnf the first time for this key, and silence after.
func Once(key, format string, args ...any) {
	if _, said := seen.LoadOrStore(key, true); !said {
		Warnf(format, args...)
	}
}
