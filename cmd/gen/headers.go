package main

import (
	"fmt"
	"regexp"
	"strings"

	"kudzu/internal/spec"
)

// before has a header of CUDA C++ that stands before the types of an interface, where it is there: those with constructors and
// functions, instead of plain structures.
var before = map[string]string{"cudart": "kudzu/vector.h", "cublas": "cuda_bf16.h"}

// after has a header by hand that stands behind an interface, where it is there: what the table has no words for. The first is a
// condition.
var after = map[string][][2]string{
	"cublas":   {{"defined(__has_include)", "cuComplex.h"}, {"defined(__cplusplus) && defined(__has_include)", "kudzu/cublas.h"}},
	"cufft":    {{"defined(__has_include)", "cuComplex.h"}, {"defined(__has_include)", "kudzu/cufft.h"}},
	"curand":   {{"defined(__has_include)", "kudzu/curand.h"}},
	"cusparse": {{"defined(__has_include)", "cuComplex.h"}},
}

// halfGuard is what the header of a half type defines.
var halfGuard = map[string]string{"__half": "__CUDA_FP16_TYPES_EXIST__", "__nv_bfloat16": "__CUDA_BF16_TYPES_EXIST__"}

// writeHeaders writes the C headers, one an interface, and the thin ones programs also name.
func writeHeaders(w *world) error {
	for _, house := range w.houses() {
		includes := "#include <stddef.h>\n#include <stdint.h>\n"
		for _, in := range w.apis[house.api].Includes {
			includes += "\n#include \"" + w.house(in.Name).Header + "\"\n"
		}
		if file := before[house.api]; file != "" {
			includes += fmt.Sprintf("\n#if defined(__cplusplus) && defined(__has_include)\n#if __has_include(%q)\n#include %q\n#endif\n#endif\n", file, file)
		}
		if err := w.header(house.api, house.Header, house.Macro, includes); err != nil {
			return err
		}
	}
	for _, t := range thinHeaders {
		for _, name := range t.names {
			w.thinHeader(t.api, name)
		}
	}
	w.pointerTypes()
	w.deviceTypes()
	return nil
}

// thinHeaders are names that programs include for an interface whose header has another one.
var thinHeaders = []struct {
	api   string
	names []string
}{
	{"cublas", []string{"cublas_api.h", "cublasXt.h"}},
	{"cufft", []string{"cufftXt.h"}},
	{"cusparse", []string{"cusparse_v2.h"}},
	{"cuda", []string{"cudaProfiler.h"}},
	{"cusolver", []string{"cusolverDn.h", "cusolverSp.h", "cusolverSp_LOWLEVEL_PREVIEW.h", "cusolverRf.h"}},
	{"cudnn", []string{"cudnn_version.h", "cudnn_graph.h", "cudnn_ops.h", "cudnn_cnn.h", "cudnn_adv.h", "cudnn_backend.h"}},
	{"cudart", []string{"cuda_runtime.h", "driver_types.h", "vector_types.h", "library_types.h", "texture_types.h", "surface_types.h", "cuda_profiler_api.h"}},
}

// thinHeader writes a header that only includes the one of the interface.
func (w *world) thinHeader(api, name string) {
	var o out
	o.header("//", "internal/spec/"+api+".api")
	o.f("%s#include \"%s\"\n", defines(name), w.house(api).Header)
	w.files["include/"+name] = o.Bytes()
}

// newerVariant is the end of a function's name that the plain name leads to.
var newerVariant = regexp.MustCompile(`_v[0-9]+$`)

// pointerTypes writes the types of pointers to the driver's functions: by their plain names, and by the release that a signature came with,
// as cuGetProcAddress is asked for it.
func (w *world) pointerTypes() {
	a := w.apis["cuda"]
	h := &cHeader{api: a, macro: "CUDA_VERSION"}
	h.header("//", "internal/spec/cuda.api")
	h.f("#ifndef KUDZU_CUDATYPEDEFS_H\n#define KUDZU_CUDATYPEDEFS_H\n\n#include \"cuda.h\"\n\n")
	h.f("// PFN_cuMemAlloc is a pointer to what cuMemAlloc is in a program that includes cuda.h.\n")
	done := map[string]bool{}
	for _, f := range a.Funcs {
		name := newerVariant.ReplaceAllString(f.Name, "")
		if f.Opaque || done[name] {
			continue
		}
		done[name] = true
		h.guarded(f.Span, fmt.Sprintf("typedef __typeof__(%s) *PFN_%s;\n", name, name))
	}
	h.f("\n// PFN_cuMemAlloc_v3020 is the one that came with CUDA 3.2.\n")
	for _, f := range a.Funcs {
		if f.Opaque || f.Since == 0 {
			continue
		}
		var o out
		for _, v := range []struct {
			since spec.Version
			tail  string
		}{{f.Since, ""}, {f.PTSZ, "_ptsz"}, {f.PTDS, "_ptds"}} {
			if v.since != 0 {
				o.f("typedef %s;\n", proto(f, fmt.Sprintf("(CUDAAPI *PFN_%s_v%d%s)", newerVariant.ReplaceAllString(f.Name, ""), int(v.since), v.tail)))
			}
		}
		h.guarded(f.Span, o.String())
	}
	h.f("\n#endif\n")
	w.files["include/cudaTypedefs.h"] = h.Bytes()
}

