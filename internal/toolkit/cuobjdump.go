package toolkit

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kudzu/internal/assemble"
	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
)

// Options of cuobjdump that the code below asks for.
const (
	optDumpPTX     = "dump-ptx"
	optDumpUsage   = "dump-resource-usage"
	optDumpSymbols = "dump-elf-symbols"
	optDumpSASS    = "dump-sass"
	optDumpELF     = "dump-elf"
	optListELF     = "list-elf"
	optListPTX     = "list-ptx"
	optExtractELF  = "extract-elf"
	optExtractPTX  = "extract-ptx"
	optArchitect   = "gpu-architecture"
)

// cuobjdumpOptions are those of release 13.4 that do not need machine code, and two that say so.
var cuobjdumpOptions = []option{
	{"all-fatbin", "all", nothing, nil, "Taken: all code is shown always."},
	{optDumpELF, "elf", nothing, nil, "Refused: machine code is not read here."},
	{optDumpSymbols, "symbols", nothing, nil, "Print the symbols of files of our assembler."},
	{optDumpPTX, "ptx", nothing, nil, "Print the PTX, of files of our assembler too."},
	{optDumpUsage, "res-usage", nothing, nil, "Print what each kernel of our assembler's files needs."},
	{optDumpSASS, "sass", nothing, nil, "Refused: machine code is not read here."},
	{optExtractELF, "xelf", list, nil, "Write the files whose names have one of these parts; all: every file."},
	{optExtractPTX, "xptx", list, nil, "Write the PTX files whose names have one of these parts; all: every file."},
	{"function", "fun", list, nil, "Taken, without effect."},
	{optArchitect, "arch", value, isArch, "Show code for this architecture only."},
	{optHelp, "h", nothing, nil, "Print this text."},
	{optListELF, "lelf", nothing, nil, "List the files of machine code, and of our assembler."},
	{optListPTX, "lptx", nothing, nil, "List the PTX."},
	{optionsFile, "optf", list, nil, "Read options from files."},
	{"sort-functions", "sort", nothing, nil, "Taken, without effect."},
	{optVersion, "V", nothing, nil, "Print the version."},
}

func isArch(s string) bool {
	_, code, ok := assemble.Arch(s)
	return ok && code
}

// piece is one code in a file.
type piece struct {
	name       string // of the file that it would be written to
	arch       string
	data       []byte
	ptx        bool
	loose      bool // the file is this piece
	version    [2]int
	compressed bool
	identifier string
	assembler  string // options
}

