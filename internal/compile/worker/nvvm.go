package worker

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"kudzu/internal/compile"
	"kudzu/internal/libdevice"
	"kudzu/internal/llvm"
	"kudzu/internal/nvvmir"
)

// fromNVVM makes PTX of a program in NVVM IR.
func (p *Pipeline) fromNVVM(req *compile.Request, t *clock) (*compile.Result, error) {
	prog, err := program(req)
	if err != nil {
		return nil, err
	}
	t.done("read")
	text, err := p.backend.lib.Link(prog)
	if err != nil {
		return nil, irError(err)
	}
	t.done("llvm")
	if prog.Bitcode {
		text = nvvmir.LTO(text)
	} else {
		text = []byte(headed(string(text), req.NVVM.Options.Arch))
	}
	return &compile.Result{LLVM: p.LLVM(), Image: text, Stages: t.stages}, nil
}

// program is the request as LLVM takes it.
func program(req *compile.Request) (*llvm.Program, error) {
	o := &req.NVVM.Options
	p := &llvm.Program{Options: nvptx(o), Verify: o.Verify, Bitcode: o.LTO, Check: checkHeader, FlushF32: o.FTZ, Contract: !o.NoFMA && o.Level > 0, Replace: map[string]string{}}
	ftz := ""
	if o.FTZ {
		ftz = ".ftz"
	}
	if o.FastDiv {
		p.Replace["fdiv"] = "div.full" + ftz + ".f32 $0, $1, $2;"
	}
	if o.FastSqrt {
		p.Replace["sqrt"] = "sqrt.approx" + ftz + ".f32 $0, $1;"
	}
	rest := req.PTX
	for _, u := range req.NVVM.Units {
		if u.Bytes < 0 || u.Bytes > len(rest) {
			return nil, &compile.Failed{Stage: "protocol", Text: "modules of NVVM IR do not fill their text"}
		}
		text := rest[:u.Bytes]
		rest = rest[u.Bytes:]
		code, ours := nvvmir.FromLTO(text)
		if ours {
			text = code
		}
		switch {
		case text == "":
			text = "\n" // a module without anything
		case !bitcode(text):
			text = nvvmir.Opaque(strings.TrimRight(text, "\x00"))
			if strings.IndexByte(text, 0) >= 0 {
				return nil, &compile.IRError{Log: u.Name + ": error: a NUL byte in the text"}
			}
		}
		p.Units = append(p.Units, llvm.Unit{Name: u.Name, IR: text, Lazy: u.Lazy, Ours: ours})
	}
	p.Rename, p.Common = nvvmir.Renamed, nvvmir.OfHeader
	p.Supply = libdevice.For
	p.Reflect = map[string]int{"__CUDA_PREC_DIV": precise(o.FastDiv), "__CUDA_PREC_SQRT": precise(o.FastSqrt)}
	p.Units = append(p.Units, llvm.Unit{Name: "library", IR: nvvmir.Library, Lazy: true})
	return p, nil
}

// precise is what libraries are told of divisions or roots.
func precise(fast bool) int {
	if fast {
		return 0
	}
	return 1
}

// bitcode reports a module that is no text: bitcode, or bitcode in its wrapper.
func bitcode(s string) bool {
	return strings.HasPrefix(s, "BC\xc0\xde") || strings.HasPrefix(s, "\xde\xc0\x17\x0b")
}

// nvptx are the options of LLVM's back end. Old releases do not know Blackwell: code for Hopper, which needs no more, is
// given that name. The version of PTX is the newest that every release since 19 can write: what it is enough for, LLVM
// does not find out from the instructions.
func nvptx(o *nvvmir.Options) llvm.Options {
	cpu := "sm_" + o.Arch
	if n, err := strconv.Atoi(strings.TrimRight(o.Arch, "af")); err == nil && n > 90 {
		cpu = "sm_90"
	}
	passes := "default<O3>"
	if o.Level == 0 {
		passes = "default<O0>"
	}
	return llvm.Options{Triple: "nvptx64-nvidia-cuda", CPU: cpu, Features: "+ptx85", Passes: passes, OptLevel: o.Level}
}

// checkHeader refuses modules of another version and for other machines. One that names no version is of the first, unless it was
// made here: clang's modules name none.
func checkHeader(u *llvm.Unit, h *llvm.Header) error {
	v := append(h.Version, 1, 0)
	if len(h.Version) >= 2 {
		v = h.Version
	}
	if v[0] != nvvmir.IRMajor && !u.Lazy && !u.Ours {
		return &compile.IRError{Version: true, Log: fmt.Sprintf("%s: error: IR version %d.%d incompatible with current version %d.%d\n\n"+
			"Consider inserting/updating nvvmir.version module metadata. For example:\n!nvvmir.version = !{!0}\n!0 = !{i32 %[4]d, i32 %[5]d, i32 %d, i32 %d}",
			u.Name, v[0], v[1], nvvmir.IRMajor, nvvmir.IRMinor, nvvmir.DebugMajor, nvvmir.DebugMinor)}
	}
	if !strings.HasPrefix(h.Triple, "nvptx64-") {
		return &compile.IRError{Log: u.Name + ": error: Module does not contain a triple, should be 'nvptx64-'"}
	}
	return nil
}

// position is how LLVM begins a message about a text, its first column being 1.
var position = regexp.MustCompile(`^(\d+):(\d+): (?:error: )?(.*)$`)

// irError is what libNVVM's log says of a mistake.
func irError(err error) error {
	var u *llvm.UnitError
	var e *llvm.Error
	switch {
	case errors.As(err, &u):
		return &compile.IRError{Log: unitLog(u)}
	case errors.As(err, &e):
		return &compile.IRError{Log: "error: " + strings.Join(e.Messages, "\n")}
	}
	return err
}

func unitLog(u *llvm.UnitError) string {
	text := strings.Join(u.Err.Messages, "\n")
	switch u.Err.Stage {
	case "link":
		return fmt.Sprintf("%s: link error: error: %s\n\n", u.Unit, text)
	case "parse":
		first, _, _ := strings.Cut(text, "\n")
		if m := position.FindStringSubmatch(first); m != nil {
			column, _ := strconv.Atoi(m[2]) // digits
			return fmt.Sprintf("%s (%s, %d): parse %s", u.Unit, m[1], column-1, m[3])
		}
	}
	return fmt.Sprintf("%s: error: %s", u.Unit, text)
}

// versions are the first versions of PTX with an architecture, where that is newer than what LLVM writes.
var versions = map[string]string{"88": "9.0", "100": "8.6", "101": "8.6", "103": "8.8", "110": "9.0", "120": "8.7", "121": "8.8"}

// headed is LLVM's text with the target that was asked for.
func headed(text, arch string) string {
	version := "8.5"
	if v := llvmVersion.FindStringSubmatch(text); v != nil {
		version = v[1]
	}
	if v := versions[strings.TrimRight(arch, "af")]; v != "" && newer(v, version) {
		version = v
	}
	if strings.HasSuffix(arch, "f") && newer("8.8", version) {
		version = "8.8"
	}
	text = llvmVersion.ReplaceAllLiteralString(text, ".version "+version)
	return llvmTarget.ReplaceAllString(text, ".target sm_"+arch+"$1")
}

var llvmTarget = regexp.MustCompile(`(?m)^\.target sm_\w+(.*)$`)