// deviceTypes writes the runtime's constants and types for code that NVRTC compiles, which has no other header. NVIDIA's has
// all of driver_types.h there; CCCL's algorithms need structures of it that only host code fills.
func (w *world) deviceTypes() {
	h := &cHeader{api: w.apis["cudart"], macro: "CUDART_VERSION"}
	h.header("//", "internal/spec/cudart.api")
	h.f("#ifndef KUDZU_RUNTIME_TYPES_H\n#define KUDZU_RUNTIME_TYPES_H\n#pragma GCC system_header\n\n#include \"vector.h\"\n\n")
	h.f("#define KUDZU_ALIGN(n) __align__(n)\n")
	h.conventions()
	h.consts()
	h.enums()
	h.forward()
	h.types()
	h.f("#undef KUDZU_ALIGN\n\n#endif\n")
	w.files["include/device/kudzu/zruntime_types.h"] = h.Bytes()
}

// header writes one C header. Rows that differ between the major versions stand between
// #if lines; the default is 13.
func (w *world) header(api, file, versionMacro, includes string) error {
	a := w.apis[api]
	h := &cHeader{api: a, macro: versionMacro}
	guard := "KUDZU_" + strings.ToUpper(strings.ReplaceAll(file, ".", "_"))
	h.header("//", "internal/spec/"+api+".api")
	h.f("#ifndef %s\n#define %s\n%s\n%s\n", guard, guard, defines(file), includes)
	h.f("// Define %s as 12000 before including to get the interface of CUDA 12.\n#ifndef %s\n#define %s 13000\n#endif\n\n", versionMacro, versionMacro, versionMacro)
	h.f("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n")
	h.f("#if defined(__cplusplus)\n#define KUDZU_ALIGN(n) alignas(n)\n#elif defined(__GNUC__)\n#define KUDZU_ALIGN(n) __attribute__((aligned(n)))\n#else\n#define KUDZU_ALIGN(n) _Alignas(n)\n#endif\n")
	h.conventions()
	if api == "cudart" {
		h.f("#ifndef KUDZU_RUNTIME_TYPES_H // NVRTC has them without a header\n\n")
	}
	h.consts()
	h.enums()
	h.forward()
	h.types()
	if api == "cudart" {
		h.f("#endif\n\n#if !defined(__CUDACC_RTC__) || !defined(KUDZU_CHILDREN_H) // which has functions of the same names for kernels\n\n")
	}
	h.funcs()
	if api == "cudart" {
		h.f("#endif\n\n")
	}
	h.f("#ifdef __cplusplus\n}\n#endif\n\n#undef KUDZU_ALIGN\n\n")
	for _, x := range after[api] {
		h.f("#if %s\n#if __has_include(%q)\n#include %[2]q\n#endif\n#endif\n\n", x[0], x[1])
	}
	h.f("#endif\n")
	w.files["include/"+file] = h.Bytes()
	return nil
}

// conventions writes the words that stand where Windows has calling conventions.
func (h *cHeader) conventions() {
	for _, m := range []string{"CUDAAPI", "CUDARTAPI", "CUDA_CB", "CUDART_CB"} {
		h.f("#ifndef %s\n#define %s\n#endif\n", m, m)
	}
	h.f("\n")
}

// vectorType matches what C++ takes from include/device/kudzu/vector.h, where they have constructors and functions.
var vectorType = regexp.MustCompile(`^(u?(char|short|int|long|longlong)|float|double)[1-4](_(16|32)a)?$|^dim3$`)

type cHeader struct {
	out
	api   *spec.API
	macro string
}

