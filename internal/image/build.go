package image

import (
	"bytes"
	"debug/elf"
	"fmt"
	"sort"
	"strings"
)

// maxObjectSection bounds one section of an object: the small code model reaches 2 GiB, an image 1 GiB.
const maxObjectSection = 1 << 29

// object is one relocatable object being laid out.
type object struct {
	file    *elf.File
	name    string
	symbols []elf.Symbol // 1-based in relocations: index 0 is symbols[0]
	data    map[int][]byte
	place   map[int]uint32 // section → offset in the image's code
}

// section is a piece to place.
type section struct {
	obj   *object
	index int
	align uint64
}

// Build lays out an ELF relocatable object, with the objects of helper functions that it needs, into one flat image:
// all text, then all read-only data, every reference resolved relative to itself. What cannot be in such an image is
// an error that names it: writable data, an undefined symbol, a reference by absolute address.
func Build(obj []byte, entry string, meta Meta, helpers ...[]byte) ([]byte, error) {
	b := builder{defined: map[string]location{}}
	for i, o := range append([][]byte{obj}, helpers...) {
		if err := b.add(o, i); err != nil {
			return nil, err
		}
	}
	if err := b.layOut(); err != nil {
		return nil, err
	}
	if err := b.define(); err != nil {
		return nil, err
	}
	if err := b.relocate(); err != nil {
		return nil, err
	}
	at, ok := b.defined[entry]
	if !ok || at.obj != b.objects[0] || at.offset >= b.text {
		return nil, fmt.Errorf("object defines no function %s", entry)
	}
	lines, err := b.lines()
	if err != nil {
		return nil, err
	}
	meta.Lines = lines
	im := Image{Meta: meta, Machine: b.machine, Code: b.code, Text: b.text, Entry: at.offset}
	return im.encode()
}

// Undefined lists the symbols that an object needs from elsewhere, sorted.
func Undefined(obj []byte) ([]string, error) {
	o, err := readObject(obj, "object")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range o.symbols {
		if s.Section == elf.SHN_UNDEF && s.Name != "" {
			names = append(names, s.Name)
		}
	}
	sort.Strings(names)
	return names, nil
}

type location struct {
	obj    *object
	offset uint32
}

type builder struct {
	objects []*object
	machine Machine
	code    []byte
	text    uint32
	defined map[string]location // global symbols
}

