// Package llvm turns LLVM's textual IR into objects with the libLLVM (19 or newer) of the machine. The library is
// loaded by dlopen, at the first use, in the compiler process only: a program that uses Kudzu never has it in its
// address space. Text goes in and an object comes out, so nothing of LLVM's C++ or its in-memory IR leaves the room.
//
// Mistakes in the text come back as *Error with LLVM's own messages. LLVM's fatal errors (a bug in a back end, no
// memory) end the process: that is why it is a process of its own, and the client starts another.
package llvm

import (
	"fmt"
	"strings"

	"kudzu/internal/llvm/release"
)

// Options say what to compile for.
type Options struct {
	Triple   string // "" is the machine we run on
	CPU      string // LLVM's name; "" is the machine we run on, when Triple is "" too
	Features string // LLVM's list, "+avx2,-fma"; goes with CPU
	Passes   string // a pass pipeline in LLVM's notation; "" runs none
	OptLevel int    // of the code generator, 0 … 3
}

// Error is text that LLVM did not accept, or could not compile.
type Error struct {
	Stage    string   // "parse", "verify", "target", "passes", "codegen"
	Messages []string // LLVM's, those with a position as "line:column: text"
}

// Error is all messages, one a line.
func (e *Error) Error() string {
	return fmt.Sprintf("LLVM %s: %s", e.Stage, strings.Join(e.Messages, "\n"))
}

// NotFound is a machine without a usable libLLVM.
type NotFound struct {
	Tried []string // what was tried, with the reason each failed
}

// Error says what to install.
func (e *NotFound) Error() string {
	return fmt.Sprintf("no libLLVM %d or newer: install it (Debian, Ubuntu: apt install libllvm%d; Fedora: dnf install llvm-libs) "+
		"or name the file in KUDZU_LLVM; tried %s", release.Oldest, release.Oldest, strings.Join(e.Tried, "; "))
}

// Compile gives the relocatable ELF object of the module in ir: position independent, small code model.
func (l *Lib) Compile(ir string, opts Options) ([]byte, error) {
	return l.generate(ir, opts, fileObject)
}

// Assembly is Compile, but gives the assembler text.
func (l *Lib) Assembly(ir string, opts Options) (string, error) {
	b, err := l.generate(ir, opts, fileAssembly)
	return string(b), err
}

// Optimised gives the module's text after opts.Passes.
func (l *Lib) Optimised(ir string, opts Options) (string, error) {
	b, err := l.generate(ir, opts, fileText)
	return string(b), err
}

// Version is the library's, as "19.1.7".
func (l *Lib) Version() string { return fmt.Sprintf("%d.%d.%d", l.major, l.minor, l.patch) }

// Tested reports a version that the suite passes on; any other was never tried.
func (l *Lib) Tested() bool { return release.IsTested(int(l.major)) }

// Path is the name the library was opened by.
func (l *Lib) Path() string { return l.path }

// Host is the machine we run on in LLVM's words.
func (l *Lib) Host() (triple, cpu, features string) { return l.triple, l.cpu, l.features }

// withHost fills in the machine we run on where opts leaves it open.
func (l *Lib) withHost(o Options) Options {
	if o.Triple == "" {
		o.Triple = l.triple
		if o.CPU == "" {
			o.CPU = l.cpu
			if o.Features == "" {
				o.Features = l.features
			}
		}
	}
	return o
}
