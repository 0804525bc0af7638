package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/compile"

	"golang.org/x/sys/unix"
)

// clang is a process of the compiler that reads CUDA C++. Half of its time goes into its start, so it is a fork of one that has started
// (resident.go), or where that is not possible is started ahead: it waits for its arguments, which it reads from a pipe as if they were
// a file (@file).
type clang struct {
	cmd     *exec.Cmd // nil if it is a fork
	turn    *turn     // nil if it is not
	pipes   []*os.File
	limits  []*limited // of what comes out of pipes
	args    *os.File   // the pipe's end
	deps    *os.File
	out     bytes.Buffer
	err     bytes.Buffer
	folders []string // what it may read
}

// The files of a clang beside the standard ones.
const (
	argsFile = "/dev/fd/3"
	depsFile = "/dev/fd/4"
)

// clangJob is what a compilation asks of its process.
type clangJob struct {
	folders []string // of the program's headers
	timeout time.Duration
	process *clang // one that was taken for it already, or nil
}

// clangOutput is what became of it.
type clangOutput struct {
	code   int
	cause  string
	stdout string
	stderr string
	deps   string
}

// last is the line that says most about a clang that died.
func (o *clangOutput) last() string {
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	for _, l := range lines {
		if strings.Contains(l, "LLVM ERROR") || strings.Contains(l, "error:") || strings.Contains(l, "Assertion") {
			return l
		}
	}
	return lines[len(lines)-1]
}

// maxClangOutput bounds what a clang may print.
const maxClangOutput = 1 << 30

// clang runs one compilation, in a process that waits for one if it may read the folders.
func (f *clangs) clang(job *clangJob, args []string) (*clangOutput, error) {
	c, err := job.process, error(nil)
	job.process = nil
	if c == nil {
		c, err = f.take(job.folders)
	}
	if err != nil {
		return nil, err
	}
	out, err := c.run(args, job.timeout)
	if errors.Is(err, errAlone) {
		if c, err = f.start(c.folders); err == nil {
			out, err = c.run(args, job.timeout)
		}
	}
	return out, err
}

// take gives a process that may read the folders.
func (f *clangs) take(folders []string) (*clang, error) {
	if r := f.waiting(); r != nil {
		if c, err := f.fork(r, folders); err == nil {
			return c, nil
		}
	}
	f.mu.Lock()
	c := f.ready
	f.ready = nil
	fits := true
	for _, dir := range folders {
		if !slices.Contains(f.folders, dir) {
			fits = false
			f.folders = append(f.folders, dir)
		}
	}
	may := slices.Clone(f.folders)
	f.mu.Unlock()
	if c != nil && fits {
		return c, nil
	}
	if c != nil {
		c.end()
	}
	return f.start(may)
}

// prepare starts the process of the next compilation. It ends by itself if nobody comes to use it: its pipe does.
func (f *clangs) prepare() {
	if f.waiting() != nil {
		return
	}
	f.mu.Lock()
	may, there := slices.Clone(f.folders), f.ready != nil
	f.mu.Unlock()
	if there {
		return
	}
	c, err := f.start(may)
	if err != nil {
		return // the next compilation says so
	}
	f.mu.Lock()
	if f.ready == nil {
		f.ready, c = c, nil
	}
	f.mu.Unlock()
	if c != nil {
		c.end()
	}
}

// fork has a resident make a process that may read the folders, and ours.
func (f *clangs) fork(r *resident, folders []string) (_ *clang, err error) {
	c := &clang{folders: folders}
	var theirs []*os.File
	defer func() {
		for _, file := range theirs {
			file.Close()
		}
		if err != nil {
			c.close()
		}
	}()
	for _, to := range []*bytes.Buffer{&c.out, &c.err} {
		w, err := c.collect(to, maxClangOutput)
		if err != nil {
			return nil, err
		}
		theirs = append(theirs, w)
	}
	argsR, argsW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirs, c.args = append(theirs, argsR), argsW
	depsR, depsW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirs, c.deps = append(theirs, depsW), depsR
	f.mu.Lock()
	work := f.work
	f.mu.Unlock()
	if c.turn, err = r.run(f.confined, forked(compile.Clang(), f.home, work, folders), theirs...); err != nil {
		return nil, err
	}
	for i, pipe := range c.pipes {
		c.turn.copied.Go(func() {
			_, _ = io.Copy(c.limits[i], pipe) // what came
			pipe.Close()
		})
	}
	return c, nil
}

