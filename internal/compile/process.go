package compile

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"kudzu/internal/config"
	"kudzu/internal/lockrank"

	"golang.org/x/sys/unix"
)

// process is a running compiler process: requests go in, answers come back in any order.
type process struct {
	pid  int
	conn *conn
	died chan struct{}

	write lockrank.Mutex[lockrank.CompileWrite] // frames go in whole

	mu      lockrank.Mutex[lockrank.CompileProcess]
	next    uint32                  // guarded by mu
	pending map[uint32]chan<- Frame // guarded by mu; nil once the process is gone
}

// errDied is a request whose process went away before it answered.
var errDied = errors.New("compiler process died")

// errStillborn is a process that went away before it said that it is there, or whose socket the program closed by then.
var errStillborn = errors.New("it ended before its greeting")

// births is how often one is started that ends so: killed, or without memory just then. The pause doubles each time.
const (
	births     = 3
	birthPause = 20 * time.Millisecond
)

// helloTimeout bounds how long a process may take to say that it is there.
const helloTimeout = 20 * time.Second

// ask has a request compiled. A process that dies takes its requests with it; each is asked once more of a new one.
func (c *Client) ask(req *Request) (*Result, error) {
	if no := c.without(req); no != nil {
		return nil, no
	}
	for attempt := 0; ; attempt++ {
		p, err := c.process()
		if err != nil {
			return nil, err
		}
		f, err := p.ask(req, c.cfg.Timeout)
		if err == nil {
			r, failure, broken := DecodeAnswer(f)
			if broken == nil {
				c.note(req, failure)
				return r, failure
			}
			err = broken
		}
		if !errors.Is(err, errDied) && !errors.Is(err, ErrGarbage) {
			return nil, &Failed{Stage: "request", Text: err.Error()}
		}
		p.close()
		c.forget(p)
		c.cfg.Log(fmt.Sprintf("kernel %s: %v (process %d, attempt %d)", req.Kernel, err, p.pid, attempt+1))
		if attempt > 0 {
			return nil, &Crash{Kernel: req.Kernel, Signal: "a closed pipe", Detail: err.Error()}
		}
	}
}

// note remembers that requests like req have no compiler: a machine without libLLVM does not grow one.
func (c *Client) note(req *Request, err error) {
	var no *NoCompiler
	if !errors.As(err, &no) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if req.needsLLVM() {
		c.noLLVM = no
	} else {
		c.missing = no
	}
}

// without says why nobody can do req, as far as it is known.
func (c *Client) without(req *Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noLLVM != nil && req.needsLLVM() {
		return c.noLLVM
	}
	return nil
}

// process gives the running compiler process, or starts it.
func (c *Client) process() (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.closed:
			return nil, &NoCompiler{Why: "the client is closed"}
		case c.missing != nil:
			return nil, c.missing
		case c.proc != nil:
			return c.proc, nil
		case len(c.cfg.Command) == 0:
			return nil, &NoCompiler{Why: "no compiler program is configured"}
		}
		under := c.starting
		if under == nil {
			break
		}
		c.mu.Unlock()
		<-under
		c.mu.Lock()
	}
	// The lock is not held while the process comes up: that takes as long as the process likes.
	under := make(chan struct{})
	c.starting = under
	c.mu.Unlock()
	p, err := c.start()
	for n := 1; n < births && errors.Is(err, errStillborn); n++ {
		c.cfg.Log(fmt.Sprintf("compiler process: %v (attempt %d)", err, n))
		time.Sleep(birthPause << n)
		p, err = c.start()
	}
	c.mu.Lock()
	c.starting = nil
	close(under)
	if err == nil && c.closed {
		p.close()
		return nil, &NoCompiler{Why: "the client is closed"}
	}
	if err != nil {
		no := &NoCompiler{Why: fmt.Sprintf("%s cannot be started as the compiler: %v; the kudzu program belongs there, or name it in KUDZU_COMPILER", c.cfg.Command[0], err)}
		if !passing(err) {
			c.missing = no
		}
		return nil, no
	}
	c.proc = p
	c.cfg.Log(fmt.Sprintf("compiler process %d: %s", p.pid, strings.Join(c.cfg.Command, " ")))
	return p, nil
}

