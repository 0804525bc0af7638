package c

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// root is the repository as this test sees it.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var built struct {
	once sync.Once
	err  error
	log  []byte
}

// dist builds the libraries once and returns their folder. The script takes a lock, so
// tests of other packages may do the same.
func dist(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the libraries are for Linux")
	}
	built.once.Do(func() {
		touch(t)
		cmd := exec.Command(filepath.Join(root(t), "scripts/dist.sh"), "-l")
		built.log, built.err = cmd.CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("scripts/dist.sh: %v\n%s", built.err, built.log)
	}
	return filepath.Join(root(t), "dist/lib")
}

// touch looks at what the libraries are made of, so that go test knows a cached result of
// this package by it.
func touch(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"base/*", "front/*", "audit/*", "devices/*", "static/*", "clang/*", "cufile/*", "nvshmem/*", "nvtx/*", "enter/*", "../include/*", "../scripts/dist.sh", "../cmd/libkudzu/*", "../internal/*/*", "../internal/*/*/*", "../internal/shim/cublas/testdata/*", "../internal/shim/cublaslt/testdata/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range files {
			_, _ = os.Stat(f) // one that vanishes meanwhile is no concern of ours
		}
	}
}

// compile makes a program of testdata/apps and returns its path.
func compile(t *testing.T, name string, args ...string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), name)
	src := filepath.Join(root(t), "testdata/apps", name+".c")
	cc(t, append([]string{"-std=gnu11", "-O1", "-Wall", "-I" + filepath.Join(root(t), "include"), "-I" + filepath.Dir(src), src, "-o", exe}, args...)...)
	return exe
}

// unpacked is a compressed file of the repository.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func cc(t *testing.T, args ...string) {
	t.Helper()
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
	}
}

// cxx compiles C++ with what the machine has: the examples need clang, which does C++ too.
func cxx(t *testing.T, args ...string) {
	t.Helper()
	for _, name := range []string{"g++", "c++"} {
		if _, err := exec.LookPath(name); err == nil {
			t.Setenv("CC", name)
			cc(t, args...)
			return
		}
	}
	clang, err := exec.Command("../scripts/setup.sh", "clang").Output()
	if err != nil {
		t.Skipf("no C++ compiler: %v", err)
	}
	t.Setenv("CC", strings.TrimSpace(string(clang)))
	cc(t, args...)
}

// run starts a program that finds our libraries, and returns what it wrote. The loader
// warns on stderr, so a test that wants none of that looks there.
func run(t *testing.T, libs string, env []string, exe string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.Command(exe, args...)
	cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+libs, "LD_BIND_NOW=", "KUDZU_LOG="), env...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}
