package cudart_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kudzu/internal/fatbin"
)

// Whole programs (testdata/apps/rt_*.c) with registration written by hand the way nvcc writes it, linked against both
// runtime libraries, on both executors. Each checks itself and prints "ok".

const repository = "../.."

var built struct {
	once sync.Once
	lib  string
	err  error
}

// dist builds the libraries once and gives their folder. The script takes a lock and leaves alone what is current.
func dist(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath(compiler()); err != nil {
		t.Skip("no C compiler: install gcc, or name one in CC")
	}
	built.once.Do(func() {
		for _, pattern := range []string{"c/*/*", "include/*", "testdata/apps/*", "cmd/*/*", "internal/*/*", "internal/*/*/*"} {
			files, _ := filepath.Glob(filepath.Join(repository, pattern)) // the pattern is well formed
			for _, f := range files {
				_, _ = os.Stat(f) // so that go test knows a cached result by it
			}
		}
		out, err := exec.Command(filepath.Join(repository, "scripts/dist.sh")).CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("scripts/dist.sh: %w\n%s", err, out)
			return
		}
		built.lib, built.err = filepath.Abs(filepath.Join(repository, "dist/lib"))
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.lib
}

func compiler() string {
	if c := os.Getenv("CC"); c != "" {
		return c
	}
	return "gcc"
}

// container writes the kernels as a fatbin container and gives an assembler file that holds it.
func container(t *testing.T, flags uint64) string {
	t.Helper()
	return containerOf(t, "rt_kernels.ptx", flags)
}

func containerOf(t *testing.T, file string, flags uint64) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "testdata/apps", file))
	if err != nil {
		t.Fatal(err)
	}
	image, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 70, Major: 7, Flags: flags, Data: text}})
	if err != nil {
		t.Fatal(err)
	}
	return assembled(t, image)
}

// assembled gives an assembler file that holds a container.
func assembled(t *testing.T, image []byte) string {
	t.Helper()
	dir := t.TempDir()
	bin, src := filepath.Join(dir, "rt_kernels.fatbin"), filepath.Join(dir, "rt_kernels.S")
	asm := fmt.Sprintf("\t.section .nv_fatbin,\"a\"\n\t.balign 8\n\t.globl rt_kernels\nrt_kernels:\n\t.incbin %q\n\t.section .note.GNU-stack,\"\",%%progbits\n", bin)
	for path, data := range map[string][]byte{bin: image, src: []byte(asm)} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return src
}

// program compiles testdata/apps/<name>.c against a runtime library.
func program(t *testing.T, major, name string, flags ...string) string {
	t.Helper()
	libs := dist(t)
	apps := filepath.Join(repository, "testdata/apps")
	exe := filepath.Join(t.TempDir(), name)
	args := append([]string{"-std=gnu11", "-O1", "-Wall", "-DCUDART_VERSION=" + major + "000", "-I" + filepath.Join(repository, "include"), "-I" + apps,
		filepath.Join(apps, name+".c"), "-o", exe}, flags...)
	soname := "libcudart.so." + major
	if major == "11" {
		soname += ".0"
	}
	args = append(args, "-L"+libs, "-Wl,--no-as-needed", "-l:"+soname, "-lpthread")
	if out, err := exec.Command(compiler(), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return exe
}

// run runs a program in a bare environment and gives what it wrote.
func run(t *testing.T, env []string, exe string, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, args...)
	// What is optimised in the background would be written to the test's folder while that is removed.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LD_LIBRARY_PATH=" + dist(t), "KUDZU_LLVM=" + os.Getenv("KUDZU_LLVM"), "KUDZU_TIER=optimised"}, env...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.WaitDelay = time.Minute // for a compiler process that still has standard error
	err := cmd.Run()
	if err != nil {
		t.Errorf("%s: %v", filepath.Base(exe), err)
	}
	return o.String(), e.String()
}

var backends = []string{"cpu", "interp"}

