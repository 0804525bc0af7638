package cudacc

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"kudzu/internal/lazyre"
)

// Place is where the front end finds its parts.
type Place struct {
	Major     int    // clang's release
	Resources string // clang's own headers are in include below it
	Headers   string // ours
	Libdevice string // the math functions as bitcode; "" without
	CNames    string // the same by C's names, which is linked first; "" without
	PCH       string // the precompiled prelude; "" without
	Work      string // the folder of this compilation: its source, and its headers below HeaderRoot
	Overlay   string // of files that clang sees otherwise than they are; "" without
}

// The names in Place.Work. Headers are some folders deep, for names that begin with "..".
const (
	SourceFile = "source.cu"
	HeaderRoot = "h/0/1/2/3"
)

// Prelude is the header below Place.Headers that is read before everything.
const Prelude = "kudzu/prelude.h"

// ptxOf is the newest version of PTX that a release of clang writes, in its spelling.
func ptxOf(major int) int {
	switch {
	case major >= 22:
		return 90
	case major == 21:
		return 88
	case major == 20:
		return 87
	}
	return 85
}

// cpu is the processor that clang is asked for. Older releases do not know the newest ones, and none knows families: code for an older
// one needs no more, and is given the right name afterwards (Finish).
func (o *Options) cpu(major int) string {
	number := strings.TrimRight(o.Arch, "af")
	n, _ := strconv.Atoi(number) // Parse has seen to it
	switch {
	case major < 22 && n > 90:
		return "sm_90"
	case major < 22 && n == 88:
		return "sm_87"
	case strings.HasSuffix(o.Arch, "f"):
		return "sm_" + number
	}
	return "sm_" + o.Arch
}

// tuning are arguments for LLVM that keep its time down. Straight line strength reduction of release 22 takes time with the square of a
// function's length, more than everything else together in one of 500 lines; who translates the PTX does the same again.
func (p *Place) tuning() []string {
	if p.Major < 22 {
		return nil // has no such option
	}
	return []string{"-mllvm", "-opt-disable=slsr"}
}

// targetSDK is a release that every clang from 19 on knows. It decides only how a launch and a program's registration are written, and
// what clang does not know counts as older than all: 19 then writes the launches of CUDA 9.1, by cudaConfigureCall.
const targetSDK = "-target-sdk-version=12.0"

// undefinedArguments lets a thread hand over a variable that it has not set. Kernels do so wherever one lane computes and a shuffle
// gives the others its result: int v; if (lane == leader) v = atomicAdd(n, m); v = __shfl_sync(mask, v, leader). By clang's own rules
// such an argument is undefined behaviour, so that all lanes are the leader. Nothing of nvcc's goes by that.
const undefinedArguments = "-no-enable-noundef-analysis"

// callsOfC has __builtin_sinf in device code call sinf, which Place.CNames has, and not be llvm.sin, which NVPTX has no code for.
const callsOfC = "-fmath-errno"

