package codeobject

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The numbers of ELF that code objects use.
const (
	ehdrBytes = 64
	shdrBytes = 64
	phdrBytes = 56
	symBytes  = 24
	relaBytes = 24

	emAMDGPU = 224
	osabiHSA = 64
	etRel    = 1
	etDyn    = 3

	shtProgbits = 1
	shtSymtab   = 2
	shtStrtab   = 3
	shtRela     = 4
	shtHash     = 5
	shtDynamic  = 6
	shtNote     = 7
	shtNobits   = 8
	shtDynsym   = 11

	shfWrite = 1
	shfAlloc = 2
	shfExec  = 4

	shnUndef  = 0
	shnAbs    = 0xfff1
	shnCommon = 0xfff2

	stbLocal     = 0
	stbGlobal    = 1
	stbWeak      = 2
	sttSection   = 3
	stvDefault   = 0
	stvHidden    = 2
	stvProtected = 3
)

var errShort = errors.New("ELF: a part lies outside the file")

// file is an ELF file of 64 bits for AMD GPUs. Slices point into data.
type file struct {
	data     []byte
	kind     uint16
	abi      byte
	flags    uint32
	sections []*section
	symbols  []*symbol // of .symtab, or of .dynsym where there is none
}

type section struct {
	index      int
	name       string
	kind       uint32
	flags      uint64
	addr       uint64
	off, size  uint64
	link, info uint32
	align      uint64
	entry      uint64

	relocs []reloc

	// of the linker
	out  uint64 // address in the linked object
	file uint64 // place in it
	keep bool
}

type symbol struct {
	name    string
	info    byte
	other   byte
	index   uint16
	section *section // nil for undefined and absolute symbols
	value   uint64
	size    uint64
}

func (s *symbol) bind() byte       { return s.info >> 4 }
func (s *symbol) visibility() byte { return s.other & 3 }

type reloc struct {
	off    uint64
	kind   uint32
	sym    *symbol
	addend int64
}

func (f *file) part(off, n uint64) ([]byte, error) {
	if off > uint64(len(f.data)) || n > uint64(len(f.data))-off {
		return nil, errShort
	}
	return f.data[off : off+n], nil
}

func (s *section) bytes(f *file) ([]byte, error) {
	if s.kind == shtNobits {
		return nil, nil
	}
	return f.part(s.off, s.size)
}

// bytes is what a defined symbol names.
func (s *symbol) bytes(f *file) ([]byte, error) {
	b, err := s.section.bytes(f)
	if err != nil {
		return nil, err
	}
	at := s.value
	if f.kind == etDyn {
		at -= s.section.addr
	}
	if at > uint64(len(b)) || s.size > uint64(len(b))-at {
		return nil, fmt.Errorf("symbol %s: %w", s.name, errShort)
	}
	return b[at : at+s.size], nil
}

func (f *file) symbol(name string) *symbol {
	for _, s := range f.symbols {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (f *file) section(name string) *section {
	for _, s := range f.sections {
		if s.name == name {
			return s
		}
	}
	return nil
}

func cstr(b []byte, at uint64) (string, error) {
	if at >= uint64(len(b)) {
		return "", errShort
	}
	n := bytes.IndexByte(b[at:], 0)
	if n < 0 {
		return "", errShort
	}
	return string(b[at : at+uint64(n)]), nil
}

func parseELF(b []byte) (*file, error) {
	le := binary.LittleEndian
	if len(b) < ehdrBytes || string(b[:4]) != "\x7fELF" || b[4] != 2 || b[5] != 1 {
		return nil, errors.New("code object: not an ELF file of 64 bits")
	}
	f := &file{data: b, kind: le.Uint16(b[16:]), abi: b[8], flags: le.Uint32(b[48:])}
	if m := le.Uint16(b[18:]); m != emAMDGPU || b[7] != osabiHSA {
		return nil, fmt.Errorf("code object: machine %d, OS ABI %d: not for AMD GPUs under HSA", m, b[7])
	}
	if f.kind != etRel && f.kind != etDyn {
		return nil, fmt.Errorf("code object: ELF type %d", f.kind)
	}
	off, n, names := le.Uint64(b[40:]), uint64(le.Uint16(b[60:])), int(le.Uint16(b[62:]))
	if le.Uint16(b[58:]) != shdrBytes {
		return nil, errors.New("code object: no section headers")
	}
	head, err := f.part(off, n*shdrBytes)
	if err != nil {
		return nil, err
	}
	for i := range int(n) {
		h := head[i*shdrBytes:]
		f.sections = append(f.sections, &section{
			index: i, kind: le.Uint32(h[4:]), flags: le.Uint64(h[8:]), addr: le.Uint64(h[16:]), off: le.Uint64(h[24:]), size: le.Uint64(h[32:]),
			link: le.Uint32(h[40:]), info: le.Uint32(h[44:]), align: le.Uint64(h[48:]), entry: le.Uint64(h[56:]),
		})
	}
	if names >= len(f.sections) {
		return nil, errShort
	}
	strs, err := f.sections[names].bytes(f)
	if err != nil {
		return nil, err
	}
	for i, s := range f.sections {
		if s.name, err = cstr(strs, uint64(le.Uint32(head[i*shdrBytes:]))); err != nil {
			return nil, fmt.Errorf("section %d: name: %w", i, err)
		}
		if s.align&(s.align-1) != 0 || s.align > 1<<20 {
			return nil, fmt.Errorf("section %s: alignment %d", s.name, s.align)
		}
	}
	return f, f.readSymbols()
}

func (f *file) readSymbols() error {
	var tab *section
	for _, s := range f.sections {
		if s.kind == shtSymtab || s.kind == shtDynsym && tab == nil {
			tab = s
		}
	}
	if tab == nil {
		return errors.New("code object: no symbols")
	}
	b, err := tab.bytes(f)
	if err != nil {
		return err
	}
	if int(tab.link) >= len(f.sections) {
		return errShort
	}
	strs, err := f.sections[tab.link].bytes(f)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	for ; len(b) >= symBytes; b = b[symBytes:] {
		s := &symbol{info: b[4], other: b[5], index: le.Uint16(b[6:]), value: le.Uint64(b[8:]), size: le.Uint64(b[16:])}
		if s.name, err = cstr(strs, uint64(le.Uint32(b))); err != nil {
			return fmt.Errorf("symbol: name: %w", err)
		}
		if s.index != shnUndef && s.index < 0xff00 {
			if int(s.index) >= len(f.sections) {
				return fmt.Errorf("symbol %s: %w", s.name, errShort)
			}
			s.section = f.sections[s.index]
		}
		f.symbols = append(f.symbols, s)
	}
	return f.readRelocs(tab)
}

func (f *file) readRelocs(tab *section) error {
	le := binary.LittleEndian
	for _, s := range f.sections {
		if s.kind != shtRela || f.kind != etRel || int(s.link) != tab.index {
			continue
		}
		if int(s.info) >= len(f.sections) {
			return errShort
		}
		b, err := s.bytes(f)
		if err != nil {
			return err
		}
		to := f.sections[s.info]
		for ; len(b) >= relaBytes; b = b[relaBytes:] {
			i := le.Uint32(b[12:])
			if int(i) >= len(f.symbols) {
				return fmt.Errorf("relocation in %s: %w", to.name, errShort)
			}
			to.relocs = append(to.relocs, reloc{le.Uint64(b), le.Uint32(b[8:]), f.symbols[i], int64(le.Uint64(b[16:]))})
		}
	}
	return nil
}
