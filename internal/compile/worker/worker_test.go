package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/image"
	"kudzu/internal/llvm"
)

// The test binary is also the compiler process: the client's command is itself with "compiler", and the host of
// TestInvisible is itself with "host".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "compiler":
			os.Exit(mainWith(os.Args[2:], confinedTo(os.Args[2:]), openDouble))
		case "host":
			os.Exit(host())
		}
	}
	os.Exit(m.Run())
}

// openDouble is a compiler whose kernels' names say what goes wrong; the others are LLVM text in place of PTX.
func openDouble(kind string) (compiler, compile.Hello) {
	if kind == kindBaseline {
		p := NewBaseline()
		p.front, p.translate = fromText, returnZero
		return func(req *compile.Request) (*compile.Result, error) {
			misbehave(req)
			return p.Run(req)
		}, compile.Hello{}
	}
	if os.Getenv("KUDZU_TEST_NOLLVM") != "" {
		_, err := llvm.Open("/no/such/libLLVM.so")
		return nil, compile.Hello{NoCompiler: &compile.NoCompiler{Why: err.Error()}}
	}
	p, err := New("")
	if err != nil {
		return nil, compile.Hello{NoCompiler: &compile.NoCompiler{Why: err.Error()}}
	}
	p.front = fromText
	return func(req *compile.Request) (*compile.Result, error) {
		misbehave(req)
		return p.Run(req)
	}, compile.Hello{LLVM: p.LLVM()}
}

func fromText(req *compile.Request, _ llvm.Options, t *clock, _ map[string]string) (*source, error) {
	t.done("front")
	if strings.HasPrefix(req.Kernel, "unsupported") {
		return nil, &compile.Unsupported{What: "tcgen05.mma", Line: 7}
	}
	return &source{text: req.PTX, entry: req.Kernel, meta: image.Meta{Kernel: req.Kernel, Block: req.Block}}, nil
}

func misbehave(req *compile.Request) {
	kernel, fast := strings.CutPrefix(req.Kernel, "fast_") // only where it is to be fast
	if fast && req.Options.Plain != "" {
		return
	}
	die := func(s syscall.Signal) {
		_ = syscall.Kill(os.Getpid(), s)
		select {}
	}
	switch kernel {
	case "kill":
		die(syscall.SIGKILL)
	case "abort":
		die(syscall.SIGABRT)
	case "killsupervisor":
		_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
		select {}
	case "killonce", "killsupervisoronce":
		mark := os.Getenv("KUDZU_TEST_MARK")
		if _, err := os.Stat(mark); err != nil {
			_ = os.WriteFile(mark, nil, 0o600)
			if kernel == "killsupervisoronce" {
				_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
				select {}
			}
			die(syscall.SIGKILL)
		}
	case "hang":
		select {}
	case "spin":
		if mark := os.Getenv("KUDZU_TEST_MARK"); mark != "" {
			_ = os.WriteFile(mark+strconv.Itoa(os.Getpid()), nil, 0o600)
		}
		for { // as LLVM does with a kernel of megabytes
		}
	case "eat":
		var all [][]byte
		for {
			all = append(all, bytes.Repeat([]byte{1}, 16<<20))
			runtime.KeepAlive(all)
		}
	case "panic":
		panic("BUG: on purpose")
	case "escape":
		panic(escapes())
	case "exit":
		fmt.Fprintln(os.Stderr, "LLVM ERROR: Cannot select: t7")
		os.Exit(1)
	case "garbage":
		_, _ = os.NewFile(workerOut, "out").Write(bytes.Repeat([]byte("garbage "), 100))
	case "noise":
		fmt.Println(strings.Repeat("on standard output\n", 10000))
		fmt.Fprintln(os.Stderr, strings.Repeat("on standard error\n", 10000))
	case "wait":
		mark := os.Getenv("KUDZU_TEST_MARK")
		_ = os.WriteFile(mark, nil, 0o600)
		for {
			if _, err := os.Stat(mark + ".go"); err == nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	case "slow":
		time.Sleep(300 * time.Millisecond)
	}
}

// trivial is a kernel of any name.
func trivial(name string) string {
	return fmt.Sprintf("define i32 @%s(ptr %%l, ptr %%w, i64 %%f, i64 %%c) {\n ret i32 0\n}", name)
}

func request(name string) *compile.Request {
	return &compile.Request{PTX: trivial(name), Kernel: name, Block: [3]uint32{256, 1, 1}}
}

func self(t testing.TB) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, "compiler"}
}