// language are the arguments that a precompiled header depends on.
func (o *Options) language(p *Place) []string {
	major, minor := o.Release.Version()
	number := strings.TrimRight(o.Arch, "af")
	host := "x86_64-unknown-linux-gnu"
	if runtime.GOARCH == "arm64" {
		host = "aarch64-unknown-linux-gnu"
	}
	ptx, _ := strconv.Atoi(strings.ReplaceAll(o.Release.PTX(), ".", ""))
	args := []string{
		"-triple", "nvptx64-nvidia-cuda", "-aux-triple", host, "-x", "cuda", "-fcuda-is-device", "-std=" + o.Std, undefinedArguments,
		"-target-cpu", o.cpu(p.Major), "-target-feature", fmt.Sprintf("+ptx%d", min(ptx, ptxOf(p.Major))), targetSDK,
		"-U__CUDA_ARCH__", "-D__CUDA_ARCH__=" + number + "0", "-D__CUDA_ARCH_LIST__=" + number + "0",
		"-D__CUDACC_RTC__=1", "-D__NVCC_DIAG_PRAGMA_SUPPORT__=1",
		number01("__CUDA_FTZ", o.FTZ), number01("__USE_FAST_MATH__", o.Approx), // NVRTC always has these, programs ask with #if
		number01("__CUDA_PREC_DIV", !o.FastDiv), number01("__CUDA_PREC_SQRT", !o.FastSqrt),
		fmt.Sprintf("-D__CUDACC_VER_MAJOR__=%d", major), fmt.Sprintf("-D__CUDACC_VER_MINOR__=%d", minor), fmt.Sprintf("-D__CUDACC_VER_BUILD__=%d", o.Release.Build()),
		"-fgnuc-version=4.2.1", "-fno-threadsafe-statics", "-fcuda-allow-variadic-functions", "-fwchar-type=int", "-fsigned-wchar", "-fdeprecated-macro", "-fskip-odr-check-in-gmf",
		"-resource-dir", p.Resources, "-internal-isystem", p.Headers, "-internal-isystem", filepath.Join(p.Resources, "include"),
	}
	args = args[:len(args):len(args)]
	for _, f := range []struct {
		on   bool
		args []string
	}{
		{o.Std != "c++03", []string{"-fcxx-exceptions", "-fexceptions"}},
		{p.CNames != "", []string{callsOfC}},
		{o.Relocatable, []string{"-fgpu-rdc", "-D__CUDACC_RDC__=1"}},
		{o.FTZ, []string{"-fdenormal-fp-math-f32=preserve-sign,preserve-sign"}},
		{o.NoFMA, []string{"-ffp-contract=off"}},
		{!o.NoFMA, []string{"-ffp-contract=fast"}},
		{o.Debug, []string{"-D__CUDACC_DEBUG__=1"}},
		{!o.Debug || o.Optimise, []string{"-O3", "-vectorize-loops", "-vectorize-slp"}},
		{o.NoMove, []string{"-D__KUDZU_NO_MOVE_FORWARD=1"}},
		{o.NoInitList, []string{"-D__KUDZU_NO_INITIALIZER_LIST=1"}},
		{o.Minimal, []string{"-D__CUDACC_RTC_MINIMAL__=1"}},
	} {
		if f.on {
			args = append(args, f.args...)
		}
	}
	return args
}

// number01 defines a macro as 0 or 1.
func number01(name string, on bool) string {
	if on {
		return "-D" + name + "=1"
	}
	return "-D" + name + "=0"
}

// PCHArgs are clang's arguments for the precompiled prelude, which is written to a file. Its templates are instantiated in it: otherwise
// every program does so, which is half of the work for a small one.
func (o *Options) PCHArgs(p *Place, to string) []string {
	return append(o.language(p), "-emit-pch", "-fpch-instantiate-templates", "-Wno-everything", "-o", to, filepath.Join(p.Headers, Prelude))
}

// Args are clang's arguments for a program named name. Dependencies are written to deps, code to standard output.
func (o *Options) Args(p *Place, name, deps string) []string {
	return o.args(p, name, false, "-dependency-file", deps, "-MT", "x")
}

// LookArgs are the arguments for only preprocessing it, which is enough to know that a header is missing. The files that are included are
// written to list, a line each.
func (o *Options) LookArgs(p *Place, name, list string) []string {
	return o.args(p, name, true, "-header-include-file", list)
}

func (o *Options) args(p *Place, name string, look bool, files ...string) []string {
	args := append(o.language(p), p.tuning()...)
	switch {
	case look:
		args = append(args, "-Eonly")
	case o.SyntaxOnly:
		args = append(args, "-fsyntax-only")
	case o.LTO:
		args = append(args, "-emit-llvm", "-disable-llvm-passes", "-o", "-")
	default:
		args = append(args, "-disable-free", "-disable-llvm-verifier", "-S", "-o", "-") // as clang's driver has it
	}
	if o.FastDiv {
		args = append(args, "-mllvm", "-nvptx-prec-divf32=1")
	}
	if o.FastSqrt {
		args = append(args, "-mllvm", "-nvptx-prec-sqrtf32=0")
	}
	switch {
	case o.Debug:
		args = append(args, "-debug-info-kind=limited", "-dwarf-version=2", "-fno-dwarf-directory-asm") // PTX has no folder beside the name
	case o.Lines:
		args = append(args, "-debug-info-kind=line-directives-only", "-dwarf-version=2", "-fno-dwarf-directory-asm")
	}
	if p.Libdevice != "" && !o.SyntaxOnly && !o.LTO && !look {
		if p.CNames != "" {
			args = append(args, "-mlink-builtin-bitcode", p.CNames)
		}
		args = append(args, "-mlink-builtin-bitcode", p.Libdevice)
	}
	headers := filepath.Join(p.Work, HeaderRoot)
	args = append(args, "-main-file-name", filepath.Base(name), "-fmacro-prefix-map="+headers+"/=", "-I"+headers)
	for _, dir := range o.Includes {
		args = append(args, "-I"+dir)
	}
	if !o.NoSourceDir {
		args = append(args, "-iquote"+filepath.Dir(name))
	}
	for _, m := range o.Macros {
		if m.Undef {
			args = append(args, "-U"+m.Text)
		} else {
			args = append(args, "-D"+m.Text)
		}
	}
	if p.PCH != "" {
		args = append(args, "-include-pch", p.PCH)
	} else {
		args = append(args, "-include", filepath.Join(p.Headers, Prelude))
	}
	for _, h := range o.PreInclude {
		args = append(args, "-include", h)
	}
	if p.Overlay != "" {
		args = append(args, "-ivfsoverlay", p.Overlay)
	}
	args = append(args,
		"-Wno-everything", "-Wunused-variable", "-Wunused-but-set-variable", "-Wreturn-type", "-W#warnings", "-Wno-unused-const-variable",
		"-ferror-limit", "100", "-fno-diagnostics-show-line-numbers", "-fno-diagnostics-show-option", "-fcaret-diagnostics-max-lines=1", "-fmessage-length=0", "-fno-spell-checking")
	return append(append(args, files...), "-sys-header-deps", filepath.Join(p.Work, SourceFile))
}

