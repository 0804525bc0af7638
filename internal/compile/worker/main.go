// Package worker is the compiler process: a supervisor that the client starts (package compile), and the workers that
// the supervisor starts: with libLLVM, or without for what needs none. Two processes, because a worker's death must be told apart (which
// signal, what it printed) and only its parent can, and because the program we serve must have no children.
package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/quota"

	"golang.org/x/sys/unix"
)

// compiler compiles one request; tests put others in its place.
type compiler func(*compile.Request) (*compile.Result, error)

// The worker's files, beside the standard ones that anything in libLLVM may print to.
const (
	workerIn  = 3
	workerOut = 4
)

// kindBaseline is the argument of workers without libLLVM: they start faster, and start where there is none.
const kindBaseline = "baseline"

// Main runs `kudzu compiler`: without arguments the supervisor, with "with" and a clang that waits (c/base/early.c) the supervisor, too,
// with "worker" a worker, until standard input ends. args
// are the arguments after the verb; what stands before them in os.Args starts this program again.
func Main(args []string) int {
	open := func(kind string) (compiler, compile.Hello) {
		if kind == kindBaseline {
			return NewBaseline().Run, compile.Hello{}
		}
		p, err := New("")
		if err != nil {
			return nil, compile.Hello{NoCompiler: &compile.NoCompiler{Why: err.Error()}}
		}
		return p.Run, compile.Hello{LLVM: p.LLVM()}
	}
	return mainWith(args, true, open)
}

// mainWith is Main with another compiler; confined workers may do nothing but compile.
func mainWith(args []string, confined bool, open func(kind string) (compiler, compile.Hello)) int {
	switch {
	case len(args) == 0, len(args) == 2 && args[0] == "with":
		self, err := os.Executable()
		if err != nil {
			fmt.Fprintln(os.Stderr, "kudzu compiler:", err)
			return 1
		}
		leaveDirectory()
		command := append([]string{self}, os.Args[1:len(os.Args)-len(args)]...)
		debug.SetGCPercent(400) // a prelude of CUDA C++ alone is 3 MB
		s := newSupervisor(command, confined, os.Stdout)
		if len(args) == 2 {
			s.clangs.adopt(args[1], residentFile)
			s.warmDelay = earlyRequest
		}
		return s.run(os.Stdin)
	case args[0] == "worker" && (len(args) == 1 || len(args) == 2 && args[1] == kindBaseline):
		limitMemory()
		debug.SetGCPercent(400) // short work on small data: fewer collections
		return serve(os.NewFile(workerIn, "requests"), os.NewFile(workerOut, "answers"), func() (compiler, compile.Hello) {
			run, hello := open(strings.Join(args[1:], " "))
			if confined {
				confineProcess() // no text has been looked at yet
			}
			return run, hello
		})
	default:
		fmt.Fprintln(os.Stderr, "kudzu compiler: started by libkudzu.so, not by hand; to compile a file use kudzu compile")
		return 2
	}
}

// memoryLimit is the bytes that one worker may allocate: half of what this process may use, at most 16 GiB, or KUDZU_COMPILER_MEMORY in MiB;
// 0: not known.
func memoryLimit() uint64 {
	if n, err := strconv.ParseUint(config.Get(config.CompilerMemory), 10, 32); err == nil && n > 0 {
		return n << 20
	}
	return min(quota.Own.Memory()/2, 16<<30)
}

// limitMemory bounds what this process may allocate. A text made to explode then ends its compilation and not the machine.
func limitMemory() {
	if limit := memoryLimit(); limit > 0 {
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}) // a lower limit that is set stays
	}
}

// serve answers requests one after the other. The end of the input ends the process at once, in the middle of a
// compilation too: nobody waits for it.
func serve(in io.Reader, out io.Writer, open func() (compiler, compile.Hello)) int {
	requests := make(chan compile.Frame)
	var first sync.Once
	go func() {
		for {
			f, err := compile.ReadFrame(in)
			if err != nil {
				code := 0
				if !errors.Is(err, io.EOF) {
					fmt.Fprintln(os.Stderr, "kudzu compiler:", err)
					code = 1
				}
				first.Do(func() { os.Exit(code) })
			}
			requests <- f
		}
	}()
	run, hello := open()
	f, err := compile.EncodeHello(hello)
	if err == nil {
		err = compile.WriteFrame(out, f)
	}
	for err == nil {
		err = answer(<-requests, out, run)
	}
	fmt.Fprintln(os.Stderr, "kudzu compiler:", err)
	return 1
}

func answer(f compile.Frame, out io.Writer, run compiler) error {
	req, _, err := compile.DecodeRequest(f)
	if err != nil {
		return err
	}
	r, failure := attempt(run, req)
	a, err := compile.EncodeAnswer(f.ID, r, failure)
	if err != nil {
		return err
	}
	return compile.WriteFrame(out, a)
}

// protect turns a panic, which is a BUG of ours, into an answer: the next kernel may be fine.
func protect(run compiler, req *compile.Request) (r *compile.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			buf := make([]byte, 4096)
			r, err = nil, &compile.Failed{Stage: "panic", Text: fmt.Sprintf("%v\n%s", p, buf[:runtime.Stack(buf, false)])}
		}
	}()
	if run == nil {
		return nil, &compile.NoCompiler{Why: "libLLVM is not loaded"}
	}
	return run(req)
}
