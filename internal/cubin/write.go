package cubin

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/pierrec/lz4/v4"
)

// Numbers of ELF.
const (
	headerSize  = 64
	sectionSize = 64
	symbolSize  = 24

	typeRel, typeExec = 1, 2

	secProgbits, secSymtab, secStrtab, secNobits = 1, 2, 3, 8
	secInfo                                      = 0x70000000 // NVIDIA's: attributes

	flagWrite, flagAlloc, flagExec, flagInfoLink = 1, 2, 4, 0x40
	barrierShift                                 = 20 // in the flags of .text.NAME
	registerShift                                = 24 // in its sh_info, over the symbol

	symSection, symFunc, symObject = 3, 2, 1
	bindGlobal                     = 1 << 4
	otherEntry                     = 0x10 // st_other of a kernel
)

// Attributes of .nv.info and .nv.info.NAME: a byte for the format, one for the attribute, and a value or its length.
const (
	fmtHalf, fmtSized = 3, 4

	attrMaxThreads = 0x05
	attrParamBank  = 0x0a
	attrReqThreads = 0x10
	attrFrameSize  = 0x11
	attrMinStack   = 0x12
	attrParam      = 0x17
	attrParamSize  = 0x19
	attrMaxReg     = 0x1b
	attrRegisters  = 0x2f
	attrAPI        = 0x37

	paramSizeShift = 18
	paramFlags     = 0x1f000
	apiVersion     = 0x81 // release 12.9's
)

// The section with the PTX begins with these four words: a number to know it by, its version, the size of the text, and a sum
// over it. An LZ4 block follows, or the text itself where that is not smaller.
const (
	textMagic   = 0x54505a4b // "KZPT"
	textVersion = 1
	textHeader  = 16
)

// maxSections is what the header has room for.
const maxSections = 0xff00

// codeNote is what stands in for instructions.
const codeNote = "no instructions: PTX is in " + Section

// section is one to write.
type section struct {
	name               string
	typ                uint32
	flags              uint64
	link, info         uint32
	align, entry, size uint64
	data               []byte
}

type symbol struct {
	name        string
	info, other byte
	section     int
	value, size uint64
}

// writer collects a file's sections and symbols.
type writer struct {
	f        *File
	sections []section
	symbols  []symbol
	info     []byte // .nv.info
	kernels  []int  // the sections of the kernels' code
}

// The sections whose place is known from the start.
const (
	atNames = 1 + iota
	atStrings
	atSymbols
	atInfo
	atText
	firstFree
)

var le = binary.LittleEndian

// Encode is the file's bytes.
func (f *File) Encode() ([]byte, error) {
	if len(f.Text) > MaxText {
		return nil, fmt.Errorf("PTX of %d bytes", len(f.Text))
	}
	w := &writer{f: f, sections: make([]section, firstFree), symbols: make([]symbol, 1)}
	w.vars()
	for i := range f.Kernels {
		w.kernel(&f.Kernels[i])
	}
	if len(w.sections) > maxSections {
		return nil, fmt.Errorf("%d kernels in one file", len(f.Kernels))
	}
	w.named()
	text, err := packText(f.Text)
	if err != nil {
		return nil, err
	}
	w.sections[atText] = section{name: Section, typ: secProgbits, align: 8, data: text}
	w.sections[atInfo] = section{name: ".nv.info", typ: secInfo, link: atSymbols, align: 4, data: w.info}
	w.strings()
	return w.bytes(), nil
}

// add places a section and gives it a symbol.
func (w *writer) add(s section) int {
	w.sections = append(w.sections, s)
	w.symbols = append(w.symbols, symbol{info: symSection, section: len(w.sections) - 1})
	return len(w.sections) - 1
}

// vars writes the module's variables: those of the constant space, those with values, and the rest.
func (w *writer) vars() {
	for _, kind := range []struct {
		name        string
		typ         uint32
		flags       uint64
		konst, init bool
	}{
		{".nv.constant3", secProgbits, flagAlloc, true, true},
		{".nv.global.init", secProgbits, flagAlloc | flagWrite, false, true},
		{".nv.global", secNobits, flagAlloc | flagWrite, false, false},
	} {
		s := section{name: kind.name, typ: kind.typ, flags: kind.flags, align: 1}
		at := -1
		for i := range w.f.Vars {
			v := &w.f.Vars[i]
			if v.Const != kind.konst || !v.Const && (v.Init != nil) != kind.init {
				continue
			}
			if at < 0 {
				at = w.add(section{})
			}
			align := max(v.Align, 1)
			s.align = max(s.align, align)
			s.size = (s.size + align - 1) / align * align
			sym := symbol{name: v.Name, info: symObject, section: at, value: s.size, size: v.Size}
			if v.Global {
				sym.info |= bindGlobal
			}
			w.symbols = append(w.symbols, sym)
			if kind.typ == secProgbits {
				s.data = append(s.data, make([]byte, s.size+v.Size-uint64(len(s.data)))...)
				copy(s.data[s.size:], v.Init)
			}
			s.size += v.Size
		}
		if at >= 0 {
			w.sections[at] = s
		}
	}
}

