package toolkit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/assemble"
	"kudzu/internal/cubin"
	"kudzu/internal/driver"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
)

// Options of ptxas that the code below asks for.
const (
	optArch    = "gpu-name"
	optOutput  = "output-file"
	optString  = "input-as-string"
	optLimit   = "maxrregcount"
	optObject  = "compile-only"
	optVerbose = "verbose"
	optQuiet   = "disable-warnings"
	optStrict  = "warning-as-error"
	optEntry   = "entry"
	optDebug   = "device-debug"
	optLines   = "generate-line-info"
	optNoDebug = "suppress-debug-info"
	optLevel   = "opt-level"
	optLocal   = "warn-on-local-memory-usage"
	optUsage   = "register-usage-level"
	optHelp    = "help"
	optVersion = "version"
	// Of release 13.
	optArchs    = "list-arch"
	optVersions = "list-version"
)

// ptxasOptions are all that releases 12.9 and 13.4 take. Those that tune machine code change nothing here.
var ptxasOptions = []option{
	{"Ofast-compile", "Ofc", value, oneOf("0", "min", "mid", "max"), "Taken, without effect."},
	{"allow-expensive-optimizations", "allow-expensive-optimizations", truth, nil, "Taken, without effect."},
	{"apply-controls", "apply-controls", value, nil, "Taken, without effect."},
	{"compile-as-tools-patch", "astoolspatch", nothing, nil, "Taken, without effect."},
	{optObject, "c", nothing, nil, "Functions may be missing: the file is for a linker."},
	{"compiler-annotations", "annotate", nothing, nil, "Taken, without effect."},
	{"def-load-cache", "dlcm", value, nil, "Taken, without effect."},
	{"def-store-cache", "dscm", value, nil, "Taken, without effect."},
	{optDebug, "g", nothing, nil, "Taken: every kernel knows the lines of its PTX."},
	{"device-function-maxrregcount", "func-maxrregcount", value, nil, "Taken, without effect."},
	{"device-stack-protector", "device-stack-protector", truth, nil, "Taken, without effect."},
	{"disable-optimizer-constants", "disable-optimizer-consts", nothing, nil, "Taken, without effect."},
	{optQuiet, "w", nothing, nil, "Print no warnings."},
	{"dont-merge-basicblocks", "no-bb-merge", nothing, nil, "Taken, without effect."},
	{"enable-func-clone-sc", "enable-func-clone-sc", truth, nil, "Taken, without effect."},
	{optEntry, "e", list, nil, "Only these kernels are listed in the file."},
	{"extensible-whole-program", "ewp", nothing, nil, "Taken, without effect."},
	{"fmad", "fmad", truth, nil, "Taken: separate multiplications and additions stay separate either way."},
	{"force-load-cache", "flcm", value, nil, "Taken, without effect."},
	{"force-store-cache", "fscm", value, nil, "Taken, without effect."},
	{"g-tensor-memory-access-check", "g-tmem-access-check", nothing, nil, "Taken, without effect."},
	{"gno-tensor-memory-access-check", "gno-tmem-access-check", nothing, nil, "Taken, without effect."},
	{optLines, "lineinfo", nothing, nil, "Taken: every kernel knows the lines of its PTX."},
	{optArch, "arch", value, knownArch, "The target: sm_52 unless given. For compute_… the text is only checked."},
	{optHelp, "h", nothing, nil, "Print this text."},
	{optString, "ias", list, nil, "PTX itself, in the place of a file."},
	{"jobserver", "jobserver", nothing, nil, "Taken, without effect."},
	{"legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior", nothing, nil, "Taken, without effect."},
	{optArchs, "arch-ls", nothing, nil, "Print the targets."},
	{optVersions, "version-ls", nothing, nil, "Print the versions of PTX."},
	{"machine", "m", value, oneOf("64"), "64."},
	{"make-errors-visible-at-exit", "make-errors-visible-at-exit", nothing, nil, "Taken, without effect."},
	{"maxntid", "maxntid", list, nil, "Taken, without effect."},
	{optLimit, "maxrregcount", value, nil, "The most registers that a kernel is said to use."},
	{"minnctapersm", "minnctapersm", value, nil, "Taken, without effect."},
	{optLevel, "O", value, nil, "Taken, without effect."},
	{"optimize-float-atomics", "opt-fp-atomics", nothing, nil, "Taken, without effect."},
	{optionsFile, "optf", list, nil, "Read further options from files."},
	{optOutput, "o", value, nil, "The file to write: elf.o unless given."},
	{"override-directive-values", "override-directive-values", nothing, nil, "Taken, without effect."},
	{"position-independent-code", "pic", truth, nil, "Taken, without effect."},
	{"preserve-relocs", "preserve-relocs", nothing, nil, "Taken, without effect."},
	{"regAllocOptLevel", "", value, nil, "Taken, without effect; Triton sets it."},
	{optUsage, "regUsageLevel", value, nil, "Taken, without effect."},
	{"return-at-end", "ret-end", nothing, nil, "Taken, without effect."},
	{"sanitize", "sanitize", value, oneOf("memcheck", "threadsteer"), "Taken, without effect."},
	{"sp-bounds-check", "sp-bounds-check", nothing, nil, "Taken, without effect."},
	{"split-compile", "split-compile", value, nil, "Taken, without effect."},
	{"suppress-async-bulk-multicast-advisory-warning", "suppress-async-bulk-multicast-advisory-warning", nothing, nil, "Taken, without effect."},
	{optNoDebug, "suppress-debug-info", nothing, nil, "Taken, without effect."},
	{"suppress-double-demote-warning", "suppress-double-demote-warning", nothing, nil, "Taken, without effect."},
	{"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", nothing, nil, "Taken, without effect."},
	{"suppress-stack-size-warning", "suppress-stack-size-warning", nothing, nil, "Taken, without effect."},
	{optVerbose, "v", nothing, nil, "Print what kernels need."},
	{"verbose2", "v2", nothing, nil, "As --verbose."},
	{optVersion, "V", nothing, nil, "Print the version."},
	{"warn-on-double-precision-use", "warn-double-usage", nothing, nil, "Taken, without effect."},
	{optLocal, "warn-lmem-usage", nothing, nil, "Warn of kernels with local memory."},
	{"warn-on-spills", "warn-spills", nothing, nil, "Taken: nothing is spilled."},
	{optStrict, "Werror", nothing, nil, "Warnings are errors."},
}

