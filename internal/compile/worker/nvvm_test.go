package worker

import (
	"errors"
	"strings"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/nvvmir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

const nvvmHead = `target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
`

const nvvmVersion = `
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
`

// nvvmKernel is a kernel in the dialect of LLVM 7.
const nvvmKernel = nvvmHead + `
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.sqrt.f32(float)
declare float @llvm.nvvm.atomic.load.add.f32.p0f32(float* nocapture, float)
declare void @llvm.memcpy.p0i8.p0i8.i64(i8* nocapture, i8* nocapture readonly, i64, i1)
declare float @scaled(float)
%pair = type { float, i32* }
define void @k(float* %p, %pair* byval align 8 %x, float addrspace(3)* %s) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %q = getelementptr inbounds float, float* %p, i32 %i
  %f = getelementptr inbounds %pair, %pair* %x, i32 0, i32 0
  %a = load float, float* %f, align 4
  %v = load float, float* %q, align 4
  %m = fmul float %v, %a
  %n = fadd float %m, %v
  %d = fdiv float %n, %a
  %r = call float @llvm.sqrt.f32(float %d)
  %t = call float @scaled(float %r)
  store float %t, float* %q, align 4
  %o = call float @llvm.nvvm.atomic.load.add.f32.p0f32(float* %q, float %a)
  %b = bitcast float* %p to i8*
  %c = bitcast float* %q to i8*
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 4 %b, i8* align 4 %c, i64 4, i1 false)
  %g = bitcast float addrspace(3)* %s to i32 addrspace(3)*
  %h = cmpxchg volatile i32 addrspace(3)* %g, i32 0, i32 1 monotonic monotonic
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (float*, %pair*, float addrspace(3)*)* @k, !"kernel", i32 1}
` + nvvmVersion

const nvvmLibrary = nvvmHead + `
declare i32 @__nvvm_reflect(i8*)
@name = private constant [11 x i8] c"__CUDA_FTZ\00"
define float @scaled(float %x) alwaysinline {
  %ftz = call i32 @__nvvm_reflect(i8* getelementptr inbounds ([11 x i8], [11 x i8]* @name, i32 0, i32 0))
  %is = icmp ne i32 %ftz, 0
  %by = select i1 %is, float 5.0, float 3.0
  %y = fmul float %x, %by
  ret float %y
}
define float @unused(float %x) {
  ret float %x
}
` + nvvmVersion

// compileNVVM compiles modules; the last one is a library if there are two.
func compileNVVM(t *testing.T, options []string, texts ...string) (string, error) {
	t.Helper()
	p, err := New("")
	if err != nil {
		t.Skip(err) // no libLLVM on this machine
	}
	o, err := nvvmir.Parse(options)
	if err != nil {
		t.Fatal(err)
	}
	n := &compile.NVVM{Options: *o}
	for i, text := range texts {
		n.Units = append(n.Units, compile.NVVMUnit{Name: []string{"k.ll", "k2.ll"}[i], Bytes: len(text), Lazy: strings.Contains(text, "@unused")})
	}
	r, err := p.Run(&compile.Request{PTX: strings.Join(texts, ""), NVVM: n, Target: compile.Target{Triple: "nvptx64-nvidia-cuda", CPU: "sm_" + o.Arch}})
	if err != nil {
		return "", err
	}
	if o.LTO {
		return string(r.Image), nil
	}
	m, err := ptx.ParseModule(string(r.Image))
	if err == nil {
		err = check.Module(m)
	}
	if err != nil {
		t.Errorf("%v: %v in\n%s", options, err, r.Image)
	}
	return string(r.Image), nil
}

// What the options say is in the PTX.
func TestNVVM(t *testing.T) {
	for _, c := range []struct {
		options  string
		has, not string
	}{
		{"-arch=compute_80", ".target sm_80|.version 8.5|.visible .entry k(|fma.rn.f32|div.rn.f32|sqrt.rn.f32|0f40400000|atom.|.param .align 8 .b8 k_param_1[16]", "unused|scaled|ftz"},
		{"-arch=compute_90a -fma=0", ".target sm_90a|mul.rn.f32|add.rn.f32", "fma"},
		{"-arch=compute_120f -ftz=1", ".target sm_120f|.version 8.8|fma.rn.ftz.f32|div.rn.ftz.f32|sqrt.rn.ftz.f32|0f40A00000", "0f40400000"},
		{"-arch=compute_75 -prec-div=0 -prec-sqrt=0", ".target sm_75|div.full.f32|sqrt.approx.f32", "div.rn|sqrt.rn"},
		{"-arch=compute_75 -prec-div=0 -prec-sqrt=0 -ftz=1", "div.full.ftz.f32|sqrt.approx.ftz.f32", "div.full.f32|sqrt.approx.f32"},
		{"-arch=compute_110 -opt=0", ".target sm_110|.version 9.0|div.rn.f32", "fma"},
	} {
		text, err := compileNVVM(t, strings.Fields(c.options), nvvmKernel, nvvmLibrary)
		if err != nil {
			t.Errorf("%s: %v", c.options, err)
			continue
		}
		for s := range strings.SplitSeq(c.has, "|") {
			if !strings.Contains(text, s) {
				t.Errorf("%s: no %s in\n%s", c.options, s, text)
			}
		}
		for s := range strings.SplitSeq(c.not, "|") {
			if strings.Contains(text, s) {
				t.Errorf("%s: %s in\n%s", c.options, s, text)
			}
		}
	}
}

// What depends on which threads come together stays in its branch, though the IR does not say convergent.
func TestNVVMConvergent(t *testing.T) {
	const kernel = nvvmHead + `
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define i32 @mask() noinline {
  %m = call i32 asm sideeffect "activemask.b32 $0;", "=r"()
  ret i32 %m
}
define void @k(i32* %p, i32 ()* %f) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %q = getelementptr inbounds i32, i32* %p, i32 %i
  %odd = trunc i32 %i to i1
  br i1 %odd, label %a, label %b
a:
  %am = call i32 asm sideeffect "activemask.b32 $0;", "=r"()
  %af = call i32 @mask()
  %ag = call i32 %f()
  %as = add i32 %am, %af
  %at = add i32 %as, %ag
  store i32 %at, i32* %q
  br label %end
b:
  %bm = call i32 asm sideeffect "activemask.b32 $0;", "=r"()
  %bf = call i32 @mask()
  %bg = call i32 %f()
  %bs = add i32 %bm, %bf
  %bt = add i32 %bs, %bg
  store i32 %bt, i32* %q
  br label %end
end:
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (i32*, i32 ()*)* @k, !"kernel", i32 1}
` + nvvmVersion
	text, err := compileNVVM(t, []string{"-arch=compute_80"}, kernel)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(text, ".entry k(")
	for call, want := range map[string]int{"activemask.b32": 2, "mask, ": 2, "prototype_": 4} {
		if got := strings.Count(body, call); got != want {
			t.Errorf("%s: %d times, want %d in\n%s", call, got, want, text)
		}
	}
}

// Positions in a program's source stay, with and without an option for them, as libNVVM has it.
func TestNVVMLines(t *testing.T) {
	ir := nvvmHead + `
define void @k(i32* %p) !dbg !4 {
  store i32 1, i32* %p, !dbg !5
  ret void, !dbg !5
}
!nvvm.annotations = !{!6}
!6 = !{void (i32*)* @k, !"kernel", i32 1}
!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!3}
!0 = !DIFile(directory: "/src", filename: "k.py")
!2 = distinct !DICompileUnit(emissionKind: DebugDirectivesOnly, file: !0, isOptimized: true, language: DW_LANG_C_plus_plus, producer: "x", runtimeVersion: 0)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(file: !0, line: 4, linkageName: "k", name: "k", scope: !0, scopeLine: 4, type: !8, unit: !2)
!5 = !DILocation(column: 1, line: 5, scope: !4)
!7 = !{null}
!8 = !DISubroutineType(types: !7)
` + nvvmVersion
	for _, options := range [][]string{nil, {"-generate-line-info"}, {"-g", "-opt=0"}} {
		if text, err := compileNVVM(t, options, ir); err != nil || !strings.Contains(text, ".loc\t1 5 1") || !strings.Contains(text, "k.py") {
			t.Errorf("%v: %v in\n%s", options, err, text)
		}
	}
}

// What a compiler here made for linking need not name a version of NVVM IR: clang names none.
func TestNVVMOfClang(t *testing.T) {
	ir := nvvmHead + "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n"
	if _, err := compileNVVM(t, nil, ir); err == nil {
		t.Error("a program's own module without a version was taken")
	}
	if text, err := compileNVVM(t, nil, string(nvvmir.LTO([]byte(ir)))); err != nil || !strings.Contains(text, ".func") {
		t.Errorf("%v in\n%s", err, text)
	}
}

// Two modules made here may have the same function of a header; one that nobody calls goes. Their own must not meet.
func TestNVVMCommon(t *testing.T) {
	unit := func(name, more string) string {
		return string(nvvmir.LTO([]byte(nvvmHead + "define i32 @_Z8__halvedi(i32 %x) noinline {\n  %y = lshr i32 %x, 1\n  ret i32 %y\n}\n" +
			"define i32 @_Z8__unusedi(i32 %x) {\n  ret i32 %x\n}\n" +
			"define i32 @" + name + "(i32 %x) {\n  %y = call i32 @_Z8__halvedi(i32 %x)\n  ret i32 %y\n}\n" + more)))
	}
	text, err := compileNVVM(t, nil, unit("a", ""), unit("b", ""))
	if err != nil || strings.Count(text, "shr.u32") != 1 || strings.Contains(text, "unused") {
		t.Errorf("%v in\n%s", err, text)
	}
	if _, err := compileNVVM(t, nil, unit("a", ""), unit("a", "")); err == nil || !strings.Contains(err.Error(), "multiply defined") {
		t.Errorf("defined twice: %v", err)
	}
}

// What -gen-lto gives is a module of another program, without what nobody needs, and options are those of that program.
func TestNVVMForLinking(t *testing.T) {
	ir, err := compileNVVM(t, []string{"-gen-lto", "-ftz=1"}, nvvmKernel, nvvmLibrary)
	if err != nil {
		t.Fatal(err)
	}
	text, err := compileNVVM(t, []string{"-arch=compute_90", "-fma=0"}, ir)
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]bool{".target sm_90": true, ".visible .entry k(": true, "mul.rn.f32": true, "0f40400000": true, ".ftz": false, "unused": false} {
		if strings.Contains(text, s) != want {
			t.Errorf("%s: %v in\n%s", s, !want, text)
		}
	}
}

