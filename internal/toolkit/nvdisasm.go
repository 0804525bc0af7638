package toolkit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/cubin"
	"kudzu/internal/ptx"
)

// Options of nvdisasm that the code below asks for.
const (
	optAnnotate  = "annotate"
	optBinary    = "binary"
	optFunctions = "cuda-function-index"
	optJSON      = "emit-json"
	optGraph     = "output-control-flow-graph"
	optBlocks    = "output-control-flow-graph-with-basic-blocks"
	optCodeOnly  = "print-code"
	optSeparate  = "separate-functions"
	optSorted    = "sort-sections"
)

// nvdisasmOptions are those of release 13.4.
var nvdisasmOptions = []option{
	{optAnnotate, "annotate", nothing, nil, "Refused with --emit-json: machine code is not read here."},
	{"base-address", "base", value, nil, "Taken, without effect."},
	{optBinary, "b", value, isRawArch, "Refused: machine code is not read here."},
	{optFunctions, "fun", list, nil, "Of code, print what symbols with these numbers are in."},
	{optJSON, "json", nothing, nil, "Refused: machine code is not read here."},
	{optHelp, "h", nothing, nil, "Print this text."},
	{"life-range-mode", "lrm", value, oneOf("count", "narrow", "wide"), "Taken, without effect."},
	{"no-dataflow", "ndf", nothing, nil, "Taken, without effect."},
	{"no-vliw", "novliw", nothing, nil, "Taken, without effect."},
	{optionsFile, "optf", list, nil, "Read options from files."},
	{optGraph, "cfg", nothing, nil, "Refused: machine code is not read here."},
	{optBlocks, "bbcfg", nothing, nil, "Refused: machine code is not read here."},
	{optCodeOnly, "c", nothing, nil, "Print code only."},
	{"print-instr-offsets-cfg", "poff", nothing, nil, "Taken, without effect."},
	{"print-instruction-encoding", "hex", nothing, nil, "Taken, without effect."},
	{"print-life-ranges", "plr", nothing, nil, "Taken, without effect."},
	{"print-line-info", "g", nothing, nil, "Taken, without effect."},
	{"print-line-info-inline", "gi", nothing, nil, "Taken, without effect."},
	{"print-line-info-ptx", "gp", nothing, nil, "Taken, without effect."},
	{"print-raw", "raw", nothing, nil, "Taken, without effect."},
	{optSeparate, "sf", nothing, nil, "Print lines between functions."},
	{optSorted, "sort", nothing, nil, "Print sections by name."},
	{optVersion, "V", nothing, nil, "Print the version."},
}

// isRawArch is an architecture as --binary spells it.
func isRawArch(s string) bool {
	number, ok := strings.CutPrefix(s, "SM")
	return ok && isArch("sm_"+number)
}

// runNvdisasm is the program. Of a file of our assembler it shows the sections as NVIDIA's does, and PTX where that has instructions.
func runNvdisasm(args []string, out, errs io.Writer) int {
	const name = "nvdisasm"
	o, err := parseOptions(nvdisasmOptions, args)
	switch {
	case err != nil:
	case o.has(optVersion):
		version(out, name, "shows files of our assembler")
		return 0
	case o.has(optHelp) || len(o.inputs) != 1:
		help(out, name+" [options] <image file>", nvdisasmOptions)
		return 0
	case (o.has(optGraph) || o.has(optBlocks)) && o.has(optJSON):
		err = fatal("Specify either -cfg or -json option")
	case o.has(optAnnotate) && !o.has(optJSON):
		err = fatal("Specify -annotate with -json option")
	case o.has(optJSON) || o.has(optGraph) || o.has(optBlocks) || o.has(optBinary):
		err = fatal("machine code is not read here; without -json, -cfg, -bbcfg and -b PTX is shown")
	default:
		err = disassemble(o, out)
	}
	if err != nil {
		fail(errs, name, err)
		return 1
	}
	return 0
}