func oneOf(words ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(words, s) }
}

func knownArch(name string) bool {
	_, _, ok := assemble.Arch(name)
	return ok
}

// ptxas is one run.
type ptxas struct {
	*options
	errs   io.Writer
	arch   isa.Target
	failed bool // by a warning that is an error
}

// source is one input.
type source struct{ name, text string }

// stringName is what messages call an input that is no file.
const stringName = "application ptx input"

func runPTXAS(args []string, out, errs io.Writer) int {
	return assembler(args, out, errs, driver.Version())
}

// runPTXAS126 is the same program, which says that it is of release 12.6, or of the driver's if that is older.
func runPTXAS126(args []string, out, errs io.Writer) int {
	return assembler(args, out, errs, min(tritonRelease, driver.Version()))
}

// assembler is ptxas; it says that it is of a release.
func assembler(args []string, out, errs io.Writer, release int) int {
	o, err := parseOptions(ptxasOptions, args)
	switch {
	case err != nil:
		return fail(errs, "ptxas", err)
	case o.has(optVersion):
		versionOf(out, "ptxas", "assembler of PTX", release)
		return 0
	case o.has(optArchs):
		for _, t := range isa.Targets() {
			if t.SM >= assemble.OldestTarget && t.Suffix == "" {
				fmt.Fprintln(out, t.SM)
			}
		}
		return 0
	case o.has(optVersions):
		for _, v := range isa.Versions() {
			fmt.Fprintf(out, "%d.%d\n", v.Major(), v.Minor())
		}
		return 0
	case o.has(optHelp) || len(o.inputs) == 0 && !o.has(optString):
		help(out, "ptxas [options] <ptx file>,...", ptxasOptions)
		return 0
	}
	if o.has("verbose2") {
		o.set[optVerbose] = o.set["verbose2"]
	}
	p := &ptxas{options: o, errs: errs}
	if err := p.run(); err != nil {
		p.print(err)
		return failed
	}
	return 0
}

func (p *ptxas) run() error {
	arch, code, _ := assemble.Arch(p.get(optArch, "sm_52"))
	p.arch = arch
	if level := p.get(optLevel, "0"); p.has(optDebug) && level != "0" {
		return assemble.Fatal("Optimized debugging not supported")
	}
	limit, err := p.limit()
	if err != nil {
		return err
	}
	p.remarks()
	parts, err := p.sources()
	if err != nil {
		return err
	}
	text := parts[0].text
	if len(parts) > 1 {
		if text, err = join(parts); err != nil {
			return err
		}
	}
	start := time.Now()
	f, err := assemble.Text(text, assemble.Options{SM: arch.SM, Suffix: arch.Suffix, Relocatable: p.has(optObject), MaxRegisters: limit, Entries: p.set[optEntry]})
	if err != nil {
		return named{err, parts[0].name}
	}
	p.report(f, time.Since(start))
	if p.failed {
		return errSilent
	}
	if !code {
		return nil
	}
	b, err := f.Encode()
	if err != nil {
		return err
	}
	name := p.get(optOutput, "elf.o")
	if err := os.WriteFile(name, b, 0o666); err != nil {
		return assemble.Fatal(fmt.Sprintf("Output file '%s' could not be opened", name))
	}
	return nil
}

