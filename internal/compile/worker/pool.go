package worker

import (
	"errors"
	"sync"
	"time"

	"kudzu/internal/compile"
)

// pool is the workers of one kind.
type pool struct {
	command  []string
	confined bool
	yields   bool          // its workers leave the processors to others
	slots    chan struct{} // a token for each request at a time

	mu   sync.Mutex
	idle []*child            // the most recently used last; guarded by mu
	busy int                 // guarded by mu
	last time.Time           // when something happened last; guarded by mu
	at   map[*child]struct{} // those that compile; guarded by mu
	over bool                // nothing is tried again; guarded by mu

	first chan started // the worker begun at our start, until someone claims it; guarded by mu
}

// started is a worker, or why there is none.
type started struct {
	c   *child
	err error
}

func newPool(command []string, confined bool, slots int) *pool {
	return &pool{command: command, confined: confined, slots: make(chan struct{}, slots), last: time.Now(), at: map[*child]struct{}{}}
}

// warm begins to start a worker, so that it is ready when the first request has arrived.
func (p *pool) warm() {
	ch := make(chan started, 1)
	p.mu.Lock()
	p.first = ch
	p.mu.Unlock()
	go func() {
		c, err := p.start()
		ch <- started{c, err}
	}()
}

func (p *pool) start() (*child, error) { return startChild(p.command, p.confined, p.yields) }

// tidy retires workers that nobody has used for so long, and gives when something happened last; busy means now.
func (p *pool) tidy(limit time.Duration) (last time.Time, busy bool) {
	p.mu.Lock()
	select {
	case w := <-p.first: // nobody asked for anything yet
		p.first = nil
		if w.err == nil {
			w.c.used = time.Now()
			p.idle = append(p.idle, w.c)
		}
	default:
	}
	var keep, retire []*child
	for _, c := range p.idle {
		if time.Since(c.used) > limit {
			retire = append(retire, c)
		} else {
			keep = append(keep, c)
		}
	}
	p.idle = keep
	last, busy = p.last, p.busy > 0
	p.mu.Unlock()
	for _, c := range retire {
		c.end()
	}
	return last, busy
}

// take gives an idle worker or a new one.
func (p *pool) take() (*child, error) {
	p.mu.Lock()
	p.busy++
	p.last = time.Now()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	ch := p.first
	p.first = nil
	p.mu.Unlock()
	var w started
	if ch != nil {
		w = <-ch
	} else {
		w.c, w.err = p.start()
	}
	var died *stillborn
	if errors.As(w.err, &died) {
		w.c, w.err = p.start()
	}
	if w.err != nil {
		p.release()
	}
	return w.c, w.err
}

// release ends a use whose worker is no more.
func (p *pool) release() {
	p.mu.Lock()
	p.busy--
	p.last = time.Now()
	p.mu.Unlock()
}

// give takes a worker back.
func (p *pool) give(c *child) {
	p.mu.Lock()
	p.busy--
	p.last = time.Now()
	c.used = p.last
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// ask has c compile. Its answer to a request that interrupt ends is a timeout.
func (p *pool) ask(c *child, f compile.Frame, timeout time.Duration) (compile.Frame, error) {
	p.mu.Lock()
	p.at[c] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.at, c)
		p.mu.Unlock()
	}()
	return c.ask(f, timeout)
}

// interrupt ends all that is compiled; each request has an answer soon.
func (p *pool) interrupt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for c := range p.at {
		c.interrupt()
	}
}

// again says whether a request that ended so is worth a second worker: not where the first one worked until its time was over.
func (p *pool) again(err error, spent, timeout time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.over && (!errors.Is(err, errTimeout) || hangs(spent, timeout))
}

// compile has one request done: by a worker, by a second one if the first dies, by an error.
func (p *pool) compile(f compile.Frame, kernel string, timeout time.Duration) compile.Frame {
	var death *compile.Crash
	var spent time.Duration
	for try := range 2 {
		c, err := p.take()
		if err != nil {
			return failure(f.ID, err)
		}
		a, err := p.ask(c, f, timeout)
		if err == nil {
			p.give(c)
			return a
		}
		death = c.autopsy(err)
		p.release()
		more := death.Spent
		spent += more
		death.Kernel, death.Spent, death.Once = kernel, spent, try == 0
		if !p.again(err, more, timeout) {
			break
		}
		f = afterDeath(f, death)
	}
	return failure(f.ID, death)
}
