package nvjitlink

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"kudzu/internal/assemble"
	"kudzu/internal/compile"
	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/nvvmir"
	"kudzu/internal/ptx"
	"kudzu/internal/spec/jl"
)

// kinds are the types of inputs: how the log calls them, and which formats they may have.
var kinds = map[jl.NvJitLinkInputType]struct {
	name    string
	formats []fatbin.Format
}{
	jl.NVJITLINK_INPUT_CUBIN:   {"NVJITLINK_INPUT_CUBIN", []fatbin.Format{fatbin.FormatELF}},
	jl.NVJITLINK_INPUT_PTX:     {"NVJITLINK_INPUT_PTX", []fatbin.Format{fatbin.FormatPTX}},
	jl.NVJITLINK_INPUT_LTOIR:   {"NVJITLINK_INPUT_LTOIR", nil},
	jl.NVJITLINK_INPUT_FATBIN:  {"NVJITLINK_INPUT_FATBIN", []fatbin.Format{fatbin.FormatFatbin}},
	jl.NVJITLINK_INPUT_OBJECT:  {"NVJITLINK_INPUT_OBJECT", []fatbin.Format{fatbin.FormatELF}},
	jl.NVJITLINK_INPUT_LIBRARY: {"NVJITLINK_INPUT_LIBRARY", []fatbin.Format{fatbin.FormatArchive}},
	jl.NVJITLINK_INPUT_INDEX:   {"NVJITLINK_INPUT_INDEX", nil},
	jl.NVJITLINK_INPUT_ANY:     {"NVJITLINK_INPUT_ANY", []fatbin.Format{fatbin.FormatELF, fatbin.FormatPTX, fatbin.FormatFatbin, fatbin.FormatArchive}},
}

// AddData adds an input.
func (t *Thread) AddData(h jl.NvJitLinkHandle, kind jl.NvJitLinkInputType, data hostmem.Ptr, size uint64, name hostmem.Ptr) error {
	l, err := find(h)
	if err != nil {
		return err
	}
	if data == hostmem.Nil || size == 0 || size > fatbin.MaxText {
		return invalidInput
	}
	label := ""
	if name != hostmem.Nil {
		label = hostmem.String(name)
	}
	return l.add(kind, bytes.Clone(hostmem.Bytes(data, size)), label)
}