// start starts a process that may read the folders, and ours.
func (f *clangs) start(folders []string) (*clang, error) {
	program := compile.Clang()
	argsR, argsW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer argsR.Close()
	depsR, depsW, err := os.Pipe()
	if err != nil {
		argsW.Close()
		return nil, err
	}
	defer depsW.Close()
	c := &clang{cmd: exec.Command(program, "-cc1", "@"+argsFile), args: argsW, deps: depsR, folders: folders}
	c.cmd.Env = []string{"LC_ALL=C"}
	c.cmd.Dir = "/"
	c.cmd.Stdout, c.cmd.Stderr = &limited{to: &c.out, left: maxClangOutput}, &limited{to: &c.err, left: maxClangOutput}
	c.cmd.ExtraFiles = []*os.File{argsR, depsW}
	f.mu.Lock()
	work := f.work
	f.mu.Unlock()
	if err := c.begin(f.confined, readable(program, f.home, work, folders)); err != nil {
		argsW.Close()
		depsR.Close()
		return nil, missing("%s cannot be started: %v", program, err)
	}
	preferred(strconv.Itoa(c.cmd.Process.Pid))
	if limit := memoryLimit(); limit > 0 {
		_ = unix.Prlimit(c.cmd.Process.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}, nil) // as that of workers
	}
	return c, nil
}

// begin starts the process, by a thread that has given up what clang is not to have.
func (c *clang) begin(confined bool, read []string) error {
	if !confined {
		return c.cmd.Start()
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		confineReader(c.cmd.Path, read)
		started <- c.cmd.Start()
	}()
	return <-started
}

// readable are the files and folders that a clang may read which starts: itself, the system's libraries, and what one does that was
// forked.
func readable(program, home, work string, folders []string) []string {
	return append(forked(program, home, work, folders), filepath.Dir(program), "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
}

// forked are the files and folders that a clang may read which has started: its own headers, ours, the folder of its source, and those
// that the program names.
func forked(program, home, work string, folders []string) []string {
	read := []string{filepath.Join(filepath.Dir(program), "../lib"), "/dev/null", filepath.Join(home, "include"), filepath.Join(home, "nvvm"), work}
	return append(read, folders...)
}

// run hands the arguments over and waits for the end.
func (c *clang) run(args []string, timeout time.Duration) (*clangOutput, error) {
	var line strings.Builder
	for _, a := range args {
		line.WriteByte('"')
		line.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(a))
		line.WriteString("\"\n")
	}
	deps := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(c.deps, maxClangOutput)) // what came
		deps <- string(b)
	}()
	_, err := c.args.WriteString(line.String())
	err = errors.Join(err, c.args.Close())
	if c.turn != nil {
		return c.forkEnded(timeout, deps, err)
	}
	late := time.AfterFunc(timeout, func() { _ = c.cmd.Process.Kill() }) // it may just have ended
	wait := c.cmd.Wait()
	inTime := late.Stop()
	out := &clangOutput{code: c.cmd.ProcessState.ExitCode(), cause: cause(c.cmd.ProcessState, ""), stdout: c.out.String(), stderr: c.err.String(), deps: <-deps}
	c.deps.Close()
	var exit *exec.ExitError
	switch {
	case !inTime:
		return nil, &compile.Crash{Kernel: "clang", Signal: "timeout"}
	case out.code < 0:
		return nil, &compile.Crash{Kernel: "clang", Signal: out.cause, Detail: out.last()}
	case wait != nil && !errors.As(wait, &exit):
		return nil, fmt.Errorf("clang: %w", wait)
	case err != nil && out.code == 0:
		return nil, fmt.Errorf("clang: %w", err)
	}
	return out, nil
}

// forkEnded waits for a process that was forked; handed says whether it has its arguments.
func (c *clang) forkEnded(timeout time.Duration, deps <-chan string, handed error) (*clangOutput, error) {
	st, inTime, err := c.turn.wait(timeout)
	out := &clangOutput{code: st.ExitStatus(), cause: fmt.Sprintf("exit status %d", st.ExitStatus()), stdout: c.out.String(), stderr: c.err.String(), deps: <-deps}
	c.deps.Close()
	switch {
	case err != nil:
		return nil, err
	case !inTime:
		return nil, &compile.Crash{Kernel: "clang", Signal: "timeout"}
	case st.Signaled():
		return nil, &compile.Crash{Kernel: "clang", Signal: st.Signal().String(), Detail: out.last()}
	case handed != nil && out.code == 0:
		return nil, fmt.Errorf("clang: %w", handed)
	}
	return out, nil
}

// close closes our ends of its pipes.
func (c *clang) close() {
	for _, f := range append(c.pipes, c.args, c.deps) {
		if f != nil {
			f.Close()
		}
	}
}

// end lets a process go that was asked for nothing.
func (c *clang) end() {
	if c.turn != nil {
		c.turn.kill()
		c.args.Close()
		c.deps.Close()
		return
	}
	_ = c.cmd.Process.Kill() // it may have ended
	c.args.Close()
	c.deps.Close()
	go func() { _ = c.cmd.Wait() }() // its status says nothing
}

// limited is a buffer with an end.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, errors.New("too much output")
	}
	l.left -= len(p)
	return l.to.Write(p)
}