// Text is the source as clang reads it: with the name that messages use, and a variable for each expression whose name is wanted.
func (o *Options) Text(name, source string, exprs []string) string {
	var b strings.Builder
	if o.DefaultDevice {
		b.WriteString("#pragma clang force_cuda_host_device begin\n")
	}
	if spaced := SpaceLinkage([]byte(source)); spaced != nil {
		source = string(spaced)
	}
	fmt.Fprintf(&b, "#line 1 %s\n%s", strconv.Quote(name), source)
	if o.DefaultDevice {
		b.WriteString("\n#pragma clang force_cuda_host_device end")
	}
	for i, e := range exprs {
		if !strings.HasPrefix(e, "&") && !strings.HasPrefix(e, "(") {
			e = "&" + e
		}
		fmt.Fprintf(&b, "\n#line %d %q\nextern \"C\" { __attribute__((device, used)) const auto %s%d = %s; }", i+firstName, nameMap, nameVar, i, e)
	}
	b.WriteByte('\n')
	return b.String()
}

// nameMap is the file that NVRTC's log says expressions are in, from line firstName on.
const (
	nameMap   = "__nv_name_map"
	nameVar   = "__kudzu_name_"
	firstName = 2
)

var (
	ptxName = lazyre.New(`(?m)^\s*\.(?:const|global)[^\n]* \w*` + nameVar + `(\d+) = (?:generic\()?([\w$]+)\)?;\n`)
	irName  = lazyre.New(`(?m)^@\w*` + nameVar + `(\d+) = [^\n]*@([\w$.]+)`)
	// sharedRef is a reference to a shared variable (shared.go), which a debugger has in memory; PTX has no such value, and no code reads it.
	sharedRef = lazyre.New(`(?m)^([^\n]*\.(?:global|const)[^\n=]*?) = [^\n]*__kudzu_shared\d+[^\n]*;$`)
	version   = lazyre.New(`(?m)^\.version \d+\.\d+$`)
	target    = lazyre.New(`(?m)^\.target sm_\w+`)
)

// Finish makes clang's output what a program gets: the names of n expressions, and code without the variables that told them, for the
// target that was asked for.
func (o *Options) Finish(code string, n int) (string, []string) {
	names := make([]string, n)
	form := ptxName
	if o.LTO {
		form = irName
	}
	for _, m := range form().FindAllStringSubmatch(code, -1) {
		if i, err := strconv.Atoi(m[1]); err == nil && i < n {
			names[i] = m[2]
		}
	}
	if o.LTO {
		return code, names
	}
	if o.SyntaxOnly {
		code = "//\n\n.version 8.5\n.target sm_75\n.address_size 64\n\n"
	}
	code = ptxName().ReplaceAllLiteralString(code, "")
	if o.Debug {
		code = sharedRef().ReplaceAllString(code, "$1;")
	}
	code = version().ReplaceAllLiteralString(code, ".version "+o.Release.PTX())
	return target().ReplaceAllLiteralString(code, ".target sm_"+o.Arch), names
}
