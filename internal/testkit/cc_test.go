package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/config"
)

// The programs of testdata/cc, built by dist/bin/nvcc and run; want.txt is what an H200 printed, of the same programs built by nvcc
// 13.0. Without KUDZU_CC only a few are, and with it all: KUDZU_CC=all, or names with commas between. With KUDZU_CC_KEEP, a folder, the
// programs stay there, to be carried to another machine.

// ccSample are programs that need every part of the compiler: both sides, managed variables, device links, lambdas.
var ccSample = []string{"lambda", "managed", "rdc"}

func TestCC(t *testing.T) {
	if compile.Clang() == "" {
		t.Skip("this machine has no clang 19 or newer")
	}
	lib := appLibraries(t)
	want := ccWant(t)
	names := ccSample
	switch v := os.Getenv("KUDZU_CC"); v {
	case "":
	case "all":
		names = nil
		files, err := filepath.Glob(filepath.Join(repository, "testdata/cc/*.cu"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(f), ".cu"))
		}
	default:
		names = strings.Split(v, ",")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			program := ccBuild(t, filepath.Dir(lib), name)
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib, config.Capability+"=9.0")
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if w, ok := want[name]; !ok || string(out) != w {
				t.Errorf("got\n%swant\n%s", out, w)
			}
		})
	}
}

// builtPrints builds a program of testdata/cc with dist/bin/nvcc, runs it and compares what it prints.
func builtPrints(t *testing.T, source, want string, flags ...string) {
	t.Helper()
	if compile.Clang() == "" {
		t.Skip("this machine has no clang 19 or newer")
	}
	lib := appLibraries(t)
	program := filepath.Join(t.TempDir(), "program")
	args := append(flags, filepath.Join(repository, "testdata/cc", source), "-o", program)
	if out, err := exec.Command(filepath.Join(filepath.Dir(lib), "bin/nvcc"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program)
	run.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib, config.Capability+"=9.0")
	if out, err := run.CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%v, got\n%swant\n%s", err, out, want)
	}
}

// TestNames: programs that others look for are found under their names after links are resolved, as CuPy does with nvcc, and
// through links of other names.
func TestNames(t *testing.T) {
	bin := filepath.Join(filepath.Dir(appLibraries(t)), "bin")
	for name, want := range map[string]string{"nvcc": "Cuda compiler driver", "ptxas": "assembler of PTX"} {
		path, err := filepath.EvalSymlinks(filepath.Join(bin, name))
		if err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), name+"-13")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, link} {
			if out, err := exec.Command(p, "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s --version: %v\n%s", p, err, out)
			}
		}
	}
}

// TestThrust builds a program with Thrust and CUB of the CCCL that KUDZU_CCCL names (the folder that has thrust, cub and cuda).
func TestThrust(t *testing.T) {
	cccl := os.Getenv("KUDZU_CCCL")
	if cccl == "" {
		t.Skip("this machine has no CCCL: KUDZU_CCCL does not name its folder")
	}
	builtPrints(t, "cccl/thrust.cu", "sort 1\nsort_by_key 1\nreduce 1\nexclusive_scan 1\nremove_if 1\n", "-O2", "-std=c++17", "-arch=sm_80", "-I", cccl)
}

// TestBarrier builds a program with cuda::barrier, pipeline and semaphore of CCCL, whose classes have constructors; what it prints is
// what the build of nvcc 13 prints.
func TestBarrier(t *testing.T) {
	cccl := os.Getenv("KUDZU_CCCL")
	if cccl == "" {
		t.Skip("this machine has no CCCL: KUDZU_CCCL does not name its folder")
	}
	for _, arch := range []string{"-arch=sm_80", "-arch=sm_90"} {
		builtPrints(t, "cccl/barrier.cu", "barrier cudaSuccess 3718451494 994 741\npipeline cudaSuccess 4154076678 6240 7671\n"+
			"thread cudaSuccess 186420378 1 2\nsemaphore cudaSuccess 1742866432 64 64\n", "-O2", "-std=c++17", arch, "-I", cccl)
	}
}

// TestLibraryTypes builds a program with what C++ has of libraries' headers beside their functions.
func TestLibraryTypes(t *testing.T) {
	builtPrints(t, "libs/types.cu", "callback 8\nproduct 0: 7 10 15 22\nbatch 0: 5 25\npointers 0: 30\nother 15\n", "-O1", "-arch=sm_80", "-lcublas")
}

// TestGuards builds a program that asks by macros for headers and versions, with and without what kernels may call of the runtime, and
// one of cuBLAS without handles.
func TestGuards(t *testing.T) {
	libs := []string{"-O1", "-arch=sm_80", "-lcublas", "-lcufft", "-lcusparse", "-lcusolver", "-lcurand", "-lcuda"}
	builtPrints(t, "libs/guards.cu", "1 1 1 1 1\n", libs...)
	builtPrints(t, "libs/guards.cu", "1 1 1 1 1\n", append(libs, "-rdc=true")...)
	builtPrints(t, "libs/old.cu", "0 0: 300 | 105 147 147 210\n", "-lcublas")
}