// disassemble prints the one input.
func disassemble(o *options, out io.Writer) error {
	name := o.inputs[0]
	b, err := os.ReadFile(name)
	if err != nil {
		return fatalf("Cannot open object file %s", name)
	}
	l, err := listing(name, b)
	if err != nil {
		return err
	}
	index, err := ptx.IndexModule(l.File.Text)
	if err != nil {
		return fatalf("File %s is an invalid ELF file", name)
	}
	d := &disassembly{options: o, Listing: l, index: index, only: map[int]bool{}}
	if err := d.choose(); err != nil {
		return err
	}
	d.run()
	_, err = out.Write(d.text.Bytes())
	return err
}

// elfHeader is the size of the header of an ELF file.
const elfHeader = 64

// listing reads a file, and says in NVIDIA's words what is wrong with it.
func listing(name string, b []byte) (*cubin.Listing, error) {
	l, err := cubin.List(b)
	var foreign *cubin.Foreign
	switch {
	case err == nil:
		return l, nil
	case len(b) == 0:
		return nil, fatalf("Object file %s is not readable", name)
	case !bytes.HasPrefix(b, []byte("\x7fELF")):
		return nil, fatalf("File %s does not appear to be an Elf file", name)
	case len(b) < elfHeader:
		return nil, fatalf("Object file %s appears truncated", name)
	case errors.As(err, &foreign) && foreign.Machine == cubin.Machine:
		return nil, fatalf("%s is %s, which is not read here", name, foreign.What)
	case errors.As(err, &foreign):
		return nil, fatalf("%s is not a supported Elf file", name)
	}
	return nil, fatalf("File %s is an invalid ELF file", name)
}

// disassembly is one run.
type disassembly struct {
	*options
	*cubin.Listing
	index  *ptx.Index
	only   map[int]bool // sections of code, if some were named
	text   bytes.Buffer
	labels int
}

// choose finds the sections of the symbols that were named.
func (d *disassembly) choose() error {
	for _, word := range d.set[optFunctions] {
		n, err := strconv.ParseUint(word, 0, 31)
		switch {
		case err != nil:
			return fatalf("'%s': expected a number", word)
		case n >= uint64(len(d.Owners)):
			return noSuchSymbol(fmt.Sprintf("No symbol with index %d", n))
		case d.Owners[n] == 0:
			return noSuchSymbol(fmt.Sprintf("No section found for symbol \"\", index %d", n))
		}
		d.only[d.Owners[n]] = true
	}
	return nil
}

func noSuchSymbol(what string) error {
	return fmt.Errorf("nvdisasm error   : %s\nnvdisasm warning : Dataflow analysis disabled due to previous warnings", what)
}

func (d *disassembly) run() {
	kind := "ET_EXEC"
	if d.File.Relocatable {
		kind = "ET_REL"
	}
	fmt.Fprintf(&d.text, "\t.target\t%s\n\n\t.elftype\t@\"%s\"\n", d.File.Target(), kind)
	order := make([]int, 0, len(d.Sections))
	for i := len(d.Sections) - 1; i > 0; i-- { // the last kernel comes first
		s := &d.Sections[i]
		if s.Code && (!d.has(optFunctions) || d.only[i]) || s.Load && !s.Code && !d.has(optCodeOnly) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if d.has(optSorted) {
			return strings.Compare(d.Sections[a].Name, d.Sections[b].Name)
		}
		return rank(&d.Sections[a]) - rank(&d.Sections[b])
	})
	for _, i := range order {
		d.section(&d.Sections[i])
	}
}

// rank is where NVIDIA's assembler puts a section: constants, code, variables.
func rank(s *cubin.Listed) int {
	switch {
	case s.Code:
		return 2
	case s.Write && strings.HasPrefix(s.Name, ".nv.shared"):
		return 5
	case s.Write && s.Bytes == nil:
		return 4
	case s.Write:
		return 3
	case s.Name == ".nv.constant3":
		return 0
	}
	return 1
}