// Intrinsics of NVVM IR that LLVM has in other forms are one instruction.
func TestNVVMIntrinsics(t *testing.T) {
	const text = nvvmHead + `
declare { i32, i1 } @llvm.nvvm.shfl.sync.i32(i32, i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.vote.sync(i32, i32, i1)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32(i32, i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i64(i32, i64)
define void @k(i32* %p, i64 %w) {
  %v = load i32, i32* %p
  %a = call { i32, i1 } @llvm.nvvm.shfl.sync.i32(i32 -1, i32 3, i32 %v, i32 1, i32 31)
  %x = extractvalue { i32, i1 } %a, 0
  %q = icmp sgt i32 %x, 0
  %b = call { i32, i1 } @llvm.nvvm.vote.sync(i32 -1, i32 3, i1 %q)
  %y = extractvalue { i32, i1 } %b, 0
  %c = call { i32, i1 } @llvm.nvvm.vote.sync(i32 -1, i32 1, i1 %q)
  %t = extractvalue { i32, i1 } %c, 1
  %d = call { i32, i1 } @llvm.nvvm.match.all.sync.i32(i32 -1, i32 %v)
  %z = extractvalue { i32, i1 } %d, 0
  %e = call { i32, i1 } @llvm.nvvm.match.all.sync.i64(i32 -1, i64 %w)
  %u = extractvalue { i32, i1 } %e, 1
  %o = and i1 %t, %u
  %s = select i1 %o, i32 %y, i32 %z
  store i32 %s, i32* %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (i32*, i64)* @k, !"kernel", i32 1}
` + nvvmVersion
	for _, level := range []string{"-opt=3", "-opt=0"} {
		got, err := compileNVVM(t, []string{"-arch=compute_80", level}, text)
		if err != nil {
			t.Fatal(err)
		}
		for s, n := range map[string]int{"shfl.sync.bfly.b32": 1, "shfl.sync.": 1, "vote.sync.ballot.b32": 1, "vote.sync.any.pred": 1, "vote.sync.": 2, "match.all.sync.b32": 1, "match.all.sync.b64": 1, "__kudzu": 0} {
			if strings.Count(got, s) != n && level == "-opt=3" || !strings.Contains(got, s) && n > 0 {
				t.Errorf("%s: %s %d times in\n%s", level, s, strings.Count(got, s), got)
			}
		}
	}
}

