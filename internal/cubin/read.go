package cubin

import (
	"bytes"
	"errors"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/pierrec/lz4/v4"
)

// object is a file's sections, as far as they lie in it.
type object struct {
	b        []byte
	typ      uint16
	machine  uint16
	abi      byte
	flags    uint32
	sections []part
}

type part struct {
	name       string
	typ        uint32
	flags      uint64
	link, info uint32
	size       uint64
	align      uint64
	data       []byte // nil: none in the file
}

// parse reads the table of sections.
func parse(b []byte) (*object, error) {
	if len(b) < headerSize || !bytes.HasPrefix(b, []byte("\x7fELF\x02\x01")) {
		return nil, bad("no 64-bit ELF header")
	}
	e := &object{b: b, typ: le.Uint16(b[16:]), machine: le.Uint16(b[18:]), abi: b[7], flags: le.Uint32(b[48:])}
	at, n, names := le.Uint64(b[40:]), int(le.Uint16(b[60:])), int(le.Uint16(b[62:]))
	if n == 0 {
		return e, nil
	}
	if le.Uint16(b[58:]) != sectionSize || at > uint64(len(b)) || uint64(len(b))-at < uint64(n)*sectionSize {
		return nil, bad("%d sections at %#x of %d bytes", n, at, len(b))
	}
	offsets := make([]uint32, n)
	for i := range n {
		h := b[at+uint64(i)*sectionSize:]
		p := part{typ: le.Uint32(h[4:]), flags: le.Uint64(h[8:]), size: le.Uint64(h[32:]), link: le.Uint32(h[40:]), info: le.Uint32(h[44:]), align: le.Uint64(h[48:])}
		offsets[i] = le.Uint32(h)
		if off := le.Uint64(h[24:]); p.typ != secNobits && p.size > 0 {
			if off > uint64(len(b)) || p.size > uint64(len(b))-off {
				return nil, bad("section %d: %d bytes at %#x of %d", i, p.size, off, len(b))
			}
			p.data = b[off : off+p.size]
		}
		e.sections = append(e.sections, p)
	}
	if names < n {
		for i := range e.sections {
			e.sections[i].name = text(e.sections[names].data, offsets[i])
		}
	}
	return e, nil
}

// text is a name in a table of names.
func text(table []byte, at uint32) string {
	if uint64(at) >= uint64(len(table)) {
		return ""
	}
	name, _, ok := bytes.Cut(table[at:], []byte{0})
	if !ok {
		return ""
	}
	return string(name)
}

func (e *object) section(name string) *part {
	for i := range e.sections {
		if e.sections[i].name == name {
			return &e.sections[i]
		}
	}
	return nil
}

// target is the architecture in the header's flags.
func (e *object) target() (sm int, suffix string) {
	mark := uint32(0x800)
	sm = int(e.flags & 0xff)
	if e.abi == newABI {
		sm, mark = int(e.flags>>8&0xffff), 8
	}
	if e.flags&mark != 0 {
		suffix = "a"
	}
	return sm, suffix
}

// Arch is the architecture that the header of machine code or of a file of ours says: 90 for sm_90. Nothing behind the header is looked at.
func Arch(b []byte) (sm int, ok bool) {
	if len(b) < headerSize || le.Uint16(b[18:]) != Machine {
		return 0, false
	}
	e := &object{abi: b[7], flags: le.Uint32(b[48:])}
	sm, _ = e.target()
	return sm, true
}

// HeadSize is how much of a file Begins looks at.
const HeadSize = 256

// Begins reports whether a file that begins with b may be one that Encode wrote: the names of its sections come first.
func Begins(b []byte) bool {
	return bytes.HasPrefix(b, []byte("\x7fELF")) && bytes.Contains(b[:min(len(b), HeadSize)], []byte(Section+"\x00"))
}

// Ours reports whether b is a file with PTX that Encode wrote, without reading the PTX.
func Ours(b []byte) bool {
	e, err := parse(b)
	return err == nil && e.machine == Machine && e.section(Section) != nil
}

// Text is the PTX of a file. The error is a *Foreign for ELF files of other kinds.
func Text(b []byte) (string, error) {
	e, err := parse(b)
	if err != nil {
		return "", err
	}
	return e.ptx()
}

func (e *object) ptx() (string, error) {
	s := e.section(Section)
	if s == nil || e.machine != Machine {
		return "", describe(e)
	}
	return unpackText(s.data)
}

// lz4Ratio is the most an LZ4 block can grow.
const lz4Ratio = 255

func unpackText(b []byte) (string, error) {
	if len(b) < textHeader || le.Uint32(b) != textMagic {
		return "", bad("no PTX in %s", Section)
	}
	if v := le.Uint32(b[4:]); v != textVersion {
		return "", bad("%s of version %d", Section, v)
	}
	size, sum := uint64(le.Uint32(b[8:])), le.Uint32(b[12:])
	b = b[textHeader:]
	if size > MaxText || size > uint64(len(b))*lz4Ratio+16 {
		return "", bad("%d bytes of PTX in %d", size, len(b))
	}
	out := b
	if uint64(len(b)) != size {
		out = make([]byte, size)
		n, err := lz4.UncompressBlock(b, out)
		if err != nil || uint64(n) != size {
			return "", bad("PTX of %d bytes: %d, %v", size, n, err)
		}
	}
	if crc32.ChecksumIEEE(out) != sum {
		return "", bad("the PTX is damaged")
	}
	return string(out), nil
}

