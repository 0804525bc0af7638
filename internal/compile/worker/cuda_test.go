package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
	"kudzu/internal/nvvmir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// frontEnd is one with the tree's headers.
func frontEnd(t *testing.T) *clangs {
	t.Helper()
	if compile.Clang() == "" {
		t.Skip("no clang 19 or newer on this machine")
	}
	home := t.TempDir()
	include, err := filepath.Abs("../../../include/device")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(include, filepath.Join(home, "include")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(home, "lib"), 0o700), os.Symlink(waitingLibrary(t), filepath.Join(home, residentLibrary))); err != nil {
		t.Fatal(err)
	}
	f := newClangs(filepath.Join(home, "bin", "kudzu"), true, 2)
	t.Cleanup(f.close)
	return f
}

// cudaProgram is a source and what goes with it.
type cudaProgram struct {
	source  string
	name    string
	options []string
	headers map[string]string
	exprs   []string
}

func (f *clangs) try(t *testing.T, p cudaProgram) (*compile.CUDACode, error) {
	t.Helper()
	o, _, err := cudacc.Parse(cudacc.Release12, p.options)
	if err != nil {
		t.Fatal(err)
	}
	if p.name == "" {
		p.name = cudacc.DefaultName
	}
	req := &compile.Request{PTX: p.source, Kernel: p.name, CUDA: &compile.CUDA{Name: p.name, Bytes: len(p.source), Exprs: p.exprs, Options: *o}}
	for name, text := range p.headers {
		req.CUDA.Headers = append(req.CUDA.Headers, compile.CUDAHeader{Name: name, Bytes: len(text)})
		req.PTX += text
	}
	r, err := f.run(req, time.Minute)
	if err != nil {
		return nil, err
	}
	return compile.DecodeCUDA(r.Image)
}

// good is try of a program whose PTX is right.
func (f *clangs) good(t *testing.T, p cudaProgram) *compile.CUDACode {
	t.Helper()
	c, err := f.try(t, p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ptx.ParseModule(c.Code)
	if err == nil {
		err = check.Module(m)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Code)
	}
	return c
}

func TestCUDA(t *testing.T) {
	f := frontEnd(t)
	c := f.good(t, cudaProgram{
		source: "#include \"sub/one.h\"\n#include <two.h>\n" + `
template<class T> __global__ void k(T *p) { *p = one() + two; }
namespace N { __device__ int v; __constant__ float c[4]; template<class T> __device__ T tv; }
static __global__ void s(int *p) { __shared__ int a[32]; a[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[0] = a[31 - threadIdx.x] + N::v; }
`,
		headers: map[string]string{"sub/one.h": "#include \"../two.h\"\n__device__ inline int one() { return 1; }\n", "two.h": "#pragma once\nconst int two = 2;\n"},
		options: []string{"-arch=sm_90a", "-std=c++17"},
		exprs:   []string{"k<int>", "&k<float>", "&N::v", "N::c", "&N::tv<double>", "s"},
	})
	want := []string{"_Z1kIiEvPT_", "_Z1kIfEvPT_", "_ZN1N1vE", "_ZN1N1cE", "_ZN1N2tvIdEE", "_ZL1sPi"}
	if strings.Join(c.Names, " ") != strings.Join(want, " ") {
		t.Errorf("names %q, want %q", c.Names, want)
	}
	if !strings.Contains(c.Code, ".version 8.8\n.target sm_90a\n") || strings.Contains(c.Code, "__kudzu") {
		t.Errorf("code:\n%s", c.Code)
	}
	if len(c.Files) == 0 || !strings.HasSuffix(c.Files[0].Path, "kudzu/prelude.h") {
		t.Errorf("files %+v", c.Files)
	}
}

