package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/quota"
)

// child is a worker as its supervisor sees it.
type child struct {
	cmd     *exec.Cmd
	in, out *os.File
	printed *tail
	used    time.Time
	worked  time.Duration // before its last request
}

// startTimeout bounds loading libLLVM, which a slow disk can make long.
const startTimeout = time.Minute

// errTimeout is a worker that took too long and was killed.
var errTimeout = errors.New("timeout")

// startChild starts a worker and waits until it is ready. The error is
// *compile.NoCompiler if it never will be, *stillborn if it died.
func startChild(command []string, confined, yields bool) (*child, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, err
	}
	c := &child{cmd: exec.Command(command[0], command[1:]...), in: inW, out: outR, printed: &tail{}}
	c.cmd.ExtraFiles = []*os.File{inR, outW} // 3 and 4
	c.cmd.Stdout, c.cmd.Stderr = c.printed, c.printed
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: yields}
	if err = c.start(confined, yields); err == nil {
		preferred(strconv.Itoa(c.cmd.Process.Pid))
		if yields {
			yielding(strconv.Itoa(c.cmd.Process.Pid))
		}
	}
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, &compile.NoCompiler{Why: err.Error()}
	}
	_ = c.out.SetReadDeadline(time.Now().Add(startTimeout)) // a pipe has deadlines
	if err := greeting(c.out); err != nil {
		var no *compile.NoCompiler
		if errors.As(err, &no) {
			c.end()
			return nil, no
		}
		death := c.autopsy(err)
		return nil, &stillborn{&compile.NoCompiler{Why: strings.TrimSuffix(fmt.Sprintf("the worker ended with %s: %s", death.Signal, death.Detail), ": ")}}
	}
	return c, nil
}

// backgroundNice gives who compiles in the background a quarter of a processor that a program wants, too. Less would be less fair to it:
// the sooner the optimised code is there, the sooner it gains.
const backgroundNice = 5

// yield makes this thread nicer, and the process that it starts.
func yield() {
	const zero = 20 // the kernel's call gives 20 for nice 0, and less for more
	if raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, min(zero-raw+backgroundNice, 19)) // only advice
	}
}

// yielding says the same for the session of a worker, where the system shares processors among sessions first.
func yielding(pid string) {
	_ = os.WriteFile("/proc/"+pid+"/autogroup", []byte(strconv.Itoa(backgroundNice)), 0o600) // only advice
}

// start starts the process: by a thread of its own that gives up what a worker is not to have, and ends.
func (c *child) start(confined, yields bool) error {
	if !confined && !yields {
		return c.cmd.Start()
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if yields {
			yield()
		}
		if confined {
			confineThread()
		}
		started <- c.cmd.Start()
	}()
	return <-started
}

// stillborn is a worker that died before it was ready. Another may live: the first may have been killed from outside.
type stillborn struct{ *compile.NoCompiler }

// Unwrap says what it means if it happens again.
func (e *stillborn) Unwrap() error { return e.NoCompiler }

// ask has one request compiled. After an error the worker is of no more use. A worker that got little of the processor, as one that
// compiles behind a busy program does, has up to three times as long.
func (c *child) ask(f compile.Frame, timeout time.Duration) (compile.Frame, error) {
	_ = c.in.SetWriteDeadline(time.Now().Add(timeout)) // pipes have deadlines
	_ = c.out.SetReadDeadline(time.Now().Add(3 * timeout))
	c.worked = workTime(c.cmd.Process.Pid)
	late := time.NewTicker(timeout)
	defer late.Stop()
	done, ended := make(chan struct{}), make(chan struct{})
	defer func() { // nobody sets the deadline of the next request
		close(done)
		<-ended
	}()
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-late.C:
				if !hungry(workTime(c.cmd.Process.Pid)-c.worked, timeout) {
					_ = c.out.SetReadDeadline(time.Now())
					return
				}
			}
		}
	}()
	if err := compile.WriteFrame(c.in, f); err != nil {
		return compile.Frame{}, inTime(err)
	}
	a, err := compile.ReadFrame(c.out)
	switch {
	case err != nil:
		return compile.Frame{}, inTime(err)
	case a.Kind != compile.FrameAnswer || a.ID != f.ID:
		return compile.Frame{}, compile.ErrGarbage
	}
	return a, nil
}

// hungry says whether a worker that used so much processor time may go on after its time.
func hungry(used, timeout time.Duration) bool { return !hangs(used, timeout) && used < timeout/2 }