func (d *disassembly) section(s *cubin.Listed) {
	flags, kind := "a", "progbits"
	if s.Write {
		flags += "w"
	}
	if s.Code {
		flags += "x"
	}
	if s.Bytes == nil && s.Size > 0 {
		kind = "nobits"
	}
	fmt.Fprintf(&d.text, "\n\n//--------------------- %-25s --------------------------\n\t.section\t%s,\"%s\",@%s\n", s.Name, s.Name, flags, kind)
	if s.Code {
		d.code(s)
	} else {
		d.data(s)
	}
}

// code prints a kernel.
func (d *disassembly) code(s *cubin.Listed) {
	name := strings.TrimPrefix(s.Name, ".text.")
	for i := range d.File.Kernels {
		if k := &d.File.Kernels[i]; k.Name == name {
			fmt.Fprintf(&d.text, "\t.sectioninfo\t@\"SHI_REGISTERS=%d\"\n", k.Registers)
		}
	}
	fmt.Fprintf(&d.text, "\t.align\t%d\n", s.Align)
	if d.has(optSeparate) {
		d.text.WriteString("\n\n\n\n")
	}
	end := fmt.Sprintf(".L_x_%d", d.labels)
	d.labels++
	fmt.Fprintf(&d.text, "        .global         %[1]s\n        .type           %[1]s,@function\n        .size           %[1]s,(%[2]s - %[1]s)\n"+
		"        .other          %[1]s,@\"STO_CUDA_ENTRY STV_DEFAULT\"\n%[1]s:\n%[3]s:\n", name, end, s.Name)
	for line := range strings.SplitSeq(d.body(name), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&d.text, "%35s%s\n", "", line)
		}
	}
	d.text.WriteString(end + ":\n")
}

// body is a kernel's PTX between its braces.
func (d *disassembly) body(kernel string) string {
	f := d.index.Func(kernel)
	if f == nil || f.Open < 0 || f.End <= f.Open {
		return ""
	}
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(d.index.Text[f.Open+1:f.End], " \t\r\n"), "}"), "\n")
}

// data prints what is in memory: variables by name, the rest as zeros.
func (d *disassembly) data(s *cubin.Listed) {
	if strings.Count(s.Name, ".") > 2 && s.Name != ".nv.global.init" { // of one kernel
		d.text.WriteString("\t.sectionflags\t@\"\"\n")
	}
	fmt.Fprintf(&d.text, "\t.align\t%d\n%s:\n", s.Align, s.Name)
	if len(s.Names) == 0 {
		d.bytes(s, 0, s.Size)
		return
	}
	at := uint64(0)
	for _, v := range s.Names {
		if v.At > at {
			d.bytes(s, at, v.At-at)
		}
		at = max(at, v.At+v.Size)
		if v.Global {
			fmt.Fprintf(&d.text, "\t.global\t\t%s\n", v.Name)
		}
		label := fmt.Sprintf(".L_%d", d.labels)
		d.labels++
		fmt.Fprintf(&d.text, "\t.type\t\t%[1]s,@object\n\t.size\t\t%[1]s,(%[2]s - %[1]s)\n%[1]s:\n", v.Name, label)
		d.bytes(s, v.At, v.Size)
		d.text.WriteString(label + ":\n")
	}
}

// bytes prints a range of a section.
func (d *disassembly) bytes(s *cubin.Listed, at, n uint64) {
	if size := uint64(len(s.Bytes)); size < at+n || at+n < at || !slices.ContainsFunc(s.Bytes[at:at+n], func(b byte) bool { return b != 0 }) {
		fmt.Fprintf(&d.text, "\t.zero\t\t%d\n", n)
		return
	}
	const row = 16
	for ; n > 0; at, n = at+min(n, row), n-min(n, row) {
		fmt.Fprintf(&d.text, "        /*%04x*/ \t.byte\t", at)
		for i := range min(n, row) {
			if i > 0 {
				d.text.WriteString(", ")
			}
			fmt.Fprintf(&d.text, "0x%02x", s.Bytes[at+i])
		}
		d.text.WriteString("\n")
	}
}