// client starts nothing yet; a machine without libLLVM skips.
func client(t testing.TB, cfg compile.Config) *compile.Client {
	t.Helper()
	if _, err := llvm.Open(""); err != nil {
		t.Skip(err)
	}
	if cfg.Command == nil {
		cfg.Command = self(t)
	}
	c := compile.New(cfg)
	t.Cleanup(c.Close)
	return c
}

func TestEndToEnd(t *testing.T) {
	var said []string
	store := cache.Open(cache.Config{Dir: filepath.Join(t.TempDir(), "c")})
	c := client(t, compile.Config{Cache: store, Log: func(s string) { said = append(said, s) }})
	text, err := os.ReadFile("../../image/testdata/saxpy.ll")
	if err != nil {
		t.Fatal(err)
	}
	req := &compile.Request{PTX: string(text), Kernel: "saxpy", Block: [3]uint32{256, 1, 1}}
	first, err := c.Compile(req)
	if err != nil {
		t.Fatal(err)
	}
	if first.FromCache || first.Parsed.Meta.Kernel != "saxpy" || len(first.Parsed.Meta.Lines) == 0 || first.LLVM == "" || len(first.Stages) < 3 {
		t.Errorf("%+v", first)
	}
	second, err := c.Compile(req)
	if err != nil || !second.FromCache || !bytes.Equal(first.Image, second.Image) {
		t.Errorf("second time: %v, from cache %v", err, second.FromCache)
	}
	if other, ok := c.Cached(&compile.Request{PTX: req.PTX, Kernel: "saxpy", Block: [3]uint32{128, 1, 1}}); ok {
		t.Errorf("another block shape is cached: %v", other.Parsed.Meta)
	}
	// A new client, as in a new process, starts nothing.
	again := compile.New(compile.Config{Command: []string{self(t)[0], "nothing"}, Cache: store})
	if r, err := again.Compile(req); err != nil || !r.FromCache {
		t.Errorf("new client: %v", err)
	}
	// A damaged entry is compiled again.
	damage(t, store.Dir())
	third, err := c.Compile(req)
	if err != nil || third.FromCache || !bytes.Equal(first.Image, third.Image) {
		t.Errorf("after damage: %v", err)
	}
	emit := *req
	emit.Emit = []string{"ll", "opt", "asm"}
	shown, err := c.Compile(&emit)
	if err != nil || len(shown.Emitted) != 3 || !strings.Contains(shown.Emitted["asm"], "saxpy:") || !strings.Contains(shown.Emitted["opt"], "define i32 @saxpy") {
		t.Errorf("emit: %v %v", err, shown)
	}
	if len(said) == 0 {
		t.Error("nothing was logged")
	}
}

