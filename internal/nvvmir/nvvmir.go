// Package nvvmir has the facts of NVVM IR and of libNVVM's interface that its front, in the program, and the compiler, in its own
// process, share: versions, options, dialects.
package nvvmir

import (
	"fmt"
	"strconv"
	"strings"

	"kudzu/internal/lazyre"
)

// The version of NVVM IR that is taken, and that of its debug information.
const (
	IRMajor, IRMinor       = 2, 0
	DebugMajor, DebugMinor = 3, 2
)

// OldLLVM is the LLVM whose dialect architectures before Blackwell are written in, as libNVVM tells.
const OldLLVM = 7

// Options are those of a compilation.
type Options struct {
	Arch     string // what stands behind compute_: "80", "90a"
	Level    int    // 0 or 3
	FTZ      bool   // subnormal single precision numbers are zeros
	FastDiv  bool   // single precision divisions need not be rounded correctly
	FastSqrt bool
	NoFMA    bool // products are rounded before they are added to
	Debug    bool // -g
	Lines    bool // -generate-line-info
	Verify   bool // only look for mistakes
	LTO      bool // -gen-lto: the result is not PTX but what a linker that optimises takes
}

// ltoMagic begins the result of -gen-lto; bitcode follows. It is our own form, which nobody else reads, behind the four bytes by
// which programs tell LTO-IR.
const ltoMagic = "\xedCN\x7fKUDZULTO"

// LTO is bitcode as the result of -gen-lto.
func LTO(bitcode []byte) []byte { return append([]byte(ltoMagic), bitcode...) }

// FromLTO is the bitcode of such a result; ok is false for anything else.
func FromLTO(b string) (bitcode string, ok bool) { return strings.CutPrefix(b, ltoMagic) }

// reserved is a C++ name with an identifier in it that is the implementation's: __float2half(float), operator+(__half, __half).
var reserved = lazyre.New(`^_Z.*\d__[a-z]`)

// OfHeader tells functions of CUDA's headers. Those of NVIDIA's cuda_fp16.h are not inline for NVRTC, so that each module which
// includes it has them all.
func OfHeader(name string) bool { return reserved().MatchString(name) }

// archs are the architectures of CUDA 11 to 13, and whether there are code for one of them alone (a) and for its family (f).
var archs = map[string]string{
	"35": "", "37": "", "50": "", "52": "", "53": "", "60": "", "61": "", "62": "", "70": "", "72": "", "75": "", "80": "", "86": "", "87": "", "88": "", "89": "",
	"90": "a", "100": "af", "101": "af", "103": "af", "110": "af", "120": "af", "121": "af",
}

// defaultArch is compiled for when nothing is said.
const defaultArch = "75"

// Arch is the architecture of an option's value, compute_90a.
func Arch(value string) (string, bool) {
	name, ok := strings.CutPrefix(value, "compute_")
	if !ok {
		return "", false
	}
	number := strings.TrimRight(name, "af")
	special, known := archs[number]
	if !known || len(name)-len(number) > 1 || !strings.Contains(special, name[len(number):]) {
		return "", false
	}
	return name, true
}

// LLVM is the version of LLVM whose dialect an architecture's IR is written in, where LLVM newest is at work.
func LLVM(arch string, newest int) int {
	if n, err := strconv.Atoi(strings.TrimRight(arch, "af")); err == nil && n < 100 {
		return OldLLVM
	}
	return newest
}

// BadOption is one that libNVVM does not take.
type BadOption struct{ Option string }

func (e *BadOption) Error() string {
	return fmt.Sprintf("libnvvm : error: %s is an unsupported option", e.Option)
}

// switches are the options with the values 0 and 1.
var switches = map[string]func(o *Options, on bool){
	"-ftz":       func(o *Options, on bool) { o.FTZ = on },
	"-prec-div":  func(o *Options, on bool) { o.FastDiv = !on },
	"-prec-sqrt": func(o *Options, on bool) { o.FastSqrt = !on },
	"-fma":       func(o *Options, on bool) { o.NoFMA = !on },
}

// Parse reads options as libNVVM does.
func Parse(list []string) (*Options, error) {
	o := &Options{Arch: defaultArch, Level: 3}
	for _, text := range list {
		name, value, valued := strings.Cut(text, "=")
		set := switches[name]
		var ok bool
		switch {
		case set != nil:
			if ok = value == "0" || value == "1"; ok {
				set(o, value == "1")
			}
		case name == "-arch":
			if arch, known := Arch(value); known {
				o.Arch, ok = arch, true
			}
		case name == "-opt":
			if ok = value == "0" || value == "3"; ok {
				o.Level = int(value[0] - '0')
			}
		case name == "-g" && !valued:
			o.Debug, ok = true, true
		case name == "-generate-line-info" && !valued:
			o.Lines, ok = true, true
		case name == "-gen-lto" && !valued:
			o.LTO, ok = true, true
		}
		if !ok {
			return nil, &BadOption{text}
		}
	}
	return o, nil
}
