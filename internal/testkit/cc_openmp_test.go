package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/compile"
)

// OpenMP in programs of dist/bin/nvcc. clang compiles a .cu and the host's compiler a .cpp: parallel regions of a .cpp need nothing but
// g++, those of a .cu need LLVM's libomp. Where it is not installed the program is refused, and the message says what to install.

const openMPFlags = "-O1 -arch=sm_80 -Xcompiler -fopenmp"

// openMPHost skips where the host's compiler has no OpenMP.
func openMPHost(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("this machine has no g++")
	}
}

func TestOpenMP(t *testing.T) {
	openMPHost(t)
	squares := filepath.Join(repository, "testdata/cc/openmp/squares.cpp")
	builtPrints(t, "openmp/main.cu", "sum 328350 656700, threads 3, most 3, outside 0\n", append(strings.Fields(openMPFlags), squares)...)
	forwarded := strings.Fields("-O1 -arch=sm_80 -forward-unknown-to-host-compiler -fopenmp " + squares)
	builtPrints(t, "openmp/main.cu", "sum 328350 656700, threads 3, most 3, outside 0\n", forwarded...)
}

func TestOpenMPRegions(t *testing.T) {
	openMPHost(t)
	clang := compile.Clang()
	if clang == "" {
		t.Skip("this machine has no clang 19 or newer")
	}
	library, err := exec.Command(clang, "-print-file-name=libomp.so").Output()
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{"region": "sum 4950, threads 4, kernels 320, tasks 45\n", "header": "total 45\n"} {
		if filepath.IsAbs(strings.TrimSpace(string(library))) {
			builtPrints(t, "openmp/"+source+".cu", want, strings.Fields(openMPFlags)...)
			continue
		}
		file := filepath.Join(repository, "testdata/cc/openmp", source+".cu")
		program := filepath.Join(t.TempDir(), "program")
		cmd := exec.Command(filepath.Join(filepath.Dir(appLibraries(t)), "bin/nvcc"), append(strings.Fields(openMPFlags), file, "-o", program)...)
		out, err := cmd.CombinedOutput()
		_, major := compile.ClangResources()
		if err == nil || !strings.Contains(string(out), fmt.Sprintf("libomp-%d-dev", major)) {
			t.Errorf("%s without libomp: %v\n%s", source, err, out)
		}
		if _, err := os.Stat(program); err == nil {
			t.Errorf("%s: there is a program", source)
		}
	}
}