// damage flips a byte of every cache entry.
func damage(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cache file")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 0x40
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCrashes(t *testing.T) {
	c := client(t, compile.Config{Jobs: 2})
	impatient := client(t, compile.Config{Timeout: 3 * time.Second, Jobs: 2})
	for kernel, want := range map[string]struct{ signal, detail string }{
		"kill": {"killed", ""}, "abort": {"aborted", "SIGABRT"}, "exit": {"exit status 1", "Cannot select"}, "garbage": {"garbage", ""}, "hang": {"timeout", ""},
	} {
		asked := c
		if kernel == "hang" { // the others may take as long as a busy machine needs
			asked = impatient
		}
		_, err := asked.Compile(request(kernel))
		var crash *compile.Crash
		if !errors.As(err, &crash) || crash.Kernel != kernel || !strings.Contains(crash.Signal, want.signal) || !strings.Contains(crash.Detail, want.detail) {
			t.Errorf("%s: %v (%+v)", kernel, err, crash)
		}
		if _, err := c.Compile(request("fine")); err != nil {
			t.Errorf("after %s: %v", kernel, err)
		}
	}
	if _, err := c.Compile(request("noise")); err != nil {
		t.Errorf("printing is not answering: %v", err)
	}
	var failed *compile.Failed
	if _, err := c.Compile(request("panic")); !errors.As(err, &failed) || !strings.Contains(failed.Text, "on purpose") {
		t.Errorf("panic: %v", err)
	}
	var crash *compile.Crash
	if _, err := c.Compile(request("killsupervisor")); !errors.As(err, &crash) {
		t.Errorf("killed supervisor: %v", err)
	}
	if _, err := c.Compile(request("fine")); err != nil {
		t.Errorf("after the supervisor's death: %v", err)
	}
}

// What fails by a mistake of ours has code without the optional passes, and says why. What was killed is tried as it was.
func TestPlain(t *testing.T) {
	c := client(t, compile.Config{Jobs: 2, Cache: cache.Open(cache.Config{Dir: filepath.Join(t.TempDir(), "c")})})
	for kernel, why := range map[string]string{"fast_abort": "aborted", "fast_exit": "Cannot select", "fast_panic": "BUG: on purpose"} {
		r, err := c.Compile(request(kernel))
		if err != nil || !strings.Contains(r.Plain, why) || strings.Contains(r.Plain, "\n") {
			t.Errorf("%s: %v, %q instead of %q", kernel, err, r.Plain, why)
		}
		if r, err := c.Compile(request(kernel)); err != nil || !r.FromCache {
			t.Errorf("%s again: %v, not from the cache", kernel, err)
		}
		shown := request(kernel)
		shown.Emit = []string{"ll"}
		if _, err := c.Compile(shown); err == nil {
			t.Errorf("%s: text of other code than was asked for", kernel)
		}
	}
	var crash *compile.Crash
	if _, err := c.Compile(request("fast_kill")); !errors.As(err, &crash) || crash.Signal != "killed" {
		t.Errorf("fast_kill: %v", err)
	}
	if r, err := c.Compile(request("fine")); err != nil || r.Plain != "" {
		t.Errorf("fine: %v, %+v", err, r)
	}
}

// A worker that computes may go on after its time if it got little of the processor, and one that hangs may not.
func TestHungry(t *testing.T) {
	for used, want := range map[time.Duration]bool{0: false, time.Second: false, 6 * time.Second: true, 2 * time.Minute: true, 150 * time.Second: false, 5 * time.Minute: false} {
		if got := hungry(used, 5*time.Minute); got != want {
			t.Errorf("%v of 5 minutes: %v", used, got)
		}
	}
	began := workTime(os.Getpid())
	for until := time.Now().Add(time.Minute); workTime(os.Getpid())-began < 50*time.Millisecond; {
		if time.Now().After(until) {
			t.Fatalf("a minute of work counts as %v", workTime(os.Getpid())-began)
		}
	}
	if n := workTime(1 << 30); n != 0 {
		t.Errorf("a process that is not there used %v", n)
	}
}

// A compilation that wants all the memory there is ends, and says so.
func TestMemoryLimit(t *testing.T) {
	c := client(t, compile.Config{Env: append(config.ForCompiler(), "KUDZU_COMPILER_MEMORY=600")})
	_, err := c.Compile(request("eat"))
	var crash *compile.Crash
	if !errors.As(err, &crash) || !strings.Contains(crash.Detail, "out of memory") {
		t.Errorf("%v", err)
	}
	if _, err := c.Compile(request("fine")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// LLVM's own fatal errors end the worker, and its message reaches the user.
func TestLLVMFatal(t *testing.T) {
	c := client(t, compile.Config{})
	_, err := c.Compile(&compile.Request{
		Kernel: "k", Target: compile.Target{Triple: "x86_64-linux-gnu", CPU: "x86-64"}, // no AVX-512
		PTX: "declare <16 x i32> @llvm.x86.avx512.vpermi2var.d.512(<16 x i32>, <16 x i32>, <16 x i32>)\n" +
			"define <16 x i32> @k(<16 x i32> %a) {\n %r = call <16 x i32> @llvm.x86.avx512.vpermi2var.d.512(<16 x i32> %a, <16 x i32> %a, <16 x i32> %a)\n ret <16 x i32> %r\n}",
	})
	var crash *compile.Crash
	if !errors.As(err, &crash) || !strings.Contains(crash.Detail, "LLVM ERROR") {
		t.Errorf("%v", err)
	}
	if _, err := c.Compile(request("fine")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A process that dies once is not noticed.
func TestRetry(t *testing.T) {
	for _, kernel := range []string{"killonce", "killsupervisoronce"} {
		mark := filepath.Join(t.TempDir(), "mark")
		c := client(t, compile.Config{Env: append(config.ForCompiler(), "KUDZU_TEST_MARK="+mark)})
		if _, err := c.Compile(request(kernel)); err != nil {
			t.Errorf("%s: %v", kernel, err)
		}
		if _, err := os.Stat(mark); err != nil {
			t.Errorf("%s: nothing was killed", kernel)
		}
	}
}

func TestTypedErrors(t *testing.T) {
	c := client(t, compile.Config{})
	var u *compile.Unsupported
	if _, err := c.Compile(request("unsupported")); !errors.As(err, &u) || u.What != "tcgen05.mma" || u.Line != 7 {
		t.Errorf("unsupported: %v", err)
	}
	for text, want := range map[string]string{
		"no LLVM text": "llvm",
		"declare i32 @mystery()\ndefine i32 @k() {\n %r = call i32 @mystery()\n ret i32 %r\n}": "mystery",
		"@v = global i32 1\ndefine ptr @k() {\n ret ptr @v\n}":                                 "writable",
		"define i32 @other() {\n ret i32 1\n}":                                                 "no function k",
		"":                                                                                     "no text",
	} {
		var f *compile.Failed
		if _, err := c.Compile(&compile.Request{PTX: text, Kernel: "k"}); !errors.As(err, &f) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNoLLVM(t *testing.T) {
	c := compile.New(compile.Config{Command: self(t), Env: append(config.ForCompiler(), "KUDZU_TEST_NOLLVM=1")})
	defer c.Close()
	for range 2 {
		_, err := c.Compile(request("k"))
		var no *compile.NoCompiler
		if !errors.As(err, &no) || !strings.Contains(no.Why, "apt install") {
			t.Errorf("%v", err)
		}
	}
}

// Many callers, few images: each is compiled once, and several at a time.
func TestMerged(t *testing.T) {
	store := cache.Open(cache.Config{Dir: filepath.Join(t.TempDir(), "c")})
	var begun atomic.Int32
	both := make(chan struct{})
	c := client(t, compile.Config{Cache: store, Jobs: 2, Busy: func(string) func() {
		if begun.Add(1) == 2 {
			close(both)
		}
		<-both // neither waits for the other's end
		return func() {}
	}})
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			req := request("slow")
			req.Block[0] = uint32(32 * (i%2 + 1))
			if _, err := c.Compile(req); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := begun.Load(); n != 2 {
		t.Errorf("%d compilations of two images", n)
	}
	if s := store.Stat(); s.Entries != 2 {
		t.Errorf("%+v", s)
	}
}

// A question about a text does not wait for the compilations that a program has begun.
func TestFactsPass(t *testing.T) {
	c := client(t, compile.Config{Jobs: 1, Timeout: time.Minute})
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = c.Compile(request("hang")) // until the client is closed
	}()
	told := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond) // it has the only slot by now, or asks after us
		_, err := c.Facts(&compile.Request{PTX: ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n", Kernel: "k"})
		told <- err
	}()
	select {
	case err := <-told:
		if err != nil {
			t.Error(err)
		}
	case <-over:
		t.Error("the compilation that never ends has ended")
	case <-time.After(30 * time.Second):
		t.Error("a question waits for a compilation")
	}
	c.Close()
	<-over
}

// Workers that nobody uses go, a later request gets a new one, and in the end the supervisor goes too.
func TestIdle(t *testing.T) {
	if _, err := llvm.Open(""); err != nil {
		t.Skip(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := newSupervisor(self(t), false, outW)
	s.workerIdle = 100 * time.Millisecond
	status := make(chan int)
	go func() { status <- s.run(inR) }()
	if err := greeting(outR); err != nil {
		t.Fatal(err)
	}
	for id := range uint32(2) {
		f, err := compile.EncodeRequest(id, request("k"), 10_000)
		if err != nil {
			t.Fatal(err)
		}
		if err := compile.WriteFrame(inW, f); err != nil {
			t.Fatal(err)
		}
		a, err := compile.ReadFrame(outR)
		if err != nil || a.ID != id {
			t.Fatalf("answer %d: %v", a.ID, err)
		}
		if _, failure, broken := compile.DecodeAnswer(a); failure != nil || broken != nil {
			t.Fatal(failure, broken)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			n := 0
			for _, p := range []*pool{s.full, s.quick, s.behind} {
				p.mu.Lock()
				n += len(p.idle) + p.busy
				p.mu.Unlock()
			}
			if n == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%d workers are still there", n)
			}
		}
	}
	s.idleLimit.Store(0) // not before: the test may be stopped for longer than any limit
	select {
	case got := <-status:
		if got != 0 {
			t.Errorf("status %d", got)
		}
	case <-time.After(time.Minute):
		t.Error("an idle supervisor stays")
	}
}

// Helper functions are linked in when the code generator calls them.
func TestHelpersLinked(t *testing.T) {
	c := client(t, compile.Config{})
	r, err := c.Compile(&compile.Request{Kernel: "k", PTX: "define double @k(double %a, double %b) {\n %r = frem double %a, %b\n ret double %r\n}"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Parsed.Text < 200 {
		t.Errorf("%d bytes of text cannot hold fmod", r.Parsed.Text)
	}
}

// hostReport is what the host of TestInvisible saw.
type hostReport struct {
	Err      string
	Signals  int    // SIGCHLDs
	Reaped   int    // by waitpid(-1)
	Children string // /proc's list
	Compiler int    // pid
	Fds      int    // host's files that the compiler has open
	Env      string // forbidden variables of the compiler
}

// TestInvisible runs a host process that compiles while it waits for any child and counts SIGCHLD.
func TestInvisible(t *testing.T) {
	if _, err := llvm.Open(""); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(self(t)[0], "host")
	cmd.Env = append(os.Environ(), "LD_BIND_NOW=1", "GOGC=50")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var r hostReport
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if r.Err != "" || r.Signals != 0 || r.Reaped != 0 || r.Children != "" || r.Fds != 0 || r.Env != "" {
		t.Errorf("%+v", r)
	}
	// The host is gone; so must be its compiler.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(r.Compiler) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("compiler %d outlives its host", r.Compiler)
		}
	}
}

// BenchmarkCompile is the round trip through the compiler process for a small kernel.
func BenchmarkCompile(b *testing.B) {
	text, err := os.ReadFile("../../image/testdata/saxpy.ll")
	if err != nil {
		b.Fatal(err)
	}
	c := client(b, compile.Config{})
	req := &compile.Request{PTX: string(text), Kernel: "saxpy"}
	if _, err := c.Compile(req); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Compile(req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstCompile includes starting the processes and loading libLLVM.
func BenchmarkFirstCompile(b *testing.B) {
	for b.Loop() {
		c := client(b, compile.Config{})
		if _, err := c.Compile(request("k")); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

// BenchmarkCached is a cache hit, parsed and ready to map.
func BenchmarkCached(b *testing.B) {
	text, err := os.ReadFile("../../image/testdata/saxpy.ll")
	if err != nil {
		b.Fatal(err)
	}
	c := client(b, compile.Config{Cache: cache.Open(cache.Config{Dir: filepath.Join(b.TempDir(), "c")})})
	req := &compile.Request{PTX: string(text), Kernel: "saxpy"}
	if _, err := c.Compile(req); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r, err := c.Compile(req); err != nil || !r.FromCache {
			b.Fatal(err)
		}
	}
}