// passing reports a failure that says nothing about the next try: the host is out of files, processes or memory just now, or
// has closed files that it did not open.
func passing(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, errLost} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// forget drops a dead process, unless another took its place.
func (c *Client) forget(p *process) {
	c.mu.Lock()
	if c.proc == p {
		c.proc = nil
	}
	c.mu.Unlock()
}

// Start starts the compiler process ahead of its first request, in the background: a module was loaded whose kernels
// are not all cached.
func (c *Client) Start() {
	go func() { _, _ = c.process() }() // who compiles hears the error
}

// Close ends the compiler process. Requests under way fail.
func (c *Client) Close() {
	c.mu.Lock()
	p, early := c.proc, c.early
	c.proc, c.early, c.closed = nil, nil, true
	c.mu.Unlock()
	if early != nil {
		unix.Close(early.fd)
	}
	if p != nil {
		p.close()
	}
}

// start spawns the process and waits for its hello. One at a time.
func (c *Client) start() (*process, error) {
	env := c.cfg.Env
	if env == nil {
		env = config.ForCompiler()
	}
	if c.cfg.Jobs > 0 {
		env = append(env[:len(env):len(env)], fmt.Sprintf(config.CompilerJobs+"=%d", c.cfg.Jobs))
	}
	c.mu.Lock()
	early := c.early
	c.early = nil
	c.mu.Unlock()
	pid, conn, err := early.take()
	if conn == nil {
		pid, conn, err = spawn(c.cfg.Command, env)
	}
	if err != nil {
		return nil, err
	}
	p := &process{pid: pid, conn: conn, died: make(chan struct{}), pending: map[uint32]chan<- Frame{}}
	if err := p.hello(); err != nil {
		p.conn.Close()
		return nil, err
	}
	go p.read()
	return p, nil
}

func (p *process) hello() error {
	if err := p.conn.SetReadDeadline(time.Now().Add(helloTimeout)); err != nil {
		return err
	}
	f, err := ReadFrame(p.conn)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, errLost) {
			return fmt.Errorf("%w: %w", errStillborn, err)
		}
		return fmt.Errorf("no greeting from the compiler process: %w", err)
	}
	h, err := DecodeHello(f)
	if err != nil {
		return err
	}
	if h.NoCompiler != nil {
		return errors.New(h.NoCompiler.Why)
	}
	return p.conn.SetReadDeadline(time.Time{})
}

// read hands answers to those who wait, until the pipe ends or speaks nonsense.
func (p *process) read() {
	for {
		f, err := ReadFrame(p.conn)
		if err != nil {
			break
		}
		p.mu.Lock()
		ch := p.pending[f.ID]
		delete(p.pending, f.ID)
		p.mu.Unlock()
		if ch != nil {
			ch <- f // has room for the one answer
		}
	}
	p.mu.Lock()
	p.pending = nil
	p.mu.Unlock()
	close(p.died)
	p.conn.Close()
}

// ask sends one request and waits for its answer. The compiler process enforces the time limit itself, twice for two
// attempts; here it only bounds a process that answers nothing at all.
func (p *process) ask(req *Request, timeout time.Duration) (Frame, error) {
	answer := make(chan Frame, 1)
	p.mu.Lock()
	if p.pending == nil {
		p.mu.Unlock()
		return Frame{}, errDied
	}
	p.next++
	id := p.next
	p.pending[id] = answer
	p.mu.Unlock()
	f, err := EncodeRequest(id, req, timeout.Milliseconds())
	if err != nil {
		return Frame{}, err
	}
	p.write.Lock()
	err = WriteFrame(p.conn, f)
	p.write.Unlock()
	if err != nil {
		return Frame{}, fmt.Errorf("%w: %w", errDied, err)
	}
	limit := time.NewTimer(3*timeout + helloTimeout)
	defer limit.Stop()
	select {
	case f := <-answer:
		return f, nil
	case <-p.died:
		select {
		case f := <-answer: // it came before the end
			return f, nil
		default:
			return Frame{}, errDied
		}
	case <-limit.C:
		return Frame{}, fmt.Errorf("%w: no answer in %v", errDied, 3*timeout)
	}
}

// close ends the process: it exits when its input does.
func (p *process) close() { p.conn.Close() }
