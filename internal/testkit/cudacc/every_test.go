package cudacc

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everyHeader are the headers of device functions that are not in the prelude.
var everyHeader = []string{
	"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
	"cooperative_groups/memcpy_async.h", "mma.h", "cuda_pipeline.h", "cuda_awbarrier.h", "curand_kernel.h", "cuComplex.h",
}

// helpers are functions that only others of a header call, and that have no mark of it in their names.
var helpers = []string{
	"__assertfail", "vprintf", // of assert and printf, which clang calls
	"forward",                       // of std: TestBuiltinStd in internal/compile/worker
	"kudzu_x", "kudzu_y", "kudzu_z", // of threadIdx and its like
	"get_type", "cas", "exchange", "own", "group_mask", "group_size", "lanes", "own_mask", "prepare", "__double2uint", "float2uint", "__frsqrt_rn_approx",
	"curand_MRG32k3a", "curand_Philox4x32_10", // of curand with these states
}

// untested are the functions that no program runs, and why.
var untested = map[string]string{}

var declares = regexp.MustCompile("^([|` -]*)(\\w+Decl) 0x\\w+ (.*)$")

// declared are the names of functions in clang's dump of our headers: those that programs call.
func declared(t *testing.T) []string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "every.cu")
	var text strings.Builder
	for _, h := range everyHeader {
		text.WriteString("#include <" + h + ">\n")
	}
	if err := os.WriteFile(source, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(clang(t), "-x", "cuda", "-nocudainc", "-nocudalib", "-nostdinc", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-std=c++17", "-D__CUDACC_RTC__=1",
		"-I"+root+"/include/device", "-include", "kudzu/prelude.h", "-fsyntax-only", "-Xclang", "-ast-dump", source)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var names []string
	hidden := -1 // how deep the namespace is whose functions are not for programs
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		m := declares.FindStringSubmatch(s.Text())
		if m == nil || hidden >= 0 && len(m[1]) > hidden {
			continue
		}
		hidden = -1
		head, _, _ := strings.Cut(m[3], " '")
		words := strings.Fields(head)
		name := words[len(words)-1]
		switch m[2] {
		case "NamespaceDecl":
			if slices.ContainsFunc(words, func(w string) bool { return w == "__kudzu" || w == "details" }) {
				hidden = len(m[1])
			}
		case "FunctionDecl", "CXXMethodDecl":
			inner := regexp.MustCompile(`^__(kudzu|nv_[a-z])`) // libdevice's functions have tests of their own
			if !strings.Contains(head, " implicit ") && regexp.MustCompile(`^[A-Za-z_]\w*$`).MatchString(name) && (!inner.MatchString(name) || strings.HasPrefix(name, "__nv_atomic")) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var (
	lineOf = regexp.MustCompile(`^# \d+ "([^"]*)"`)
	word   = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// called are the words of the programs in testdata/cuda and testdata/cc as the preprocessor leaves them, without their headers'.
func called(t *testing.T) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	for _, glob := range []string{"cuda/*.cu", "cc/*.cu", "cc/*/*.cu"} {
		files, err := filepath.Glob(root + "/testdata/" + glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			args := []string{"-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-std=c++17", "-E", "-I" + root + "/include/device", "-I" + root + "/include"}
			if strings.HasPrefix(glob, "cuda/") {
				args = append(args, "-nostdinc", "-D__CUDACC_RTC__=1", "-include", "kudzu/prelude.h")
			}
			out, _ := exec.Command(clang(t), append(args, f)...).Output() // what is there counts where a header of another's is missing
			ours := false
			for line := range strings.Lines(string(out)) {
				if m := lineOf.FindStringSubmatch(line); m != nil {
					ours = strings.Contains(m[1], "/testdata/")
				} else if ours {
					for _, w := range word.FindAllString(line, -1) {
						words[w] = true
					}
				}
			}
		}
	}
	return words
}

// TestEvery: every function of the device headers is called by a program of testdata/cuda or testdata/cc, whose results are checked.
func TestEvery(t *testing.T) {
	all, words := declared(t), called(t)
	if len(all) < 1000 {
		t.Fatalf("%d functions", len(all))
	}
	tested := 0
	for _, name := range all {
		switch why, ok := untested[name]; {
		case words[name] && !slices.Contains(helpers, name):
			tested++
		case words[name]:
			t.Logf("%s is in the list of helpers and is called", name)
		case slices.Contains(helpers, name):
		case ok:
			t.Logf("%s: %s", name, why)
		default:
			t.Errorf("no program calls %s", name)
		}
	}
	t.Logf("%d functions, %d called by programs", len(all), tested)
}
