package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNeeds: a program's libraries and functions, linked and by name, told apart.
func TestNeeds(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.c"), `int cuInit(unsigned); const char *const names[] = {"cuMemAlloc_v2", "cuNoSuchThing", "custom"};
int main(int n, char **v) { return cuInit(0) + names[n % 3][0]; }`)
	put(t, filepath.Join(dir, "b.c"), `int cuInit(unsigned f) { return f; }`)
	for _, args := range [][]string{{"-shared", "-fPIC", "b.c", "-o", "libcuda.so.1", "-Wl,-soname,libcuda.so.1"}, {"a.c", "-o", "a", "./libcuda.so.1"}} {
		cmd := exec.Command("cc", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	n := needsOf(data, dir) // no base library there: states are not known
	if n == nil || len(n.Functions) != 2 || n.Functions[0] != (called{"cuInit", "libcuda.so.1", true, stateUnknown}) ||
		n.Functions[1] != (called{"cuMemAlloc_v2", "libcuda.so.1", false, stateUnknown}) {
		t.Fatalf("%+v", n)
	}
	ours := 0
	for _, l := range n.Libraries {
		if l.Ours {
			ours++
		}
	}
	if ours != 1 || len(n.Libraries) < 2 {
		t.Errorf("%+v", n.Libraries)
	}
	var out bytes.Buffer
	if err := runCheck([]string{"--json", filepath.Join(dir, "a")}, &out); err != exitNoCode {
		t.Errorf("%v", err)
	}
	var back map[string]any
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["needs"] == nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if needsOf([]byte("\x7fELF and no more"), dir) != nil {
		t.Error("a damaged file has needs")
	}
}

// TestMissing: the tables of the base library that was built say of every library what is not answered.
func TestMissing(t *testing.T) {
	dir := "../../dist/lib"
	if _, err := os.Stat(filepath.Join(dir, "libkudzu-base.so")); err != nil {
		t.Skip("no base library: make dist")
	}
	missing := missingIn(dir)
	for _, r := range []struct {
		library, name string
		want          bool
	}{
		{"libcuda.so.1", "cuInit", false}, {"libcuda.so.1", "cudbgMain", true},
		{"libcudart.so.11.0", "cudaMalloc", false}, {"libcudart.so.12", "cudaMemAdvise", false}, {"libcudart.so.13", "cudaMemAdvise", false},
		{"libcublasLt.so.12", "cublasLtMatrixTransform", false}, {"libcublasLt.so.12", "cublasLtACCMatmul", true}, {"libcublasLt.so.13", "cublasLtMatmul", false},
	} {
		if missing[r.library] == nil || missing[r.library][r.name] != r.want {
			t.Errorf("%s: %s is missing: %v, want %v", r.library, r.name, missing[r.library][r.name], r.want)
		}
	}
}