// guarded writes a row that means something else in the other major version, or was
// removed in 13, between #if lines. A row that 13 only added is in nobody's way.
func (h *cHeader) guarded(s spec.Span, text string) {
	if s.Only != 0 {
		s.Only += h.behind()
	}
	switch {
	case s.Only == 11:
		h.f("#if %s < 12000\n%s#endif\n", h.macro, text)
	case s.Only == 0 && s.Since == 12000 && h.api.Name == "cudart": // 11 has another meaning of some
		h.f("#if %s >= 12000\n%s#endif\n", h.macro, text)
	case s.Only == 13:
		h.f("#if %s >= 13000\n%s#endif\n", h.macro, text)
	case s.Only == 12 || s.Until != 0:
		h.f("#if %s < 13000\n%s#endif\n", h.macro, text)
	default:
		h.f("%s", text)
	}
}

// behind is how far a library's own major version is behind that of the CUDA release that brings it: cuFFT 12 is of CUDA 13.
func (h *cHeader) behind() int {
	if len(h.api.Libraries) < 2 {
		return 0
	}
	newest := 0
	for _, l := range h.api.Libraries {
		newest = max(newest, l.Major)
	}
	return 13 - newest
}

func (h *cHeader) consts() {
	for _, c := range h.api.Consts {
		v := c.Value
		if c.Type != nil {
			v = fmt.Sprintf("((%s)%s)", c.Type.C(""), v)
		}
		h.guarded(c.Span, fmt.Sprintf("#define %s %s\n", c.Name, v))
	}
	for _, m := range h.api.Macros {
		h.f("#define %s %s\n", m.Name, m.Text)
	}
	h.f("\n")
}

func (h *cHeader) enums() {
	for _, e := range h.api.Enums {
		var o out
		tag := e.Tag
		if tag == "" {
			tag = e.Name
		}
		o.f("typedef enum %s {\n", tag)
		for _, v := range e.Values {
			inner := &cHeader{api: h.api, macro: h.macro}
			value := fmt.Sprint(v.Value)
			if v.Value > 0x7fffffff {
				value = fmt.Sprintf("0x%x", v.Value)
			}
			inner.guarded(v.Span, fmt.Sprintf("\t%s = %s,\n", v.Name, value))
			o.Write(inner.Bytes())
		}
		o.f("} %s;\n\n", e.Name)
		h.guarded(e.Span, o.String())
	}
}

func word(s *spec.Struct) string {
	if s.Union {
		return "union"
	}
	return "struct"
}

func tagOf(s *spec.Struct) string {
	if s.Tag != "" {
		return s.Tag
	}
	return s.Name
}

// forward names every structure, so that the rest may stand in any order.
func (h *cHeader) forward() {
	seen := map[string]bool{}
	for _, s := range h.api.Structs {
		if !seen[s.Name] {
			h.f("typedef %s %s %s;\n", word(s), tagOf(s), s.Name)
		}
		seen[s.Name] = true
	}
	for _, t := range h.api.Typedefs {
		if t.Kind == spec.Handle && !seen[t.Tag] {
			h.f("typedef struct %s %s;\n", t.Tag, t.Tag)
			seen[t.Tag] = true
		}
	}
	h.f("\n")
}