// kernel writes the sections of one kernel. Its own symbol comes later, among the global ones; what names it is mended there.
func (w *writer) kernel(k *Kernel) {
	code := make([]byte, 128)
	copy(code, codeNote)
	w.kernels = append(w.kernels, w.add(section{name: ".text." + k.Name, typ: secProgbits,
		flags: flagAlloc | flagExec | uint64(min(k.Barriers, 16))<<barrierShift, align: 128, data: code}))
	w.add(section{name: ".nv.constant0." + k.Name, typ: secProgbits, flags: flagAlloc | flagInfoLink, align: 4, data: make([]byte, w.f.ConstBank(k))})
	if k.Shared > 0 {
		w.add(section{name: ".nv.shared." + k.Name, typ: secNobits, flags: flagAlloc | flagWrite | flagInfoLink, align: 16, size: k.Shared})
	}
	w.add(section{name: ".nv.info." + k.Name, typ: secInfo, flags: flagInfoLink, align: 4})
}

// named writes the symbols of the kernels, behind all others, and what points at them.
func (w *writer) named() {
	locals := w.symbols[:0:0]
	var globals []symbol
	for _, s := range w.symbols {
		if s.info>>4 != 0 {
			globals = append(globals, s)
		} else {
			locals = append(locals, s)
		}
	}
	first := uint32(len(locals))
	w.symbols = append(locals, globals...)
	for i := range w.f.Kernels {
		k := &w.f.Kernels[i]
		sym := uint32(len(w.symbols))
		at := w.kernels[i]
		w.symbols = append(w.symbols, symbol{name: k.Name, info: symFunc | bindGlobal, other: otherEntry, section: at, size: uint64(len(w.sections[at].data))})
		w.sections[at].link = atSymbols
		w.sections[at].info = sym | uint32(min(k.Registers, 255))<<registerShift
		bank := uint32(0)
		for j := at + 1; j < len(w.sections) && w.sections[j].flags&flagInfoLink != 0; j++ {
			s := &w.sections[j]
			s.info = uint32(at)
			if s.typ == secInfo {
				s.link = atSymbols
				s.data = w.attributes(k, bank)
			} else if bank == 0 {
				bank = w.sectionSymbol(j)
			}
		}
		w.info = sized(w.info, attrRegisters, sym, uint32(k.Registers))
		w.info = sized(w.info, attrFrameSize, sym, uint32(k.Local))
		w.info = sized(w.info, attrMinStack, sym, uint32(k.Local))
	}
	w.sections[atSymbols] = section{name: ".symtab", typ: secSymtab, link: atStrings, info: first, align: 8, entry: symbolSize}
}

func (w *writer) sectionSymbol(at int) uint32 {
	for i, s := range w.symbols {
		if s.section == at && s.info == symSection {
			return uint32(i)
		}
	}
	return 0
}

// attributes are what .nv.info.NAME says of a kernel.
func (w *writer) attributes(k *Kernel, bank uint32) []byte {
	b := sized(nil, attrAPI, apiVersion)
	if n := k.ParamBytes(); n > 0 {
		b = sized(b, attrParamBank, bank, firstParam(w.f.SM)|n<<16)
		b = append(b, fmtHalf, attrParamSize, byte(n), byte(n>>8))
	}
	for i := len(k.Params) - 1; i >= 0; i-- { // the last comes first
		p := k.Params[i]
		b = sized(b, attrParam, 0, uint32(i)|p.Offset<<16, p.Size<<paramSizeShift|paramFlags)
	}
	b = append(b, fmtHalf, attrMaxReg, 0xff, 0)
	if k.MaxThreads != [3]uint32{} {
		b = sized(b, attrMaxThreads, k.MaxThreads[:]...)
	}
	if k.ReqThreads != [3]uint32{} {
		b = sized(b, attrReqThreads, k.ReqThreads[:]...)
	}
	return b
}