func readObject(b []byte, name string) (*object, error) {
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f.Type != elf.ET_REL || f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB {
		return nil, fmt.Errorf("%s: not a 64-bit little-endian relocatable object", name)
	}
	o := &object{file: f, name: name, data: map[int][]byte{}, place: map[int]uint32{}}
	if o.symbols, err = f.Symbols(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

func (b *builder) add(data []byte, i int) error {
	name := "object"
	if i > 0 {
		name = fmt.Sprintf("helper object %d", i)
	}
	o, err := readObject(data, name)
	if err != nil {
		return err
	}
	m := Machine(o.file.Machine)
	if relocators[m] == nil {
		return fmt.Errorf("%s: machine %v has no image form", name, o.file.Machine)
	}
	if i == 0 {
		b.machine = m
	} else if m != b.machine {
		return fmt.Errorf("%s: machine %v among %v", name, o.file.Machine, elf.Machine(b.machine))
	}
	b.objects = append(b.objects, o)
	return nil
}

// ignored says which loadable sections have no place in an image: unwind tables, which nothing reads.
func ignored(s *elf.Section) bool {
	return s.Flags&elf.SHF_ALLOC == 0 || s.Size == 0 || strings.HasPrefix(s.Name, ".eh_frame") || s.Type == elf.SHT_NOTE
}

// layOut gives every section its offset and copies it there: text first.
func (b *builder) layOut() error {
	var text, data []section
	for _, o := range b.objects {
		for i, s := range o.file.Sections {
			switch {
			case ignored(s):
			case s.Flags&elf.SHF_WRITE != 0:
				return fmt.Errorf("%s: section %s is writable; an image has no data of its own", o.name, s.Name)
			case s.Type != elf.SHT_PROGBITS:
				return fmt.Errorf("%s: section %s of type %v has no place in an image", o.name, s.Name, s.Type)
			case s.Flags&elf.SHF_EXECINSTR != 0:
				text = append(text, section{o, i, s.Addralign})
			default:
				data = append(data, section{o, i, s.Addralign})
			}
		}
	}
	for i, list := range [][]section{text, data} {
		for _, s := range list {
			if err := b.put(s); err != nil {
				return err
			}
		}
		if i == 0 {
			b.text = uint32(len(b.code))
			b.pad(64) // a cache line: constants are not fetched as code
		}
	}
	return nil
}

func (b *builder) put(s section) error {
	sec := s.obj.file.Sections[s.index]
	if sec.Size > maxObjectSection || uint64(len(b.code)) > maxObjectSection {
		return fmt.Errorf("%s: section %s of %d bytes is too large", s.obj.name, sec.Name, sec.Size)
	}
	if s.align > codeAlign || s.align&(s.align-1) != 0 {
		return fmt.Errorf("%s: section %s is aligned to %d", s.obj.name, sec.Name, s.align)
	}
	bytes, err := sec.Data()
	if err != nil {
		return fmt.Errorf("%s: section %s: %w", s.obj.name, sec.Name, err)
	}
	b.pad(int(max(s.align, 1)))
	s.obj.place[s.index] = uint32(len(b.code))
	b.code = append(b.code, bytes...)
	return nil
}

func (b *builder) pad(align int) {
	for len(b.code)%align != 0 {
		b.code = append(b.code, 0)
	}
}

// define notes where the global symbols are. The kernel's object comes first and wins, so that it may bring its own
// version of a helper; two helpers of one name are one.
func (b *builder) define() error {
	for _, o := range b.objects {
		for _, s := range o.symbols {
			if elf.ST_BIND(s.Info) == elf.STB_LOCAL || s.Section == elf.SHN_UNDEF || s.Name == "" {
				continue
			}
			if s.Section == elf.SHN_COMMON || s.Section == elf.SHN_ABS {
				return fmt.Errorf("%s: symbol %s is common or absolute", o.name, s.Name)
			}
			at, ok := o.locate(s)
			if !ok {
				continue
			}
			if _, dup := b.defined[s.Name]; !dup {
				b.defined[s.Name] = location{o, at}
			}
		}
	}
	return nil
}

// locate gives the image offset of a symbol that is defined in a placed section.
func (o *object) locate(s elf.Symbol) (uint32, bool) {
	base, ok := o.place[int(s.Section)]
	if !ok || s.Value > o.file.Sections[s.Section].Size {
		return 0, false
	}
	return base + uint32(s.Value), true
}

// resolve gives the image offset that relocation symbol n of o stands for.
func (b *builder) resolve(o *object, n uint32) (uint32, string, error) {
	if n == 0 || int(n) > len(o.symbols) {
		return 0, "", fmt.Errorf("%s: relocation against symbol %d of %d", o.name, n, len(o.symbols))
	}
	s := o.symbols[n-1]
	name := s.Name
	if elf.ST_BIND(s.Info) != elf.STB_LOCAL {
		if at, ok := b.defined[name]; ok {
			return at.offset, name, nil
		}
		if s.Section == elf.SHN_UNDEF {
			return 0, name, &UndefinedSymbol{Name: name}
		}
	}
	if name == "" && int(s.Section) < len(o.file.Sections) {
		name = o.file.Sections[s.Section].Name
	}
	at, ok := o.locate(s)
	if !ok {
		return 0, name, fmt.Errorf("%s: %s is in no section of the image", o.name, name)
	}
	return at, name, nil
}

// UndefinedSymbol is a function or variable that code needs and nothing defines.
type UndefinedSymbol struct{ Name string }

// Error names it.
func (e *UndefinedSymbol) Error() string { return "undefined symbol " + e.Name }