// limit reads the limit of registers.
func (p *ptxas) limit() (int, error) {
	word := p.get(optLimit, "")
	switch word {
	case "", "archmax":
		return 0, nil
	case "archmin":
		return assemble.LeastRegisters, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 {
		return 0, assemble.Fatal(fmt.Sprintf("Invalid value '%s' for option '%s'", word, optLimit))
	}
	if n > 0 && n < assemble.LeastRegisters {
		p.warn("For profile %s adjusting per thread register count of %d to lower bound of %d", p.target(), n, assemble.LeastRegisters)
		n = assemble.LeastRegisters
	}
	return n, nil
}

func (p *ptxas) target() string { return fmt.Sprintf("sm_%d%s", p.arch.SM, p.arch.Suffix) }

// remarks are warnings about options.
func (p *ptxas) remarks() {
	for _, w := range p.warnings {
		fmt.Fprintf(p.errs, "ptxas warning : %s\n", w) // -w does not keep these back
	}
	if n, err := strconv.Atoi(p.get(optUsage, "5")); err != nil || n < 0 || n > 10 {
		p.warn("Value of RegUsageLevel (%d) is out of valid range {0..10}, option will be ignored", n)
	}
	if p.has(optNoDebug) && !p.has(optDebug) && !p.has(optLines) {
		p.warn("Option suppress-debug-info requires option device-debug or lineinfo; ignoring since latter is not specified")
	}
}

// sources reads the inputs.
func (p *ptxas) sources() ([]source, error) {
	var parts []source
	if p.has(optString) {
		parts = append(parts, source{stringName, strings.Join(p.set[optString], ",")})
	}
	for _, name := range p.inputs {
		var b []byte
		var err error
		if name == "-" {
			b, err = io.ReadAll(os.Stdin)
		} else {
			b, err = os.ReadFile(name)
		}
		if err != nil {
			fmt.Fprintf(p.errs, "ptxas fatal   : Input file '%s' could not be opened\n", name)
			return nil, errAborted
		}
		parts = append(parts, source{name, string(b)})
	}
	return parts, nil
}

// join makes one module of several, after a look at each.
func join(parts []source) (string, error) {
	var list []ptx.Part
	for _, s := range parts {
		if _, err := check.Text(s.text); err != nil {
			return "", named{err, s.name}
		}
		list = append(list, ptx.Part{Name: s.name, Text: s.text})
	}
	text, err := ptx.Link(list)
	if err != nil {
		return "", assemble.Fatal(err.Error())
	}
	return text, nil
}

// Errors of which all was said.
var (
	errAborted = assemble.Fatal("Ptx assembly aborted due to errors")
	errSilent  = errors.New("")
)

// named is an error about a file.
type named struct {
	error
	file string
}

func (n named) Unwrap() error { return n.error }

// print writes an error in the assembler's form.
func (p *ptxas) print(err error) {
	var list ptx.ErrorList
	var at named
	var size check.SizeError
	switch {
	case errors.As(err, &list) && errors.As(err, &at):
		for _, e := range list {
			fmt.Fprintln(p.errs, line(e, at.file))
		}
		fmt.Fprintln(p.errs, errAborted)
	case errors.As(err, &size), err != errSilent:
		fmt.Fprintln(p.errs, err)
	}
}

// line is one fault. Those after which the assembler stops are fatal there.
func line(e *ptx.Error, file string) string {
	const noVersion = "Missing .version directive at start of file"
	kind, msg := "error  ", e.Msg
	switch {
	case strings.HasPrefix(msg, noVersion):
		kind, msg = "fatal  ", fmt.Sprintf("%s '%s'", noVersion, file)
	case strings.HasPrefix(msg, "Unsupported .version"):
		kind = "fatal  "
	case strings.HasPrefix(msg, "Unexpected non-ASCII character"):
		return fmt.Sprintf("ptxas fatal   : %s on line %d", msg, e.Line)
	}
	return fmt.Sprintf("ptxas %s, line %d; %s : %s", file, e.Line, kind, msg)
}

// warn prints a warning, unless they are unwanted, or an error where they are errors.
func (p *ptxas) warn(format string, args ...any) {
	kind := "warning"
	switch {
	case p.has(optStrict):
		kind, p.failed = "error  ", true
	case p.has(optQuiet):
		return
	}
	fmt.Fprintf(p.errs, "ptxas %s : %s\n", kind, fmt.Sprintf(format, args...))
}

// report says what kernels need.
func (p *ptxas) report(f *cubin.File, took time.Duration) {
	for i := len(f.Kernels) - 1; i >= 0; i-- {
		if k := &f.Kernels[i]; k.Local > 0 && p.has(optLocal) {
			p.warn("Local memory used for function '%s', size of stack frame: %d bytes", k.Name, k.Local)
		}
	}
	if !p.has(optVerbose) {
		return
	}
	for _, r := range assemble.Report(f, took) {
		if r.More {
			fmt.Fprintf(p.errs, "    %s\n", r.Text)
		} else {
			fmt.Fprintf(p.errs, "ptxas info    : %s\n", r.Text)
		}
	}
}
