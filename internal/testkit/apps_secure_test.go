package testkit

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// otherGroup is a group that a program of ours can be given by its mode and that is not the one it runs in anyway.
func otherGroup(t *testing.T) int {
	t.Helper()
	if os.Geteuid() == 0 {
		return 65534
	}
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if g != os.Getegid() {
			return g
		}
	}
	t.Skip("this user is in one group only, and can make no program that has another's rights")
	return 0
}

// TestAppSecure: a setgid program takes no code from its user's environment, writes no files that it names, and still works.
func TestAppSecure(t *testing.T) {
	group := otherGroup(t)
	libs := appLibraries(t)
	// The loader takes no LD_LIBRARY_PATH from the user, and no $ORIGIN: the program has the whole path.
	made := appProgram(t, "app_secure", "-Wl,--no-as-needed,-rpath,"+libs, "-l:libkudzu-base.so", "-lcuda", "-lpthread")
	b, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	exe, evil, mark := filepath.Join(dir, "app"), filepath.Join(dir, "evil"), filepath.Join(dir, "mark")
	traces := filepath.Join(dir, "traces")
	if err := os.WriteFile(exe, b, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(exe, -1, group); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(exe, 0o755|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(evil, []byte("#!/bin/sh\ntouch '"+mark+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(exe string) (result, *app, []string) {
		_ = os.Remove(mark) // of the run before
		a := newApp(t, "cpu", exe).set("KUDZU_COMPILER", evil).set("KUDZU_STATS", filepath.Join(dir, "stats")).set("KUDZU_BLAS", evil).set("KUDZU_TRACE", traces)
		a.env = slices.DeleteFunc(a.env, func(kv string) bool { return strings.HasPrefix(kv, "KUDZU_LLVM=") })
		a.set("KUDZU_LLVM", "/nonexistent/libLLVM.so").set("CUDA_CACHE_PATH", a.cache)
		r := a.run()
		return r, a, entries(t, a.cache)
	}
	r, _, written := run(exe)
	if strings.HasPrefix(r.stdout, "secure 0\n") {
		t.Skip("the file system of temporary files gives programs no rights")
	}
	r.wantOut(t, "secure 1\nworks 0\n")
	if _, err := os.Stat(mark); err == nil {
		t.Error("the user's program ran instead of the compiler")
	}
	if strings.Contains(r.stderr, "nonexistent") || strings.Contains(r.stderr, evil) {
		t.Errorf("stderr %q: the user chose a library", r.stderr)
	}
	if len(written) > 0 {
		t.Errorf("%d entries in the user's cache", len(written))
	}
	if _, err := os.Stat(traces); err == nil {
		t.Error("its calls were recorded for the user")
	}
	// The same without the rights, so that the test is known to see what it looks for.
	if r, _, _ = run(made); !strings.HasPrefix(r.stdout, "secure 0\n") {
		t.Errorf("stdout %q", r.stdout)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("a plain program does not take KUDZU_COMPILER: %v", err)
	}
	if _, err := os.Stat(traces); err != nil {
		t.Errorf("a plain program does not take KUDZU_TRACE: %v", err)
	}
}

// TestHardened: nothing of ours lies at a fixed address or leaves a table to write over.
func TestHardened(t *testing.T) {
	libs := appLibraries(t)
	files, err := filepath.Glob(filepath.Join(libs, "*.so*"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d libraries, %v", len(files), err)
	}
	for _, path := range append(files, filepath.Join(libs, "../bin/kudzu")) {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		if f.Type != elf.ET_DYN {
			t.Errorf("%s is %v, want a position-independent one", name, f.Type)
		}
		flags, err := f.DynValue(elf.DT_FLAGS)
		more, err1 := f.DynValue(elf.DT_FLAGS_1)
		now := len(flags) == 1 && elf.DynFlag(flags[0])&elf.DF_BIND_NOW != 0 || len(more) == 1 && elf.DynFlag1(more[0])&elf.DF_1_NOW != 0
		if err != nil || err1 != nil || !now {
			t.Errorf("%s binds late: %v %v", name, err, err1)
		}
		relro := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_GNU_RELRO })
		exec := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool {
			return p.Type == elf.PT_GNU_STACK && p.Flags&elf.PF_X != 0 || p.Type == elf.PT_LOAD && p.Flags&(elf.PF_X|elf.PF_W) == elf.PF_X|elf.PF_W
		})
		if !relro || exec {
			t.Errorf("%s: read-only after relocation %v, memory that is written and executed %v", name, relro, exec)
		}
		f.Close()
	}
}

// TestAppIPC: memory and events of another process by their handles, and handles that were made up.
func TestAppIPC(t *testing.T) {
	exe := appProgram(t, "app_ipc")
	onBackends(t, func(t *testing.T, backend string) { newApp(t, backend, exe).run().want(t, "ok\n") })
}
