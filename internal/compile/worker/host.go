package worker

import (
	"runtime"
	"strings"

	"kudzu/internal/compile"

	"github.com/klauspost/cpuid/v2"
)

// cpuFeatures are LLVM's names of what emit/warp and the baseline compiler ask about, and the processor's word for each.
var cpuFeatures = []struct {
	name string
	id   cpuid.FeatureID
}{
	{"sse4.2", cpuid.SSE42}, {"popcnt", cpuid.POPCNT}, {"lzcnt", cpuid.LZCNT}, {"bmi", cpuid.BMI1}, {"bmi2", cpuid.BMI2}, {"adx", cpuid.ADX},
	{"avx", cpuid.AVX}, {"avx2", cpuid.AVX2}, {"fma", cpuid.FMA3}, {"f16c", cpuid.F16C}, {"movbe", cpuid.MOVBE}, {"gfni", cpuid.GFNI}, {"vpclmulqdq", cpuid.VPCLMULQDQ},
	{"avx512f", cpuid.AVX512F}, {"avx512bw", cpuid.AVX512BW}, {"avx512cd", cpuid.AVX512CD}, {"avx512dq", cpuid.AVX512DQ}, {"avx512vl", cpuid.AVX512VL},
	{"avx512ifma", cpuid.AVX512IFMA}, {"avx512vbmi", cpuid.AVX512VBMI}, {"avx512vbmi2", cpuid.AVX512VBMI2}, {"avx512bitalg", cpuid.AVX512BITALG},
	{"avx512vpopcntdq", cpuid.AVX512VPOPCNTDQ}, {"avx512vnni", cpuid.AVX512VNNI}, {"avx512bf16", cpuid.AVX512BF16}, {"avx512fp16", cpuid.AVX512FP16},
	{"avxvnni", cpuid.AVXVNNI},
}

// hostFeatures is this machine in LLVM's words, without libLLVM.
func hostFeatures() string {
	var list []string
	for _, f := range cpuFeatures {
		sign := "-"
		if cpuid.CPU.Supports(f.id) {
			sign = "+"
		}
		list = append(list, sign+f.name)
	}
	return strings.Join(list, ",")
}

// The features of processors that are only named.
const (
	level3 = "+sse4.2,+popcnt,+lzcnt,+bmi,+bmi2,+avx,+avx2,+fma,+f16c,+movbe"
	level4 = level3 + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
)

var namedFeatures = map[string]string{"x86-64-v3": level3, "haswell": level3, "x86-64-v4": level4, "skylake-avx512": level4}

// baselineTarget is what baseline code of a request is for. Triples are for x86-64 only. Arithmetic on halves is done in
// single precision everywhere: the baseline compiler has no instructions of AVX512-FP16.
func baselineTarget(t compile.Target) (triple, features string, err error) {
	triple, features, err = baselineHost(t)
	return triple, strings.ReplaceAll(features, "+avx512fp16", "-avx512fp16"), err
}

func baselineHost(t compile.Target) (triple, features string, err error) {
	const own = "x86_64-unknown-linux-gnu"
	switch {
	case t == compile.Target{} && runtime.GOARCH == "amd64":
		return own, hostFeatures(), nil
	case t == compile.Target{}:
		return "", "", &compile.Unsupported{What: "baseline code for " + runtime.GOARCH}
	case t.Triple != "" && !strings.HasPrefix(t.Triple, "x86_64"):
		return "", "", &compile.Unsupported{What: "baseline code for " + t.Triple}
	case t.Features != "":
		return own, t.Features, nil
	}
	features, ok := namedFeatures[t.CPU]
	if !ok {
		return "", "", &compile.Unsupported{What: "baseline code for " + t.CPU + " without a list of its features"}
	}
	return own, features, nil
}
