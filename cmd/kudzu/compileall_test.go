package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/assemble"
	"kudzu/internal/cache"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/fatbin"
)

// entries counts the compiled kernels of a cache.
func entries(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.kzc"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// TestCompileAll: what is compiled ahead is what the first launch looks for.
func TestCompileAll(t *testing.T) {
	needLLVM(t)
	kudzu, _ := tree(t)
	dir := filepath.Join(t.TempDir(), "cache")
	env := []string{"KUDZU_CACHE_DIR=" + dir, "KUDZU_PROGRESS=1"}
	text := strings.Replace(goodPTX, "second() {", "second() .reqntid 64, 2 {", 1)
	fat, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 70, Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(filepath.Dir(kudzu), "good.fatbin"), string(fat))
	run := func(code int, want string, args ...string) {
		t.Helper()
		stdout, stderr, got := runKudzu(t, kudzu, env, append([]string{"compile", "--all"}, args...)...)
		if got != code || !strings.Contains(stdout+stderr, want) {
			t.Errorf("kudzu compile --all %q: exit code %d, want %d and %q in\n%s%s", args, got, code, want, stdout, stderr)
		}
	}
	run(0, "2 kernels compiled", filepath.Join(filepath.Dir(kudzu), "good.fatbin"))
	run(0, "0 kernels compiled in 0.0 s, 2 were in the cache", filepath.Join(filepath.Dir(kudzu), "good.fatbin"), "--jobs", "4")
	ours, err := assemble.Text(text, assemble.Options{SM: 90})
	if err != nil {
		t.Fatal(err)
	}
	file, err := ours.Encode()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(filepath.Dir(kudzu), "good.cubin"), string(file))
	run(0, "2 were in the cache", filepath.Join(filepath.Dir(kudzu), "good.cubin"))
	run(0, "2/2", "good.ptx", "--block", "32,2", "--block", "16", "--kernel=first") // the bar
	run(1, "no kernel nobody", "good.ptx", "--kernel", "nobody")
	run(1, "frobnicate", "bad.ptx")
	run(1, "puts kernels into the cache", "good.ptx", "--emit", "asm")
	before := entries(t, dir)
	if before != 4 {
		t.Errorf("%d entries in the cache, want 4", before)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	devs, err := devices.CPU(devices.Config{Compiler: []string{kudzu, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir}), Strict: true}).Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := driver.Describe("good", text, 90)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := devs[0].Load(m)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string][3]uint32{"first": usualBlock, "second": {64, 2, 1}} {
		k, err := prog.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Prepare(block); err != nil {
			t.Fatal(err)
		}
	}
	if n := entries(t, dir); n != before {
		t.Errorf("the device compiled %d kernels that were compiled ahead", n-before)
	}
}
