package codeobject

import (
	"encoding/binary"
	"fmt"
)

// The relocations of AMDGPU (LLVM's AMDGPU usage guide, "Relocation Records").
const (
	relNone         = 0
	relAbs32Lo      = 1
	relAbs32Hi      = 2
	relAbs64        = 3
	relRel32        = 4
	relRel64        = 5
	relAbs32        = 6
	relGotPC        = 7
	relGotPC32Lo    = 8
	relGotPC32Hi    = 9
	relRel32Lo      = 10
	relRel32Hi      = 11
	relRelative64   = 13
	relRel16        = 14
	shnAMDGPULDS    = 0xff00
	relocationKinds = 15
)

// width is how many bytes a relocation writes, 0 for kinds that objects do not have.
var width = [relocationKinds]uint64{
	relAbs32Lo: 4, relAbs32Hi: 4, relAbs64: 8, relRel32: 4, relRel64: 8, relAbs32: 4, relGotPC: 4, relGotPC32Lo: 4, relGotPC32Hi: 4,
	relRel32Lo: 4, relRel32Hi: 4, relRel16: 2,
}

func isGot(kind uint32) bool { return kind == relGotPC || kind == relGotPC32Lo || kind == relGotPC32Hi }

// scan checks the relocations of what is kept and notes which symbols need a slot in the global offset table.
func (l *linker) scan(s *section) error {
	for _, r := range s.relocs {
		if r.kind == relNone {
			continue
		}
		if r.kind >= relocationKinds || width[r.kind] == 0 {
			return fmt.Errorf("link: %s: relocation of kind %d", s.name, r.kind)
		}
		if s.kind == shtNobits || r.off > s.size || width[r.kind] > s.size-r.off {
			return fmt.Errorf("link: %s: relocation at %#x of %#x bytes", s.name, r.off, s.size)
		}
		switch {
		case r.sym.index == shnAMDGPULDS:
			return fmt.Errorf("link: %s: shared memory %s was not laid out by the compiler", s.name, r.sym.name)
		case r.sym.index == shnCommon:
			return fmt.Errorf("link: %s: %s is a common symbol", s.name, r.sym.name)
		case r.sym.section != nil && !r.sym.section.keep:
			return fmt.Errorf("link: %s: %s lies in %s, which is not loaded", s.name, r.sym.name, r.sym.section.name)
		}
		if isGot(r.kind) && l.slots[r.sym] == 0 {
			l.got = append(l.got, r.sym)
			l.slots[r.sym] = len(l.got) // from 1
		}
	}
	return nil
}

// address is where a defined symbol lies in the linked object.
func (s *symbol) address() uint64 {
	if s.section == nil {
		return s.value
	}
	return s.section.out + s.value
}

// apply resolves the relocations of a section in its copy.
func (l *linker) apply(s *section, b []byte) error {
	for _, r := range s.relocs {
		if r.kind == relNone {
			continue
		}
		if err := l.applyOne(s, r, b); err != nil {
			return err
		}
	}
	return nil
}

func (l *linker) applyOne(s *section, r reloc, b []byte) error {
	le := binary.LittleEndian
	at, place := b[r.off:], s.out+r.off
	undefined, absolute := r.sym.section == nil && r.sym.index == shnUndef, r.sym.index == shnAbs
	switch r.kind {
	case relAbs64, relAbs32, relAbs32Lo, relAbs32Hi:
		switch {
		case absolute:
			writeWord(at, r.kind, r.sym.value+uint64(r.addend))
		case undefined:
			kind := map[uint32]BindKind{relAbs64: Bind64, relAbs32: BindLow, relAbs32Lo: BindLow, relAbs32Hi: BindHigh}[r.kind]
			l.bindings = append(l.bindings, Binding{Name: r.sym.name, Offset: s.file + r.off, Kind: kind, Addend: r.addend, Weak: r.sym.bind() == stbWeak})
		case r.kind == relAbs64:
			l.relative = append(l.relative, dynReloc{place, int64(r.sym.address()) + r.addend})
			le.PutUint64(at, r.sym.address()+uint64(r.addend))
		default:
			return fmt.Errorf("link: %s: 32 bits of the address of %s, which is not known before loading", s.name, r.sym.name)
		}
		return nil
	case relGotPC, relGotPC32Lo, relGotPC32Hi:
		slot := l.gotAddr + 8*uint64(l.slots[r.sym]-1)
		writeWord(at, r.kind, slot+uint64(r.addend)-place)
		return nil
	}
	if undefined {
		return fmt.Errorf("link: %s: undefined symbol %s", s.name, r.sym.name)
	}
	v := r.sym.address() + uint64(r.addend) - place
	if r.kind == relRel16 {
		v = uint64((int64(v) - 4) / 4)
		if int64(int16(v)) != int64(v) {
			return fmt.Errorf("link: %s: branch to %s is too far", s.name, r.sym.name)
		}
		le.PutUint16(at, uint16(v))
		return nil
	}
	writeWord(at, r.kind, v)
	return nil
}

// writeWord writes the part of v that a kind of relocation takes.
func writeWord(at []byte, kind uint32, v uint64) {
	le := binary.LittleEndian
	switch kind {
	case relAbs64, relRel64:
		le.PutUint64(at, v)
	case relAbs32Hi, relGotPC32Hi, relRel32Hi:
		le.PutUint32(at, uint32(v>>32))
	default: // the low half: relAbs32, relAbs32Lo, relRel32, relRel32Lo, relGotPC, relGotPC32Lo
		le.PutUint32(at, uint32(v))
	}
}
