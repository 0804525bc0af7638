package cudacc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// OptionError is why options were refused.
type OptionError struct {
	Log      string
	Compiler bool // the compiler proper refused them: a failed compilation to NVRTC, not a bad option
}

func (e *OptionError) Error() string { return e.Log }

func refuse(form string, args ...any) error {
	return &OptionError{Log: fmt.Sprintf("nvrtc: error: "+form, args...)}
}

// kind is how an option takes its value.
type kind int

const (
	flag     kind = iota // none
	boolean              // true or false, behind = or as the next option
	integer              // a number or nothing
	word                 // behind = or the next option; nothing is an empty one
	attached             // behind = only
	joined               // as word, or behind the short name
	loose                // a flag that takes anything behind = and ignores it
)

// option is one of NVRTC's. The first name is the long one, the second the short one.
type option struct {
	long, short string
	kind        kind
	set         func(p *parser, value string) error
}

// parser is what has been read.
type parser struct {
	Options
	log      strings.Builder // warnings
	archs    bool            // -arch was given
	std      bool
	rdc      string // the value of -rdc
	dc, dw   bool
	ewp      bool
	numbers  bool
	float128 bool
	level    string // -Ofc
	pch      bool
	create   bool
	use      bool
}

func on(field func(*parser) *bool) func(*parser, string) error {
	return func(p *parser, _ string) error { *field(p) = true; return nil }
}

// is sets a field to what a boolean option says; not, to its opposite.
func is(field func(*parser) *bool) func(*parser, string) error {
	return func(p *parser, v string) error { *field(p) = v == "true"; return nil }
}

func not(field func(*parser) *bool) func(*parser, string) error {
	return func(p *parser, v string) error { *field(p) = v != "true"; return nil }
}

// nothing is for options that tune what there is nothing to tune in here.
func nothing(*parser, string) error { return nil }

