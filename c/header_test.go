package c

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/spec"
)

// TestHeaders: ours compile alone and together, as C and C++, for both major versions,
// with every warning an error.
func TestHeaders(t *testing.T) {
	files, err := filepath.Glob("../include/*.h")
	if err != nil || len(files) == 0 {
		t.Fatalf("no headers: %v", err)
	}
	all := filepath.Join(t.TempDir(), "all.h")
	var text bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&text, "#include <%s>\n", filepath.Base(f))
	}
	write(t, all, text.Bytes())
	for _, lang := range [][]string{{"-x", "c", "-std=c11"}, {"-x", "c++", "-std=c++17"}} {
		for _, version := range []string{"12000", "13000"} {
			for _, f := range append(files, all) {
				args := append([]string{"-Wall", "-Wextra", "-Werror", "-Wno-pragma-once-outside-header", "-fsyntax-only", "-I../include", "-DCUDA_VERSION=" + version, "-DCUDART_VERSION=" + version}, lang...)
				if lang[1] == "c++" {
					cxx(t, append(args, f)...)
				} else {
					cc(t, append(args, f)...)
				}
			}
		}
	}
}

// TestPointerTypes: types of pointers with a release are those of the function that came with it. NCCL asks cuGetProcAddress by them.
func TestPointerTypes(t *testing.T) {
	const use = `#include <cudaTypedefs.h>
PFN_cuDeviceGet_v2000 a = cuDeviceGet;
PFN_cuMemGetAddressRange_v3020 b = cuMemGetAddressRange_v2;
PFN_cuCtxCreate_v3020 c = cuCtxCreate_v2;
PFN_cuCtxCreate_v11040 d = cuCtxCreate_v3;
PFN_cuGetProcAddress_v12000 e = cuGetProcAddress_v2;
PFN_cuMemcpyAsync_v4000 f = cuMemcpyAsync;
PFN_cuMemcpyAsync_v7000_ptsz g = cuMemcpyAsync_ptsz;
`
	for _, version := range []string{"12000", "13000"} {
		src := filepath.Join(t.TempDir(), "types.cpp")
		write(t, src, []byte(use))
		cxx(t, "-Wall", "-Werror", "-fsyntax-only", "-I../include", "-DKUDZU_NO_RENAME", "-DCUDA_VERSION="+version, src)
	}
}

// TestDefaultArguments: what C++ may leave out, and overloads that only C++ has, as programs write them.
func TestDefaultArguments(t *testing.T) {
	const use = `#include <cuda_runtime.h>
void kernel(int *, float);
int symbol[4];
struct object {};
int use() {
  cudaEvent_t e; cudaStream_t s = 0; cudaMemPool_t pool = 0; cudaGraph_t g; cudaGraphExec_t x; cudaGraphNode_t node; cudaUserObject_t u;
  void *v; int *p; float *h; void *args[2]; object o; cudaGraphConditionalHandle handle; cudaStreamCaptureStatus status;
  cudaEventCreate(&e, cudaEventDisableTiming); cudaEventRecord(e); cudaEventRecordWithFlags(e); cudaStreamWaitEvent(s, e);
  cudaMallocAsync(&v, 4, s); cudaMallocAsync(&p, 4, s); cudaMallocAsync(&v, 4, pool, s); cudaMallocAsync(&p, 4, pool, s);
  cudaMallocHost(&h, 4); cudaMallocHost(&h, 4, cudaHostAllocDefault); cudaMallocManaged(&p, 4); cudaStreamAttachMemAsync(s, p);
  cudaMemcpyToSymbol(symbol, h, 4); cudaMemcpyFromSymbol(h, symbol, 4); cudaMemcpyAsync(p, h, 4, cudaMemcpyDefault);
  cudaLaunchKernel(kernel, 1, 1, args); cudaLaunchCooperativeKernel(kernel, 1, 1, args);
  cudaGraphCreate(&g); cudaGraphInstantiate(&x, g); cudaGraphInstantiateWithFlags(&x, g); cudaGraphInstantiate(&x, g, NULL, NULL, 0);
  cudaGraphConditionalHandleCreate(&handle, g);
  cudaUserObjectCreate(&u, &o, 1, cudaUserObjectNoDestructorSync); cudaUserObjectRetain(u); cudaUserObjectRelease(u);
  cudaGraphRetainUserObject(g, u); cudaGraphReleaseUserObject(g, u);
  cudaStreamGetCaptureInfo(s, &status); cudaGraphicsMapResources(0, NULL); cudaGraphicsUnmapResources(0, NULL);
#if CUDART_VERSION >= 13000
  cudaMemPrefetchAsync(p, 4, cudaMemLocation{}, 0); cudaStreamUpdateCaptureDependencies(s, &node, NULL, 1);
#else
  cudaMemPrefetchAsync(p, 4, 0); cudaStreamUpdateCaptureDependencies(s, &node, 1);
#endif
  return cudaSignalExternalSemaphoresAsync(NULL, NULL, 0) + cudaWaitExternalSemaphoresAsync(NULL, NULL, 0);
}
`
	src := filepath.Join(t.TempDir(), "defaults.cpp")
	write(t, src, []byte(use))
	for _, version := range []string{"12000", "13000"} {
		for _, stream := range []string{"KUDZU_TEST", "CUDA_API_PER_THREAD_DEFAULT_STREAM"} {
			cxx(t, "-Wall", "-Werror", "-fsyntax-only", "-I../include/device", "-I../include", "-DCUDA_VERSION="+version, "-DCUDART_VERSION="+version, "-D"+stream, src)
		}
	}
}

