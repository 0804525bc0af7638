package codeobject

import (
	"encoding/binary"
	"fmt"
)

const (
	ptLoad    = 1
	ptDynamic = 2
	ptNote    = 4
	ptStack   = 0x6474e551

	pfX, pfW, pfR = 1, 2, 4

	dtNull, dtHash, dtStrtab, dtSymtab, dtRela, dtRelaSize, dtRelaEntry, dtStrSize, dtSymEntry = 0, 4, 5, 6, 7, 8, 9, 10, 11
)

// maxSegments is the room for program headers: three or four loads, dynamic, notes, stack.
const maxSegments = 7

// write lays everything out and fills it in. Addresses are file offsets, plus a page for each segment before: what
// ld.lld does, so that a loader may map pages of the file.
func (l *linker) write() error {
	l.out = make([]byte, ehdrBytes+maxSegments*phdrBytes)
	l.addr = uint64(len(l.out))
	l.secs = []outSection{{}}

	load := segment{kind: ptLoad, flags: pfR, align: page}
	notes := l.place(l.readonly)
	dynsym := l.add(".dynsym", shtDynsym, shfAlloc, l.dynsym, 8, symBytes)
	hash := l.add(".hash", shtHash, shfAlloc, l.hash, 4, 4)
	dynstr := l.add(".dynstr", shtStrtab, shfAlloc, l.dynstr, 1, 0)
	l.secs[dynsym].link, l.secs[dynsym].info, l.secs[hash].link = uint32(dynstr), 1, uint32(dynsym)
	l.end(&load)

	if len(l.text) > 0 {
		load = l.begin(pfR | pfX)
		l.place(l.text)
		l.end(&load)
	}
	load = l.begin(pfR | pfW)
	l.place(l.data)
	if len(l.got) > 0 {
		i := l.add(".got", shtProgbits, shfAlloc|shfWrite, make([]byte, 8*len(l.got)), 8, 0)
		l.gotAddr, l.gotFile = l.secs[i].addr, l.secs[i].off
	}
	l.placeBSS() // after it only addresses are known, so everything can be resolved; bytes of .dynamic come last
	if err := l.resolve(); err != nil {
		return err
	}
	return l.finish(load, notes, dynsym, hash, dynstr)
}

// begin starts a segment on a new page of addresses.
func (l *linker) begin(flags uint32) segment {
	l.pad(16)
	l.addr = (l.addr+page-1)&^(page-1) + uint64(len(l.out))&(page-1)
	return segment{kind: ptLoad, flags: flags, off: uint64(len(l.out)), addr: l.addr, align: page}
}

func (l *linker) end(s *segment) {
	s.size = uint64(len(l.out)) - s.off
	s.mems = l.addr - s.addr
	l.segs = append(l.segs, *s)
}

func (l *linker) pad(align uint64) {
	for uint64(len(l.out))&(align-1) != 0 {
		l.out = append(l.out, 0)
		l.addr++
	}
}

// add appends a section of ours.
func (l *linker) add(name string, kind uint32, flags uint64, b []byte, align, entry uint64) int {
	l.pad(align)
	s := outSection{name: name, kind: kind, flags: flags, off: uint64(len(l.out)), size: uint64(len(b)), align: align, entrySize: entry}
	if flags&shfAlloc != 0 {
		s.addr = l.addr
	}
	l.out = append(l.out, b...)
	l.addr += uint64(len(b))
	l.secs = append(l.secs, s)
	return len(l.secs) - 1
}

// place appends sections of the object and gives the index of the first note among them, 0 if there is none.
func (l *linker) place(list []*section) (note int) {
	for _, s := range list {
		b, _ := s.bytes(l.f) // checked by choose
		i := l.add(s.name, s.kind, s.flags&(shfAlloc|shfWrite|shfExec), b, max(s.align, 1), 0)
		s.out, s.file = l.secs[i].addr, l.secs[i].off
		if s.kind == shtNote && note == 0 {
			note = i
		}
		s.index = i
	}
	return note
}

// placeBSS gives cleared memory its bytes, too: it is small, and everything behind it stays simple.
func (l *linker) placeBSS() {
	for _, s := range l.bss {
		i := l.add(s.name, shtProgbits, shfAlloc|shfWrite, make([]byte, s.size), max(s.align, 1), 0)
		s.out, s.file, s.index = l.secs[i].addr, l.secs[i].off, i
	}
}

// resolve applies relocations and fills the tables that hold addresses.
func (l *linker) resolve() error {
	for _, list := range [][]*section{l.readonly, l.text, l.data} {
		for _, s := range list {
			if err := l.apply(s, l.out[s.file:s.file+s.size]); err != nil {
				return err
			}
		}
	}
	for i, s := range l.got {
		off, at := l.gotFile+8*uint64(i), l.gotAddr+8*uint64(i)
		switch {
		case s.section != nil:
			l.relative = append(l.relative, dynReloc{at, int64(s.address())})
			binary.LittleEndian.PutUint64(l.out[off:], s.address())
		case s.index == shnAbs:
			binary.LittleEndian.PutUint64(l.out[off:], s.value)
		default:
			l.bindings = append(l.bindings, Binding{Name: s.name, Offset: off, Kind: Bind64, Weak: s.bind() == stbWeak})
		}
	}
	return nil
}