// table has every option of releases 12.9 and 13.0.
var table = []option{
	{"--gpu-architecture", "-arch", word, (*parser).setArch},
	{"--device-c", "-dc", flag, on(func(p *parser) *bool { return &p.dc })},
	{"--device-w", "-dw", flag, on(func(p *parser) *bool { return &p.dw })},
	{"--relocatable-device-code", "-rdc", boolean, func(p *parser, v string) error { p.rdc = v; return nil }},
	{"--extensible-whole-program", "-ewp", flag, on(func(p *parser) *bool { return &p.ewp })},
	{"--device-debug", "-G", flag, on(func(p *parser) *bool { return &p.Debug })},
	{"--generate-line-info", "-lineinfo", flag, on(func(p *parser) *bool { return &p.Lines })},
	{"--no-lineinfo-inlined-at", "-no-lineinfo-ia", flag, nothing},
	{"--dopt", "-dopt", word, (*parser).setDopt},
	{"--Ofast-compile", "-Ofc", word, (*parser).setLevel},
	{"--ptxas-options", "-Xptxas", word, (*parser).setAssembler},
	{"--maxrregcount", "-maxrregcount", integer, func(p *parser, v string) error { p.Registers, _ = strconv.Atoi(v); return nil }},
	{"--ftz", "-ftz", boolean, is(func(p *parser) *bool { return &p.FTZ })},
	{"--prec-sqrt", "-prec-sqrt", boolean, not(func(p *parser) *bool { return &p.FastSqrt })},
	{"--prec-div", "-prec-div", boolean, not(func(p *parser) *bool { return &p.FastDiv })},
	{"--fmad", "-fmad", boolean, not(func(p *parser) *bool { return &p.NoFMA })},
	{"--use_fast_math", "-use_fast_math", flag, func(p *parser, _ string) error {
		p.FTZ, p.FastSqrt, p.FastDiv, p.NoFMA, p.Approx = true, true, true, false, true
		return nil
	}},
	{"--fassociative-math", "-fassociative-math", flag, nothing},
	{"--extra-device-vectorization", "-extra-device-vectorization", flag, nothing},
	{"--modify-stack-limit", "-modify-stack-limit", boolean, nothing},
	{"--dlink-time-opt", "-dlto", flag, on(func(p *parser) *bool { return &p.LTO })},
	{"--gen-opt-lto", "-gen-opt-lto", flag, nothing},
	{"--optix-ir", "-optix-ir", flag, on(func(p *parser) *bool { return &p.OptiX })},
	{"--jump-table-density", "-jtd", integer, func(_ *parser, v string) error {
		if n, _ := strconv.Atoi(v); n < 0 || n > 101 {
			return refuse("Argument for --jump-table-density must be between [0-101]\n")
		}
		return nil
	}},
	{"--device-stack-protector", "-device-stack-protector", boolean, nothing},
	{"--no-cache", "-no-cache", loose, nothing},
	{"--enable-cache-trace", "-enable-cache-trace", loose, nothing},
	{"--frandom-seed", "-frandom-seed", attached, func(_ *parser, v string) error { return given(v, "seed value", "frandom-seed", "seed") }},
	{"--define-macro", "-D", joined, func(p *parser, v string) error { return p.macro(v, false) }},
	{"--undefine-macro", "-U", joined, func(p *parser, v string) error { return p.macro(v, true) }},
	{"--include-path", "-I", joined, func(p *parser, v string) error {
		if v != "" {
			p.Includes = append(p.Includes, v)
		}
		return nil
	}},
	{"--pre-include", "-include", word, func(p *parser, v string) error {
		if v == "" {
			return catastrophe(fmt.Sprintf("__nv_nvrtc_builtin_header.h(%d): catastrophic error: cannot open source file \"\": invalid file name\n  #endif  \n  ^", facts[p.Release].builtinLines), `the compilation of "`+DefaultName+`"`)
		}
		p.PreInclude = append(p.PreInclude, v)
		return nil
	}},
	{"--no-source-include", "-no-source-include", flag, on(func(p *parser) *bool { return &p.NoSourceDir })},
	{"--std", "-std", attached, (*parser).setStd},
	{"--builtin-move-forward", "-builtin-move-forward", boolean, not(func(p *parser) *bool { return &p.NoMove })},
	{"--builtin-initializer-list", "-builtin-initializer-list", boolean, not(func(p *parser) *bool { return &p.NoInitList })},
	{"--pch", "-pch", flag, on(func(p *parser) *bool { return &p.pch })},
	{"--create-pch", "-create-pch", attached, func(p *parser, v string) error {
		p.create = true
		return given(v, "file name", "create-pch", "filename")
	}},
	{"--use-pch", "-use-pch", attached, func(p *parser, v string) error { p.use = true; return given(v, "file name", "use-pch", "filename") }},
	{"--pch-dir", "-pch-dir", attached, func(_ *parser, v string) error { return given(v, "directory name", "pch-dir", "directory-name") }},
	{"--pch-verbose", "-pch-verbose", boolean, nothing},
	{"--pch-messages", "-pch-messages", boolean, nothing},
	{"--instantiate-templates-in-pch", "-instantiate-templates-in-pch", boolean, nothing},
	{"--disable-warnings", "-w", flag, on(func(p *parser) *bool { return &p.NoWarnings })},
	{"--restrict", "-restrict", flag, on(func(p *parser) *bool { return &p.Restrict })},
	{"--device-as-default-execution-space", "-default-device", flag, on(func(p *parser) *bool { return &p.DefaultDevice })},
	{"--device-int128", "-device-int128", flag, nothing}, // clang always has it
	{"--device-float128", "-device-float128", flag, on(func(p *parser) *bool { return &p.float128 })},
	{"--optimization-info", "-opt-info", attached, func(_ *parser, v string) error {
		if v != "inline" {
			return refuse("invalid optimization tag for option --optimization-info (-opt-info): %s\n", v)
		}
		return nil
	}},
	{"--display-error-number", "-err-no", flag, on(func(p *parser) *bool { return &p.numbers })},
	{"--no-display-error-number", "-no-err-no", flag, on(func(p *parser) *bool { return &p.NoNumbers })},
	{"--diag-error", "-diag-error", word, func(p *parser, v string) error { return p.severity("--diag-error", v, "error") }},
	{"--diag-warn", "-diag-warn", word, func(p *parser, v string) error { return p.severity("--diag-warn", v, "warning") }},
	{"--diag-suppress", "-diag-suppress", word, func(p *parser, v string) error { return p.severity("--diag-suppress", v, "") }},
	{"--brief-diagnostics", "-brief-diag", boolean, is(func(p *parser) *bool { return &p.Brief })},
	{"--time", "-time", attached, func(p *parser, v string) error { p.TimeFile = cmpOr(v); return nil }},
	{"--fdevice-time-trace", "-fdevice-time-trace", attached, func(p *parser, v string) error { p.TraceFile = cmpOr(v); return nil }},
	{"--split-compile", "-split-compile", integer, func(_ *parser, v string) error {
		if n, _ := strconv.Atoi(v); n < 0 {
			return refuse("Argument for -split-compile must be non-negative\n")
		}
		return nil
	}},
	{"--fdevice-syntax-only", "-fdevice-syntax-only", flag, on(func(p *parser) *bool { return &p.SyntaxOnly })},
	{"--minimal", "-minimal", flag, on(func(p *parser) *bool { return &p.Minimal })},
	{"--version-ident", "-dQ", boolean, nothing},
	{"--uumn", "-uumn", flag, nothing},
	{"--discard-value-names", "-discard-value-names", boolean, nothing},
	{"--cuda-api-version", "-cuda-api-version", attached, (*parser).setVersion},
}