// Decode reads a file. Of NVIDIA's own it reads what kernels need, and Text stays empty; the error is a *Foreign only for files
// of other machines.
func Decode(b []byte) (*File, error) {
	e, err := parse(b)
	if err != nil {
		return nil, err
	}
	f := &File{Relocatable: e.typ == typeRel}
	if f.SM, f.Suffix = e.target(); e.machine != Machine {
		return nil, describe(e)
	}
	if f.Text, err = e.ptx(); err != nil {
		if foreign := (*Foreign)(nil); !errors.As(err, &foreign) {
			return nil, err
		}
	}
	symbols, err := e.symbols()
	if err != nil {
		return nil, err
	}
	byIndex := map[uint32]int{}
	for i, s := range symbols {
		switch {
		case s.info&15 == symFunc && s.other&otherEntry != 0 && s.section < len(e.sections):
			byIndex[uint32(i)] = len(f.Kernels)
			code := &e.sections[s.section]
			f.Kernels = append(f.Kernels, Kernel{Name: s.name, Registers: int(code.info >> registerShift), Barriers: int(code.flags >> barrierShift & 0x7f)})
		case s.info&15 == symObject:
			if v, ok := e.variable(s); ok {
				f.Vars = append(f.Vars, v)
			}
		}
	}
	e.needs(f, byIndex)
	for i := range f.Kernels {
		slices.Reverse(f.Kernels[i].Params) // the last comes first
	}
	return f, nil
}

func (e *object) symbols() ([]symbol, error) {
	s := e.section(".symtab")
	if s == nil {
		return nil, nil
	}
	if s.link >= uint32(len(e.sections)) || len(s.data)%symbolSize != 0 {
		return nil, bad("symbol table of %d bytes", len(s.data))
	}
	names := e.sections[s.link].data
	var out []symbol
	for b := s.data; len(b) > 0; b = b[symbolSize:] {
		out = append(out, symbol{name: text(names, le.Uint32(b)), info: b[4], other: b[5], section: int(le.Uint16(b[6:])),
			value: le.Uint64(b[8:]), size: le.Uint64(b[16:])})
	}
	return out, nil
}

// variable reads a variable of the module.
func (e *object) variable(s symbol) (Var, bool) {
	if s.section >= len(e.sections) {
		return Var{}, false
	}
	at := &e.sections[s.section]
	v := Var{Name: s.name, Const: at.name == ".nv.constant3", Global: s.info>>4 != 0, Size: s.size}
	if !v.Const && at.name != ".nv.global" && at.name != ".nv.global.init" {
		return Var{}, false
	}
	if n := uint64(len(at.data)); s.value <= n && s.size <= n-s.value && s.size > 0 {
		v.Init = at.data[s.value : s.value+s.size]
	}
	return v, true
}

// needs reads the attributes of kernels.
func (e *object) needs(f *File, byIndex map[uint32]int) {
	byName := map[string]*Kernel{}
	for i := range f.Kernels {
		byName[f.Kernels[i].Name] = &f.Kernels[i]
	}
	for i := range e.sections {
		s := &e.sections[i]
		if name, ok := strings.CutPrefix(s.name, ".nv.shared."); ok && byName[name] != nil {
			byName[name].Shared = s.size
		}
		name, ok := strings.CutPrefix(s.name, ".nv.info.")
		k := byName[name]
		if s.typ != secInfo || !ok && s.name != ".nv.info" || ok && k == nil {
			continue
		}
		attributes(s.data, func(attr byte, words []uint32) {
			if ok {
				k.attribute(attr, words)
				return
			}
			if len(words) != 2 {
				return
			}
			n, known := byIndex[words[0]]
			switch {
			case known && attr == attrRegisters:
				f.Kernels[n].Registers = int(min(words[1], 255))
			case known && attr == attrFrameSize:
				f.Kernels[n].Local = uint64(words[1])
			}
		})
	}
}

// attribute takes one attribute of .nv.info.NAME.
func (k *Kernel) attribute(attr byte, w []uint32) {
	switch {
	case attr == attrMaxThreads && len(w) == 3:
		k.MaxThreads = [3]uint32(w)
	case attr == attrReqThreads && len(w) == 3:
		k.ReqThreads = [3]uint32(w)
	case attr == attrParam && len(w) == 3:
		k.Params = append(k.Params, Param{Offset: w[1] >> 16, Size: w[2] >> paramSizeShift})
	}
}

// attributes calls visit for every attribute with words in a section.
func attributes(b []byte, visit func(attr byte, words []uint32)) {
	for len(b) >= 4 {
		attr, n := b[1], int(le.Uint16(b[2:]))
		sized := b[0] == fmtSized
		b = b[4:]
		if !sized {
			continue
		}
		if n > len(b) {
			return
		}
		var words []uint32
		for i := 0; i+4 <= n; i += 4 {
			words = append(words, le.Uint32(b[i:]))
		}
		visit(attr, words)
		b = b[n:]
	}
}