// sized appends an attribute with words.
func sized(b []byte, attr byte, words ...uint32) []byte {
	b = append(b, fmtSized, attr, byte(4*len(words)), 0)
	for _, w := range words {
		b = le.AppendUint32(b, w)
	}
	return b
}

// packText is the section with the PTX.
func packText(text string) ([]byte, error) {
	out := make([]byte, textHeader+lz4.CompressBlockBound(len(text)))
	le.PutUint32(out, textMagic)
	le.PutUint32(out[4:], textVersion)
	le.PutUint32(out[8:], uint32(len(text)))
	le.PutUint32(out[12:], crc32.ChecksumIEEE([]byte(text)))
	n, err := lz4.CompressBlock([]byte(text), out[textHeader:], nil)
	if err != nil {
		return nil, err
	}
	if n == 0 || n >= len(text) {
		return append(out[:textHeader], text...), nil
	}
	return out[:textHeader+n], nil
}

// strings writes the symbol table and both tables of names.
func (w *writer) strings() {
	names := []byte{0}
	table := make([]byte, 0, len(w.symbols)*symbolSize)
	for _, s := range w.symbols {
		name := uint32(0)
		if s.name != "" {
			name = uint32(len(names))
			names = append(append(names, s.name...), 0)
		}
		table = le.AppendUint32(table, name)
		table = append(table, s.info, s.other)
		table = le.AppendUint16(table, uint16(s.section))
		table = le.AppendUint64(table, s.value)
		table = le.AppendUint64(table, s.size)
	}
	w.sections[atSymbols].data = table
	w.sections[atStrings] = section{name: ".strtab", typ: secStrtab, align: 1, data: names}
	w.sections[atNames] = section{name: ".shstrtab", typ: secStrtab, align: 1}
}

// bytes lays the file out: the header, the sections, and their table at the end, so that the header tells the length.
func (w *writer) bytes() []byte {
	names, at := []byte{0}, make([]uint32, len(w.sections))
	for i := range w.sections {
		if w.sections[i].name != "" {
			at[i] = uint32(len(names))
			names = append(append(names, w.sections[i].name...), 0)
		}
	}
	w.sections[atNames].data = names
	out := make([]byte, headerSize)
	table := make([]byte, 0, len(w.sections)*sectionSize)
	for i := range w.sections {
		s := &w.sections[i]
		out = pad(out, max(s.align, 1))
		size := s.size
		if s.typ != secNobits {
			size = uint64(len(s.data))
		}
		offset := uint64(len(out))
		if i == 0 {
			offset = 0
		}
		out = append(out, s.data...)
		table = le.AppendUint32(table, at[i])
		table = le.AppendUint32(table, s.typ)
		for _, v := range []uint64{s.flags, 0, offset, size} {
			table = le.AppendUint64(table, v)
		}
		table = le.AppendUint32(le.AppendUint32(table, s.link), s.info)
		table = le.AppendUint64(le.AppendUint64(table, s.align), s.entry)
	}
	out = pad(out, 8)
	w.header(out, uint64(len(out)))
	return append(out, table...)
}

func pad(b []byte, align uint64) []byte {
	return append(b, make([]byte, (align-uint64(len(b))%align)%align)...)
}

// header writes the file's header as NVIDIA's assembler does: from sm_100 on in a form of its own.
func (w *writer) header(h []byte, table uint64) {
	f := w.f
	copy(h, "\x7fELF\x02\x01\x01\x33\x07")
	version, flags := uint32(apiVersion), uint32(f.SM)|0x500|uint32(f.SM)<<16
	if f.Suffix == "a" {
		flags |= 0x800
	}
	if f.SM >= newForm {
		h[7], h[8] = newABI, 8
		version, flags = 1, 0x6000002|uint32(f.SM)<<8
		if f.Suffix == "a" {
			flags |= 8
		}
	}
	typ := uint16(typeExec)
	if f.Relocatable {
		typ = typeRel
	}
	le.PutUint16(h[16:], typ)
	le.PutUint16(h[18:], Machine)
	le.PutUint32(h[20:], version)
	le.PutUint64(h[40:], table)
	le.PutUint32(h[48:], flags)
	le.PutUint16(h[52:], headerSize)
	le.PutUint16(h[54:], 56)
	le.PutUint16(h[58:], sectionSize)
	le.PutUint16(h[60:], uint16(len(w.sections)))
	le.PutUint16(h[62:], atNames)
}

// newForm is the first target whose files have the newer header, and newABI its mark there.
const (
	newForm = 100
	newABI  = 0x41
)
