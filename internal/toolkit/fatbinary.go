package toolkit

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
)

// Options of fatbinary that the code below asks for.
const (
	optCreate    = "create"
	optImage     = "image"
	optImage3    = "image3"
	optCompress  = "compress"
	optAllSmall  = "compress-all"
	optMode      = "compress-mode"
	optEmbedded  = "embedded-fatbin"
	optContainer = "image2"
)

// fatbinaryOptions are those of releases 12.9 and 13.4.
var fatbinaryOptions = []option{
	{"32", "32", nothing, nil, "Taken, without effect."},
	{"64", "64", nothing, nil, "Taken: all code is for 64 bits."},
	{"cmdline", "cmdline", value, nil, "Taken, without effect."},
	{optCompress, "compress", truth, nil, "Compress PTX; true unless said otherwise."},
	{optAllSmall, "compress-all", nothing, nil, "Compress everything."},
	{optMode, "compress-mode", value, oneOf("default", "size", "speed", "balance", "none"), "none: compress nothing."},
	{optCreate, "create", value, nil, "The file to write."},
	{"debug", "g", nothing, nil, "Taken, without effect."},
	{"device-c", "c", nothing, nil, "Taken, without effect."},
	{optEmbedded, "fatbin", value, nil, "Refused: nothing is written for a compiler to include."},
	{optHelp, "h", nothing, nil, "Print this text."},
	{"ident", "ident", value, nil, "Taken, without effect."},
	{optImage, "image", each, nil, "profile=sm_80,file=NAME or profile=compute_80,file=NAME, as release 12 has it."},
	{optContainer, "image2", each, nil, "Refused: objects and libraries are not taken."},
	{optImage3, "image3", each, nil, "kind=elf|ptx,sm=80,file=NAME"},
	{"link", "link", nothing, nil, "Taken, without effect."},
	{"no-asm", "no-asm", nothing, nil, "Taken, without effect."},
	{optionsFile, "optf", list, nil, "Read options from files."},
	{optVersion, "V", nothing, nil, "Print the version."},
}

// runFatbinary is the program.
func runFatbinary(args []string, out, errs io.Writer) int {
	const name = "fatbinary"
	o, err := parseOptions(fatbinaryOptions, args)
	switch {
	case err != nil:
	case o.has(optVersion):
		version(out, name, "puts PTX and files of our assembler together")
		return 0
	case len(args) == 0 || o.has(optHelp) || len(o.inputs) > 0:
		help(out, name+" [options]", fatbinaryOptions)
		return 0
	case o.has(optEmbedded) || o.has(optContainer):
		err = fatal("--embedded-fatbin and --image2 are not supported; --create with --image3 is")
	default:
		err = writeFatbin(o)
	}
	if err != nil {
		fail(errs, name, err)
		return 1
	}
	return 0
}

func writeFatbin(o *options) error {
	var parts []fatbin.Part
	for _, spec := range o.set[optImage] {
		p, err := imageOfProfile(spec)
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	for _, spec := range o.set[optImage3] {
		p, err := imageOfKind(spec)
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	none := o.get(optMode, "") == "none" || o.get(optCompress, "true") == "false"
	for i := range parts {
		if !none && (parts[i].Kind == fatbin.PTX || o.has(optAllSmall)) {
			parts[i].Flags |= fatbin.FlagLZ4
		}
	}
	b, err := fatbin.Write(parts)
	if err != nil {
		return err
	}
	file := o.get(optCreate, "")
	if file == "" {
		return nil // nothing is asked for
	}
	if err := os.WriteFile(file, b, 0o666); err != nil {
		return fatalf("Could not open output file '%s'", file)
	}
	return nil
}

// words are the parts of an image's description.
func words(spec string) map[string]string {
	m := map[string]string{}
	for w := range strings.SplitSeq(spec, ",") {
		name, val, _ := strings.Cut(w, "=")
		m[name] = val
	}
	return m
}

// imageOfProfile is profile=sm_80,file=NAME; what the file is says which kind it has.
func imageOfProfile(spec string) (fatbin.Part, error) {
	m := words(spec)
	profile, _, _ := strings.Cut(m["profile"], "@")
	kind := fatbin.ELF
	arch, ok := strings.CutPrefix(profile, "sm_")
	if !ok {
		if arch, ok = strings.CutPrefix(profile, "compute_"); !ok {
			return fatbin.Part{}, fatalf("Unknown profile '%s'", m["profile"])
		}
		kind = fatbin.PTX
	}
	return image(kind, arch, m["file"])
}

// imageOfKind is kind=elf,sm=80,file=NAME.
func imageOfKind(spec string) (fatbin.Part, error) {
	m := words(spec)
	kind, ok := map[string]fatbin.Kind{"elf": fatbin.ELF, "ptx": fatbin.PTX}[m["kind"]]
	switch {
	case !ok:
		return fatbin.Part{}, fatal("Missing or unknown kind in image3")
	case m["sm"] == "":
		return fatbin.Part{}, fatal("Missing sm in image3")
	}
	return image(kind, m["sm"], m["file"])
}

// The version that entries with ELF files say their form has.
const elfMajor, elfMinor = 1, 8

// image reads a file and makes sure that it is what was said.
func image(kind fatbin.Kind, arch, file string) (fatbin.Part, error) {
	if file == "" {
		return fatbin.Part{}, fatal("Missing file in image")
	}
	sm, err := strconv.Atoi(strings.TrimRight(arch, "af"))
	if err != nil {
		return fatbin.Part{}, fatalf("Unknown sm '%s'", arch)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return fatbin.Part{}, fatalf("Could not open input file '%s'", file)
	}
	p := fatbin.Part{Kind: kind, SM: sm, Data: b, Major: elfMajor, Minor: elfMinor}
	if kind == fatbin.ELF {
		f, err := cubin.Decode(b)
		switch {
		case err != nil:
			return p, fmt.Errorf("\nnvFatbin error: %w", err)
		case f.SM != sm:
			return p, fmt.Errorf("\nnvFatbin error: fatbinary elf mismatch: elf arch does not match user-specified arch")
		}
		return p, nil
	}
	if _, err := fmt.Sscanf(after(string(b), ".version"), "%d.%d", &p.Major, &p.Minor); err != nil || fatbin.Sniff(b) != fatbin.FormatPTX {
		return p, fmt.Errorf("\nnvFatbin error: could not find ptx version")
	}
	return p, nil
}

// after is what follows a word.
func after(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	return strings.TrimLeft(rest, " \t")
}