// runCuobjdump is the program.
func runCuobjdump(args []string, out, errs io.Writer) int {
	const name = "cuobjdump"
	o, err := parseOptions(cuobjdumpOptions, args)
	switch {
	case err != nil:
		fail(errs, name, err)
		return 1
	case o.has(optVersion):
		version(out, name, "lists and extracts PTX, and files of our assembler")
		return 0
	case o.has(optHelp) || len(o.inputs) != 1:
		help(out, name+" [options] <file>", cuobjdumpOptions)
		return 0
	case o.has(optDumpSASS) || o.has(optDumpELF):
		fail(errs, name, fatal("machine code is not read here; --dump-ptx shows the PTX"))
		return 1
	}
	file := o.inputs[0]
	b, err := os.ReadFile(file)
	if err != nil {
		fail(errs, name, fatalf("Could not open input file '%s'", file))
		return 1
	}
	all, err := pieces(b, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	if err != nil {
		fail(errs, name, fatalf("Invalid fatbin header in '%s'", file))
		return 1
	}
	if len(all) == 0 {
		fmt.Fprintf(errs, "%s info    : File '%s' does not contain device code\n", name, file)
		return failed
	}
	d := &dump{options: o, out: out, file: file}
	for i := range all {
		if a := o.get(optArchitect, ""); a == "" || a == all[i].arch {
			d.pieces = append(d.pieces, &all[i])
			d.texts = d.texts || all[i].ptx
		}
	}
	if err := d.run(); err != nil {
		fmt.Fprintf(errs, "%s %v\n", name, err)
	}
	return 0
}

// pieces finds the code of a file: a container, a cubin, an object or program with fat binaries in it.
func pieces(b []byte, base string) ([]piece, error) {
	var cs []*fatbin.Container
	var err error
	switch f := fatbin.Sniff(b); {
	case len(b) == 0:
		return nil, fatbin.ErrFormat
	case f == fatbin.FormatELF && bytes.Equal(b[18:20], []byte{cubin.Machine, 0}):
		p, err := ofCubin(b)
		if err != nil {
			return nil, err
		}
		p.name, p.loose = fmt.Sprintf("%s.%s.cubin", base, p.arch), true
		return []piece{p}, nil
	case f == fatbin.FormatELF:
		cs, err = fatbin.FromObject(b)
	case f == fatbin.FormatFatbin:
		cs, err = fatbin.FromBytes(b)
	}
	var list []piece
	counts := map[bool]int{}
	for _, c := range cs {
		for i := range c.Entries {
			p, ok := ofEntry(&c.Entries[i])
			if !ok {
				continue
			}
			counts[p.ptx]++
			suffix := "cubin"
			if p.ptx {
				suffix = "ptx"
			}
			p.name = fmt.Sprintf("%s.%d.%s.%s", base, counts[p.ptx], p.arch, suffix)
			list = append(list, p)
		}
	}
	return list, err
}

func ofCubin(b []byte) (piece, error) {
	f, err := cubin.Decode(b)
	if err != nil {
		return piece{}, err
	}
	return piece{arch: f.Target(), data: b}, nil
}

// ofEntry is a part of a container; ok is false for what is neither PTX nor an ELF file.
func ofEntry(e *fatbin.Entry) (piece, bool) {
	data, err := e.Text()
	if err != nil || e.Kind != fatbin.PTX && e.Kind != fatbin.ELF {
		return piece{}, false
	}
	p := piece{arch: fmt.Sprintf("sm_%d", e.SM), data: data, ptx: e.Kind == fatbin.PTX, version: [2]int{e.Major, e.Minor}, compressed: e.Compressed(),
		identifier: e.Name, assembler: e.Options}
	if p.ptx {
		p.data = bytes.TrimRight(data, "\x00")
		if t, ok := fatbin.PTXTarget(p.data); ok {
			p.arch = t.String()
		}
	} else if q, err := ofCubin(data); err == nil {
		p.arch = q.arch
	}
	return p, true
}

// dump is one run.
type dump struct {
	*options
	out    io.Writer
	file   string
	pieces []*piece
	texts  bool // one of them is PTX
}

func (d *dump) run() error {
	switch {
	case d.has(optExtractELF):
		return d.extract(false, "Extracting ELF file", d.set[optExtractELF])
	case d.has(optExtractPTX):
		return d.extract(true, "Extracting PTX file and ptxas options", d.set[optExtractPTX])
	case d.has(optListELF):
		return d.list(false, "ELF")
	case d.has(optListPTX):
		return d.list(true, "PTX")
	}
	for _, p := range d.pieces {
		d.head(p)
		if err := d.show(p); err != nil {
			return err
		}
	}
	return nil
}

// list names the pieces of a kind.
func (d *dump) list(ptx bool, kind string) error {
	n := 0
	for _, p := range d.pieces {
		if p.ptx == ptx {
			n++
			fmt.Fprintf(d.out, "%s file %4d: %s\n", kind, n, p.name)
		}
	}
	if n == 0 {
		return fmt.Errorf("info    : No %s file found to extract from '%s'. You may try with -all option.", kind, d.file)
	}
	return nil
}

// extract writes pieces of a kind into the working folder.
func (d *dump) extract(ptx bool, label string, parts []string) error {
	n := 0
	for _, p := range d.pieces {
		if p.ptx != ptx || !wanted(p.name, parts) {
			continue
		}
		n++
		options := ""
		if ptx {
			options = " -arch=" + p.arch + " "
		}
		fmt.Fprintf(d.out, "%s %4d: %s%s\n", label, n, p.name, options)
		if err := os.WriteFile(p.name, p.data, 0o666); err != nil {
			return fatalf("fatal   : Could not open output file '%s'", p.name)
		}
	}
	return nil
}

func wanted(name string, parts []string) bool {
	for _, part := range parts {
		if part == "all" || strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// head says what a piece of a container is.
func (d *dump) head(p *piece) {
	if p.loose {
		return
	}
	kind := "elf"
	if p.ptx {
		kind = "ptx"
	}
	fmt.Fprintf(d.out, "\nFatbin %s code:\n================\narch = %s\ncode version = [%d,%d]\nhost = linux\ncompile_size = 64bit\n", kind, p.arch, p.version[0], p.version[1])
	if p.compressed {
		fmt.Fprintln(d.out, "compressed")
	}
	if p.identifier != "" {
		fmt.Fprintln(d.out, "identifier = "+p.identifier)
	}
	if p.ptx {
		fmt.Fprintln(d.out, "ptxasOptions = "+p.assembler)
	}
}

// show prints what the options ask for of a piece.
func (d *dump) show(p *piece) error {
	if p.ptx {
		if d.has(optDumpPTX) {
			d.text(string(p.data))
		}
		return nil
	}
	f, err := cubin.Decode(p.data)
	if err != nil {
		return fatalf("fatal   : %v", err)
	}
	if d.has(optDumpPTX) && f.Text != "" && !d.texts { // the same text again
		d.text(f.Text)
	}
	if d.has(optDumpSymbols) {
		d.symbols(f)
	}
	if d.has(optDumpUsage) {
		d.usage(f)
	}
	return nil
}

// text prints PTX, each line from its first word on.
func (d *dump) text(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintln(d.out, strings.TrimLeft(line, " \t"))
	}
	fmt.Fprintln(d.out)
}

func (d *dump) symbols(f *cubin.File) {
	fmt.Fprintln(d.out, "\nsymbols:")
	for _, v := range f.Vars {
		bind := "STB_LOCAL "
		if v.Global {
			bind = "STB_GLOBAL"
		}
		fmt.Fprintf(d.out, "STT_OBJECT       %s STV_DEFAULT    %s\n", bind, v.Name)
	}
	for i := range f.Kernels {
		fmt.Fprintf(d.out, "STT_FUNC         STB_GLOBAL STO_ENTRY      %s\n", f.Kernels[i].Name)
	}
}

func (d *dump) usage(f *cubin.File) {
	var global, constant uint64
	for _, v := range f.Vars {
		if v.Const {
			constant += v.Size
		} else {
			global += v.Size
		}
	}
	fmt.Fprintf(d.out, "\nResource usage:\n Common:\n  GLOBAL:%d", global)
	if constant > 0 {
		fmt.Fprintf(d.out, " CONSTANT[3]:%d", constant)
	}
	fmt.Fprintln(d.out)
	for i := range f.Kernels {
		k := &f.Kernels[i]
		fmt.Fprintf(d.out, " Function %s:\n  REG:%d STACK:%d SHARED:%d LOCAL:0 CONSTANT[0]:%d TEXTURE:0 SURFACE:0 SAMPLER:0\n",
			k.Name, k.Registers, k.Local, k.Shared, f.ConstBank(k))
	}
}
