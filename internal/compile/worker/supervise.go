package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/config"
)

// How long things stay that nobody uses: a worker has about 100 MB.
const (
	workerIdle     = time.Minute
	supervisorIdle = 10 * time.Minute // the client starts another when it needs one
)

// supervisor hands requests to workers and their answers back.
type supervisor struct {
	full  *pool    // of workers with libLLVM
	quick *pool    // of workers without: facts and baseline code, for which a program waits
	quit  chan int // exit status, when we are done

	workerIdle time.Duration
	idleLimit  atomic.Int64 // nanoseconds without a request after which we end

	write sync.Mutex
	out   io.Writer // guarded by write
}

// newSupervisor starts workers with command and their kind.
func newSupervisor(command []string, confined bool, out io.Writer) *supervisor {
	of := func(kind ...string) *pool {
		return newPool(slices.Concat(command, []string{"worker"}, kind), confined, jobs())
	}
	s := &supervisor{full: of(), quick: of(kindBaseline), out: out, quit: make(chan int, 1), workerIdle: workerIdle}
	s.idleLimit.Store(int64(supervisorIdle))
	return s
}

// jobs is how many compilations may run at a time.
func jobs() int {
	if n, err := strconv.Atoi(config.Get(config.CompilerJobs)); err == nil && n > 0 {
		return min(n, 64)
	}
	return min(max(runtime.NumCPU(), 1), 8)
}

// run serves until the input ends. Workers end when we do, because their pipes do.
func (s *supervisor) run(in io.Reader) int {
	hello, err := compile.EncodeHello(compile.Hello{})
	if err == nil {
		err = compile.WriteFrame(s.out, hello)
	}
	if err != nil {
		return 1
	}
	s.quick.warm()
	s.full.warm()
	go s.tidy()
	go s.read(in)
	return <-s.quit
}

// read takes requests until there are no more.
func (s *supervisor) read(in io.Reader) {
	for {
		f, err := compile.ReadFrame(in)
		if errors.Is(err, io.EOF) {
			s.stop(0)
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "kudzu compiler:", err)
			s.stop(1)
			return
		}
		go s.handle(f)
	}
}

// stop ends run; the first reason counts.
func (s *supervisor) stop(status int) {
	select {
	case s.quit <- status:
	default:
	}
}

// leaveDirectory keeps no file system of the host's busy.
func leaveDirectory() {
	if p := config.Get(config.LLVM); p != "" && filepath.Base(p) != p {
		if abs, err := filepath.Abs(p); err == nil {
			_ = os.Setenv(config.LLVM, abs) // the name is valid
		}
	}
	_ = os.Chdir("/") // if not, not
}

// tidy retires workers, and in the end ourselves.
func (s *supervisor) tidy() {
	for range time.Tick(s.workerIdle / 4) {
		finished := true
		for _, p := range []*pool{s.full, s.quick} {
			last, busy := p.tidy(s.workerIdle)
			finished = finished && !busy && int64(time.Since(last)) > s.idleLimit.Load()
		}
		if finished {
			s.stop(0)
			return
		}
	}
}

// handle answers one request.
func (s *supervisor) handle(f compile.Frame) {
	a := s.answer(f)
	s.write.Lock()
	err := compile.WriteFrame(s.out, a)
	s.write.Unlock()
	if err != nil {
		s.stop(0) // the client is gone
	}
}

func (s *supervisor) answer(f compile.Frame) compile.Frame {
	req, timeoutMS, err := compile.DecodeRequest(compile.Frame{Kind: f.Kind, Head: f.Head})
	if err != nil {
		return failure(f.ID, err)
	}
	timeout := time.Duration(timeoutMS) * time.Millisecond
	if timeout <= 0 {
		timeout = time.Hour
	}
	p := s.full
	if req.FactsOnly || req.Options.Tier == compile.Baseline {
		p = s.quick
	}
	p.slots <- struct{}{}
	defer func() { <-p.slots }()
	return p.compile(f, req.Kernel, timeout)
}

// failure is the answer that says err.
func failure(id uint32, err error) compile.Frame {
	f, e := compile.EncodeAnswer(id, nil, err)
	if e != nil {
		// Strings and numbers always encode.
		panic("BUG: " + e.Error())
	}
	return f
}

// greeting reads a worker's hello.
func greeting(r io.Reader) error {
	f, err := compile.ReadFrame(r)
	if err != nil {
		return err
	}
	h, err := compile.DecodeHello(f)
	if err != nil {
		return err
	}
	if h.NoCompiler != nil {
		return h.NoCompiler
	}
	return nil
}
