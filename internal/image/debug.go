package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// DebugObject describes mapped code to a debugger: an ELF file with one symbol and a line table, in the way of GDB's JIT interface
// (no bytes of code, sections at their addresses). file is what lines are lines of, line turns those of the slice into its own.
func (im *Image) DebugObject(base uint64, name, file string, line func(int) int) []byte {
	d := &debugObject{base: base, text: uint64(im.Text)}
	d.section(".text", elf.SHT_NOBITS, elf.SHF_ALLOC|elf.SHF_EXECINSTR, nil)
	d.section(".debug_abbrev", elf.SHT_PROGBITS, 0, abbrev)
	d.section(".debug_line", elf.SHT_PROGBITS, 0, d.lineProgram(im.Meta.Lines, file, line))
	d.section(".debug_info", elf.SHT_PROGBITS, 0, d.unit(name, file))
	return d.file(name, uint32(im.Machine))
}

// debugObject collects sections.
type debugObject struct {
	base, text uint64
	names      []byte
	heads      []elf.Section64
	body       [][]byte
}

func (d *debugObject) section(name string, kind elf.SectionType, flags elf.SectionFlag, data []byte) {
	if len(d.names) == 0 {
		d.names = []byte{0}
	}
	h := elf.Section64{Name: uint32(len(d.names)), Type: uint32(kind), Flags: uint64(flags), Size: uint64(len(data)), Addralign: 1}
	if kind == elf.SHT_NOBITS {
		h.Addr, h.Size, h.Addralign = d.base, d.text, 16
	}
	d.names = append(append(d.names, name...), 0)
	d.heads, d.body = append(d.heads, h), append(d.body, data)
}

// The parts of DWARF that are used.
const (
	tagUnit, tagSubprogram                   = 0x11, 0x2e
	atName, atStmtList, atLow, atHigh        = 0x03, 0x10, 0x11, 0x12
	formAddr, formData8, formString, formOff = 0x01, 0x07, 0x08, 0x17
	lineCopy, lineAdvancePC, lineAdvance     = 1, 2, 3
	lineEnd, lineAddress, opcodeTop          = 1, 2, 10
)

// abbrev says what the entries of unit look like.
var abbrev = []byte{
	1, tagUnit, 1, atName, formString, atStmtList, formOff, atLow, formAddr, atHigh, formData8, 0, 0,
	2, tagSubprogram, 0, atName, formString, atLow, formAddr, atHigh, formData8, 0, 0,
	0,
}

// unit is .debug_info: the file and one function that is all the code.
func (d *debugObject) unit(name, file string) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, 4) // DWARF 4
	b = le.AppendUint32(b, 0)    // abbrev
	b = append(b, 8, 1)
	b = append(append(b, file...), 0)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(le.AppendUint64(b, d.base), d.text)
	b = append(b, 2)
	b = append(append(b, name...), 0)
	b = le.AppendUint64(le.AppendUint64(b, d.base), d.text)
	b = append(b, 0)
	return append(le.AppendUint32(nil, uint32(len(b))), b...)
}

// lineProgram is .debug_line.
func (d *debugObject) lineProgram(lines []Line, file string, line func(int) int) []byte {
	le := binary.LittleEndian
	head := []byte{1, 1, 1, 0xfb, 14, opcodeTop, 0, 1, 1, 1, 1, 0, 0, 0, 1}
	head = append(head, 0) // no folders
	head = append(append(head, file...), 0, 0, 0, 0, 0)
	p := append([]byte{0, 9, lineAddress}, le.AppendUint64(nil, d.base)...)
	at, now := uint32(0), 1
	for i, first := 0, true; i < len(lines); i++ {
		l, to := lines[i], line(int(lines[i].Line))
		if l.Line == 0 || to <= 0 || l.Offset < at {
			continue
		}
		if first { // what comes before has no line of its own, and a debugger wants one for where the function begins
			l.Offset, first = 0, false
		}
		p = binary.AppendUvarint(append(p, lineAdvancePC), uint64(l.Offset-at))
		p = appendSigned(append(p, lineAdvance), int64(to-now))
		p = append(p, lineCopy)
		at, now = l.Offset, to
	}
	p = binary.AppendUvarint(append(p, lineAdvancePC), d.text-min(d.text, uint64(at)))
	p = append(p, 0, 1, lineEnd)
	b := le.AppendUint16(nil, 4)
	b = le.AppendUint32(b, uint32(len(head)))
	b = append(append(b, head...), p...)
	return append(le.AppendUint32(nil, uint32(len(b))), b...)
}

// appendSigned is DWARF's signed LEB128, which is not the varint of encoding/binary.
func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// file puts it all together: header, sections, section headers.
func (d *debugObject) file(name string, machine uint32) []byte {
	strings := append(append([]byte{0}, name...), 0)
	var syms bytes.Buffer
	for _, s := range []elf.Sym64{{}, {Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Size: d.text}} {
		_ = binary.Write(&syms, binary.LittleEndian, s) // to memory
	}
	d.section(".symtab", elf.SHT_SYMTAB, 0, syms.Bytes())
	table := &d.heads[len(d.heads)-1]
	table.Link, table.Info, table.Entsize, table.Addralign = uint32(len(d.heads)+1), 1, elf.Sym64Size, 8
	d.section(".strtab", elf.SHT_STRTAB, 0, strings)
	d.section(".shstrtab", elf.SHT_STRTAB, 0, nil)
	last := len(d.heads) - 1
	d.body[last], d.heads[last].Size = d.names, uint64(len(d.names))

	const headBytes, sectionBytes = 64, 64
	h := elf.Header64{
		Type: uint16(elf.ET_REL), Machine: uint16(machine), Version: 1, Ehsize: headBytes, Shentsize: sectionBytes,
		Shnum: uint16(len(d.heads) + 1), Shstrndx: uint16(last + 1),
	}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	var data []byte
	for i := range d.heads {
		for len(data)%8 != 0 {
			data = append(data, 0)
		}
		d.heads[i].Off = headBytes + uint64(len(data))
		data = append(data, d.body[i]...)
	}
	for len(data)%8 != 0 {
		data = append(data, 0)
	}
	h.Shoff = headBytes + uint64(len(data))
	var out bytes.Buffer
	for _, v := range []any{h, data, elf.Section64{}, d.heads} {
		_ = binary.Write(&out, binary.LittleEndian, v)
	}
	return out.Bytes()
}
