package testkit

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unrecorded are the functions of cuBLAS and cuSOLVER that work, and that no program of linear calls: what they are, and why.
var unrecorded = []struct{ name, why string }{
	{`^cublasXt|^cublas(Alloc|Free|GetError|Init|SetKernelStream|Shutdown|Uint8gemmBias)$`, "recorded in shim/cublas/testdata (TestFirstBlas and others)"},
	{`^cublas(Lt)?Get(Cudart)?Version$|^cusolverGet(Property|Version)$`, "the release that we say we are"},
	{`(Get|Set)\w*(Mode|Mode_v2|Count|Target|Control|Offset|Pointer|Strategy|Support|AdvOptions)$`, "a setting: it has no result but what was set"},
	{`^cusolverDn(GetStream|SetStream|DestroyParams)$|^cusolverDnIRSParamsSet`, "a setting of calls that are recorded"},
	{`^cusolverDnXsyevj`, "settings of syevj and what it counted, which its algorithm decides"},
	{`^cusolverDnX(hetrs|sytrf)_bufferSize$`, "not in CUDA 13.0"},
	{`^cublasLtLogger|^cublasXerbla$`, "writes texts of our own"},
	{`^cublasLt\w+Init_internal$`, "what the Create function of the same descriptor does, in the program's memory"},
	{`^cublasLtMatmulAlgo\w+ForStream$`, "the function without a stream is recorded"},
	{`^cublasLt(CtxInit|ShutdownCtx)$`, "called by NVIDIA's libcublas only"},
}

// TestLinearRecorded: what works of cuBLAS, cuBLASLt and cuSOLVER is called by a program whose results an H200 recorded, or unrecorded says why
// not.
func TestLinearRecorded(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs/zcoverage_cuda.md"))
	if err != nil {
		t.Fatal(err)
	}
	var programs [][]byte
	for _, p := range linear {
		b, err := os.ReadFile(appProgram(t, p.name, p.flags()...))
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, b)
	}
	used := make([]bool, len(unrecorded))
	for _, lib := range []string{"libcublas.so.13", "libcublasLt.so.13", "libcusolver.so.12", "libcusolverMg.so.12"} {
		exported := exportedFunctions(t, filepath.Join(appLibraries(t), lib))
		missing := notYet(string(page), lib)
		for _, name := range exported {
			called := func(b []byte) bool { return bytes.Contains(b, []byte("\x00"+name+"\x00")) } // imported, or named for dlsym
			if slices.Contains(missing, name) || slices.Contains(exported, name+"_v2") || slices.ContainsFunc(programs, called) {
				continue // without _v2: the interface without handles
			}
			why := slices.IndexFunc(unrecorded, func(u struct{ name, why string }) bool { return regexp.MustCompile(u.name).MatchString(name) })
			if why < 0 {
				t.Errorf("%s: %s works and has no recorded result", lib, name)
				continue
			}
			used[why] = true
		}
	}
	for i, u := range unrecorded {
		if !used[i] {
			t.Errorf("no function is %s", u.name)
		}
	}
}

// TestLevelResults: what cuBLAS has of levels 1 to 3 and of batches has 20 results and more in each type, in two recordings.
func TestLevelResults(t *testing.T) {
	results := map[string]int{}
	for _, recording := range []string{"blas_levels", "blas_more"} {
		for _, line := range recordedLines(t, recording) {
			if words := strings.Fields(line); len(words) > 1 {
				results[words[0]+" "+words[1]]++
			}
		}
	}
	for f, n := range results {
		if n < 20 {
			t.Errorf("%s has %d results", f, n)
		}
	}
	if len(results) != 238 {
		t.Errorf("%d functions and types", len(results))
	}
}

func exportedFunctions(t *testing.T, path string) (names []string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		t.Fatalf("%s has no functions", path)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// notYet are the functions of a library that docs/zcoverage_cuda.md says are not there.
func notYet(page, library string) (names []string) {
	_, rest, _ := strings.Cut(page, "\n## "+library+":")
	part, _, _ := strings.Cut(rest, "\n## ")
	_, list, _ := strings.Cut(part, "Not yet")
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}