// finish writes .dynamic and what is not loaded, then the headers.
func (l *linker) finish(load segment, note, dynsym, hash, dynstr int) error {
	le := binary.LittleEndian
	dyn := func(b []byte, tag, v uint64) []byte { return le.AppendUint64(le.AppendUint64(b, tag), v) }
	var d []byte
	if len(l.relative) > 0 {
		var r []byte
		for _, x := range l.relative {
			r = le.AppendUint64(le.AppendUint64(le.AppendUint64(r, x.at), relRelative64), uint64(x.addend))
		}
		i := l.add(".rela.dyn", shtRela, shfAlloc, r, 8, relaBytes)
		l.secs[i].link = uint32(dynsym)
		d = dyn(dyn(dyn(d, dtRela, l.secs[i].addr), dtRelaSize, uint64(len(r))), dtRelaEntry, relaBytes)
	}
	d = dyn(dyn(d, dtSymtab, l.secs[dynsym].addr), dtSymEntry, symBytes)
	d = dyn(dyn(d, dtStrtab, l.secs[dynstr].addr), dtStrSize, l.secs[dynstr].size)
	d = dyn(dyn(d, dtHash, l.secs[hash].addr), dtNull, 0)
	di := l.add(".dynamic", shtDynamic, shfAlloc|shfWrite, d, 8, 16)
	l.secs[di].link = uint32(dynstr)
	l.end(&load)

	part := func(kind, flags uint32, i int) segment {
		s := l.secs[i]
		return segment{kind, flags, s.off, s.addr, s.size, s.size, s.align}
	}
	l.segs = append(l.segs, part(ptDynamic, pfR|pfW, di))
	if note != 0 {
		l.segs = append(l.segs, part(ptNote, pfR, note))
	}
	l.segs = append(l.segs, segment{kind: ptStack, flags: pfR | pfW})
	if len(l.segs) > maxSegments {
		return fmt.Errorf("BUG: link: %d segments", len(l.segs))
	}
	l.fillSymbols(l.out[l.secs[dynsym].off:])
	l.tail()
	l.headers()
	return nil
}

// fillSymbols writes the values of the exported symbols.
func (l *linker) fillSymbols(b []byte) {
	for i, s := range l.exports {
		putSymbol(b[symBytes*(i+1):], s)
	}
}

// putSymbol writes all of a symbol but its name.
func putSymbol(b []byte, s *symbol) {
	le := binary.LittleEndian
	b[4], b[5] = s.info, s.other
	le.PutUint16(b[6:], shnAbs)
	if s.section != nil {
		le.PutUint16(b[6:], uint16(s.section.index))
	}
	le.PutUint64(b[8:], s.address())
	le.PutUint64(b[16:], s.size)
}

// tail writes what is not loaded: the bindings and, for disassemblers, the symbol table.
func (l *linker) tail() {
	if len(l.bindings) > 0 {
		l.add(bindSection, shtProgbits, 0, encodeBindings(l.bindings), 1, 0)
	}
	var local, global []*symbol
	for _, s := range l.f.symbols {
		if s.name == "" || s.info&15 == sttSection || s.section == nil && s.index != shnAbs || s.section != nil && !s.section.keep {
			continue
		}
		if s.bind() == stbLocal {
			local = append(local, s)
		} else {
			global = append(global, s)
		}
	}
	strs, tab := []byte{0}, make([]byte, symBytes)
	for _, s := range append(local, global...) {
		var b [symBytes]byte
		binary.LittleEndian.PutUint32(b[:], uint32(len(strs)))
		putSymbol(b[:], s)
		tab = append(tab, b[:]...)
		strs = append(append(strs, s.name...), 0)
	}
	i := l.add(".symtab", shtSymtab, 0, tab, 8, symBytes)
	l.secs[i].link, l.secs[i].info = uint32(i+1), uint32(len(local)+1)
	l.add(".strtab", shtStrtab, 0, strs, 1, 0)
}

// headers writes the section headers behind everything and the ELF and program headers in front.
func (l *linker) headers() {
	le := binary.LittleEndian
	names, at := []byte{0}, make([]uint32, len(l.secs)+1)
	for i := 1; i < len(l.secs); i++ {
		at[i] = uint32(len(names))
		names = append(append(names, l.secs[i].name...), 0)
	}
	at[len(l.secs)] = uint32(len(names))
	names = append(names, ".shstrtab\x00"...)
	l.add(".shstrtab", shtStrtab, 0, names, 1, 0)
	l.pad(8)
	shoff := len(l.out)
	for i, s := range l.secs {
		l.out = append(l.out, s.header(at[i])...)
	}
	b := l.out
	copy(b, "\x7fELF\x02\x01\x01")
	b[7], b[8] = osabiHSA, l.f.abi
	le.PutUint16(b[16:], etDyn)
	le.PutUint16(b[18:], emAMDGPU)
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[32:], ehdrBytes)
	le.PutUint64(b[40:], uint64(shoff))
	le.PutUint32(b[48:], l.f.flags)
	for i, v := range []uint16{ehdrBytes, phdrBytes, uint16(len(l.segs)), shdrBytes, uint16(len(l.secs)), uint16(len(l.secs) - 1)} {
		le.PutUint16(b[52+2*i:], v)
	}
	for i, s := range l.segs {
		p := b[ehdrBytes+i*phdrBytes:]
		le.PutUint32(p, s.kind)
		le.PutUint32(p[4:], s.flags)
		for j, v := range []uint64{s.off, s.addr, s.addr, s.size, s.mems, max(s.align, 1)} {
			le.PutUint64(p[8+8*j:], v)
		}
	}
}