// hangs reports a worker that used next to nothing.
func hangs(used, timeout time.Duration) bool { return used < timeout/50 }

// interrupt ends the request under way as if its time were over.
func (c *child) interrupt() { _ = c.out.SetReadDeadline(time.Now()) }

// workTime is how long a process has computed; 0 if nothing says so.
func workTime(pid int) time.Duration {
	p, _ := quota.Own.Process(pid)
	return p.Worked
}

func inTime(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errTimeout
	}
	return err
}

// end lets a healthy worker go.
func (c *child) end() {
	c.in.Close()
	c.out.Close()
	go func() { _ = c.cmd.Wait() }() // its status says nothing
}

// autopsy makes sure that a worker is dead and says how it died. why is what was noticed first.
func (c *child) autopsy(why error) *compile.Crash {
	c.in.Close()
	exited := make(chan struct{})
	go func() {
		_ = c.cmd.Wait() // the state is read below
		close(exited)
	}()
	grace := 2 * time.Second // a process whose pipe closed is about to be gone
	if errors.Is(why, errTimeout) || errors.Is(why, compile.ErrGarbage) {
		grace = 0
	}
	select {
	case <-exited:
	case <-time.After(grace):
		_ = c.cmd.Process.Kill() // it may just have ended
		<-exited
	}
	c.out.Close()
	crash := &compile.Crash{Signal: cause(c.cmd.ProcessState, c.printed.String()), Detail: c.printed.reason()}
	if st := c.cmd.ProcessState; st != nil {
		crash.Spent = st.UserTime() + st.SystemTime() - c.worked
	}
	if starved(c.cmd.ProcessState, memoryLimit()) && !strings.Contains(crash.Detail, "out of memory") {
		crash.Detail = "out of memory: " + crash.Detail
	}
	switch {
	case errors.Is(why, errTimeout):
		crash.Signal = "timeout"
	case errors.Is(why, compile.ErrGarbage):
		crash.Signal = why.Error()
	}
	return crash
}

// starved reports a process that ended with nearly all the memory it was allowed. Neither LLVM nor Go's collector, whose own
// structures need memory too, always says so: either may fault instead.
func starved(st *os.ProcessState, limit uint64) bool {
	if st == nil || limit == 0 {
		return false
	}
	use, ok := st.SysUsage().(*syscall.Rusage)
	return ok && uint64(use.Maxrss)<<10 > limit/8*7
}

var goSignal = regexp.MustCompile(`(?m)^(?:\[signal )?(SIG[A-Z]+): `)

// cause names the signal that ended a process. Go's runtime catches those of faults in C code, prints them and exits
// with status 2, so what it printed is consulted.
func cause(st *os.ProcessState, printed string) string {
	if st == nil {
		return "an unknown state"
	}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	if m := goSignal.FindStringSubmatch(printed); m != nil && st.ExitCode() == 2 {
		for _, s := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGILL, syscall.SIGFPE, syscall.SIGTRAP} {
			if signalNames[s] == m[1] {
				return s.String()
			}
		}
		return m[1]
	}
	return fmt.Sprintf("exit status %d", st.ExitCode())
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGSEGV: "SIGSEGV", syscall.SIGBUS: "SIGBUS", syscall.SIGABRT: "SIGABRT", syscall.SIGILL: "SIGILL", syscall.SIGFPE: "SIGFPE", syscall.SIGTRAP: "SIGTRAP",
}

// tail keeps the beginning and the end of what a worker prints: the beginning of a Go traceback says why, and so does
// the end of LLVM's.
type tail struct {
	mu   sync.Mutex
	head []byte
	rest []byte
}

const tailSize = 4096

// Write never fails and never blocks the worker.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := p
	if room := tailSize - len(t.head); room > 0 {
		n := min(room, len(q))
		t.head, q = append(t.head, q[:n]...), q[n:]
	}
	t.rest = append(t.rest, q...)
	if len(t.rest) > tailSize {
		t.rest = append([]byte(nil), t.rest[len(t.rest)-tailSize:]...)
	}
	return len(p), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.head) + string(t.rest)
}

// reason picks the line that says why, or the last one.
func (t *tail) reason() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	for _, mark := range []string{"LLVM ERROR", "Assertion", "out of memory", "runtime: goroutine stack exceeds", "panic:", "kudzu compiler:"} {
		for _, l := range lines {
			if strings.Contains(l, mark) {
				return strings.TrimSpace(l)
			}
		}
	}
	for _, l := range lines {
		if goSignal.MatchString(l) {
			return strings.TrimSpace(l)
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