// TestPrograms: every program, with both libraries, on both executors.
func TestPrograms(t *testing.T) {
	dist(t)
	for _, p := range []struct {
		name  string
		args  []string
		env   []string
		link  []string
		flags uint64 // of the container
		quiet bool   // nothing on standard error
		only  string // the one backend with several devices

		after11 bool // calls what 11 has not
	}{
		{name: "rt_launch", quiet: true, after11: true},
		{name: "rt_memory", flags: fatbin.FlagZstd, quiet: true},
		{name: "rt_stream", flags: fatbin.FlagLZ4, quiet: true, after11: true},
		{name: "rt_device", env: []string{"KUDZU_DEVICES=2", "KUDZU_MEMORY=256M"}, link: []string{"-lcuda"}, quiet: true, after11: true},
		{name: "rt_graph", quiet: true, after11: true},
		{name: "rt_race", quiet: true},
		{name: "rt_errors"},
		{name: "rt_errors", args: []string{"wild"}},
	} {
		for _, major := range []string{"11", "12", "13"} {
			if major == "11" && p.after11 {
				continue
			}
			t.Run(strings.Join(append([]string{p.name, major}, p.args...), "/"), func(t *testing.T) {
				t.Parallel()
				exe := program(t, major, p.name, append([]string{container(t, p.flags)}, p.link...)...)
				for _, b := range backends {
					if p.only != "" && p.only != b {
						continue
					}
					stdout, stderr := run(t, append([]string{"KUDZU_BACKEND=" + b}, p.env...), exe, p.args...)
					if stdout != "ok\n" || p.quiet && stderr != "" {
						t.Errorf("%s: %s%s", b, stdout, stderr)
					}
				}
			})
		}
	}
}

// TestNoImage: kernels without an image for the device. What is kept for CUB's is our own: see swallowed.
func TestNoImage(t *testing.T) {
	image, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.ELF, SM: 50, Data: make([]byte, 64)}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "cudaMalloc 0\ncudaFuncGetAttributes 209\ncudaPeekAtLastError 209\ncudaGetLastError 209\ncudaGetLastError 0\n" +
		"cudaOccupancyMaxActiveBlocksPerMultiprocessor 209\ncudaGetLastError 209\ncudaLaunchKernel 209\ncudaGetLastError 209\ncudaGetLastError 0\n" +
		"cudaDeviceSynchronize 0\ncudaStreamSynchronize 0\ncudaMemcpy 0\ncudaMemset 0\ncudaGetLastError 0\n"
	late := strings.NewReplacer("GetLastError 0", "GetLastError 209", "Synchronize 0", "Synchronize 209", "Memcpy 0", "Memcpy 209")
	for _, major := range []string{"12", "13"} {
		exe := program(t, major, "rt_noimage", assembled(t, image))
		for arg, want := range map[string]string{"plain": want, "cub": late.Replace(want)} {
			if stdout, _ := run(t, []string{"KUDZU_BACKEND=interp"}, exe, arg); stdout != want {
				t.Errorf("%s %s:\n%s", major, arg, stdout)
			}
		}
	}
}

// TestReferences: textures and surfaces of programs built with CUDA 11, and what else only its runtime has.
func TestReferences(t *testing.T) {
	exe := program(t, "11", "rt_texref", containerOf(t, "rt_texref.ptx", 0))
	for _, b := range backends {
		if stdout, stderr := run(t, []string{"KUDZU_BACKEND=" + b}, exe); stdout != "ok\n" || stderr != "" {
			t.Errorf("%s: %s%s", b, stdout, stderr)
		}
	}
}

// TestPlugins: a library that registers itself when it is loaded, and is unloaded again.
func TestPlugins(t *testing.T) {
	for _, major := range []string{"12", "13"} {
		exe := program(t, major, "rt_plugin", "-ldl")
		lib := program(t, major, "rt_plugin", "-DPLUGIN", "-shared", "-fPIC", container(t, 0))
		for _, b := range backends {
			if stdout, stderr := run(t, []string{"KUDZU_BACKEND=" + b}, exe, lib); stdout != "ok\n" || stderr != "" {
				t.Errorf("%s %s: %s%s", major, b, stdout, stderr)
			}
		}
	}
}

// TestAbsent compares answers about what is not here (displays, other interfaces' memory) with those of a real runtime.
// Where that one crashed, any answer is better.
func TestAbsent(t *testing.T) {
	for _, major := range []string{"12", "13"} {
		exe := program(t, major, "rt_absent", "-ldl")
		want, err := os.ReadFile(filepath.Join(repository, "testdata/apps/rt_absent."+major+".want"))
		if err != nil {
			t.Fatal(err)
		}
		stdout, _ := run(t, []string{"KUDZU_BACKEND=interp"}, exe, "libcudart.so."+major)
		got := strings.Split(stdout, "\n")
		lines := strings.Split(string(want), "\n")
		if len(got) != len(lines) {
			t.Fatalf("%s: %d lines, want %d:\n%s", major, len(got), len(lines), stdout)
		}
		for i, w := range lines {
			if got[i] != w && !strings.Contains(w, "ends with signal") && !strings.Contains(w, "not there") {
				t.Errorf("%s: %s, want %s", major, got[i], w)
			}
		}
	}
}
