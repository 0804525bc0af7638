package devices

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/config"
	"kudzu/internal/lockrank"
)

// progress is the line that a terminal shows while kernels compile, so that a program's first run, which may wait a
// minute for them, does not look hung. It is gone when they are done.
type progress struct {
	out   io.Writer
	delay time.Duration // until a compilation is worth a line
	every time.Duration

	mu      lockrank.Mutex[lockrank.Progress]
	busy    []*string     // names of the kernels under way; guarded by mu
	done    int           // kernels compiled; guarded by mu
	since   time.Time     // when busy became non-empty; guarded by mu
	spent   time.Duration // before that; guarded by mu
	shown   bool          // a line is on the terminal; guarded by mu
	running bool          // show is; guarded by mu
}

// newProgress gives one if standard error is a terminal or KUDZU_PROGRESS is 1, and none if it is 0.
func newProgress(out io.Writer, fd int) *progress {
	switch config.Get(config.Progress) {
	case "1":
	case "0":
		return nil
	default:
		if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
			return nil
		}
	}
	return &progress{out: out, delay: 500 * time.Millisecond, every: 250 * time.Millisecond}
}

// begin notes that a kernel compiles until the function it gives is called.
func (p *progress) begin(kernel string) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := &kernel
	if len(p.busy) == 0 {
		p.since = time.Now()
	}
	p.busy = append(p.busy, name)
	if !p.running {
		p.running = true
		go p.show()
	}
	return func() { p.end(name) }
}

func (p *progress) end(name *string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range p.busy {
		if b == name {
			p.busy = append(p.busy[:i], p.busy[i+1:]...)
			p.done++
			break
		}
	}
	if len(p.busy) == 0 {
		p.spent += time.Since(p.since)
		p.clear()
	}
}

// clear takes the line away. Preconditions: p.mu is held.
func (p *progress) clear() {
	if p.shown {
		_, _ = io.WriteString(p.out, "\r\x1b[K") // a terminal that is gone shows nothing
		p.shown = false
	}
}

// show writes the line again and again until nothing compiles any more.
func (p *progress) show() {
	time.Sleep(p.delay)
	for p.draw() {
		time.Sleep(p.every)
	}
}

// maxName keeps the line on one row of most terminals.
const maxName = 40

// plain is the name that the source of a C++ kernel has: `_Z9mul_mat_qIL9ggml_type12ELi128EEvPKc` is mul_mat_q<…>. Names in
// namespaces, and those that are not mangled, stay as they are.
func plain(name string) string {
	rest, ok := strings.CutPrefix(name, "_Z")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if !ok || digits == 0 {
		return name
	}
	n, err := strconv.Atoi(rest[:digits])
	if err != nil || n == 0 || n > len(rest)-digits {
		return name
	}
	short, rest := rest[digits:digits+n], rest[digits+n:]
	if strings.HasPrefix(rest, "I") {
		return short + "<…>"
	}
	return short
}

// draw writes the line; false if there is nothing under way.
func (p *progress) draw() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.busy) == 0 {
		p.running = false
		return false
	}
	name := plain(*p.busy[0])
	if len(name) > maxName {
		name = name[:maxName-1] + "…"
	}
	took := p.spent + time.Since(p.since)
	_, _ = fmt.Fprintf(p.out, "\r\x1b[Kkudzu: compiling kernel %d, %.0f s: %s", p.done+1, took.Seconds(), name)
	p.shown = true
	return true
}
