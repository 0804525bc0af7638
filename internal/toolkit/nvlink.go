package toolkit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"kudzu/internal/assemble"
	"kudzu/internal/cubin"
	"kudzu/internal/ptx"
)

const optLinkArch, optOpen = "arch", "relocatable-link"

// nvlinkOptions are those of release 13.4 that say what is linked; those that tune machine code change nothing.
var nvlinkOptions = []option{
	{"Ofast-compile", "Ofc", value, nil, "Taken, without effect."},
	{"Xptxas", "Xptxas", list, nil, "Taken, without effect."},
	{optLinkArch, "arch", value, isArch, "The architecture."},
	{"cpu-arch", "cpu-arch", value, nil, "Taken, without effect."},
	{"debug", "g", nothing, nil, "Taken, without effect."},
	{"disable-infos", "disable-infos", nothing, nil, "Taken, without effect."},
	{optQuiet, "w", nothing, nil, "Taken, without effect."},
	{optHelp, "h", nothing, nil, "Print this text."},
	{"ignore-host-info", "ignore-host-info", nothing, nil, "Taken, without effect."},
	{"kernels-used", "kernels-used", list, nil, "Taken, without effect."},
	{"machine", "m", value, oneOf("64"), "Taken: all code is for 64 bits."},
	{optLimit, "maxrregcount", value, nil, "A limit of registers for kernels that have none."},
	{optionsFile, "optf", list, nil, "Read options from files."},
	{optOutput, "o", value, nil, "The file to write."},
	{"preserve-relocs", "preserve-relocs", nothing, nil, "Taken, without effect."},
	{optOpen, "r", nothing, nil, "Functions may be missing: the file is for a linker."},
	{"suppress-arch-warning", "suppress-arch-warning", nothing, nil, "Taken, without effect."},
	{"suppress-debug-info", "suppress-debug-info", nothing, nil, "Taken, without effect."},
	{"suppress-stack-size-warning", "suppress-stack-size-warning", nothing, nil, "Taken, without effect."},
	{optVerbose, "v", nothing, nil, "Print what each kernel needs."},
	{optVersion, "V", nothing, nil, "Print the version."},
	{optStrict, "Werror", nothing, nil, "Taken, without effect."},
}

// linkError is a fault in what is linked, after which the code is another than after a bad command line.
type linkError string

func (e linkError) Error() string { return "nvlink error   : " + string(e) }

// runNvlink is the program.
func runNvlink(args []string, out, errs io.Writer) int {
	const name = "nvlink"
	o, err := parseOptions(nvlinkOptions, args)
	switch {
	case err != nil:
	case o.has(optVersion):
		version(out, name, "links files of our assembler")
		return 0
	case o.has(optHelp):
		help(out, name+" [options] <file>...", nvlinkOptions)
		return 0
	case !o.has(optLinkArch):
		err = fatal("Unknown arch name '(null)'")
	case len(o.inputs) == 0:
		err = fatal("No input files specified; use option --help for more information")
	case !o.has(optOutput):
		err = fatal("Must specify output file with -o option")
	default:
		err = linkFiles(o, errs)
	}
	var e linkError
	switch {
	case errors.As(err, &e):
		fmt.Fprintln(errs, err)
		return failed
	case err != nil:
		fail(errs, name, err)
		return 1
	}
	return 0
}

func linkFiles(o *options, errs io.Writer) error {
	arch, _, _ := assemble.Arch(o.get(optLinkArch, "")) // the table has looked at it
	var parts []ptx.Part
	for _, file := range o.inputs {
		texts, err := linkInput(file, arch.SM)
		if err != nil {
			return err
		}
		for _, text := range texts {
			parts = append(parts, ptx.Part{Name: "'" + file + "'", Text: text})
		}
	}
	text, err := assemble.Link(parts)
	var differ *ptx.LinkError
	switch {
	case errors.As(err, &differ):
		fmt.Fprintln(errs, linkError(strings.ReplaceAll(differ.Msg, "''", "'")))
		return fatal("merge_elf failed")
	case err != nil:
		return err
	}
	limit, _ := strconv.Atoi(o.get(optLimit, "0")) // nothing is said of what is no number
	f, err := assemble.Text(text, assemble.Options{SM: arch.SM, Suffix: arch.Suffix, Relocatable: o.has(optOpen), MaxRegisters: limit})
	var missing assemble.Missing
	switch {
	case errors.As(err, &missing):
		return linkError(fmt.Sprintf("Undefined reference to '%s' in %s", string(missing), assemble.User(parts, string(missing))))
	case err != nil:
		return err
	}
	b, err := f.Encode()
	if err != nil {
		return err
	}
	if o.has(optVerbose) {
		properties(f, errs)
	}
	if file := o.get(optOutput, ""); os.WriteFile(file, b, 0o666) != nil {
		return fatalf("Could not open output file '%s'", file)
	}
	return nil
}

// linkInput finds the PTX of a file for an architecture.
func linkInput(file string, sm int) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fatalf("Could not open input file '%s'", file)
	}
	if f, err := cubin.Decode(b); err == nil {
		switch {
		case f.Text == "":
			return nil, fatalf("Input file '%s' has machine code; PTX is needed", file)
		case f.SM != sm:
			return nil, fatalf("Input file '%s' arch does not match target 'sm_%d'", file, sm)
		}
	}
	texts, err := assemble.TextsFor(b, sm)
	if err != nil {
		return nil, fatalf("Input file '%s': %v", file, err)
	}
	return texts, nil
}

// properties says what each kernel needs.
func properties(f *cubin.File, errs io.Writer) {
	var global uint64
	for _, v := range f.Vars {
		if !v.Const {
			global += v.Size
		}
	}
	fmt.Fprintf(errs, "nvlink info    : %d bytes gmem\n", global)
	for i := range f.Kernels {
		k := &f.Kernels[i]
		fmt.Fprintf(errs, "nvlink info    : Function properties for '%s':\nnvlink info    : used %d registers, used %d barriers, 0 stack, %d bytes smem, %d bytes cmem[0], %d bytes lmem\n",
			k.Name, k.Registers, k.Barriers, k.Shared, f.ConstBank(k), k.Local)
	}
}
