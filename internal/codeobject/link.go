package codeobject

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// page is the granularity of segments, as ld.lld has it for this target.
const page = 0x1000

// linker lays one relocatable object out as a shared object.
type linker struct {
	f        *file
	readonly []*section // notes first, then constants
	text     []*section
	data     []*section // written, or with addresses that loading changes
	bss      []*section

	got      []*symbol
	slots    map[*symbol]int
	gotAddr  uint64
	gotFile  uint64
	relative []dynReloc
	bindings []Binding

	exports        []*symbol
	dynsym, dynstr []byte
	hash           []byte

	out  []byte
	addr uint64 // of the byte behind out
	segs []segment
	secs []outSection
}

// dynReloc is an address inside the object that loading moves.
type dynReloc struct {
	at     uint64
	addend int64
}

type segment struct {
	kind, flags           uint32
	off, addr, size, mems uint64
	align                 uint64
}

type outSection struct {
	name             string
	kind             uint32
	flags            uint64
	addr, off, size  uint64
	link, info       uint32
	align, entrySize uint64
}

// Link makes a loadable code object of the relocatable object that LLVM's AMDGPU target writes. It does in microseconds, in
// the process, what ld.lld -shared does; undefined variables get slots that Bind fills.
func Link(obj []byte) ([]byte, error) {
	f, err := parseELF(obj)
	if err != nil {
		return nil, err
	}
	if f.kind != etRel {
		return nil, errors.New("link: not a relocatable object")
	}
	l := &linker{f: f, slots: map[*symbol]int{}}
	if err := l.choose(); err != nil {
		return nil, err
	}
	if err := l.export(); err != nil {
		return nil, err
	}
	if err := l.write(); err != nil {
		return nil, err
	}
	if _, err := Read(l.out); err != nil {
		return nil, fmt.Errorf("link: the result: %w", err)
	}
	return l.out, nil
}

// choose sorts the sections by the segment they go into.
func (l *linker) choose() error {
	var total uint64
	for _, s := range l.f.sections {
		if s.flags&shfAlloc == 0 {
			continue
		}
		if s.kind != shtProgbits && s.kind != shtNobits && s.kind != shtNote {
			return fmt.Errorf("link: section %s of type %#x", s.name, s.kind)
		}
		if s.kind != shtNobits {
			if _, err := s.bytes(l.f); err != nil {
				return fmt.Errorf("link: section %s: %w", s.name, err)
			}
		}
		if s.align > page {
			return fmt.Errorf("link: section %s: alignment %d", s.name, s.align)
		}
		if total += s.size; s.size > 1<<31 || total > 1<<31 {
			return fmt.Errorf("link: section %s: %d bytes", s.name, s.size)
		}
		s.keep = true
	}
	for _, s := range l.f.sections {
		if !s.keep {
			continue
		}
		if err := l.scan(s); err != nil {
			return err
		}
		switch {
		case s.kind == shtNobits:
			l.bss = append(l.bss, s)
		case s.flags&shfExec != 0:
			l.text = append(l.text, s)
		case s.flags&shfWrite != 0 || s.moves():
			l.data = append(l.data, s)
		case s.kind == shtNote:
			l.readonly = append([]*section{s}, l.readonly...)
		default:
			l.readonly = append(l.readonly, s)
		}
	}
	return nil
}

// moves reports a section with addresses that are known only when it is loaded.
func (s *section) moves() bool {
	for _, r := range s.relocs {
		if r.kind == relAbs64 {
			return true
		}
	}
	return false
}

// export collects the symbols that a loader may ask for and lays their tables out; values come later.
func (l *linker) export() error {
	for _, s := range l.f.symbols {
		if s.section == nil || !s.section.keep || s.bind() == stbLocal || s.visibility() != stvDefault && s.visibility() != stvProtected {
			continue
		}
		if s.value > s.section.size || s.size > s.section.size-s.value {
			return fmt.Errorf("link: symbol %s: %w", s.name, errShort)
		}
		l.exports = append(l.exports, s)
	}
	l.dynstr = []byte{0}
	l.dynsym = make([]byte, symBytes*(len(l.exports)+1))
	for i, s := range l.exports {
		binary.LittleEndian.PutUint32(l.dynsym[symBytes*(i+1):], uint32(len(l.dynstr)))
		l.dynstr = append(append(l.dynstr, s.name...), 0)
	}
	l.hash = sysvHash(l.exports)
	return nil
}

// sysvHash is the table of DT_HASH.
func sysvHash(syms []*symbol) []byte {
	n := len(syms)
	buckets := max(1, n)
	t := make([]uint32, 2+buckets+n+1)
	t[0], t[1] = uint32(buckets), uint32(n+1)
	for i, s := range syms {
		var h uint32
		for _, c := range []byte(s.name) {
			h = h<<4 + uint32(c)
			g := h & 0xf0000000
			h ^= g >> 24
			h &^= g
		}
		b := 2 + h%uint32(buckets)
		t[2+buckets+i+1] = t[b]
		t[b] = uint32(i + 1)
	}
	out := make([]byte, 0, 4*len(t))
	for _, v := range t {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}