// AddFile adds an input from a file.
func (t *Thread) AddFile(h jl.NvJitLinkHandle, kind jl.NvJitLinkInputType, at hostmem.Ptr) error {
	l, err := find(h)
	if err != nil {
		return err
	}
	if at == hostmem.Nil {
		return nullInput
	}
	name := hostmem.String(at)
	f, err := os.Open(name)
	if err == nil {
		defer f.Close()
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(f, fatbin.MaxText+1)); err == nil && len(b) <= fatbin.MaxText {
			return l.add(kind, b, name)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refuse(invalidInput, "no such file: %s", name)
}

// add takes one input. An error leaves the link as it was.
func (l *link) add(kind jl.NvJitLinkInputType, b []byte, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := kinds[kind]
	if !l.opts.known {
		return l.refuse(internal, "ERROR 1: empty elfw when adding cubin%s", name)
	}
	if !ok {
		return l.refuse(wrongType, "unsupported input type: %s", name)
	}
	if _, ok := nvvmir.FromLTO(string(b)); ok && (kind == jl.NVJITLINK_INPUT_LTOIR || kind == jl.NVJITLINK_INPUT_ANY) {
		l.ir = append(l.ir, compile.NVVMUnit{Name: cmp.Or(name, "<unnamed>"), Bytes: len(b)})
		l.texts.Write(b)
		return nil
	}
	texts, err := assemble.TextsFor(b, l.opts.arch.SM)
	var foreign *cubin.Foreign
	var none *fatbin.NoCode
	fits := false
	for _, f := range k.formats {
		fits = fits || f == fatbin.Sniff(b)
	}
	switch {
	case fits && errors.As(err, &foreign):
		return l.refuse(unknownInput, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_INPUT: %s cannot be linked here; PTX is needed (%s)", foreign.What, name)
	case fits && errors.As(err, &none):
		return l.refuse(unknownInput, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_INPUT: %s (%s)", none, name)
	case !fits || err != nil:
		return l.refuse(wrongType, "ERROR 1: bad input: does not match type %s%s", k.name, name)
	}
	for _, text := range texts {
		if err := l.assemble(text, name); err != nil {
			return err
		}
	}
	return nil
}

// assemble adds a text to what is linked.
func (l *link) assemble(text, name string) error {
	start := time.Now()
	f, err := assemble.Text(text, l.target(true))
	if err != nil {
		fmt.Fprintln(&l.errs, err)
		return l.refuse(badPTX, "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (%s)", name)
	}
	l.report(f, time.Since(start))
	l.lap("nvJitLink time until Add_Cubin")
	l.parts = append(l.parts, ptx.Part{Name: cmp.Or(name, fmt.Sprintf("input %d", len(l.parts)+1)), Text: f.Text})
	return nil
}

// compile makes PTX of all LTO-IR that was added, as one program.
func (l *link) compile() error {
	if len(l.ir) == 0 {
		return nil
	}
	text, err := compiler.PTX(&compile.NVVM{Units: l.ir, Options: l.opts.code}, l.texts.String())
	if err != nil {
		return l.refuse(badIR, "%v\nERROR NVJITLINK_ERROR_NVVM_COMPILE: %s", err, l.ir[0].Name)
	}
	l.units, l.ir = l.ir, nil
	return l.assemble(text, "lto")
}

// target is what the assembler is asked for.
func (l *link) target(open bool) assemble.Options {
	return assemble.Options{SM: l.opts.arch.SM, Suffix: l.opts.arch.Suffix, Relocatable: open || l.opts.object, MaxRegisters: l.opts.limit}
}

// report writes the assembler's statistics to the log.
func (l *link) report(f *cubin.File, took time.Duration) {
	if !l.opts.verbose && !l.opts.assembler {
		return
	}
	for _, r := range assemble.Report(f, took) {
		lead := "ptxas info    : "
		if r.More {
			lead = "ptxas         .     "
		}
		l.info.WriteString(lead + r.Text + "\n")
	}
}

// lap writes how long it took since the last time to the log, in milliseconds, if that was asked for.
func (l *link) lap(what string) {
	if l.opts.timed {
		now := time.Now()
		fmt.Fprintf(&l.info, "%s: %.6f\n", what, now.Sub(l.since).Seconds()*1000)
		l.since = now
	}
}

// emptyModule is PTX without anything.
const emptyModule = ".version 6.0\n.target sm_30\n.address_size 64\n"

// Complete links what was added.
func (t *Thread) Complete(h jl.NvJitLinkHandle) error {
	l, err := find(h)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cubin != nil {
		return nil
	}
	if !l.opts.known {
		return l.refuse(internal, "ERROR 1: empty elfw in nvJitLinkComplete")
	}
	if err := l.compile(); err != nil {
		return err
	}
	l.lap("nvJitLink time until Complete")
	if err := l.complete(); err != nil {
		return err
	}
	l.lap("nvJitLinkComplete time to finish")
	return nil
}

// complete makes one file of all parts.
func (l *link) complete() error {
	text, err := emptyModule, error(nil)
	if len(l.parts) > 0 {
		text, err = assemble.Link(l.parts)
	}
	if err == nil && l.opts.pruned {
		text, err = assemble.Keep(text, l.opts.used)
	}
	if err != nil {
		return l.refuse(internal, "error   : %v\nERROR 1: complete", err)
	}
	f, err := assemble.Text(text, l.target(false))
	var list ptx.ErrorList
	var missing assemble.Missing
	switch {
	case err == nil:
	case errors.As(err, &missing):
		return l.refuse(internal, "error   : Undefined reference to '%s' in '%s'\nERROR 1: complete", string(missing), assemble.User(l.parts, string(missing)))
	case errors.As(err, &list):
		return l.refuse(badPTX, "%v", err)
	default:
		return l.refuse(internal, "%v\nERROR 1: complete", err)
	}
	if l.cubin, err = f.Encode(); err != nil {
		return l.refuse(internal, "ERROR 1: %v", err)
	}
	if l.opts.ptx {
		l.ptx = append([]byte(f.Text), 0)
	}
	return nil
}
