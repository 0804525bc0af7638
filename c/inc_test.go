package c

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNamesInC: the libraries that have no table export the names that NVIDIA's do, under the same version node: cuFile of 1.14 and
// 1.19, NVSHMEM 3.8. The sums are of the sorted names, one a line.
func TestNamesInC(t *testing.T) {
	for _, l := range []struct {
		soname, node string
		count        int
		sum          string
	}{
		{"libnvshmem_host.so.3", "NVSHMEM", 1504, "297246669adb659089d48e30baa63aae39ea0cd9915b7a88e8021eff4fa900a8"},
		{"libcufile.so.0", "", 60, "69f10e3582fe2eadf2b1eaace2da2382e62ee4ff5f3daa42f64ada64e137dd40"},
	} {
		have := exports(t, filepath.Join(dist(t), l.soname))
		for name, node := range have {
			if node != l.node {
				t.Errorf("%s: %s has the node %q", l.soname, name, node)
			}
		}
		names := slices.Sorted(maps.Keys(have))
		if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(names, "\n")))); len(names) != l.count || sum != l.sum {
			t.Errorf("%s: %d names, %s; want %d, %s", l.soname, len(names), sum, l.count, l.sum)
		}
	}
}

// TestLoadable: libraries that do no work here load, and their names answer with the code for what is not supported.
func TestLoadable(t *testing.T) {
	libs := dist(t)
	stdout, stderr, err := run(t, libs, nil, compile(t, "load_answers", "-ldl"))
	want := "nvshmemx_hostlib_init_attr 3\nnvshmem_malloc 0\nnvshmemx_float_sum_reduce_on_stream 3\nnvshmem_float_g 0\nnvshmem_double_atomic_fetch 0\ncuptiSubscribe 27\ncuptiSubscribe 27\n"
	if err != nil || stdout != want || strings.Count(stderr, "NVSHMEM is not supported") != 1 {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
}

// TestTell: a program that has CUDA libraries and uses no device is told so at its end, once; one that does, in itself or in a
// process that it starts, is not.
func TestTell(t *testing.T) {
	libs := dist(t)
	kudzu, app := command(t, libs), compile(t, "tell_use", "-L"+libs, "-lcuda")
	for _, r := range []struct {
		arg, env string
		want     string
		option   string
	}{
		{arg: "none", want: "and called none of their functions"},
		{arg: "ask", want: "asked for devices and used none"},
		{arg: "use"},
		{arg: "child"},
		{arg: "ask", env: "KUDZU_TELL=0"},
		{arg: "ask", option: "--no-tell"},
	} {
		argv := []string{"run", "--", app, r.arg}
		if r.option != "" {
			argv = slices.Insert(argv, 1, r.option)
		}
		cmd := exec.Command(kudzu, argv...)
		cmd.Env = append(cleanEnv(), r.env)
		out, err := cmd.CombinedOutput()
		line := string(out)
		if err != nil || r.want == "" && line != "" || r.want != "" && (strings.Count(line, "\n") != 1 || !strings.Contains(line, r.want)) {
			t.Errorf("%s %s%s: %v, %q, want %q", r.arg, r.env, r.option, err, line, r.want)
		}
	}
}

// TestTellWatch: a program that watches devices is told nothing.
func TestTellWatch(t *testing.T) {
	libs := dist(t)
	cmd := exec.Command(command(t, libs), "run", "--", compile(t, "tell_watch", "-L"+libs, "-l:libnvidia-ml.so.1"))
	cmd.Env = cleanEnv()
	if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("%v, %q", err, out)
	}
}

// TestTellOthers: where the number of the file is of a file of the program's, that one is neither written nor waited for.
func TestTellOthers(t *testing.T) {
	libs := dist(t)
	kudzu, app := command(t, libs), compile(t, "tell_use", "-L"+libs, "-lcuda")
	data, pipe := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "pipe")
	if err := os.WriteFile(data, []byte("the program's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{data, pipe} {
		for _, how := range []string{"use", "ask"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			cmd := exec.CommandContext(ctx, kudzu, "run", "--", app, how, file)
			cmd.Env = cleanEnv()
			if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
				t.Errorf("%s %s: %v, %q", how, filepath.Base(file), err, out)
			}
			cancel()
		}
	}
	if b, err := os.ReadFile(data); err != nil || string(b) != "the program's" {
		t.Errorf("%v, %q", err, b)
	}
}

