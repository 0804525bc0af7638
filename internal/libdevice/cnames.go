package libdevice

import (
	"fmt"
	"slices"
	"strings"
)

// CFile is where clang finds CText as bitcode, beside File.
const CFile = "nvvm/libdevice/kudzu-c.bc"

// cNames are the functions of C's mathematics that clang calls by C's names: __builtin_sinf(x) in device code is a call of sinf, as
// soon as functions may set errno (without, it is llvm.sin, which NVPTX cannot translate). CCCL's functions of cuda::std consist of
// these, those of libstdc++ that are constexpr too. Each has an f for float behind it in a second form.
var cNames = strings.Fields("acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim " +
	"floor fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb modf nearbyint nextafter pow " +
	"remainder remquo rint round scalbn sin sincos sinh tan tanh tgamma trunc")

// CText is the module with C's names. It calls the library's functions, and so is linked before it.
func CText() string {
	var b strings.Builder
	b.WriteString(parsed().head)
	for _, name := range cNames {
		for _, suffix := range []string{"", "f"} {
			i, ok := slices.BinarySearchFunc(Functions, name+suffix, func(f Function, n string) int { return strings.Compare(f.Name, n) })
			if !ok {
				panic("BUG: libdevice has no " + name + suffix)
			}
			declareOwn(&b, &Functions[i])
			cFunction(&b, name+suffix, &Functions[i])
			if long, ok := strings.CutPrefix(name, "ll"); ok { // long is as long
				cFunction(&b, "l"+long+suffix, &Functions[i])
			}
		}
	}
	b.WriteString(cText)
	return b.String()
}

// llvmTypes are those of what a function gives and takes.
func llvmTypes(f *Function) (result string, params []string) {
	llvm := strings.NewReplacer("*f64", "ptr", "*f32", "ptr", "*s32", "ptr", "f64", "double", "f32", "float", "s32", "i32", "s64", "i64")
	result, rest, _ := strings.Cut(llvm.Replace(f.Type), "(")
	return result, strings.Split(strings.TrimSuffix(rest, ")"), ", ")
}

func declareOwn(b *strings.Builder, f *Function) {
	result, types := llvmTypes(f)
	fmt.Fprintf(b, "declare %s @%s%s(%s)\n", result, Prefix, f.Name, strings.Join(types, ", "))
}

// cFunction writes one that calls f.
func cFunction(b *strings.Builder, name string, f *Function) {
	result, types := llvmTypes(f)
	params := make([]string, len(types))
	for i, t := range types {
		params[i] = fmt.Sprintf("%s %%%c", t, 'a'+i)
	}
	all := strings.Join(params, ", ")
	to, back := "%r = ", result+" %r"
	if result == "void" {
		to, back = "", "void"
	}
	fmt.Fprintf(b, "define %s @%s(%s) #0 {\n  %scall %s @%s%s(%s)\n  ret %s\n}\n", result, name, all, to, result, Prefix, f.Name, all, back)
}

// cText is what is an instruction, and what is no mathematics: memcmp stands for comparisons of arrays (std::equal), strlen for
// lengths of texts.
const cText = `
declare float @llvm.sqrt.f32(float)
declare double @llvm.sqrt.f64(double)
declare float @llvm.fma.f32(float, float, float)
declare double @llvm.fma.f64(double, double, double)
define float @sqrtf(float %a) #0 {
  %r = call float @llvm.sqrt.f32(float %a)
  ret float %r
}
define double @sqrt(double %a) #0 {
  %r = call double @llvm.sqrt.f64(double %a)
  ret double %r
}
define float @fmaf(float %a, float %b, float %c) #0 {
  %r = call float @llvm.fma.f32(float %a, float %b, float %c)
  ret float %r
}
define double @fma(double %a, double %b, double %c) #0 {
  %r = call double @llvm.fma.f64(double %a, double %b, double %c)
  ret double %r
}
define i32 @memcmp(ptr %p, ptr %q, i64 %n) #1 {
start:
  br label %next
next:
  %i = phi i64 [ 0, %start ], [ %j, %same ]
  %end = icmp eq i64 %i, %n
  br i1 %end, label %equal, label %compare
compare:
  %pi = getelementptr i8, ptr %p, i64 %i
  %qi = getelementptr i8, ptr %q, i64 %i
  %a = load i8, ptr %pi
  %b = load i8, ptr %qi
  %j = add i64 %i, 1
  %differ = icmp ne i8 %a, %b
  br i1 %differ, label %different, label %same
same:
  br label %next
different:
  %x = zext i8 %a to i32
  %y = zext i8 %b to i32
  %d = sub i32 %x, %y
  ret i32 %d
equal:
  ret i32 0
}
define i64 @strlen(ptr %p) #1 {
start:
  br label %next
next:
  %i = phi i64 [ 0, %start ], [ %j, %next ]
  %pi = getelementptr i8, ptr %p, i64 %i
  %a = load i8, ptr %pi
  %j = add i64 %i, 1
  %end = icmp eq i8 %a, 0
  br i1 %end, label %done, label %next
done:
  ret i64 %i
}
attributes #0 = { alwaysinline nounwind }
attributes #1 = { nounwind }
`
