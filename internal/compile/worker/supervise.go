package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
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
	command  []string
	confined bool
	slots    chan struct{} // a token for each compilation at a time
	quick    chan struct{} // and for each question about a text: a program waits for these, not for the compilations it has begun
	quit     chan int      // exit status, when we are done

	workerIdle, idleLimit time.Duration

	write sync.Mutex
	out   io.Writer // guarded by write

	mu   sync.Mutex
	idle []*child  // the most recently used last; guarded by mu
	busy int       // guarded by mu
	last time.Time // when something happened last; guarded by mu

	first chan started // the worker begun at our start, until someone claims it; guarded by mu
}

// started is a worker, or why there is none.
type started struct {
	c   *child
	err error
}

func newSupervisor(command []string, out io.Writer) *supervisor {
	return &supervisor{
		command: command, out: out, slots: make(chan struct{}, jobs()), quick: make(chan struct{}, 1), quit: make(chan int, 1), last: time.Now(),
		workerIdle: workerIdle, idleLimit: supervisorIdle,
	}
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
	s.warm()
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

// warm begins to start a worker, so that it is ready when the first request has arrived.
func (s *supervisor) warm() {
	ch := make(chan started, 1)
	s.mu.Lock()
	s.first = ch
	s.mu.Unlock()
	go func() {
		c, err := startChild(s.command, s.confined)
		ch <- started{c, err}
	}()
}

// tidy retires workers, and in the end ourselves.
func (s *supervisor) tidy() {
	for range time.Tick(s.workerIdle / 4) {
		s.mu.Lock()
		select {
		case w := <-s.first: // nobody asked for anything yet
			s.first = nil
			if w.err == nil {
				w.c.used = time.Now()
				s.idle = append(s.idle, w.c)
			}
		default:
		}
		var keep, retire []*child
		for _, c := range s.idle {
			if time.Since(c.used) > s.workerIdle {
				retire = append(retire, c)
			} else {
				keep = append(keep, c)
			}
		}
		s.idle = keep
		finished := s.busy == 0 && time.Since(s.last) > s.idleLimit
		s.mu.Unlock()
		for _, c := range retire {
			c.end()
		}
		if finished {
			s.stop(0)
			return
		}
	}
}

// take gives an idle worker or a new one.
func (s *supervisor) take() (*child, error) {
	s.mu.Lock()
	s.busy++
	s.last = time.Now()
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	ch := s.first
	s.first = nil
	s.mu.Unlock()
	var w started
	if ch != nil {
		w = <-ch
	} else {
		w.c, w.err = startChild(s.command, s.confined)
	}
	var died *stillborn
	if errors.As(w.err, &died) {
		w.c, w.err = startChild(s.command, s.confined)
	}
	if w.err != nil {
		s.release()
	}
	return w.c, w.err
}

func (s *supervisor) release() {
	s.mu.Lock()
	s.busy--
	s.last = time.Now()
	s.mu.Unlock()
}

// give takes a worker back.
func (s *supervisor) give(c *child) {
	s.mu.Lock()
	s.busy--
	s.last = time.Now()
	c.used = s.last
	s.idle = append(s.idle, c)
	s.mu.Unlock()
}

// handle answers one request: by a worker, by a second one if the first dies, by an error.
func (s *supervisor) handle(f compile.Frame) {
	slots := s.slots
	if req, _, err := compile.DecodeRequest(compile.Frame{Kind: f.Kind, Head: f.Head}); err == nil && req.FactsOnly {
		slots = s.quick
	}
	slots <- struct{}{}
	a := s.compile(f)
	<-slots
	s.write.Lock()
	err := compile.WriteFrame(s.out, a)
	s.write.Unlock()
	if err != nil {
		s.stop(0) // the client is gone
	}
}

func (s *supervisor) compile(f compile.Frame) compile.Frame {
	req, timeoutMS, err := compile.DecodeRequest(compile.Frame{Kind: f.Kind, Head: f.Head})
	if err != nil {
		return failure(f.ID, err)
	}
	timeout := time.Duration(timeoutMS) * time.Millisecond
	if timeout <= 0 {
		timeout = time.Hour
	}
	var death *compile.Crash
	for range 2 {
		c, err := s.take()
		if err != nil {
			return failure(f.ID, err)
		}
		a, err := c.ask(f, timeout)
		if err == nil {
			s.give(c)
			return a
		}
		death = c.autopsy(err)
		death.Kernel = req.Kernel
		s.release()
	}
	return failure(f.ID, death)
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
