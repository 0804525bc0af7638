package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/dump"
)

// built is a program of testdata/apps, linked with the libraries of dist, and kudzu itself.
func built(t *testing.T, name string) (kudzu, program string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	kudzu = filepath.Join(root, "dist/bin/kudzu")
	if _, err := os.Stat(kudzu); err != nil {
		t.Skip("no dist/bin/kudzu: make dist builds it")
	}
	program = filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("gcc", "-O1", "-Wall", "-Werror", "-I", filepath.Join(root, "include"), "-o", program, filepath.Join(root, "testdata/apps", name+".c"),
		"-L", filepath.Join(root, "dist/lib"), "-lcuda").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return kudzu, program
}

func kinds(t *testing.T) string {
	t.Helper()
	p, err := filepath.Abs("../../testdata/apps/kinds.ptx")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUDZU_COMPUTE_CAPABILITY", "9.0")
	return p
}

func ends(t *testing.T, want int, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	out, err := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != want {
		t.Errorf("%s %s: code %d, %v\n%s", filepath.Base(name), strings.Join(args, " "), got, err, out)
	}
	return string(out)
}

// wanted are the kinds of launches that a dump must be able to hold.
const wanted = "add static_shared long_running dynamic_shared local_array shuffles votes prints atomics bytes half matrix doubles wide constants addresses pointers by_value chain managed pinned cooperative cluster tensors sampled layers surface fetched"

// Each kind of launch is dumped on the CPU and on the interpreter and gives the same memory again on both, from the same addresses; the
// program's own results do not change.
func TestDumpKinds(t *testing.T) {
	kz, prog := built(t, "kinds")
	ptx := kinds(t)
	plain := ends(t, 0, kz, "run", prog, ptx)
	for _, on := range []string{"cpu", "interp"} {
		dir := t.TempDir()
		if got := ends(t, 0, kz, "dump", "--backend", on, "--every", "-o", filepath.Join(dir, "k.kzd"), prog, ptx); sums(got) != sums(plain) {
			t.Errorf("dumped on %s the program gives\n%s", on, got)
		}
		for i, name := range strings.Fields(wanted) {
			file := filepath.Join(dir, fmt.Sprintf("k-%d.kzd", i+1))
			f, err := dump.Open(file, 1<<24)
			if err != nil {
				t.Fatal(err)
			}
			if f.Kernel != name || f.Backend != on || f.Fault != "" || len(f.Notes) > 0 {
				t.Errorf("%s has %s of %s, %s%v", file, f.Kernel, f.Backend, f.Fault, f.Notes)
			}
			for _, to := range []string{"cpu:baseline", "interp"} {
				if got := ends(t, 0, kz, "replay", "--backend", to, file); !strings.Contains(got, "bit for bit") {
					t.Errorf("%s on %s: %s", name, to, got)
				}
			}
		}
	}
}

// sums are the lines of kinds, in order of names: what kernels print comes when it comes.
func sums(out string) string {
	var all []string
	for _, name := range strings.Fields(wanted) {
		for _, l := range strings.Split(out, "\n") {
			if strings.HasPrefix(l, name+" ") {
				all = append(all, l)
			}
		}
	}
	return strings.Join(all, "\n")
}