// NoFile is a file without a name, which cannot be written.
const NoFile = "\x00"

// cmpOr is a file's name, which is never empty once it was asked for.
func cmpOr(v string) string {
	if v == "" {
		return NoFile
	}
	return v
}

func given(v, what, name, value string) error {
	if v == "" {
		return refuse("must specify %s with -%s flag (-%[2]s=%s)\n", what, name, value)
	}
	return nil
}

// catastrophe is the log of a compiler that gave up at its command line.
func catastrophe(text, where string) error {
	return &OptionError{Compiler: true, Log: text + "\n\n1 catastrophic error detected in " + where + ".\nCompilation terminated.\n"}
}

// Parse reads options as a release does. warnings go in front of the compilation's log.
func Parse(r Release, list []string) (o *Options, warnings string, err error) {
	p := &parser{Options: Options{Release: r, Arch: facts[r].defaultArch, Std: "c++17"}}
	for i := 0; i < len(list); i++ {
		text := strings.TrimSpace(list[i])
		opt, value, valued := find(text)
		if opt == nil {
			return nil, "", refuse("unrecognized option %s found\n", text)
		}
		if !valued && i+1 < len(list) && (opt.kind == boolean || opt.kind == integer || opt.kind == word || opt.kind == joined) {
			i++
			value, valued = strings.TrimSpace(list[i]), true
		}
		if err := p.take(opt, value, valued); err != nil {
			return nil, "", err
		}
	}
	if err := p.conflicts(); err != nil {
		return nil, "", err
	}
	p.Relocatable = p.dc || p.rdc == "true" || p.ewp || p.LTO
	p.MakePCH = p.pch || p.create
	return &p.Options, p.log.String(), nil
}

// find is the option that a text begins with.
func find(text string) (opt *option, value string, valued bool) {
	name, value, valued := strings.Cut(text, "=")
	for i := range table {
		o := &table[i]
		switch {
		case name == o.long || name == o.short:
			if o.kind == attached && !valued {
				return nil, "", false
			}
			return o, value, valued
		case o.kind == joined && strings.HasPrefix(text, o.short) && !strings.HasPrefix(text, "--"):
			if o.short == "-I" && strings.HasPrefix(text, "-include") {
				continue
			}
			return o, strings.TrimSpace(text[len(o.short):]), true
		}
	}
	return nil, "", false
}

// take reads one option.
func (p *parser) take(o *option, value string, valued bool) error {
	names := o.long + " (" + o.short + ")"
	switch {
	case o.kind == flag && valued:
		return refuse("%s does not accept any argument\n", names)
	case o.kind == boolean && value != "true" && value != "false":
		return refuse("%s expects true or false\n", names)
	case o.kind == integer && value != "":
		if _, err := strconv.Atoi(value); err != nil {
			return refuse("%s expects an integer value\n", names)
		}
	case o.kind == word && !valued && strings.HasPrefix(o.long, "--diag-"):
		return refuse("%s expects a non-zero positive integer value\n", o.long)
	case o.kind == word && !valued && (o.long == "--dopt" || o.long == "--Ofast-compile" || o.long == "--ptxas-options"):
		name := o.short
		if o.long == "--Ofast-compile" {
			name = o.long
		}
		p.log.WriteString("nvrtc: error: " + name + " expects a value\n") // and it goes on
		return nil
	}
	return o.set(p, value)
}

func (p *parser) setArch(v string) error {
	kind, name, _ := strings.Cut(v, "_")
	number := strings.TrimRight(name, "af")
	n, err := strconv.Atoi(number)
	if err != nil || kind != "sm" && kind != "compute" || len(name)-len(number) > 1 || !slices.Contains(p.Release.Archs(), int32(n)) {
		return refuse("invalid value for --gpu-architecture (-arch)\n")
	}
	suffix := name[len(number):]
	if suffix != "" && (n < 90 || n == 90 && suffix == "f") {
		return catastrophe("Command-line error: invalid or no value specified with --nv_arch flag", "this compilation")
	}
	if p.archs {
		fmt.Fprintf(&p.log, "nvrtc: warning: \"--gpu-architecture(-arch)=%s\" followed by \"--gpu-architecture(-arch)=%s\"\n", p.Arch, name)
	}
	if n < 75 {
		p.log.WriteString("nvrtc: warning: Architectures prior to '<compute/sm>_75' are deprecated and may be removed in a future release\n")
	}
	p.Arch, p.Cubin, p.archs = name, kind == "sm", true
	return nil
}