// TestCUDAConstructed: shared variables of classes with constructors, in the source, in a header of the request and in a folder's.
func TestCUDAConstructed(t *testing.T) {
	f := frontEnd(t)
	dir := t.TempDir()
	const body = "{ __shared__ Box<int> %s; if (threadIdx.x == 0) %[1]s.v = 3; __syncthreads(); return %[1]s.v; }\n"
	if err := os.WriteFile(filepath.Join(dir, "far.h"), []byte("__device__ inline int far() "+fmt.Sprintf(body, "c")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, options := range []string{"-arch=sm_80", "-arch=sm_80 -G", "-arch=sm_80 -default-device"} {
		c := f.good(t, cudaProgram{
			source: "template <class T> struct Box { T v; __device__ Box() : v(1) {} __device__ ~Box() { v = 2; } };\n#include \"near.h\"\n#include <far.h>\n__device__ int here() " +
				fmt.Sprintf(body, "a") + "extern \"C\"__global__ void k(int *p) { *p = near() + far() + here(); }\n",
			headers: map[string]string{"near.h": "__device__ inline int near() " + fmt.Sprintf(body, "b")},
			options: append(strings.Fields(options), "-I"+dir),
		})
		if n := strings.Count(c.Code, ".shared .align 4 ."); n != 3 {
			t.Errorf("%s: %d shared variables in\n%s", options, n, c.Code)
		}
	}
}

// TestCUDAGuides: deduction guides may have any execution space, as with NVRTC. jitify defines __host__ as nothing.
func TestCUDAGuides(t *testing.T) {
	const header = "#define __host__\n#define BOTH __host__ __device__\ntemplate <class T> struct A { T v; __device__ A(T x) : v(x) {} };\n" +
		"template <class T>\nBOTH A(T) -> A<T>;\ntemplate <class T> __device__ A(T, int) -> A<T>;\n"
	frontEnd(t).good(t, cudaProgram{
		source:  "#include \"a.h\"\n__device__ explicit A(char) -> A<int>;\nextern \"C\" __global__ void k(float *p) { A a(*p); *p = a.v * 2; }\n",
		headers: map[string]string{"a.h": header},
	})
}

// TestCUDAGuards: of a file of NVIDIA's whose contents the prelude has nothing is read, because its guard is defined.
func TestCUDAGuards(t *testing.T) {
	types := "#if !defined(__VECTOR_TYPES_H__)\n#define __VECTOR_TYPES_H__\nstruct int4 { int x; };\n#endif\n#define READ\n"
	source := "#include \"vector_types.h\"\n#if !defined(READ) || !defined(__CUDA_RUNTIME_API_H__) || !defined(__LIBRARY_TYPES_H__)\n#error no guard\n#endif\n" +
		"__NV_SILENCE_DEPRECATION_BEGIN\n__global__ void k(int4 *p) { p->w = p->x; }\n__NV_SILENCE_DEPRECATION_END\n"
	frontEnd(t).good(t, cudaProgram{source: source, headers: map[string]string{"vector_types.h": types}})
}

// TestCUDAOffsets: the address of a null pointer's member is a constant, as CCCL has it of NVRTC.
func TestCUDAOffsets(t *testing.T) {
	frontEnd(t).good(t, cudaProgram{
		source: "#include \"a.h\"\nextern \"C\" __global__ void k(int *p) { A a; *p = sizeof a; }\n",
		headers: map[string]string{"a.h": "#define FIRST(type, member) !(&(((type*) 0)->member))\n" +
			"class A { int v, w; public: __device__ A() { static_assert(FIRST(A, v), \"\"); static_assert(!FIRST(A, w), \"\"); } };\n"},
	})
}

// TestCUDAOptions: options change the code as they do NVRTC's.
func TestCUDAOptions(t *testing.T) {
	f := frontEnd(t)
	const source = "#if __clang_major__ < 22 && !__CUDA_PREC_SQRT\n#define ROOT sqrtf // kudzu/math.h\n#else\n#define ROOT __builtin_sqrtf\n#endif\n" +
		"extern \"C\" __global__ void k(float *p) { p[0] = p[1] / p[2] + ROOT(p[3]); p[4] = p[5] * p[6] + p[7]; }\n" +
		"#ifdef SIDE\nint side() { return 1; }\nextern \"C\" __global__ void s(int *p) { *p = side(); }\n#endif\n"
	for _, c := range []struct {
		options string
		has     []string
		not     []string
	}{
		{"", []string{"div.rn.f32", "sqrt.rn.f32", "fma.rn.f32", ".target sm_52"}, []string{".ftz", ".loc"}},
		{"-use_fast_math", []string{".ftz.f32", "sqrt.approx.ftz.f32", "fma.rn.ftz.f32"}, []string{"div.rn", "sqrt.rn"}},
		{"-ftz=true -prec-div=false -prec-sqrt=false", []string{"sqrt.approx.ftz.f32"}, []string{"div.rn"}},
		{"-fmad=false", []string{"mul.rn.f32"}, []string{"fma"}},
		{"-lineinfo -arch=compute_90", []string{".loc", ".target sm_90"}, nil},
		{"-G -arch=compute_80", []string{".debug_info", "debug"}, nil},
		{"-DSIDE -default-device -std=c++20", []string{".entry s"}, nil},
		{"-arch=compute_100f", []string{".target sm_100f", ".version 8.8"}, nil},
		{"-fdevice-syntax-only", []string{".version 8.8"}, []string{".entry"}},
		{"-rdc=true -arch=sm_80", []string{".entry k"}, nil},
	} {
		o := cudaProgram{source: source, options: strings.Fields(c.options)}
		code := f.good(t, o).Code
		for _, s := range c.has {
			if !strings.Contains(code, s) {
				t.Errorf("%s: no %s in\n%s", c.options, s, code)
			}
		}
		for _, s := range c.not {
			if strings.Contains(code, s) {
				t.Errorf("%s: %s in\n%s", c.options, s, code)
			}
		}
	}
	lto, err := f.try(t, cudaProgram{source: source, options: []string{"-dlto"}, exprs: []string{"k"}})
	if err != nil || lto.Names[0] != "k" {
		t.Fatalf("for linking: %v, %+v", err, lto)
	}
	if _, ok := nvvmir.FromLTO(lto.Code); !ok {
		t.Errorf("for linking: %.40q", lto.Code)
	}
}

// TestCUDASandbox: a program reads the folders that its options name, and no others.
func TestCUDASandbox(t *testing.T) {
	f := frontEnd(t)
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if err := os.WriteFile(filepath.Join(d, "there.h"), []byte("const int there = 1;\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := f.good(t, cudaProgram{source: "#include <there.h>\n__global__ void k(int *p) { *p = there; }\n", options: []string{"-I" + dir}})
	if last := c.Files[len(c.Files)-1].Path; last != filepath.Join(dir, "there.h") {
		t.Errorf("files %+v", c.Files)
	}
	for _, path := range []string{filepath.Join(other, "there.h"), "/etc/passwd", "/proc/self/environ"} {
		_, err := f.try(t, cudaProgram{source: "#include \"" + path + "\"\n", options: []string{"-I" + dir}})
		var bad *compile.CUDAError
		if !errors.As(err, &bad) || !strings.Contains(bad.Log, "catastrophic error: cannot open source file \""+path+"\"") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if !strings.Contains(f.work, scratch) {
		t.Errorf("work in %s", f.work)
	}
}

// TestCUDALogs: what NVRTC refuses is refused. Where our words and places are NVRTC's, the whole log is compared, elsewhere the codes.
func TestCUDALogs(t *testing.T) {
	f := frontEnd(t)
	same := strings.Fields("undeclared header sysheader paren expr member error error2 warning unused setunused label break incomplete ns qual endif throw")
	file, err := os.Open("../../cudacc/testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var name, source, log string
		var code int
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &[]any{&name, &source, &code, &log}); err != nil {
			t.Fatal(err)
		}
		if name == "host" || name == "hostvar" { // functions and variables of the host are nobody's business here
			continue
		}
		c, err := f.try(t, cudaProgram{source: source, headers: map[string]string{"h.h": "int f( {\n"}})
		got, gotLog := 0, ""
		var bad *compile.CUDAError
		switch {
		case errors.As(err, &bad):
			got, gotLog = 6, bad.Log
		case err != nil:
			t.Fatal(err)
		default:
			gotLog = c.Log
		}
		if got != code || slices.Contains(same, name) && gotLog != log {
			t.Errorf("%s: %d\n%s, want %d\n%s", name, got, gotLog, code, log)
		}
	}
}

// TestCUDAMissing: without clang the log says what to install; without our headers, which.
func TestCUDAMissing(t *testing.T) {
	f := frontEnd(t)
	f.home = t.TempDir()
	_, err := f.try(t, cudaProgram{source: "__global__ void k() {}"})
	var bad *compile.CUDAError
	if !errors.As(err, &bad) || !bad.Missing || !strings.Contains(bad.Log, "device headers are not installed") {
		t.Errorf("%v", err)
	}
}

// TestClangFirst: while the first request is one for clang, no worker is started that it does not need.
func TestClangFirst(t *testing.T) {
	s := newSupervisor(self(t), false, io.Discard)
	s.warmDelay = time.Hour
	started := func() bool {
		s.quick.mu.Lock()
		defer s.quick.mu.Unlock()
		return s.quick.first != nil
	}
	for range cap(s.clangs.slots) {
		s.clangs.slots <- struct{}{} // clang is busy
	}
	frame, err := compile.EncodeRequest(1, &compile.Request{CUDA: &compile.CUDA{Name: "x.cu"}}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	in, client := io.Pipe()
	status := make(chan int)
	go func() { status <- s.run(in) }()
	if err := compile.WriteFrame(client, frame); err != nil {
		t.Fatal(err)
	}
	for !s.asked.Load() {
		time.Sleep(time.Millisecond)
	}
	if started() {
		t.Error("a worker was started beside clang")
	}
	for range cap(s.clangs.slots) {
		<-s.clangs.slots
	}
	for end := time.Now().Add(time.Minute); !started(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no worker was started after it")
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-status; n != 0 {
		t.Errorf("status %d", n)
	}
}

// TestAnnotations: what clang has no attribute for is in the PTX, also from a header.
func TestAnnotations(t *testing.T) {
	f := frontEnd(t)
	c := f.good(t, cudaProgram{
		source: `#include "vars.h"
extern "C" __global__ void __cluster_dims__(2, 1, 1) pairs(int *p) { p[threadIdx.x] = shared_count; }
template <int N> __global__ void __maxnreg__(64) few(int *p) { p[N] = N; }
`,
		headers: map[string]string{"vars.h": "__device__ __managed__ int shared_count = 7;\n__managed__ float table[4];\n"},
		options: []string{"-arch=compute_90"},
		exprs:   []string{"few<3>"},
	})
	for _, want := range []string{
		".global .attribute(.managed) .align 4 .u32 shared_count = 7;", ".global .attribute(.managed) .align 4 .b8 table[16];",
		".explicitcluster\n.reqnctapercluster 2, 1, 1", ".maxnreg 64",
	} {
		if !strings.Contains(c.Code, want) {
			t.Errorf("no %q in\n%s", want, c.Code)
		}
	}
	if c.Names[0] != "_Z3fewILi3EEvPi" {
		t.Errorf("names %q", c.Names)
	}
	if c := f.good(t, cudaProgram{source: "__global__ void k(int *p) { *p = 1; }"}); strings.Contains(c.Code, ".attribute") {
		t.Errorf("code:\n%s", c.Code)
	}
}

// TestBuiltinStd: NVRTC's options that leave its own names of namespace std out.
func TestBuiltinStd(t *testing.T) {
	f := frontEnd(t)
	own := `namespace std { template <class T> class initializer_list { const T *p; size_t n; }; template <class T> __device__ T &&move(T &&v) { return (T &&)v; } }
__global__ void k(int *p) { *p = std::move(3); }`
	f.good(t, cudaProgram{source: own, options: []string{"-builtin-initializer-list=false", "-builtin-move-forward=false", "-std=c++17"}})
	f.good(t, cudaProgram{source: "__global__ void k(int *p) { int v = 3; *p = std::move(v) + std::initializer_list<int>{1, 2}.size(); }"})
	if _, err := f.try(t, cudaProgram{source: own}); err == nil {
		t.Error("a second initializer_list is taken")
	}
}

// TestBuiltinTypes: NVRTC has the constants and types of driver_types.h, std::align_val_t and some macros without a header, and looks
// for a qualified function of a template when it is instantiated. CCCL's algorithms at run time need all of it.
func TestBuiltinTypes(t *testing.T) {
	f := frontEnd(t)
	source := `
#if !__NV_BUILTIN_INITIALIZER_LIST || !__NV_BUILTIN_MOVE_FORWARD || CUDART_VERSION < 12000
#error "NVRTC's macros"
#endif
static_assert((__CUDA_FTZ | __USE_FAST_MATH__ << 1 | __CUDA_PREC_DIV << 2 | __CUDA_PREC_SQRT << 3) == WANT, "options");
__device__ cudaFuncAttributes a;
__device__ cudaDeviceProp prop;
__device__ cudaLaunchAttribute attribute(cudaLaunchAttributeValue v) { return cudaLaunchAttribute{cudaLaunchAttributePriority, {}, v}; }
__device__ cudaStream_t stream() { return cudaStreamLegacy ? cudaStreamLegacy : cudaStreamPerThread; }
__device__ char flags[cudaStreamNonBlocking + cudaEventDisableTiming];
namespace lib {}
template <class T> __device__ int unused(T x) { return lib::missing(x) + ::lib::other(x); }
struct alignas(64) Wide { int v[16]; };
__global__ void k(int *p, size_t n) {
	Wide *w = new Wide;
	*p = (int)sizeof(cudaPitchedPtr) + (size_t)std::align_val_t{n} + w->v[0];
	delete w;
}`
	for option, want := range map[string]int{"-fmad=true": 12, "-ftz=true": 13, "-use_fast_math": 3} {
		c := f.good(t, cudaProgram{source: source, options: []string{"-std=c++17", "-arch=sm_89", fmt.Sprintf("-DWANT=%d", want), option}})
		if strings.Contains(c.Code, "missing") {
			t.Errorf("%s: code of a template that nobody uses:\n%s", option, c.Code)
		}
	}
	for _, bad := range []string{"template <class T> __device__ int f(T x) { return lib::missing(x); }\n__global__ void k(int *p) { *p = f(3); }", "__device__ int f() { return lib::missing(3); }"} {
		if _, err := f.try(t, cudaProgram{source: "namespace lib {}\n" + bad, options: []string{"-arch=sm_89"}}); err == nil {
			t.Errorf("a function that is not there is called: %s", bad)
		}
	}
}