// TestHostCall builds a program whose functions for both sides call host functions, which clang refuses and nvcc only warns of.
func TestHostCall(t *testing.T) {
	builtPrints(t, "libs/hostcall.cu", "cudaSuccess 6 7.5 7\ncudaSuccess 8 22000\n", "-O1", "-arch=sm_80")
}

// TestRuntimeChildren builds a program that has NVRTC compile kernels that launch kernels, and links them with libcudadevrt.a.
func TestRuntimeChildren(t *testing.T) {
	builtPrints(t, "libs/children.cu", "6 children.cu(5): error: kernel launch from __device__ or __global__ functions requires separate compilation mode\n"+
		"0\n0 0 0 0 0 0\n0: 40 80 1010101 9 0\n", "-O1", "-arch=sm_80", "-lnvrtc", "-lcuda", `-DDEVRT="`+filepath.Join(appLibraries(t), "libcudadevrt.a")+`"`)
}

// TestLinkedFile makes files of device code as CuPy has nvcc do it: by links of an object too, and with warnings.
func TestLinkedFile(t *testing.T) {
	if compile.Clang() == "" {
		t.Skip("this machine has no clang 19 or newer")
	}
	bin, dir := filepath.Join(filepath.Dir(appLibraries(t)), "bin"), t.TempDir()
	object, ptx := filepath.Join(dir, "x.o"), filepath.Join(dir, "x.ptx")
	source := filepath.Join(repository, "testdata/cc/children.cu")
	for _, args := range [][]string{
		{"--ptx", "-dc", source, "-o", ptx},
		{"-dc", source, "-o", object},
		{"--cubin", "--device-link", object, "-o", object + ".cubin"},
		{"--fatbin", "-dlink", object, "-o", object + ".fatbin"},
	} {
		if out, err := exec.Command(filepath.Join(bin, "nvcc"), append([]string{"-gencode=arch=compute_90,code=sm_90"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	// Code for the device alone has no host's side that would warn; assert and printf need no header.
	unused := filepath.Join(dir, "unused.cu")
	text := "__global__ void k(int *p) {\n  int j;\n  assert(p);\n  printf(\"%d\", *p);\n}\n"
	if err := os.WriteFile(unused, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		quiet string
		want  bool
	}{{"-O1", true}, {"-w", false}} {
		out, err := exec.Command(filepath.Join(bin, "nvcc"), "-cubin", c.quiet, unused, "-o", object+".unused").CombinedOutput()
		if err != nil || strings.Contains(string(out), "unused.cu:2:7: warning") != c.want {
			t.Errorf("nvcc -cubin %s: %v\n%s", c.quiet, err, out)
		}
	}
	if b, err := os.ReadFile(ptx); err != nil || !strings.Contains(string(b), ".target sm_90") {
		t.Errorf("PTX: %v\n%.200s", err, b)
	}
	for _, file := range []string{object + ".cubin", object + ".fatbin"} {
		out, err := exec.Command(filepath.Join(bin, "cuobjdump"), "-ptx", file).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "_Z6parentPi") {
			t.Errorf("%s: %v\n%.300s", file, err, out)
		}
	}
}

// TestNCCLDevice builds a program with kernels for NCCL's device communicators, of which there are none.
func TestNCCLDevice(t *testing.T) {
	builtPrints(t, "nccl/device.cu", "0 1 0 1 1\n", "-O1", "-arch=sm_80", "-lnccl")
}

// ccWant reads what every program prints.
func ccWant(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "testdata/cc/want.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		want[name] = strings.TrimSuffix(rest, "\n") + "\n"
	}
	return want
}

// ccBuild builds a program as its first lines say.
func ccBuild(t *testing.T, home, name string) string {
	t.Helper()
	source := filepath.Join(repository, "testdata/cc", name+".cu")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("KUDZU_CC_KEEP")
	if dir == "" {
		dir = t.TempDir()
	}
	args := []string{"-O1", source, "-o", filepath.Join(dir, name)}
	nvcc := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(filepath.Join(home, "bin/nvcc"), args...).CombinedOutput(); err != nil {
			t.Fatalf("nvcc %q: %v\n%s", args, err, out)
		}
	}
	for line := range strings.Lines(string(text)) {
		flags, ok := strings.CutPrefix(strings.TrimSpace(line), "// flags: ")
		if ok {
			args = append(args, strings.Fields(flags)...)
		}
		parts, ok := strings.CutPrefix(strings.TrimSpace(line), "// parts: ")
		if !ok {
			continue
		}
		for _, p := range strings.Fields(parts) {
			if file, ok := strings.CutPrefix(p, "lib:"); ok {
				lib := filepath.Join(dir, "lib.a")
				nvcc("-rdc=true", "-lib", filepath.Join(repository, "testdata/cc", file), "-o", lib)
				args = append(args, lib)
				continue
			}
			args = append(args, filepath.Join(repository, "testdata/cc", p))
		}
	}
	if slices.Contains(args, "-default-stream") {
		args = append(args, "-Xcompiler", "-pthread")
	}
	nvcc(args...)
	return filepath.Join(dir, name)
}
