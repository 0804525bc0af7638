package nvcc

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// takes is what follows an option.
type takes uint8

const (
	nothing takes = iota
	value         // a word; the last one counts
	list          // words with commas between; it may be repeated
	each          // a word, whose commas are its own; it may be repeated
)

// option is one of nvcc's. What changes nothing here has no name in the code below; it is taken, as nvcc takes it.
type option struct {
	long, short string
	takes       takes
	allowed     string // values with blanks between, if not all are
}

// Options that the program asks for.
const (
	optCUDA       = "cuda"
	optCubin      = "cubin"
	optFatbin     = "fatbin"
	optPTX        = "ptx"
	optPreprocess = "preprocess"
	optDeps       = "generate-dependencies"
	optUserDeps   = "generate-nonsystem-dependencies"
	optDepsToo    = "generate-dependencies-with-compile"
	optUserToo    = "generate-nonsystem-dependencies-with-compile"
	optDepsFile   = "dependency-output"
	optDepsPhony  = "generate-dependency-targets"
	optDepsTarget = "dependency-target-name"
	optCompile    = "compile"
	optDeviceC    = "device-c"
	optDeviceW    = "device-w"
	optDeviceLink = "device-link"
	optLib        = "lib"
	optRun        = "run"
	optRunArgs    = "run-args"
	optOutput     = "output-file"
	optFolder     = "output-directory"
	optInclude    = "pre-include"
	optLibrary    = "library"
	optDefine     = "define-macro"
	optUndefine   = "undefine-macro"
	optPath       = "include-path"
	optSystem     = "system-include"
	optLibPath    = "library-path"
	optHost       = "compiler-bindir"
	optArchiver   = "archiver-binary"
	optRuntime    = "cudart"
	optProfile    = "profile"
	optDebug      = "debug"
	optDeviceG    = "device-debug"
	optLines      = "generate-line-info"
	optLevel      = "optimize"
	optDopt       = "dopt"
	optNoEH       = "no-exceptions"
	optShared     = "shared"
	optLanguage   = "x"
	optStd        = "std"
	optStdlib     = "stdlib"
	optRelaxed    = "expt-relaxed-constexpr"
	optLambda     = "extended-lambda"
	optLambdaOld  = "expt-extended-lambda"
	optXcompiler  = "compiler-options"
	optXlinker    = "linker-options"
	optXarchive   = "archive-options"
	optXptxas     = "ptxas-options"
	optToHost     = "forward-unknown-to-host-compiler"
	optToLinker   = "forward-unknown-to-host-linker"
	optToBoth     = "forward-unknown-opts"
	optDryrun     = "dryrun"
	optVerbose    = "verbose"
	optThreads    = "threads"
	optKeep       = "keep"
	optKeepDir    = "keep-dir"
	optSaveTemps  = "save-temps"
	optNoLink     = "no-device-link"
	optArch       = "gpu-architecture"
	optCode       = "gpu-code"
	optGencode    = "generate-code"
	optRDC        = "relocatable-device-code"
	optRegisters  = "maxrregcount"
	optFast       = "use_fast_math"
	optFTZ        = "ftz"
	optDiv        = "prec-div"
	optSqrt       = "prec-sqrt"
	optFMA        = "fmad"
	optStream     = "default-stream"
	optQuiet      = "disable-warnings"
	optUsage      = "resource-usage"
	optListCode   = "list-gpu-code"
	optListArch   = "list-gpu-arch"
	optSyntax     = "fdevice-syntax-only"
	optWerror     = "Werror"
	optHelp       = "help"
	optVersion    = "version"
	optFile       = "options-file"
	optWholeExt   = "extensible-whole-program"
	optMachine    = "machine"
	optTemplate   = "ftemplate-depth"
)

const trueFalse = "true false"

