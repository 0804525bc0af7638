package worker

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What NVRTC 12.9 keeps of static variables, recorded with its wheel: all of them at the file's level under their plain names, read or
// not, none of a function's that is not read, and no shared one. Their values are the host's to change: they are read from memory.
const staticsSource = `
static __device__ int s1;
static __constant__ float s2[4];
static __device__ int s3 = 5;
__device__ const int c7 = 7;
__constant__ const int c9 = 9;
__device__ constexpr int c11 = 11;
static __device__ const int c12[2] = {1, 2};
__global__ void k(int *p) { static int l21; static __device__ int l22; __shared__ int s23; *p = 1; }
static __shared__ int s24;
extern "C" { static __device__ int s25; }
typedef int (*fn)(int);
static __device__ int h(int x) { return x; }
static __device__ fn s27 = h;
struct S { int a, b; };
static __device__ S s29;
static __device__ int u50;
static __constant__ int u51[3];
__device__ const int u55[2] = {4, 5};
__device__ int u56;
constexpr int big[20000] = {};
__global__ void k2(int *p, int i) { *p = u50 + u51[i] + u55[i] + u56 + s3; }
`

// staticsKept are the names in NVRTC's PTX. It also has the constants that nobody reads (c7, c9, c11, c12, big).
const staticsKept = "s1 s2 s25 s27 s29 s3 u50 u51 u55 u56"

func TestCUDAStatics(t *testing.T) {
	f := frontEnd(t)
	variable := regexp.MustCompile(`(?m)^(?:\.visible )?\.(?:global|const|shared)\b[^\n=;]*?([\w$]+)(?:\[\d*\])?(?: = [^\n]*)?;$`)
	for _, options := range []string{"-arch=sm_80 -std=c++17", "-arch=sm_80 -std=c++17 -rdc=true"} {
		c := f.good(t, cudaProgram{source: staticsSource, options: strings.Fields(options), exprs: []string{"&s1", "s2", "k"}})
		var got []string
		for _, m := range variable.FindAllStringSubmatch(c.Code, -1) {
			got = append(got, m[1])
		}
		slices.Sort(got)
		if strings.Join(got, " ") != staticsKept {
			t.Errorf("%s: variables %q, want %q", options, got, staticsKept)
		}
		if strings.Join(c.Names, " ") != "s1 s2 _Z1kPi" {
			t.Errorf("%s: names %q", options, c.Names)
		}
		for _, name := range []string{"u50", "u51", "s3"} {
			if len(regexp.MustCompile(`\b`+name+`\b`).FindAllString(c.Code, -1)) < 2 {
				t.Errorf("%s: %s is not read from memory", options, name)
			}
		}
		if strings.Contains(c.Code, ".visible .global .align 4 .u32 s1") {
			t.Errorf("%s: a static variable is visible to others\n%s", options, c.Code)
		}
	}
}