// The launch that is asked for is taken, with what hangs together in memory; a different text gives different memory, and the line that
// stores it is named; a tolerance may cover it.
func TestReplayDiffers(t *testing.T) {
	kz, prog := built(t, "kinds")
	ptx := kinds(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "long.kzd")
	ends(t, 0, kz, "dump", "--kernel", "long_running", "-o", file, prog, ptx)
	f, err := dump.Open(file, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	line := 0
	var changed []string
	for i, l := range strings.Split(f.PTX, "\n") {
		l = strings.Replace(l, "fma.rn.f32", "fma.rz.f32", 1)
		if strings.Contains(l, "st.global") {
			line = i + 1
		}
		changed = append(changed, l)
	}
	other := filepath.Join(dir, "other.ptx")
	if err := os.WriteFile(other, []byte(strings.Join(changed, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	got := ends(t, 1, kz, "replay", "--backend", "interp", "--ptx", other, file)
	for _, want := range []string{"DIFFERENT", "parameter 1", "f32", " ulp apart", fmt.Sprintf("PTX line %d", line)} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := ends(t, 0, kz, "replay", "--backend", "interp", "--ptx", other, "--tolerance", "f32=64ulp", file); !strings.Contains(got, "within f32=64ulp") {
		t.Error(got)
	}
	ends(t, 0, kz, "replay", "--backend", "interp", "--order", "reverse", file)
	ends(t, 0, kz, "replay", "--backend", "interp", "--order", "random:7", file)
	ends(t, 0, kz, "replay", "--backend", "cpu", "--order", "reverse", file)
	ends(t, 0, kz, "replay", "--backend", "cpu", "--order", "random:7", file)
	if got := ends(t, 1, kz, "dump", "--kernel", "nothing", "-o", filepath.Join(dir, "none.kzd"), prog, ptx, "add"); !strings.Contains(got, "no such launch") {
		t.Error(got)
	}
}

// A dump as a C program, compiled against our header, runs on our driver and finds nothing; with other memory it does.
func TestReplayC(t *testing.T) {
	kz, prog := built(t, "kinds")
	ptx := kinds(t)
	lib, err := filepath.Abs("../../dist/lib")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"chain", "pointers", "surface", "cluster"} {
		file, c := filepath.Join(dir, name+".kzd"), filepath.Join(dir, name+".c")
		ends(t, 0, kz, "dump", "--kernel", name, "-o", file, prog, ptx, name)
		ends(t, 0, kz, "replay", "--c", c, file)
		ends(t, 0, "gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-I", "../../include", "-o", filepath.Join(dir, name), c, "-L", lib, "-lcuda")
		data := filepath.Join(dir, name+".data")
		if got := ends(t, 0, kz, "run", filepath.Join(dir, name), data); !strings.Contains(got, name+": 0 differences") {
			t.Error(got)
		}
		f, err := dump.Open(file, 1<<24)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Regions {
			if f.Regions[i].Changed {
				f.After[i] = bytes.Clone(f.Before[i])
				f.After[i][0] ^= 0x55
			}
		}
		if err := f.Write(file, false); err != nil {
			t.Fatal(err)
		}
		ends(t, 0, kz, "replay", "--c", c, file)
		ends(t, 1, kz, "run", filepath.Join(dir, name), data)
	}
}

// Options that make no sense are said, before anything runs.
func TestReplayArgs(t *testing.T) {
	for want, args := range map[string][]string{
		"which file":       {"--repeat", "3"},
		"no backend":       {"--backend", "gpu", "f"},
		"cannot be forced": {"--passes", "nothing", "f"},
		"is not thread":    {"--width", "9", "f"},
		"a tolerance is":   {"--tolerance", "f31=1", "f"},
		"needs a value":    {"f", "--order"},
		"unknown option":   {"--frobnicate", "f"},
		"as it likes":      {"--backend", "cuda", "--order", "reverse", "f"},
		"one file":         {"f", "g"},
	} {
		if err := runReplay(args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, _, err := parseDump([]string{"--launch", "0", "--", "p"}); err == nil {
		t.Error("launch 0 was taken")
	}
	if _, _, err := parseCompare([]string{"--with", "cpu:mmx", "--", "p"}); err == nil {
		t.Error("cpu:mmx was taken")
	}
}

// Every kind of launch is the same on another executor, in the process and in another one; a tolerance file that is none is said.
func TestCompareKinds(t *testing.T) {
	kz, prog := built(t, "kinds")
	ptx := kinds(t)
	for _, with := range []string{"interp", "cpu:baseline"} {
		got := ends(t, 0, kz, "compare", "--with", with, "-o", t.TempDir(), prog, ptx)
		if !strings.Contains(got, "28 launches of 28 different kernels compared with "+with) || !strings.Contains(got, "28 same, 0 explained, 0 different; 0 more were skipped") {
			t.Errorf("with %s:\n%s", with, got)
		}
	}
	if got := ends(t, 0, kz, "compare", "--kernel", "^chain$", "-o", t.TempDir(), prog, ptx); !strings.Contains(got, "1 launches of 1 different kernels") || !strings.Contains(got, "; there were 28 launches\n") {
		t.Error(got)
	}
	ends(t, 1, kz, "compare", "--tolerance", ptx, "-o", t.TempDir(), prog, ptx)
}