// table has the options of release 13.
var table = []option{
	{optCUDA, "cuda", nothing, ""}, {optCubin, "cubin", nothing, ""}, {optFatbin, "fatbin", nothing, ""}, {optPTX, "ptx", nothing, ""},
	{optPreprocess, "E", nothing, ""}, {optDeps, "M", nothing, ""}, {optUserDeps, "MM", nothing, ""}, {optDepsToo, "MD", nothing, ""},
	{optUserToo, "MMD", nothing, ""}, {optDepsFile, "MF", value, ""}, {optDepsPhony, "MP", nothing, ""}, {optDepsTarget, "MT", each, ""},
	{optCompile, "c", nothing, ""}, {optDeviceC, "dc", nothing, ""}, {optDeviceW, "dw", nothing, ""}, {optDeviceLink, "dlink", nothing, ""},
	{"link", "link", nothing, ""}, {optLib, "lib", nothing, ""}, {optRun, "run", nothing, ""}, {optRunArgs, "run-args", list, ""},
	{optOutput, "o", value, ""}, {optFolder, "odir", value, ""}, {optInclude, "include", list, ""}, {"objdir-as-tempdir", "objtemp", nothing, ""},
	{optLibrary, "l", list, ""}, {optDefine, "D", each, ""}, {optUndefine, "U", list, ""}, {optPath, "I", list, ""}, {optSystem, "isystem", list, ""},
	{optLibPath, "L", list, ""}, {optHost, "ccbin", value, ""}, {"allow-unsupported-compiler", "allow-unsupported-compiler", nothing, ""},
	{optArchiver, "arbin", value, ""}, {optRuntime, "cudart", value, "none shared static"}, {"cudadevrt", "cudadevrt", value, "none static"},
	{"libdevice-directory", "ldir", value, ""}, {"target-directory", "target-dir", value, ""}, {"use-local-env", "use-local-env", nothing, ""},
	{optProfile, "pg", nothing, ""}, {optDebug, "g", nothing, ""}, {optDeviceG, "G", nothing, ""}, {optLines, "lineinfo", nothing, ""},
	{"optimization-info", "opt-info", list, ""}, {optLevel, "O", value, ""}, {"Ofast-compile", "Ofc", value, "0 min mid max"}, {optDopt, "dopt", value, "on"},
	{"dlink-time-opt", "dlto", nothing, ""}, {"lto", "lto", nothing, ""}, {"gen-opt-lto", "gen-opt-lto", nothing, ""},
	{"ftemplate-backtrace-limit", "ftemplate-backtrace-limit", value, ""}, {optTemplate, "ftemplate-depth", value, ""},
	{optNoEH, "noeh", nothing, ""}, {optShared, "shared", nothing, ""}, {optLanguage, "x", value, "c c++ cu"},
	{optStd, "std", value, "c++03 c++11 c++14 c++17 c++20 c++23"}, {optStdlib, "stdlib", value, "libc++ libstdc++"},
	{"no-host-device-initializer-list", "nohdinitlist", nothing, ""}, {"no-host-device-move-forward", "nohdmoveforward", nothing, ""},
	{optRelaxed, "expt-relaxed-constexpr", nothing, ""}, {optLambda, "extended-lambda", nothing, ""}, {optLambdaOld, "expt-extended-lambda", nothing, ""},
	{optMachine, "m", value, "64"}, {"m64", "m64", nothing, ""}, {optXcompiler, "Xcompiler", list, ""}, {optXlinker, "Xlinker", list, ""},
	{optXarchive, "Xarchive", list, ""}, {optXptxas, "Xptxas", list, ""}, {"nvlink-options", "Xnvlink", list, ""}, {"nvprune-options", "Xnvprune", list, ""},
	{"static-global-template-stub", "static-global-template-stub", value, trueFalse},
	{"device-entity-has-hidden-visibility", "device-entity-has-hidden-visibility", value, trueFalse},
	{optToHost, "forward-unknown-to-host-compiler", nothing, ""}, {optToLinker, "forward-unknown-to-host-linker", nothing, ""},
	{optToBoth, "forward-unknown-opts", nothing, ""}, {"dont-use-profile", "noprof", nothing, ""}, {optDryrun, "dryrun", nothing, ""},
	{optVerbose, "v", nothing, ""}, {optThreads, "t", value, ""}, {"fmax-errors", "fmax-errors", value, ""}, {"split-compile", "split-compile", value, ""},
	{"split-compile-extended", "split-compile-extended", value, ""}, {optSyntax, "fdevice-syntax-only", nothing, ""},
	{"fdevice-time-trace", "fdevice-time-trace", value, ""}, {optKeep, "keep", nothing, ""}, {optKeepDir, "keep-dir", value, ""},
	{optSaveTemps, "save-temps", nothing, ""}, {"clean-targets", "clean", nothing, ""}, {"time", "time", value, ""}, {optNoLink, "nodlink", nothing, ""},
	{"no-align-double", "no-align-double", nothing, ""}, {optArch, "arch", value, ""}, {optCode, "code", list, ""}, {optGencode, "gencode", each, ""},
	{optRDC, "rdc", value, trueFalse}, {"entries", "e", list, ""}, {optRegisters, "maxrregcount", value, ""}, {optFast, "use_fast_math", nothing, ""},
	{optFTZ, "ftz", value, trueFalse}, {optDiv, "prec-div", value, trueFalse}, {optSqrt, "prec-sqrt", value, trueFalse}, {optFMA, "fmad", value, trueFalse},
	{"extra-device-vectorization", "extra-device-vectorization", nothing, ""}, {optStream, "default-stream", value, "legacy null per-thread"},
	{optQuiet, "w", nothing, ""}, {"keep-device-functions", "keep-device-functions", nothing, ""}, {"source-in-ptx", "src-in-ptx", nothing, ""},
	{"restrict", "restrict", nothing, ""}, {"Wreorder", "Wreorder", nothing, ""}, {"Wdefault-stream-launch", "Wdefault-stream-launch", nothing, ""},
	{"Wmissing-launch-bounds", "Wmissing-launch-bounds", nothing, ""}, {"Wext-lambda-captures-this", "Wext-lambda-captures-this", nothing, ""},
	{"Wno-deprecated-declarations", "Wno-deprecated-declarations", nothing, ""}, {"Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", nothing, ""},
	{"Wconversion", "Wconversion", nothing, ""}, {optWerror, "Werror", list, ""}, {optUsage, "res-usage", nothing, ""}, {optWholeExt, "ewp", nothing, ""},
	{"no-compress", "no-compress", nothing, ""}, {"compress-mode", "compress-mode", value, "default size speed balance none"},
	{optListCode, "code-ls", nothing, ""}, {optListArch, "arch-ls", nothing, ""}, {"display-error-number", "err-no", nothing, ""},
	{"no-display-error-number", "no-err-no", nothing, ""}, {"diag-error", "diag-error", list, ""}, {"diag-suppress", "diag-suppress", list, ""},
	{"diag-warn", "diag-warn", list, ""}, {"brief-diagnostics", "brief-diag", value, trueFalse}, {"jump-table-density", "jtd", value, ""},
	{"relocatable-ptx", "reloc-ptx", nothing, ""}, {"device-stack-protector", "device-stack-protector", value, trueFalse},
	{"frandom-seed", "frandom-seed", value, ""}, {"jobserver", "jobserver", nothing, ""}, {"utf-8", "utf-8", nothing, ""},
	{optHelp, "h", nothing, ""}, {optVersion, "V", nothing, ""}, {optFile, "optf", list, ""},
}