// TestHostHeaders: a host compiler reads the headers of CUDA C++ that host code names too, in any order.
func TestHostHeaders(t *testing.T) {
	const use = "#ifdef __cplusplus\nusing value = nvtxEventAttributes_v2::payload_t; // CUB's\n#endif\nint main(void) { nvtxRangePush(\"a\"); nvtxNameCudaStream(0, \"s\"); nvtxRangePop(); cuComplex z = make_cuComplex(3, 4); return cuCabsf(cuCdivf(cuCmulf(z, z), z)) != 5; }\n"
	for _, lang := range []string{"c11", "c++11", "c++17"} {
		t.Run(lang, func(t *testing.T) {
			names, compile, file := []string{"cuComplex.h", "cuda_runtime.h", "cublas_v2.h", "cusolverDn.h", "cufft.h", "cufftXt.h", "cusparse_v2.h", "cudaProfiler.h", "nvtx3/nvToolsExtCuda.h",
				"nvtx3/nvToolsExtCudaRt.h", "nvtx3/nvToolsExt.h", "cudaGL.h", "cuda_gl_interop.h", "driver_functions.h", "channel_descriptor.h", "host_config.h"}, cc, "host.c"
			if lang != "c11" {
				names, compile, file = append([]string{"cuda_fp16.h", "cuda_bf16.h"}, names...), cxx, "host.cpp"
			}
			for range 2 {
				src, exe := filepath.Join(t.TempDir(), file), filepath.Join(t.TempDir(), "host")
				write(t, src, []byte("#include <"+strings.Join(names, ">\n#include <")+">\n"+use))
				compile(t, "-std="+lang, "-Wall", "-Wextra", "-Werror", "-I../include/device", "-I../include", src, "-o", exe, "-lm")
				if out, err := exec.Command(exe).CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				slices.Reverse(names)
			}
		})
	}
}

// TestDeclared: a function of a library's newest release has its name in the headers of CUDA 13, and one of the release before in
// those of CUDA 12, whatever the library's own number is.
func TestDeclared(t *testing.T) {
	for release, behind := range []int{1, 0} {
		var text bytes.Buffer
		files, err := filepath.Glob("../include/*.h")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			fmt.Fprintf(&text, "#include <%s>\n", filepath.Base(f))
		}
		text.WriteString("void *names[] = {\n")
		for _, name := range spec.Names() {
			a, err := spec.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			at := len(a.Libraries) - 1 - behind
			if at < 0 || a.Answered == nil {
				continue
			}
			for _, f := range a.Funcs {
				if f.In(a.Libraries[at].Major) && !f.Opaque && !strings.HasPrefix(f.Name, "_") {
					fmt.Fprintf(&text, "(void *)%s,\n", f.Name)
				}
			}
		}
		text.WriteString("};\n")
		src := filepath.Join(t.TempDir(), "names.c")
		write(t, src, text.Bytes())
		version := fmt.Sprint(12000 + 1000*release)
		cc(t, "-std=gnu11", "-Wall", "-fsyntax-only", "-I../include", "-DCUDA_VERSION="+version, "-DCUDART_VERSION="+version, src)
	}
}

