package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/config"
)

// TestChecks builds the programs of testdata/cc/checks, which compare what kernels do with what must come of it, print what differs and
// exit with 1 then. A first line "// nvcc: …" has options; CCCL in it is the folder that KUDZU_CCCL names.
func TestChecks(t *testing.T) {
	if compile.Clang() == "" {
		t.Skip("this machine has no clang 19 or newer")
	}
	lib := appLibraries(t)
	files, err := filepath.Glob(filepath.Join(repository, "testdata/cc/checks/*.cu"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".cu"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(text), "\n")
			options, _ := strings.CutPrefix(line, "// nvcc:")
			if strings.Contains(options, "CCCL") {
				cccl := os.Getenv("KUDZU_CCCL")
				if cccl == "" {
					t.Skip("this machine has no CCCL: KUDZU_CCCL does not name its folder")
				}
				options = strings.ReplaceAll(options, "CCCL", cccl)
			}
			program := filepath.Join(t.TempDir(), "program")
			args := []string{"-O2", file, "-o", program}
			if options != line {
				args = append(args, strings.Fields(options)...)
			}
			if out, err := exec.Command(filepath.Join(filepath.Dir(lib), "bin/nvcc"), args...).CombinedOutput(); err != nil {
				t.Fatalf("nvcc: %v\n%s", err, out)
			}
			run := exec.Command(program)
			run.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib, config.Capability+"=9.0")
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