// joined are the short names whose value may follow at once.
const joined = "IDULlOxmt"

// fatal is an error whose text the program prints behind its name.
type fatal string

func (f fatal) Error() string { return string(f) }

func fatalf(format string, args ...any) error { return fatal(fmt.Sprintf(format, args...)) }

// options are what a command line says.
type options struct {
	set      map[string][]string // by long name
	inputs   []string            // files, and libraries as -lNAME, in their order
	toHost   []string            // what is unknown and goes on
	toLinker []string
	warnings []string
}

func (o *options) has(long string) bool { return len(o.set[long]) > 0 }

// get is the value of an option, or other if it was not given.
func (o *options) get(long, other string) string {
	if v := o.set[long]; len(v) > 0 {
		return v[len(v)-1]
	}
	return other
}

// parse reads a command line. What nobody knows is forwarded if an option says so, wherever it stands.
func parse(args []string) (*options, error) {
	o := &options{set: map[string][]string{}}
	var unknown []string
	if err := o.read(args, &unknown, 0); err != nil {
		return nil, err
	}
	for _, word := range unknown {
		host, linker := o.has(optToHost) || o.has(optToBoth), o.has(optToLinker) || o.has(optToBoth)
		if !host && !linker {
			return nil, fatalf("Unknown option '%s'", word)
		}
		if host {
			o.toHost = append(o.toHost, word)
		}
		if linker {
			o.toLinker = append(o.toLinker, word)
		}
	}
	return o, nil
}