// elsewhere reports whether the vendor has a name in a header of its own, most of which
// need graphics headers.
func elsewhere(name string) bool {
	return strings.Contains(name, "egl") || strings.Contains(name, "Egl") || strings.Contains(name, "GL") || name == "CUoutput_mode"
}

// sizes is a C program that prints the size of every structure and the offset of every
// named member, as one of the two sets of headers has them.
func sizes(major int) []byte {
	var o bytes.Buffer
	o.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include <cuda.h>\n#include <cuda_runtime_api.h>\n#include <library_types.h>\nint main(void) {\n")
	for _, name := range spec.Names() {
		api, err := spec.Load(name)
		if err != nil {
			panic(err)
		}
		for _, s := range api.Structs {
			if !s.In(major) || elsewhere(s.Name) {
				continue
			}
			word := "struct"
			if s.Union {
				word = "union"
			}
			tag := s.Tag
			if tag == "" {
				tag = s.Name
			}
			ref := word + " " + tag
			if name == "cuda" || s.Union {
				ref = s.Name
			}
			fmt.Fprintf(&o, "printf(\"%s %%zu\\n\", sizeof(%s));\n", s.Name, ref)
			for _, f := range s.Fields {
				// 13 put new members where 12 has reserved ones; the table has the new.
				if f.Name != "" && (major == 13 || s.Only == major) {
					fmt.Fprintf(&o, "printf(\"%s.%s %%zu\\n\", offsetof(%s, %s));\n", s.Name, f.Name, ref, f.Name)
				}
			}
		}
		for _, e := range api.Enums {
			if !e.In(major) || elsewhere(e.Name) {
				continue
			}
			for _, v := range e.Values {
				if v.In(major) {
					fmt.Fprintf(&o, "printf(\"%s %%lld\\n\", (long long)%s);\n", v.Name, v.Name)
				}
			}
		}
	}
	o.WriteString("return 0;\n}\n")
	return o.Bytes()
}

// TestVendorHeaders compares layouts and values with the vendor's headers where they are.
// Folders of several releases are separated by colons.
func TestVendorHeaders(t *testing.T) {
	list := os.Getenv("KUDZU_VENDOR_INCLUDE")
	if list == "" {
		t.Skip("KUDZU_VENDOR_INCLUDE does not name the vendor's headers")
	}
	for _, vendor := range filepath.SplitList(list) {
		major := 12
		if text, err := os.ReadFile(filepath.Join(vendor, "cuda.h")); err != nil {
			t.Fatal(err)
		} else if bytes.Contains(text, []byte("#define CUDA_VERSION 13")) {
			major = 13
		}
		src := filepath.Join(t.TempDir(), "sizes.c")
		write(t, src, sizes(major))
		var got [2][]byte
		for i, inc := range []string{"../include", vendor} {
			exe := filepath.Join(t.TempDir(), "sizes")
			args := []string{"-std=gnu11", "-w", "-D__CUDA_API_VERSION_INTERNAL", "-I" + inc, src, "-o", exe}
			if i == 0 {
				args = append(args, fmt.Sprintf("-DCUDA_VERSION=%d000", major), fmt.Sprintf("-DCUDART_VERSION=%d000", major))
			}
			cc(t, args...)
			out, err := exec.Command(exe).Output()
			if err != nil {
				t.Fatal(err)
			}
			got[i] = out
		}
		ours, theirs := bytes.Split(got[0], []byte("\n")), bytes.Split(got[1], []byte("\n"))
		for i := range min(len(ours), len(theirs)) {
			if !bytes.Equal(ours[i], theirs[i]) {
				t.Errorf("CUDA %d: ours %s, theirs %s", major, ours[i], theirs[i])
			}
		}
	}
}
