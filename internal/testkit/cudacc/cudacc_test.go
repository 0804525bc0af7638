// Package cudacc compiles the CUDA sources of testdata/cuda with clang and our device headers, and runs them. The sources check
// themselves: nvcc builds them too, so that what they expect is also what NVIDIA's headers give.
package cudacc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	modules "kudzu/internal/compile"
	"kudzu/internal/compile/worker"
	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	library "kudzu/internal/libdevice"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/compiled"
)

const root = "../../.."

// TestMain serves as the compiler process when the cpu backend starts this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "compiler" {
		os.Exit(worker.Main(os.Args[2:]))
	}
	code := m.Run()
	if scratch != "" {
		os.RemoveAll(scratch)
	}
	os.Exit(code)
}

var (
	scratch   string // a folder for the whole run, or empty
	deviceLib sync.Once
)

// libdevice writes our device functions as clang links them.
func libdevice(t *testing.T) string {
	t.Helper()
	deviceLib.Do(func() {
		dir, err := os.MkdirTemp("", "kudzu-cudacc-*")
		if err != nil {
			t.Fatal(err)
		}
		scratch = dir
		text := filepath.Join(dir, "libdevice.ll")
		if err := os.WriteFile(text, []byte(library.Text()), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(clang(t), "--target=nvptx64-nvidia-cuda", "-x", "ir", "-emit-llvm", "-c", "-o", filepath.Join(dir, "libdevice.bc"), text).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	return filepath.Join(scratch, "libdevice.bc")
}

// clang is the compiler, KUDZU_CLANG or what scripts/setup.sh finds.
func clang(t *testing.T) string {
	t.Helper()
	if c := os.Getenv("KUDZU_CLANG"); c != "" {
		return c
	}
	out, err := exec.Command(root+"/scripts/setup.sh", "clang").Output()
	if err != nil {
		t.Skip("this machine has no clang 19 or newer")
	}
	return strings.TrimSpace(string(out))
}

// compile makes PTX of a source, as NVRTC does it.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "out.ptx")
	args := []string{
		"-x", "cuda", "-nocudainc", "-nocudalib", "-nostdinc", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx83",
		"-std=c++17", "-O3", "-ffp-contract=fast", "-Wall", "-Werror", "-Wno-unused-variable", "-D__CUDACC_RTC__=1", "-I" + root + "/include/device", "-I" + root + "/testdata/cuda",
		"-Xclang", "-mlink-builtin-bitcode", "-Xclang", libdevice(t), "-include", "kudzu/prelude.h", "-S", "-o", file,
	}
	out, err := exec.Command(clang(t), append(append(args, flags...), source)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources are the programs of testdata/cuda by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(root + "/testdata/cuda/*.cu")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	all := map[string]string{}
	for _, f := range files {
		all[strings.TrimSuffix(filepath.Base(f), ".cu")] = f
	}
	return all
}

// TestSources runs every source on every executor.
func TestSources(t *testing.T) {
	if runtime.GOARCH == "amd64" {
		t.Setenv(config.Tier, modules.Baseline.String()) // optimising the same code later would only cost time
	}
	for name, file := range sources(t) {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			// All of libdevice in one kernel takes a compiler long; internal/libdevice tests its code on the cpu backend.
			line, slow := strings.CutSuffix(strings.TrimPrefix(first, "// "), " interp")
			ptx := compile(t, file)
			backends := []backend.Backend{interp.New(interp.Config{})}
			if !slow {
				backends = append(backends, devices.CPU(compiled.Config(t)))
			}
			for _, b := range backends {
				t.Run(b.Name(), func(t *testing.T) { check(t, b, line, ptx) })
			}
		})
	}
}

// check launches a source's kernel and reads what it noted (testdata/cuda/check.h).
func check(t *testing.T, b backend.Backend, line, ptx string) {
	t.Helper()
	devs, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "case")
	if err := os.WriteFile(file, []byte("A CUDA source.\n-- kernel.ptx --\n"+ptx+"-- run --\n"+line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := testkit.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	outs, err := c.Execute(devs[0], func(ptx string) (*backend.Module, error) { return driver.Describe("source", ptx, 90) })
	if err != nil {
		t.Fatal(err)
	}
	if outs[0].Fault != "" {
		t.Fatalf("fault: %s", outs[0].Fault)
	}
	got := outs[0].Results[0]
	failed, checks := got[0], got[1]
	if failed != 0 || checks == 0 {
		t.Errorf("%d of %d checks failed\n%s", failed, checks, failures(got))
	}
}

func failures(got []uint64) string {
	var s strings.Builder
	for i := range min(int(got[0]), 20) {
		f := got[2+3*i:]
		fmt.Fprintf(&s, "line %d: got %#x, want %#x\n", f[0], f[1], f[2])
	}
	return s.String()
}

var objectInsn = regexp.MustCompile(`(?m)^\s*((?:tex|tld4|suld|sust)\.\S+)`)

// TestTextures: each texture and surface function is its instruction, and the checker takes them all.
func TestTextures(t *testing.T) {
	ptx := compile(t, root+"/testdata/cuda/compile/textures.cu")
	if _, err := driver.Describe("textures", ptx, 90); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, m := range objectInsn.FindAllStringSubmatch(ptx, -1) {
		got[m[1]]++
	}
	for _, shape := range []string{
		"tex.1d", "tex.level.1d", "tex.grad.1d", "tex.a1d", "tex.level.a1d", "tex.grad.a1d", "tex.2d", "tex.level.2d", "tex.grad.2d", "tex.a2d",
		"tex.level.a2d", "tex.grad.a2d", "tex.3d", "tex.level.3d", "tex.grad.3d", "tex.cube", "tex.level.cube", "tex.acube", "tex.level.acube",
		"tld4.r.2d", "tld4.g.2d", "tld4.b.2d", "tld4.a.2d",
	} {
		for _, elem := range []string{"f32", "s32", "u32"} { // of float4; char and int; ushort2
			want := map[string]int{"f32": 1, "s32": 2, "u32": 1}[elem]
			if shape == "tex.2d" {
				want *= 2 // both forms of the function
			}
			if name := shape + ".v4." + elem + ".f32"; got[name] != want {
				t.Errorf("%s: %d times, want %d", name, got[name], want)
			}
		}
	}
	for _, elem := range []string{"v4.b32", "b8", "v2.b16", "b32", "v2.b64"} {
		for name, want := range map[string]int{
			"suld.b.1d." + elem + ".trap": 1, "suld.b.2d." + elem + ".trap": 2, "suld.b.3d." + elem + ".zero": 1, "suld.b.a1d." + elem + ".trap": 1,
			"suld.b.a2d." + elem + ".clamp": 1, "suld.b.a2d." + elem + ".trap": 2, "sust.b.1d." + elem + ".trap": 1, "sust.b.2d." + elem + ".clamp": 1,
			"sust.b.3d." + elem + ".trap": 1, "sust.b.a1d." + elem + ".trap": 1, "sust.b.a2d." + elem + ".zero": 1, "sust.b.a2d." + elem + ".trap": 2,
		} {
			if got[name] != want {
				t.Errorf("%s: %d times, want %d", name, got[name], want)
			}
		}
	}
}

// TestMacros: what a front end says by macros.
func TestMacros(t *testing.T) {
	source := filepath.Join(t.TempDir(), "macros.cu")
	text := "__global__ void k(float *p) { assert(p[0] == 3); p[1] = __fadd_rn(1.f, p[2]); p[3] = __expf(p[4]) + expf(p[5]); }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags     []string
		has, lack string
	}{
		{nil, "__assertfail", "add.rn.ftz"},
		{[]string{"-DNDEBUG"}, "add.rn.f32", "__assertfail"},
		{[]string{"-DNDEBUG="}, "add.rn.f32", "__assertfail"},
		{[]string{"-D__CUDA_FTZ=1"}, "add.rn.ftz.f32", "add.rn.f32 "},
		{[]string{"-D__USE_FAST_MATH__=1"}, "ex2.approx", "fma.rn.f32"},
	} {
		ptx := compile(t, source, c.flags...)
		if !strings.Contains(ptx, c.has) || strings.Contains(ptx, c.lack) {
			t.Errorf("%v: want %s and no %s in\n%s", c.flags, c.has, c.lack, ptx)
		}
	}
}

// TestCCCL: CUB and cuda/std of a copy of CCCL, the folder with cub and libcudacxx in it, compile with these headers.
func TestCCCL(t *testing.T) {
	dir := os.Getenv("KUDZU_CCCL")
	if dir == "" {
		t.Skip("this machine has no CCCL: KUDZU_CCCL does not name its folder")
	}
	source := filepath.Join(t.TempDir(), "cccl.cu")
	text := `#include <cuda/std/type_traits>
namespace std { using cuda::std::is_pointer; }
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/atomic>
#include <cuda/std/complex>
#include <cuda/std/tuple>
extern "C" __global__ void test(const float *in, float *out, int *q, cuda::std::complex<double> *z) {
	using R = cub::BlockReduce<float, 128>;
	using S = cub::BlockScan<int, 128>;
	using Q = cub::BlockRadixSort<int, 128, 4>;
	__shared__ union { typename R::TempStorage r; typename S::TempStorage s; typename Q::TempStorage q; } t;
	float v = R(t.r).Sum(in[threadIdx.x]);
	if (threadIdx.x == 0) out[0] = v;
	__syncthreads();
	int o, k[4];
	S(t.s).ExclusiveSum(q[threadIdx.x], o);
	__syncthreads();
	for (int i = 0; i < 4; i++) k[i] = q[threadIdx.x * 4 + i] + o;
	Q(t.q).Sort(k);
	for (int i = 0; i < 4; i++) q[threadIdx.x * 4 + i] = k[i];
	z[0] = cuda::std::sqrt(z[1]) * cuda::std::exp(z[2]);
	cuda::atomic_ref<int, cuda::thread_scope_device>(*q).fetch_add(1, cuda::std::memory_order_relaxed);
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ptx := compile(t, source, "-I"+dir+"/cub", "-I"+dir+"/libcudacxx", "-I"+dir+"/thrust", "-Wno-everything", "-Wno-error", "-Xclang", "-fcuda-allow-variadic-functions")
	if _, err := driver.Describe("cccl", ptx, 90); err != nil {
		t.Fatal(err)
	}
}

// dist lays the headers out as scripts/dist.sh does.
func dist(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	own, err := filepath.Glob(root + "/include/*.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range own {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(root, "include/device", filepath.Base(f))); err == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, os.DirFS(root+"/include/device")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestHost: the headers serve C++ and C of the host.
func TestHost(t *testing.T) {
	inc := dist(t)
	compilers := []string{clang(t)}
	if _, err := exec.LookPath("c++"); err == nil { // a bare machine has clang alone
		compilers = append(compilers, "c++")
	}
	for _, cxx := range compilers {
		prog := filepath.Join(t.TempDir(), "host")
		out, err := exec.Command(cxx, "-std=c++17", "-O1", "-I"+inc, root+"/testdata/cuda/host.cpp", "-o", prog, "-lstdc++", "-lm").CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cxx, err, out)
		}
		if out, err := exec.Command(prog).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", cxx, err, out)
		}
	}
	c := filepath.Join(t.TempDir(), "c.c")
	text := "#include <cuda_runtime.h>\n#include <vector_types.h>\nfloat4 f; dim3 d; cudaError_t e;\n"
	if err := os.WriteFile(c, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-fsyntax-only", "-I"+inc, c).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestBothSides: one source for host and device, with the headers of C.
func TestBothSides(t *testing.T) {
	source := filepath.Join(t.TempDir(), "both.cu")
	text := `#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <math.h>
#include <mma.h>
#include <stdio.h>
#include <stdlib.h>
__device__ int symbol;
__global__ void k(float *p, __half *h) {
	p[threadIdx.x] = sinf(p[0]) + fmaxf(p[1], 2.f) + sqrt(p[2]) + abs(p[3]);
	h[0] = __float2half(p[0]);
	printf("%d\n", threadIdx.x);
}
int main() {
	float *p;
	int v = 3;
	cudaMalloc(&p, 16);
	cudaMemcpyToSymbol(symbol, &v, sizeof v);
	void *args[] = {&p, &p};
	cudaLaunchKernel(k, dim3(1), dim3(32), args);
	printf("%f\n", __half2float(__float2half(1.5f)) + sinf(2.f));
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inc := dist(t)
	for _, side := range []string{"--cuda-device-only", "--cuda-host-only"} {
		out, err := exec.Command(clang(t), "-x", "cuda", "-nocudainc", "-nocudalib", side, "--cuda-gpu-arch=sm_80", "--cuda-feature=+ptx80", "-std=c++17",
			"-I"+inc, "-include", "cuda_runtime.h", "-O1", "-S", "-o", os.DevNull, source).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", side, err, out)
		}
	}
}
