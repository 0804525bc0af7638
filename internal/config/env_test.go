package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRestricted: in a program with more rights than its user nothing counts that names files or code.
func TestRestricted(t *testing.T) {
	t.Cleanup(func() { restricted.Store(false) })
	names := []string{"HOME", "TMPDIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH", "LD_PRELOAD", "GODEBUG", "CUDA_VISIBLE_DEVICES"}
	for s := range All {
		names = append(names, s.Name)
	}
	os.Clearenv()
	for _, n := range names {
		t.Setenv(n, "x")
	}
	for _, n := range names {
		if v, ok := Lookup(n); v != "x" || !ok {
			t.Errorf("%s is %q, %v", n, v, ok)
		}
	}
	ours := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, "KUDZU_") })
	if env := ForCompiler(); len(env) != len(ours) {
		t.Errorf("the compiler gets %v, want our variables alone", env)
	}
	Restrict()
	for _, n := range []string{Compiler, LLVM, Clang, CacheDir, BLAS, DNN, HIPLibrary, ROCBLASLibrary, HIPBLASLtLibrary, ROCSOLVERLibrary, ROCFFTLibrary, ROCSPARSELibrary, MIOpenLibrary, ROCmSMILibrary, CUDALibrary, Perf, Stats, CompareReport, CompareDump, "HOME", "TMPDIR", "CUDA_CACHE_PATH"} {
		if v, ok := Lookup(n); v != "" || ok || Get(n) != "" {
			t.Errorf("%s counts: %q", n, v)
		}
		if slices.Contains(ForCompiler(), n+"=x") {
			t.Errorf("the compiler gets %s", n)
		}
	}
	for _, n := range []string{Threads, Log, CompilerMemory, "CUDA_VISIBLE_DEVICES"} {
		if Get(n) != "x" {
			t.Errorf("%s does not count", n)
		}
	}
}

// TestDoor: product code reads the environment through this package and through the base's kz_setting, which know what counts.
func TestDoor(t *testing.T) {
	inGo, inC := regexp.MustCompile(`\bos\.(Getenv|LookupEnv|Environ|ExpandEnv|UserCacheDir)\b`), regexp.MustCompile(`\b(secure_)?getenv\(`)
	may := map[string]string{
		"internal/abi/environ_unsafe.go":            "makes Go's environment the host's",
		"internal/shim/cublas/openblas/openblas.go": "looks whether the user has set a variable of OpenBLAS's",
		"c/base/setting.c":                          "is the base's door",
		"cmd/kudzu/run.go":                          "a command's: hands it on",
		"cmd/kudzu/report.go":                       "a command's: prints it",
	}
	for _, dir := range []string{"cmd", "internal", "c"} {
		err := filepath.WalkDir(root+dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !product(filepath.ToSlash(path)) {
				return err
			}
			b, err := os.ReadFile(path)
			direct := inC
			if filepath.Ext(path) == ".go" {
				direct = inGo
			}
			if m := direct.Find(b); m != nil && may[strings.TrimPrefix(filepath.ToSlash(path), root)] == "" {
				t.Errorf("%s says %s", path, m)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
