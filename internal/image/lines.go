package image

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// lines reads the line table of the kernel's object, with addresses as offsets in the image's code. Helper functions
// have no lines. An object without debug sections has none either.
func (b *builder) lines() ([]Line, error) {
	o := b.objects[0]
	sections := map[string][]byte{}
	for i, s := range o.file.Sections {
		if !strings.HasPrefix(s.Name, ".debug_") || s.Type != elf.SHT_PROGBITS || s.Size > maxObjectSection {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		data = append([]byte(nil), data...)
		if err := b.relocateDebug(o, i, data); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		sections[s.Name] = data
	}
	if sections[".debug_line"] == nil || sections[".debug_info"] == nil {
		return nil, nil
	}
	d, err := dwarf.New(sections[".debug_abbrev"], nil, nil, sections[".debug_info"], sections[".debug_line"], nil, sections[".debug_ranges"], sections[".debug_str"])
	if err != nil {
		return nil, fmt.Errorf("debug information: %w", err)
	}
	for _, n := range []string{".debug_line_str", ".debug_addr", ".debug_str_offsets", ".debug_rnglists"} {
		if sections[n] != nil {
			if err := d.AddSection(n, sections[n]); err != nil {
				return nil, fmt.Errorf("debug information: %w", err)
			}
		}
	}
	return b.collect(d)
}

// collect walks the line programs and keeps one row per change of line.
func (b *builder) collect(d *dwarf.Data) ([]Line, error) {
	var lines []Line
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("debug information: %w", err)
		}
		if e == nil {
			break
		}
		if e.Tag != dwarf.TagCompileUnit {
			r.SkipChildren()
			continue
		}
		lr, err := d.LineReader(e)
		if err != nil {
			return nil, fmt.Errorf("line table: %w", err)
		}
		if lr != nil {
			if lines, err = b.rows(lr, lines); err != nil {
				return nil, fmt.Errorf("line table: %w", err)
			}
		}
		r.SkipChildren()
	}
	sort.SliceStable(lines, func(i, j int) bool { return lines[i].Offset < lines[j].Offset })
	return squeeze(lines), nil
}

func (b *builder) rows(lr *dwarf.LineReader, lines []Line) ([]Line, error) {
	for {
		var e dwarf.LineEntry
		if err := lr.Next(&e); errors.Is(err, io.EOF) {
			return lines, nil
		} else if err != nil {
			return nil, err
		}
		line := uint32(min(max(e.Line, 0), 1<<31-1))
		if e.EndSequence {
			line = 0
		}
		if e.Address < uint64(b.text) {
			lines = append(lines, Line{Offset: uint32(e.Address), Line: line})
		}
	}
}

// squeeze keeps the last row of each offset and drops rows that repeat the line before. A compiler marks instructions
// it made up itself with line 0; they count as part of what came before them.
func squeeze(in []Line) []Line {
	var out []Line
	for i, l := range in {
		if i+1 < len(in) && in[i+1].Offset == l.Offset && in[i+1].Line != 0 {
			continue
		}
		if l.Line == 0 || len(out) > 0 && out[len(out)-1].Line == l.Line {
			continue
		}
		out = append(out, l)
	}
	return out
}

// relocateDebug applies the relocations of a debug section, which are absolute: an address is an offset in the
// image's code, anything else an offset in another debug section.
func (b *builder) relocateDebug(o *object, index int, data []byte) error {
	for _, rs := range o.file.Sections {
		if rs.Type != elf.SHT_RELA || int(rs.Info) != index {
			continue
		}
		err := o.eachRela(rs, func(off, info uint64, addend int64) error {
			n := uint32(info >> 32)
			if n == 0 || int(n) > len(o.symbols) {
				return fmt.Errorf("relocation against symbol %d of %d", n, len(o.symbols))
			}
			s := o.symbols[n-1]
			value := s.Value + uint64(addend)
			if base, ok := o.place[int(s.Section)]; ok {
				value += uint64(base)
			}
			return putDebug(b.machine, uint32(info), data, off, value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// debugWidths are the relocations that debug sections use, and the bytes each writes.
var debugWidths = map[Machine]map[uint32]uint64{
	X86_64: {
		uint32(elf.R_X86_64_64): 8, uint32(elf.R_X86_64_DTPOFF64): 8, uint32(elf.R_X86_64_32): 4, uint32(elf.R_X86_64_32S): 4,
	},
	AArch64: {uint32(elf.R_AARCH64_ABS64): 8, uint32(elf.R_AARCH64_ABS32): 4},
}

func putDebug(m Machine, kind uint32, data []byte, off, value uint64) error {
	w := debugWidths[m][kind]
	if w == 0 {
		return fmt.Errorf("relocation of kind %d", kind)
	}
	if off > uint64(len(data)) || uint64(len(data))-off < w {
		return fmt.Errorf("relocation at %d of %d bytes", off, len(data))
	}
	if w == 8 {
		binary.LittleEndian.PutUint64(data[off:], value)
	} else {
		binary.LittleEndian.PutUint32(data[off:], uint32(value))
	}
	return nil
}