// maxFiles bounds how deep files of options name each other.
const maxFiles = 8

func (o *options) read(args []string, unknown *[]string, depth int) error {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if file, ok := strings.CutPrefix(word, "@"); ok {
			if err := o.file(file, unknown, depth); err != nil {
				return err
			}
			continue
		}
		if len(word) < 2 || word[0] != '-' {
			o.inputs = append(o.inputs, word)
			continue
		}
		opt, val, inline := find(word)
		switch {
		case opt == nil:
			*unknown = append(*unknown, word)
			continue
		case opt.takes == nothing && inline:
			return fatalf("Option '--%s (-%s)' does not take a value", opt.long, opt.short)
		case opt.takes == nothing:
			val = "true"
		case !inline && len(args) == 0:
			return fatalf("argument expected after '%s'", word)
		case !inline:
			val, args = args[0], args[1:]
		}
		if opt.long == optFile {
			for name := range strings.SplitSeq(val, ",") {
				if err := o.file(name, unknown, depth); err != nil {
					return err
				}
			}
			continue
		}
		if err := o.put(opt, val); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) file(name string, unknown *[]string, depth int) error {
	b, err := os.ReadFile(name)
	if err != nil || depth == maxFiles {
		return fatalf("Could not open options file '%s'", name)
	}
	return o.read(words(string(b)), unknown, depth+1)
}

// words takes a file of options apart: at blanks outside of quotes; a backslash keeps what follows.
func words(text string) []string {
	var all []string
	var word strings.Builder
	var quote rune
	open, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			open, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			if open {
				all = append(all, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		all = append(all, word.String())
	}
	return all
}

// find tells which option a word is, and the value in it.
func find(word string) (opt *option, val string, inline bool) {
	name, val, inline := strings.Cut(strings.TrimLeft(word, "-"), "=")
	long := strings.HasPrefix(word, "--")
	i := slices.IndexFunc(table, func(t option) bool {
		return long && t.long == name || !long && t.short == name || long && t.short == name && len(name) > 1
	})
	if i < 0 && !long && strings.Contains(joined, word[1:2]) && len(word) > 2 {
		i = slices.IndexFunc(table, func(t option) bool { return t.short == word[1:2] })
		if (word[1] == 'O' || word[1] == 'm' || word[1] == 't') && (word[2] < '0' || word[2] > '9') {
			return nil, "", false
		}
		val, inline = word[2:], true
	}
	if i < 0 {
		return nil, "", false
	}
	return &table[i], val, inline
}

// split separates values at commas that no backslash stands before.
func split(text string) []string {
	var all []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ',':
			b.WriteByte(',')
			i++
		case text[i] == ',':
			all = append(all, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
	}
	return append(all, b.String())
}

func (o *options) put(opt *option, val string) error {
	values := []string{val}
	if opt.takes == list {
		values = split(val)
	}
	for _, v := range values {
		if opt.allowed != "" && !slices.Contains(strings.Fields(opt.allowed), v) {
			return fatalf("Value '%s' is not defined for option '%s'", v, opt.long)
		}
	}
	if had := o.set[opt.long]; opt.takes == value && len(had) > 0 && had[0] != val {
		o.warnings = append(o.warnings, fmt.Sprintf("incompatible redefinition for option '%s', the last value of this option was used", opt.long))
	}
	switch {
	case opt.long == optLibrary:
		for _, v := range values {
			o.inputs = append(o.inputs, "-l"+v)
		}
	case opt.takes == list || opt.takes == each:
		values = append(o.set[opt.long], values...)
	}
	o.set[opt.long] = values
	return nil
}