// stds are the dialects.
var stds = []string{"c++03", "c++11", "c++14", "c++17", "c++20"}

func (p *parser) setStd(v string) error {
	if !slices.Contains(stds, v) {
		return refuse("invalid value for --std(-std)\n")
	}
	if p.std {
		fmt.Fprintf(&p.log, "nvrtc: warning: \"--std (-std)=%s\" followed by \"--std (-std)=%s\"\n", p.Std, v)
	}
	p.Std, p.std = v, true
	return nil
}

func (p *parser) setDopt(v string) error {
	if v != "on" {
		return refuse("invalid argument for option --dopt (-dopt): %s\n", v)
	}
	p.Optimise = true
	return nil
}

func (p *parser) setLevel(v string) error {
	if !slices.Contains([]string{"0", "min", "mid", "max"}, v) {
		return refuse("invalid argument for option --Ofast-compile (-Ofc): %s\n", v)
	}
	p.level = v
	return nil
}

// setAssembler reads what is for the assembler, of which only -v says anything here.
func (p *parser) setAssembler(v string) error {
	for _, w := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		p.Verbose = p.Verbose || w == "-v" || w == "--verbose"
	}
	return nil
}

func (p *parser) setVersion(v string) error {
	major, _, _ := strings.Cut(v, ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return refuse("invalid value for --cuda-api-version (-cuda-api-version)\n")
	}
	if own, _ := p.Release.Version(); int32(n) != own {
		p.log.WriteString("nvrtc: warning: option --cuda-api-version (-cuda-api-version) ignored, expected the same major version")
	}
	return nil
}

func (p *parser) macro(v string, undef bool) error {
	if v == "" {
		what := "definition"
		if undef {
			what = "undefinition"
		}
		return catastrophe("Command-line error: invalid macro "+what+": ", `the compilation of "`+DefaultName+`"`)
	}
	p.Macros = append(p.Macros, Macro{Text: v, Undef: undef})
	return nil
}

// lastMessage bounds the numbers of EDG's messages.
const lastMessage = 30000

func (p *parser) severity(name, list, to string) error {
	if list == "" {
		return catastrophe("Command-line error: invalid error tag in diagnostic control option: ", "this compilation")
	}
	for v := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(v)
		switch {
		case err != nil || n <= 0:
			return refuse("%s expects a non-zero positive integer value\n", name)
		case n > lastMessage:
			return catastrophe("Command-line error: invalid error number in diagnostic control option: "+v, "this compilation")
		}
		if p.Severity == nil {
			p.Severity = map[int]string{}
		}
		p.Severity[n] = to
	}
	return nil
}

// conflicts are options that do not go together, in NVRTC's order.
func (p *parser) conflicts() error {
	n, _ := strconv.Atoi(strings.TrimRight(p.Arch, "af"))
	rules := []struct {
		bad bool
		log string
	}{
		{p.pch && p.create, "-pch and -create-pch cannot be specified at the same time"},
		{p.pch && p.use, "-pch and -use-pch cannot be specified at the same time"},
		{p.create && p.use, "-create-pch and -use-pch cannot be specified at the same time"},
		{p.numbers && p.NoNumbers, "--display-error-number (-err-no) and --no-display-error-number (-no-err-no) cannot be defined together."},
		{p.dc && p.dw, "Both --device-c (-dc) and --device-w (-dw) specified\n"},
		{p.dw && p.rdc == "true", "--device-w (-dw) is not compatible with --relocatable-device-code=true (-rdc=true)\n"},
		{p.dc && p.rdc == "false", "--device-c (-dc) is not compatible with --relocatable-device-code=false (-rdc=false)\n"},
		{p.ewp && p.dc, "--extensible-whole-program (-ewp) is not compatible with --device-c (-dc)\n"},
		{p.ewp && p.rdc == "true", "--extensible-whole-program (-ewp) is not compatible with --relocatable-device-code=true (-rdc=true)\n"},
		{p.LTO && p.rdc == "false", "-dlto is not compatible with -rdc=false\n"},
		{p.LTO && p.OptiX, "-dlto is not compatible with -optix-ir\n"},
		{p.float128 && n < 100, "option --device-float128 is not supportedon architectures earlier than sm_100"},
	}
	for _, r := range rules {
		if r.bad {
			return &OptionError{Log: "nvrtc: error: " + r.log}
		}
	}
	if p.Debug && p.level != "" && p.level != "0" {
		p.log.WriteString("nvrtc: warning: --Ofast-compile=<min,mid,max> (-Ofc=<min,mid,max>) and --device-debug (-G) options conflict, ignoring --Ofast-compile=<min,mid,max> option.")
	}
	return nil
}
