package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/llvm"
	"kudzu/internal/pass"
)

// TestMain is the program itself when a test starts this binary again.
func TestMain(m *testing.M) {
	if os.Getenv("KUDZU_TEST_SELF") == "1" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const goodPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry first(.param .u64 p) {
	.reg .b64 %a;
	.reg .b32 %r;
	ld.param.u64 %a, [p];
	mov.u32 %r, %tid.x;
	st.global.u32 [%a], %r;
	ret;
}
.visible .entry second() { ret; }
`

// tree is an installation: this program in bin, a library beside it.
func tree(t *testing.T) (kudzu, lib string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	kudzu, lib = filepath.Join(dir, "bin/kudzu"), filepath.Join(dir, "lib")
	for _, d := range []string{filepath.Dir(kudzu), lib} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	put(t, kudzu, string(b))
	put(t, filepath.Join(lib, "libcuda.so.1"), "")
	return kudzu, lib
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// runKudzu runs the program in a folder of its own with a cache of its own.
func runKudzu(t *testing.T, exe string, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(exe, args...)
	// What is optimised in the background would be written to the test's folder while that is removed.
	cmd.Env = append([]string{"KUDZU_TEST_SELF=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUDZU_LLVM=" + os.Getenv("KUDZU_LLVM"), "KUDZU_TIER=optimised"}, env...)
	cmd.Dir = t.TempDir()
	put(t, filepath.Join(cmd.Dir, "good.ptx"), goodPTX)
	put(t, filepath.Join(cmd.Dir, "bad.ptx"), strings.Replace(goodPTX, "mov.u32", "frobnicate.u32", 1))
	put(t, filepath.Join(cmd.Dir, "empty.ptx"), ".version 7.0\n.target sm_70\n")
	put(t, filepath.Join(cmd.Dir, "text"), "hello")
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func needLLVM(t *testing.T) {
	t.Helper()
	if _, err := llvm.Open(""); err != nil {
		t.Skip(err)
	}
}

// TestCommands: what each command answers; texts are found in stdout or, for a failure, in stderr.
func TestCommands(t *testing.T) {
	kudzu, lib := tree(t)
	rows := []struct {
		args string
		code int
		want []string
	}{
		{"", 0, []string{"kudzu run ", "kudzu info ", "kudzu compile ", "kudzu cache ", "KUDZU_BACKEND"}},
		{"help", 0, []string{"kudzu run ", "Try:"}},
		{"--help", 0, []string{"kudzu run "}},
		{"help run", 0, []string{"usage: kudzu run [--backend cpu|interp|hip] [--load audit|preload|path] [--files auto|namespace|none] [--no-tell] [--timeout SECONDS] [--stats[=file.json]] [--] program [arguments]"}},
		{"compile --help", 0, []string{"usage: kudzu compile file.ptx"}},
		{"version", 0, []string{"kudzu " + Version + " (CUDA driver API 13.4)\n"}},
		{"--version", 0, []string{"kudzu " + Version}},
		{"frobnicate", 1, []string{`no verb "frobnicate"`, "kudzu help"}},
		{"help frobnicate", 1, []string{`no verb "frobnicate"`}},
		{"version now", 1, []string{"takes no arguments", "usage: kudzu version\n"}},
		{"info now", 1, []string{"takes no arguments", "usage: kudzu info [--json]\n"}},
		{"run", 1, []string{"which program?", "usage: kudzu run"}},
		{"run --", 1, []string{"which program?"}},
		{"run /nonexistent/app", 127, []string{"kudzu: program /nonexistent/app: ", "no such file"}},
		{"run kudzu-no-such-program", 127, []string{"kudzu: program kudzu-no-such-program: ", "not found"}},
		{"run ./text", 126, []string{"exec format error"}},
		{"run --backend", 1, []string{"--backend needs a name"}},
		{"run --backend toaster true", 1, []string{`no backend "toaster"; there are cpu, interp, cuda`}},
		{"run --timeout 2.5 sh -c echo\t$KUDZU_LAUNCH_TIMEOUT", 0, []string{"2.5\n"}},
		{"run --timeout=soon true", 1, []string{"--timeout soon: must be seconds"}},
		{"run --frob true", 1, []string{"unknown option --frob"}},
		{"run true", 0, nil},
		{"run false", 1, nil},
		{"run --backend=interp -- sh -c exit\t3", 3, nil},
		{"run --backend interp sh -c echo\t$KUDZU_BACKEND\t$LD_LIBRARY_PATH", 0, []string{"interp " + lib + "\n"}},
		{"cache", 0, []string{"0 entries"}},
		{"cache dir", 0, []string{".cache/kudzu\n"}},
		{"cache clear", 0, []string{"removed 0 entries"}},
		{"cache frob", 1, []string{"there are ls, clear and dir", "usage: kudzu cache [ls|clear|dir]"}},
		{"cache ls more", 1, []string{"usage: kudzu cache"}},
		{"report", 0, []string{"/dev/kfd", "AMD's libraries\n    rocBLAS ", "ROCm SMI ", "self-test\n", "cpu     0 indices", "interp  0 atomics", "right\n"}},
		{"info", 0, []string{"backend cpu ", "backend interp ", "compute capability " + backend.DefaultCapability.String(), "compiler ", "cache ", "libraries  " + lib}},
		{"compile", 1, []string{"which file?"}},
		{"compile nofile.ptx", 1, []string{"nofile.ptx: no such file"}},
		{"compile text", 1, []string{"line 1"}},
		{"compile empty.ptx", 1, []string{"empty.ptx has no kernels"}},
		{"compile good.ptx bad.ptx", 1, []string{"one file at a time"}},
		{"compile good.ptx --kernel third", 1, []string{"good.ptx has no kernel third"}},
		{"compile good.ptx --emit everything", 1, []string{`cannot emit "everything"; there are ptx, ir, ll, opt, asm, obj, image`}},
		{"compile good.ptx --tier best", 1, []string{`no tier "best"; there are optimised and baseline`}},
		{"compile good.ptx --emit", 1, []string{"--emit needs a value"}},
		{"compile good.ptx --block 0", 1, []string{"as in 32,8,1"}},
		{"compile good.ptx --block 1,2,3,4", 1, []string{"as in 32,8,1"}},
		{"compile good.ptx --target toaster", 1, []string{`no target "toaster"`}},
		{"compile good.ptx --frob 1", 1, []string{"unknown option --frob"}},
		{"compiler by-hand", 2, []string{"use kudzu compile"}},
	}
	for _, row := range rows {
		t.Run(row.args, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(row.args, "\t", "\x01"))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "\x01", " ") // a tab is a space inside an argument
			}
			stdout, stderr, code := runKudzu(t, kudzu, nil, args...)
			if code != row.code {
				t.Errorf("exit code %d, want %d", code, row.code)
			}
			got, silent := stdout, stderr
			if row.code != 0 {
				got, silent = stderr, stdout
			}
			for _, w := range row.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is missing", w)
				}
			}
			if silent != "" || t.Failed() {
				t.Errorf("stdout %q\nstderr %q", stdout, stderr)
			}
		})
	}
}

func TestRunWithoutLibraries(t *testing.T) {
	kudzu, lib := tree(t)
	if err := os.RemoveAll(lib); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := runKudzu(t, kudzu, nil, "run", "true")
	if code != 1 || !strings.Contains(stderr, "no libcuda.so.1 in ") || !strings.Contains(stderr, "make dist") {
		t.Errorf("%d: %s", code, stderr)
	}
}

func TestCompile(t *testing.T) {
	needLLVM(t)
	kudzu, _ := tree(t)
	check := func(code int, want []string, args ...string) string {
		t.Helper()
		stdout, stderr, got := runKudzu(t, kudzu, nil, args...)
		if got != code {
			t.Errorf("kudzu %q: exit code %d, want %d\n%s", args, got, code, stderr)
		}
		for _, w := range want {
			if !strings.Contains(stdout+stderr, w) {
				t.Errorf("kudzu %q: %q is missing from\n%s%s", args, w, stdout, stderr)
			}
		}
		return stdout
	}
	check(0, []string{"first: ", "second: ", "bytes of image", "llvm "}, "compile", "good.ptx")
	if out := check(0, []string{"second: "}, "compile", "good.ptx", "--kernel", "second"); strings.Contains(out, "first") {
		t.Errorf("first too:\n%s", out)
	}
	check(1, []string{"line 8", "frobnicate"}, "compile", "bad.ptx") // the position
	stages := map[string]string{"ptx": "st.global.u32", "ir": "first", "ll": "define", "opt": "define", "asm": "ret"}
	for stage, want := range stages {
		check(0, []string{"; first: " + stage + "\n", want}, "compile", "good.ptx", "--kernel=first", "--emit", stage)
	}
	check(0, []string{"; first: ir\n", "; first: asm\n"}, "compile", "good.ptx", "--kernel=first", "--emit=ir,asm", "--block", "32,8")
	for _, name := range pass.Names() {
		check(0, []string{"; first: dump\n"}, "compile", "good.ptx", "--kernel=first", "--dump", name)
	}
	check(1, append([]string{"no pass is called frob"}, pass.Names()...), "compile", "good.ptx", "--dump", "frob")

	dir := filepath.Join(t.TempDir(), "out")
	check(0, []string{"first.image", "second.ll"}, "compile", "good.ptx", "--emit", "ll,image", "-o", dir)
	for _, f := range []string{"first.ll", "first.image", "second.ll", "second.image"} {
		if st, err := os.Stat(filepath.Join(dir, f)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestCompileWithoutLLVM(t *testing.T) {
	kudzu, _ := tree(t)
	missing := []string{"KUDZU_LLVM=/nonexistent"}
	_, stderr, code := runKudzu(t, kudzu, missing, "compile", "good.ptx")
	if code != 1 || !strings.Contains(stderr, "nothing can be compiled here") || !strings.Contains(stderr, "apt install") {
		t.Errorf("%d: %s", code, stderr)
	}
	stdout, _, code := runKudzu(t, kudzu, missing, "info")
	if code != 0 || !strings.Contains(stdout, "compiler   none: kernels are interpreted") {
		t.Errorf("%d: %s", code, stdout)
	}
}

// TestCache looks at entries that a compiler left, and removes them.
func TestCache(t *testing.T) {
	kudzu, _ := tree(t)
	dir := filepath.Join(t.TempDir(), "cache")
	env := []string{"KUDZU_CACHE_DIR=" + dir}
	if stdout, _, code := runKudzu(t, kudzu, env, "cache", "dir"); stdout != dir+"\n" || code != 0 {
		t.Errorf("%d: %q", code, stdout)
	}
	name := strings.Repeat("ab", 32)
	if err := os.Mkdir(filepath.Join(dir, "ab"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "ab", name+".kzc"), strings.Repeat("x", 3000))
	if stdout, _, code := runKudzu(t, kudzu, env, "cache", "ls"); code != 0 || !strings.Contains(stdout, name[:16]) || !strings.Contains(stdout, "1 entries, 2.9 KB of 4.0 GB in "+dir) {
		t.Errorf("%d: %q", code, stdout)
	}
	if stdout, _, code := runKudzu(t, kudzu, env, "cache", "clear"); stdout != "removed 1 entries, 2.9 KB\n" || code != 0 {
		t.Errorf("%d: %q", code, stdout)
	}
	if stdout, _, _ := runKudzu(t, kudzu, env, "cache", "ls"); !strings.HasPrefix(stdout, "0 entries") {
		t.Errorf("%q", stdout)
	}
	if stdout, stderr, code := runKudzu(t, kudzu, []string{"KUDZU_CACHE_DIR=/dev/null/x"}, "cache", "ls"); code != 0 || !strings.Contains(stdout, "off") || !strings.Contains(stderr, "not a directory") {
		t.Errorf("%d: %q %q", code, stdout, stderr)
	}
	if stdout, _, code := runKudzu(t, kudzu, []string{"CUDA_CACHE_DISABLE=1"}, "cache", "ls"); code != 0 || stdout != "the cache is off\n" {
		t.Errorf("%d: %q", code, stdout)
	}
}