// Functions of libdevice that a program calls and does not bring are ours. What they ask of options is answered.
func TestNVVMLibdevice(t *testing.T) {
	const text = nvvmHead + `
declare double @__nv_sin(double)
declare float @__nv_fadd_rn(float, float)
declare float @__nv_sqrtf(float)
declare float @__nv_own(float)
declare i32 @__nvvm_reflect(i8*)
@div = private addrspace(1) constant [16 x i8] c"__CUDA_PREC_DIV\00"
define float @__nv_floorf(float %x) noinline {
  %y = fadd float %x, 77.0
  ret float %y
}
define void @k(double* %p, float* %q) {
  %v = load double, double* %p
  %s = call double @__nv_sin(double %v)
  store double %s, double* %p
  %a = load float, float* %q
  %m = fmul float %a, %a
  %b = call float @__nv_fadd_rn(float %m, float %a)
  %c = call float @__nv_sqrtf(float %b)
  %d = call float @__nv_floorf(float %c)
  %o = call float @__nv_own(float %d)
  %r = call i32 @__nvvm_reflect(i8* addrspacecast (i8 addrspace(1)* getelementptr inbounds ([16 x i8], [16 x i8] addrspace(1)* @div, i32 0, i32 0) to i8*))
  %f = sitofp i32 %r to float
  %g = fadd float %o, %f
  store float %g, float* %q
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (double*, float*)* @k, !"kernel", i32 1}
` + nvvmVersion
	for _, c := range []struct{ options, has, not string }{
		{"-arch=compute_80", "far_angle|fma.rn.f64|add.rn.f32|sqrt.rn.f32|0f429A0000|.extern .func  (.param .b32 func_retval0) __nv_own|0f3F800000", "__nv_sin|__nv_sqrtf|ftz|__nv_cos|reflect"},
		{"-arch=compute_90 -ftz=1 -prec-sqrt=0 -prec-div=0", "add.rn.ftz.f32|sqrt.approx.ftz.f32", "0f3F800000|reflect"},
	} {
		got, err := compileNVVM(t, strings.Fields(c.options), text)
		if err != nil {
			t.Fatal(err)
		}
		for s := range strings.SplitSeq(c.has, "|") {
			if !strings.Contains(got, s) {
				t.Errorf("%s: no %s in\n%s", c.options, s, got)
			}
		}
		for s := range strings.SplitSeq(c.not, "|") {
			if strings.Contains(got, s) {
				t.Errorf("%s: %s in\n%s", c.options, s, got)
			}
		}
	}
}