// TestLogHarmless: nor do messages that Go writes.
func TestLogHarmless(t *testing.T) {
	libs := dist(t)
	app := compile(t, "tell_end", "-L"+libs, "-lcuda")
	data := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(data, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (said string) {
		t.Helper()
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if len(args) > 1 || args[0] == "ask" {
			read.Close()
		}
		cmd := exec.Command(app, args...)
		cmd.Env, cmd.Stderr = append(cleanEnv(), "LD_LIBRARY_PATH="+libs, "KUDZU_LOG=loud"), write // a level that is none is told
		out, err := cmd.Output()
		write.Close()
		if err != nil || string(out) != "done\n" {
			t.Errorf("%q: %v, %q", args, err, out)
		}
		b, _ := io.ReadAll(read) // nothing where it is closed
		return string(b)
	}
	run("ask")
	run("ask", data)
	if b, err := os.ReadFile(data); err != nil || string(b) != "data" {
		t.Errorf("the program's file: %v, %q", err, b)
	}
	if said := run("question"); !strings.Contains(said, "loud: not one of") {
		t.Errorf("said %q", said)
	}
}

// TestComplaintsHarmless: nor do failed assertions of kernels and cuDNN's log, which the program's standard error is for.
func TestComplaintsHarmless(t *testing.T) {
	libs := dist(t)
	app := compile(t, "assert_end", "-L"+libs, "-lcuda", "-ldl")
	for _, backend := range []string{"cpu", "interp"} {
		run := func(shell, want string, gone bool) (said string) {
			t.Helper()
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			if gone {
				read.Close()
			}
			cmd := exec.Command("/bin/sh", "-c", shell, "sh", app)
			cmd.Env = append(cleanEnv(), "LD_LIBRARY_PATH="+libs, "KUDZU_BACKEND="+backend, "CUDNN_LOGERR_DBG=1", "CUDNN_LOGDEST_DBG=stderr")
			cmd.Stderr = write
			out, err := cmd.Output()
			write.Close()
			if err != nil || string(out) != want {
				t.Errorf("%s, %s: %v, %q", backend, shell, err, out)
			}
			b, _ := io.ReadAll(read) // nothing where it is closed
			return string(b)
		}
		const asserted = "710 at number -1\n"
		if said := run(`exec "$1"`, asserted, false); strings.Count(said, "\nf.cu:42: main: ") != 1 || strings.Count(said, "E! CUDNN status") != 1 {
			t.Errorf("%s: said %q", backend, said)
		}
		run(`exec "$1"`, asserted, true)
		data := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(data, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		run(`exec "$1" `+data+` 2>&-`, "710 at number 2\n", false)
		if b, err := os.ReadFile(data); err != nil || string(b) != "data" {
			t.Errorf("%s: the program's file: %v, %q", backend, err, b)
		}
	}
}

// TestTellHarmless: the word at the end neither ends a program that ended well nor goes to a file of its own.
func TestTellHarmless(t *testing.T) {
	libs := dist(t)
	kudzu, app := command(t, libs), compile(t, "tell_end", "-L"+libs, "-lcuda")
	data := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(data, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		name string
		args []string
	}{
		{"standard error without a reader", []string{"ask"}},
		{"no right to system calls", []string{"use"}},
		{"standard error's number for a file", []string{"ask", data}},
	} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		read.Close()
		cmd := exec.Command(kudzu, append([]string{"run", "--", app}, r.args...)...)
		cmd.Env, cmd.Stderr = cleanEnv(), write
		if out, err := cmd.Output(); err != nil || string(out) != "done\n" {
			t.Errorf("%s: %v, %q", r.name, err, out)
		}
		write.Close()
	}
	if b, err := os.ReadFile(data); err != nil || string(b) != "data" {
		t.Errorf("the program's file: %v, %q", err, b)
	}
}
