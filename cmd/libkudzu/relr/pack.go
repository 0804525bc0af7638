package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Tags of our own in the dynamic section, among those for the system's own use (relocate.c reads them): the table and its bytes.
const (
	tagTable elf.DynTag = 0x6b7a0001
	tagBytes elf.DynTag = 0x6b7a0002
)

const (
	relaSize = 24 // Elf64_Rela: offset, info, addend
	word     = 8
)

var le = binary.LittleEndian

// object is a shared library that is rewritten in place.
type object struct {
	b   []byte
	f   *elf.File
	dyn []byte             // the dynamic section
	at  map[elf.DynTag]int // where in it the first row with this tag is
}

// pack rewrites the file in b, and says whether there was anything to do.
func pack(b []byte) (bool, error) {
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return false, err
	}
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || f.Type != elf.ET_DYN {
		return false, errors.New("not a shared library of 64 bits")
	}
	o := &object{b: b, f: f, at: map[elf.DynTag]int{}}
	if err := o.readDynamic(); err != nil {
		return false, err
	}
	if _, done := o.at[tagTable]; done {
		return false, nil
	}
	return o.move()
}

// readDynamic finds the dynamic section and its rows.
func (o *object) readDynamic() error {
	i := slices.IndexFunc(o.f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_DYNAMIC })
	if i < 0 {
		return errors.New("no dynamic section")
	}
	p := o.f.Progs[i]
	if p.Off+p.Filesz > uint64(len(o.b)) {
		return errors.New("a dynamic section beyond the file")
	}
	o.dyn = o.b[p.Off : p.Off+p.Filesz]
	for i := 0; i+16 <= len(o.dyn); i += 16 {
		tag := elf.DynTag(le.Uint64(o.dyn[i:]))
		if _, had := o.at[tag]; !had {
			o.at[tag] = i
		}
		if tag == elf.DT_NULL {
			return nil
		}
	}
	return errors.New("a dynamic section without an end")
}

func (o *object) value(tag elf.DynTag) (uint64, error) {
	i, ok := o.at[tag]
	if !ok {
		return 0, fmt.Errorf("no %v", tag)
	}
	return le.Uint64(o.dyn[i+8:]), nil
}

func (o *object) set(tag elf.DynTag, v uint64) { le.PutUint64(o.dyn[o.at[tag]+8:], v) }

// add writes a row over the first that ends the section. Linkers leave some spare ones, of which the last stays.
func (o *object) add(tag elf.DynTag, v uint64) error {
	i := o.at[elf.DT_NULL]
	if i+32 > len(o.dyn) || le.Uint64(o.dyn[i+16:]) != uint64(elf.DT_NULL) {
		return errors.New("no room in the dynamic section")
	}
	le.PutUint64(o.dyn[i:], uint64(tag))
	le.PutUint64(o.dyn[i+8:], v)
	o.at[tag], o.at[elf.DT_NULL] = i, i+16
	return nil
}

// bytesAt is what the file has for n bytes at an address.
func (o *object) bytesAt(addr, n uint64) ([]byte, error) {
	for _, p := range o.f.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr <= p.Filesz && n <= p.Filesz-(addr-p.Vaddr) {
			at := p.Off + addr - p.Vaddr
			if at+n > uint64(len(o.b)) {
				break
			}
			return o.b[at : at+n], nil
		}
	}
	return nil, fmt.Errorf("%#x is not in the file", addr)
}

// relative is the type of relocation that adds where the library lies.
func (o *object) relative() (uint32, error) {
	switch o.f.Machine {
	case elf.EM_X86_64:
		return uint32(elf.R_X86_64_RELATIVE), nil
	case elf.EM_AARCH64:
		return uint32(elf.R_AARCH64_RELATIVE), nil
	}
	return 0, fmt.Errorf("machine %v", o.f.Machine)
}

// move takes relative relocations out of the loader's table. What stays goes to its end, before those of the procedure linkage table;
// the packed ones go to its beginning, and what they add stands where they add it.
func (o *object) move() (bool, error) {
	relative, err := o.relative()
	if err != nil {
		return false, err
	}
	start, err := o.value(elf.DT_RELA)
	if err != nil {
		return false, err
	}
	size, err := o.value(elf.DT_RELASZ)
	if err != nil {
		return false, err
	}
	table, err := o.bytesAt(start, size)
	if err != nil {
		return false, err
	}
	first, last := o.constructors()
	var stay []byte
	var places []uint64
	count := uint64(0) // relative ones that stay, which the loader wants first
	for i := 0; i+relaSize <= len(table); i += relaSize {
		r := table[i : i+relaSize]
		at := le.Uint64(r)
		if uint32(le.Uint64(r[8:])) != relative {
			stay = append(stay, r...)
			continue
		}
		place, err := o.bytesAt(at, word)
		if at%word != 0 || at >= first && at < last || err != nil {
			stay = slices.Insert(stay, int(count)*relaSize, r...)
			count++
			continue
		}
		copy(place, r[16:])
		places = append(places, at)
	}
	slices.Sort(places)
	packed := encode(places)
	if len(packed)*word+len(stay) > len(table) || len(places) == 0 {
		return false, nil
	}
	clear(table)
	for i, w := range packed {
		le.PutUint64(table[i*word:], w)
	}
	copy(table[len(table)-len(stay):], stay)
	o.set(elf.DT_RELA, start+size-uint64(len(stay)))
	o.set(elf.DT_RELASZ, uint64(len(stay)))
	if _, has := o.at[elf.DT_RELACOUNT]; has {
		o.set(elf.DT_RELACOUNT, count)
	}
	if err := o.add(tagTable, start); err != nil {
		return false, err
	}
	if err := o.add(tagBytes, uint64(len(packed)*word)); err != nil {
		return false, err
	}
	o.section(start, size, uint64(len(stay)))
	return true, nil
}

// constructors are the addresses of the lists of constructors, which the loader reads before ours has run.
func (o *object) constructors() (first, last uint64) {
	at, err := o.value(elf.DT_INIT_ARRAY)
	if err != nil {
		return 0, 0
	}
	n, err := o.value(elf.DT_INIT_ARRAYSZ)
	if err != nil {
		return 0, 0
	}
	return at, at + n
}

// section moves the header of the section, which only tools read.
func (o *object) section(start, size, left uint64) {
	headers := le.Uint64(o.b[40:]) // e_shoff
	each := uint64(le.Uint16(o.b[58:]))
	for i := range uint64(len(o.f.Sections)) {
		h := o.b[headers+i*each:]
		if le.Uint32(h[4:]) == uint32(elf.SHT_RELA) && le.Uint64(h[16:]) == start && le.Uint64(h[32:]) == size {
			le.PutUint64(h[16:], start+size-left)
			le.PutUint64(h[24:], le.Uint64(h[24:])+size-left)
			le.PutUint64(h[32:], left)
		}
	}
}

// encode is the form of DT_RELR (ELF, generic ABI): an even word is an address; the bits of an odd one above the lowest stand for the
// 63 words that follow what the words before it were about.
func encode(places []uint64) []uint64 {
	var out []uint64
	for i := 0; i < len(places); {
		out = append(out, places[i])
		next := places[i] + word
		for i++; ; next += 63 * word {
			bits := uint64(0)
			for ; i < len(places) && places[i] < next+63*word; i++ {
				bits |= 1 << ((places[i] - next) / word)
			}
			if bits == 0 {
				break
			}
			out = append(out, bits<<1|1)
		}
	}
	return out
}