// Mistakes are told as libNVVM 13.4 tells them.
func TestNVVMErrors(t *testing.T) {
	kernel := nvvmHead + "define void @k(float* %p, float %v) {\n  %s = fadd float %v, %v\n  ret void\n}\n" + nvvmVersion
	for _, c := range []struct {
		name  string
		texts []string
		log   string
		other bool
	}{
		{"no IR", []string{"hello"}, "k.ll (1, 0): parse expected top-level entity", false},
		{"value", []string{strings.Replace(kernel, "%v, %v", "%v, %zz", 1)}, "k.ll (4, 22): parse use of undefined value '%zz'", false},
		{"result", []string{strings.Replace(kernel, "ret void", "ret i32 0", 1)}, "k.ll (5, 6): parse value doesn't match function result type 'void'", false},
		{"twice", []string{kernel, kernel}, "k2.ll: link error: error: Linking globals named 'k': symbol multiply defined!\n\n", false},
		{"triple", []string{nvvmVersion}, "k.ll: error: Module does not contain a triple, should be 'nvptx64-'", false},
		{"NUL", []string{"a\x00b"}, "k.ll: error: a NUL byte in the text", false},
		{"version", []string{strings.Replace(kernel, "i32 2, i32 0", "i32 9, i32 0", 1)}, "k.ll: error: IR version 9.0 incompatible with current version 2.0\n\n" +
			"Consider inserting/updating nvvmir.version module metadata. For example:\n!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0, i32 3, i32 2}", true},
		{"nothing", []string{""}, "k.ll: error: IR version 1.0 incompatible with current version 2.0\n\n" +
			"Consider inserting/updating nvvmir.version module metadata. For example:\n!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0, i32 3, i32 2}", true},
	} {
		_, err := compileNVVM(t, nil, c.texts...)
		var e *compile.IRError
		if !errors.As(err, &e) || e.Log != c.log || e.Version != c.other {
			t.Errorf("%s: %v, want %s", c.name, err, c.log)
		}
	}
}
