package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/ptx"
)

// code is what is known of a module's content.
type code struct {
	kernels map[string]*kernelCode
	rest    []func() []Part // what was not looked into yet
}

// find looks into the module until it has seen a kernel: most have the same code for several targets.
func (c *code) find(kernel string) *kernelCode {
	for c.kernels[kernel] == nil && len(c.rest) > 0 {
		for _, p := range c.rest[0]() {
			c.add(p)
		}
		c.rest = c.rest[1:]
	}
	return c.kernels[kernel]
}

// maxModule is the largest file of a module that is looked into.
const maxModule = 1 << 30

// kernel finds what a kernel's module says about it; nil for nothing.
func (d *Decoder) kernel(t *thing) *kernelCode {
	if t == nil || t.module == nil || t.kernel == "" {
		return nil
	}
	file := t.module.File()
	c, ok := d.code[file]
	if !ok {
		c = d.load(file)
		if c == nil { // it may be written in a moment
			return nil
		}
		d.code[file] = c
	}
	return c.find(t.kernel)
}

// load reads a module that was saved; nil if there is none.
func (d *Decoder) load(file string) *code {
	path := filepath.Join(d.dir, ModulesDir, file)
	st, err := os.Stat(path)
	if err != nil || st.Size() > maxModule {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return &code{kernels: map[string]*kernelCode{}, rest: pieces(b)}
}

// pieces takes a module apart in steps, text first: it has names and lines.
func pieces(b []byte) []func() []Part {
	if fatbin.Sniff(b) != fatbin.FormatFatbin {
		return []func() []Part{func() []Part {
			parts, err := Parts(b)
			if err != nil {
				return nil // not everything that is loaded is code
			}
			return parts
		}}
	}
	cs, err := fatbin.FromBytes(b)
	if err != nil {
		return nil
	}
	var texts, others []func() []Part
	for _, c := range cs {
		for i := range c.Entries {
			e := &c.Entries[i]
			if e.Kind == fatbin.PTX {
				texts = append(texts, func() []Part { return entryParts(e) })
			} else {
				others = append(others, func() []Part { return entryParts(e) })
			}
		}
	}
	return append(texts, others...)
}

// add takes the kernels of a part that no part before it has.
func (c *code) add(p Part) {
	if p.Text == "" {
		f, err := cubin.Decode(p.Cubin)
		if err != nil {
			return
		}
		for _, k := range f.Kernels {
			if c.kernels[k.Name] != nil {
				continue
			}
			of := &kernelCode{}
			for i, a := range k.Params {
				of.args = append(of.args, kernelParam{name: fmt.Sprintf("param_%d", i), offset: uint64(a.Offset), size: uint64(a.Size), kind: wordKind(a.Size)})
			}
			c.kernels[k.Name] = of
		}
		return
	}
	x, err := ptx.IndexModule(p.Text)
	if err != nil {
		return
	}
	for _, f := range x.Kernels() {
		if old := c.kernels[f.Name]; old != nil && old.source != "" {
			continue
		}
		of := &kernelCode{source: sourceOf(x, f)}
		for _, v := range f.Params {
			of.args = append(of.args, paramOf(f.Name, v))
		}
		c.kernels[f.Name] = of
	}
}

// wordKind is what a parameter without a type is shown as.
func wordKind(size uint32) ValueKind {
	switch size {
	case 1, 2, 4:
		return Int
	case 8:
		return Device
	}
	return Bytes
}

// Part is code for one architecture in a module: PTX, or machine code without it.
type Part struct {
	Target string // sm_80
	Text   string // PTX
	Cubin  []byte // machine code, where there is no text
}

// Parts takes a module apart: PTX as it is, the entries of fat binaries, the PTX in files of our assembler, and programs and
// libraries with such things in them.
func Parts(b []byte) ([]Part, error) {
	switch fatbin.Sniff(b) {
	case fatbin.FormatPTX:
		text, _ := cString(b)
		return []Part{textPart(text)}, nil
	case fatbin.FormatELF:
		return elfParts(b)
	case fatbin.FormatFatbin:
		cs, err := fatbin.FromBytes(b)
		if err != nil {
			return nil, err
		}
		return containerParts(cs), nil
	case fatbin.FormatArchive:
		members, err := fatbin.Members(b)
		if err != nil {
			return nil, err
		}
		var all []Part
		for _, m := range members {
			if fatbin.Sniff(m.Data) == fatbin.FormatArchive {
				continue
			}
			if parts, err := Parts(m.Data); err == nil {
				all = append(all, parts...)
			}
		}
		return all, nil
	case fatbin.FormatWrapper:
		return nil, errors.New("a wrapper: what it points to is not in it")
	}
	return nil, errors.New("no device code")
}

func elfParts(b []byte) ([]Part, error) {
	if cubin.Ours(b) {
		text, err := cubin.Text(b)
		if err != nil {
			return nil, err
		}
		return []Part{textPart(text)}, nil
	}
	if sm, ok := cubin.Arch(b); ok {
		return []Part{{Target: fmt.Sprintf("sm_%d", sm), Cubin: b}}, nil
	}
	cs, err := fatbin.FromObject(b)
	if err != nil {
		return nil, err
	}
	return containerParts(cs), nil
}

func containerParts(cs []*fatbin.Container) []Part {
	var all []Part
	for _, c := range cs {
		for i := range c.Entries {
			all = append(all, entryParts(&c.Entries[i])...)
		}
	}
	return all
}

// entryParts is nil for what cannot be read.
func entryParts(e *fatbin.Entry) []Part {
	text, err := e.Text()
	if err != nil {
		return nil
	}
	switch e.Kind {
	case fatbin.PTX:
		return []Part{textPart(string(text))}
	case fatbin.ELF:
		if parts, err := elfParts(text); err == nil {
			return parts
		}
	}
	return nil
}

func textPart(text string) Part {
	p := Part{Text: strings.TrimRight(text, "\x00")}
	if t, ok := fatbin.PTXTarget([]byte(text)); ok {
		p.Target = fmt.Sprintf("sm_%d%s", t.SM, t.Suffix)
	}
	return p
}