// types writes typedefs and structures, each after what it is made of.
func (h *cHeader) types() {
	for _, t := range h.api.Typedefs {
		switch t.Kind {
		case spec.Handle:
			h.guarded(t.Span, fmt.Sprintf("typedef struct %s *%s;\n", t.Tag, t.Name))
		case spec.Alias:
			h.guarded(t.Span, fmt.Sprintf("typedef %s;\n", t.Type.C(t.Name)))
		case spec.Callback:
			var args []string
			for _, a := range t.Args {
				args = append(args, a.C(""))
			}
			if len(args) == 0 {
				args = []string{"void"}
			}
			h.guarded(t.Span, fmt.Sprintf("typedef %s;\n", t.Type.C("(*"+t.Name+")("+strings.Join(args, ", ")+")")))
		}
	}
	h.f("\n")
	done := map[*spec.Struct]bool{}
	var emit func(s *spec.Struct)
	var need func(s *spec.Struct, major int)
	need = func(s *spec.Struct, major int) {
		scope := h.api.Scope(major)
		for _, f := range s.Fields {
			if f.Inner != nil {
				need(f.Inner, major)
				continue
			}
			t := f.Type
			for t.Len > 0 {
				t = t.Elem
			}
			if dep := scope.Struct(t); dep != nil && !t.Ptr {
				emit(dep)
			}
		}
	}
	emit = func(s *spec.Struct) {
		if done[s] {
			return
		}
		done[s] = true
		for _, m := range []int{12, 13} {
			if s.In(m) {
				need(s, m)
			}
		}
		var o out
		align := ""
		if s.Align != 0 {
			align = fmt.Sprintf(" KUDZU_ALIGN(%d)", s.Align)
		}
		o.f("%s%s %s {\n", word(s), align, tagOf(s))
		members(&o, s, "\t")
		o.f("};\n\n")
		text := o.String()
		if s.Tag == "CUuuid_st" || s.Name == "CUuuid_st" { // both interfaces have it
			text = "#ifndef CU_UUID_HAS_BEEN_DEFINED\n#define CU_UUID_HAS_BEEN_DEFINED\n" + text + "#endif\n\n"
		}
		if vectorType.MatchString(s.Name) {
			text = "#ifndef KUDZU_VECTOR_H\n" + text + "#endif\n\n"
		}
		if guard := halfGuard[s.Name]; guard != "" {
			text = "#ifndef " + guard + "\n" + text + "#endif\n\n"
		}
		h.guarded(s.Span, text)
	}
	for _, s := range h.api.Structs {
		emit(s)
	}
}

func members(o *out, s *spec.Struct, indent string) {
	for _, f := range s.Fields {
		if f.Inner != nil {
			o.f("%s%s {\n", indent, word(f.Inner))
			members(o, f.Inner, indent+"\t")
			name := f.Name
			if f.Count > 0 {
				name += fmt.Sprintf("[%d]", f.Count)
			}
			o.f("%s}%s;\n", indent, strings.TrimRight(" "+name, " "))
			continue
		}
		if f.Align != 0 {
			o.f("%sKUDZU_ALIGN(%d) %s;\n", indent, f.Align, f.Type.C(f.Name))
		} else {
			o.f("%s%s;\n", indent, f.Type.C(f.Name))
		}
	}
}

// proto is a function's C declaration under a given name.
func proto(f *spec.Func, name string) string {
	var ps []string
	for _, p := range f.Params {
		ps = append(ps, p.Type.C(p.Name))
	}
	if len(ps) == 0 {
		ps = []string{"void"}
	}
	return f.Result.C(name + "(" + strings.Join(ps, ", ") + ")")
}

// funcs declares every function under its own name, then leads plain names to them.
func (h *cHeader) funcs() {
	for _, f := range h.api.Funcs {
		if f.Opaque {
			continue
		}
		var o out
		o.f("%s;\n", proto(f, f.Name))
		for _, v := range []struct {
			since spec.Version
			tail  string
		}{{f.PTSZ, "_ptsz"}, {f.PTDS, "_ptds"}} {
			if v.since != 0 {
				o.f("%s;\n", proto(f, f.Name+v.tail))
			}
		}
		h.guarded(f.Span, o.String())
	}
	if len(h.api.Renames) == 0 {
		return
	}
	h.f("\n// Plain names lead to newer variants; -DKUDZU_NO_RENAME leaves them alone.\n#ifndef KUDZU_NO_RENAME\n")
	h.f("#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM\n#define KUDZU_PT(name, tail) name##tail\n#else\n#define KUDZU_PT(name, tail) name\n#endif\n")
	byName := map[string]*spec.Func{}
	renamed := map[string]bool{}
	for _, f := range h.api.Funcs {
		byName[f.Name] = f
	}
	target := func(name string) string {
		switch f := byName[name]; {
		case f != nil && f.PTSZ != 0:
			return "KUDZU_PT(" + name + ", _ptsz)"
		case f != nil && f.PTDS != 0:
			return "KUDZU_PT(" + name + ", _ptds)"
		}
		return name
	}
	for _, r := range h.api.Renames {
		renamed[r.Name] = true
		span := r.Span
		if span.Since >= 13000 { // until then the plain name meant itself
			span.Only = 13
		}
		h.guarded(span, fmt.Sprintf("#define %s %s\n", r.Name, target(r.To)))
	}
	h.f("#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM\n")
	for _, f := range h.api.Funcs {
		if (f.PTSZ != 0 || f.PTDS != 0) && f.Base() == f.Name && !renamed[f.Name] {
			h.f("#define %s %s\n", f.Name, target(f.Name))
		}
	}
	h.f("#endif\n#endif\n\n")
}
