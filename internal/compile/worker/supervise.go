package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
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
	full   *pool    // of workers with libLLVM
	quick  *pool    // of workers without: facts and baseline code, for which a program waits
	behind *pool    // of workers with libLLVM, for what no program waits for
	clangs *clangs  // of clangs, for CUDA C++
	quit   chan int // exit status, when we are done

	warmFirst sync.Once   // starts the first worker of quick before the first request
	asked     atomic.Bool // a request has come

	warmDelay   time.Duration // how long the first worker waits for a request
	finishLimit time.Duration // how long we outlive our client

	unanswered sync.WaitGroup // requests of behind
	gone       atomic.Bool    // there is no client any more
	store      *compile.Store // of the last of them; read's

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
	s := &supervisor{full: of(), quick: of(kindBaseline), behind: of(), out: out, quit: make(chan int, 1), workerIdle: workerIdle, warmDelay: firstRequest, finishLimit: finishLimit}
	s.behind.yields = true
	s.clangs = newClangs(command[0], confined, jobs())
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
	signal.Ignore(syscall.SIGPIPE) // a client that is gone is no reason to end at once
	// A first request for clang has the processors for itself: it comes at once, if it is why we were started.
	time.AfterFunc(s.warmDelay, func() {
		if !s.asked.Load() {
			s.warmFirst.Do(s.quick.warm)
		}
	})
	if p, _ := compile.PolicyOf(config.Get(config.Tier)); p == compile.OptimisedOnly {
		s.full.warm()
	}
	go s.tidy()
	go s.read(in)
	status := <-s.quit
	s.clangs.close()
	return status
}

// read takes requests until there are no more.
func (s *supervisor) read(in io.Reader) {
	for {
		f, err := compile.ReadFrame(in)
		if errors.Is(err, io.EOF) {
			s.finish()
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "kudzu compiler:", err)
			s.stop(1)
			return
		}
		s.asked.Store(true)
		s.begin(f)
	}
}

// firstRequest is how long the request takes to come that the client has waiting for us.
const firstRequest = 3 * time.Millisecond

// earlyRequest is the same where the client's Go image has to be loaded first.
const earlyRequest = 200 * time.Millisecond

// finishLimit bounds how long we outlive our client, interruptLimit how long workers take to end after that.
const (
	finishLimit    = 2 * time.Minute
	interruptLimit = 5 * time.Second
)

// finish ends us when the client has ended: after what was begun in the background, whose code the next start of the program finds in
// the cache. Without that, a program that is done before its kernels are optimised would never have optimised code.
func (s *supervisor) finish() {
	s.gone.Store(true)
	if s.store == nil || !s.store.Finishing() {
		s.stop(0)
		return
	}
	done := make(chan struct{})
	go func() {
		s.unanswered.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(s.finishLimit):
		s.behind.interrupt() // the cache is told what it cost
		select {
		case <-done:
		case <-time.After(interruptLimit):
		}
	}
	s.stop(0)
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
		for _, p := range []interface {
			tidy(limit time.Duration) (last time.Time, busy bool)
		}{s.full, s.quick, s.behind, s.clangs} {
			last, busy := p.tidy(s.workerIdle)
			finished = finished && !busy && int64(time.Since(last)) > s.idleLimit.Load()
		}
		if finished {
			s.stop(0)
			return
		}
	}
}

// begin has one request answered.
func (s *supervisor) begin(f compile.Frame) {
	req, timeoutMS, err := compile.DecodeRequest(compile.Frame{Kind: f.Kind, Head: f.Head})
	if err != nil {
		go s.reply(failure(f.ID, err), nil)
		return
	}
	timeout := time.Duration(timeoutMS) * time.Millisecond
	if timeout <= 0 {
		timeout = time.Hour
	}
	if req.CUDA != nil {
		go func() {
			s.reply(s.clangs.answer(f, timeout), nil)
			if !s.gone.Load() {
				s.warmFirst.Do(s.quick.warm) // its code is run next
				s.clangs.prepare()
			}
		}()
		return
	}
	s.warmFirst.Do(s.quick.warm)
	p := s.full
	switch {
	case req.FactsOnly || req.Options.Tier == compile.Baseline:
		p = s.quick
	case req.Background:
		p = s.behind
		s.unanswered.Add(1)
		s.store = req.Store
	}
	go func() {
		p.slots <- struct{}{}
		if !s.gone.Load() { // nothing is begun for a client that is no more
			s.reply(p.compile(f, req.Kernel, timeout), req.Store)
		}
		<-p.slots
		if p == s.behind {
			s.unanswered.Done()
		}
	}()
}

// reply gives an answer to the client, or to the cache if the client is gone.
func (s *supervisor) reply(a compile.Frame, store *compile.Store) {
	if !s.gone.Load() {
		s.write.Lock()
		err := compile.WriteFrame(s.out, a)
		s.write.Unlock()
		if err == nil {
			return
		}
	}
	if store != nil {
		_ = store.Keep(a) // if not, it is compiled again
	}
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
