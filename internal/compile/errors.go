package compile

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// PTXError is invalid PTX: every mistake found, with positions, as the log of a module load shows them.
type PTXError struct {
	List []string
}

// Error is the whole list.
func (e *PTXError) Error() string { return strings.Join(e.List, "\n") }

// IRError is NVVM IR that is not taken, as libNVVM's log shows it.
type IRError struct {
	Log     string
	Version bool // it is of another version of NVVM IR
}

// Error is the log.
func (e *IRError) Error() string { return e.Log }

// Unsupported is valid PTX that the compiler cannot do; the interpreter may.
type Unsupported struct {
	What string // "tcgen05.mma"
	Line int    // of Request.PTX, 0 if unknown
}

// Error names instruction and line.
func (e *Unsupported) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("PTX line %d: %s is not supported", e.Line, e.What)
	}
	return e.What + " is not supported"
}

// Crash is a compiler process that died, twice, while it compiled this kernel, or once when its time was over.
type Crash struct {
	Kernel string
	Signal string        // "segmentation fault", "killed", "exit status 1", "timeout"
	Detail string        // the last lines it printed
	Once   bool          `json:",omitempty"` // it was not tried again
	Spent  time.Duration `json:",omitempty"` // processor time of those that died
}

// Error says how.
func (e *Crash) Error() string {
	s := fmt.Sprintf("kernel %s: the compiler process ended with %s", e.Kernel, e.Signal)
	if !e.Once {
		s += ", and so did a second one"
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// NoCompiler is a machine on which nothing can be compiled: no libLLVM, no kudzu program. Callers interpret instead.
type NoCompiler struct {
	Why string
}

// Error says why, and what to do.
func (e *NoCompiler) Error() string { return "no compiler: " + e.Why }

// Failed is a mistake of ours: a stage that rejects what the stage before made.
type Failed struct {
	Stage string
	Text  string
}

// Error names the stage.
func (e *Failed) Error() string { return fmt.Sprintf("compiler, %s: %s", e.Stage, e.Text) }

// wireError carries one of the above through a pipe: exactly one field is set.
type wireError struct {
	PTX         *PTXError
	IR          *IRError
	CUDA        *CUDAError
	Unsupported *Unsupported
	Crash       *Crash
	NoCompiler  *NoCompiler
	Failed      *Failed
}

// toWire packs an error; one that is none of ours is a Failed.
func toWire(err error) *wireError {
	if err == nil {
		return nil
	}
	var w wireError
	switch {
	case errors.As(err, &w.PTX), errors.As(err, &w.IR), errors.As(err, &w.CUDA), errors.As(err, &w.Unsupported), errors.As(err, &w.Crash), errors.As(err, &w.NoCompiler), errors.As(err, &w.Failed):
	default:
		w.Failed = &Failed{Stage: "compile", Text: err.Error()}
	}
	return &w
}

// unwrap is toWire's inverse.
func (w *wireError) unwrap() error {
	switch {
	case w == nil:
		return nil
	case w.PTX != nil:
		return w.PTX
	case w.IR != nil:
		return w.IR
	case w.CUDA != nil:
		return w.CUDA
	case w.Unsupported != nil:
		return w.Unsupported
	case w.Crash != nil:
		return w.Crash
	case w.NoCompiler != nil:
		return w.NoCompiler
	case w.Failed != nil:
		return w.Failed
	default:
		return &Failed{Stage: "protocol", Text: "an error without a kind"}
	}
}
