package image

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
)

// rel is one relocation: the field at offset at of the code refers to image offset target, plus addend.
type rel struct {
	code   []byte
	at     uint32
	kind   uint32
	target int64 // symbol + addend
	symbol int64
}

// relocator applies one relocation and says no to those that no flat image can hold.
type relocator func(r rel) error

var relocators = map[Machine]relocator{X86_64: relocateX86, AArch64: relocateARM}

// relocate applies the relocations of every section that is in the image.
func (b *builder) relocate() error {
	apply := relocators[b.machine]
	for _, o := range b.objects {
		for _, rs := range o.file.Sections {
			if rs.Type != elf.SHT_RELA && rs.Type != elf.SHT_REL {
				continue
			}
			base, placed := o.place[int(rs.Info)]
			if !placed {
				continue
			}
			if rs.Type == elf.SHT_REL {
				return fmt.Errorf("%s: relocations of %s have no addends", o.name, rs.Name)
			}
			size := o.file.Sections[rs.Info].Size
			err := o.eachRela(rs, func(off uint64, info uint64, addend int64) error {
				if off >= size {
					return fmt.Errorf("offset %d of %d bytes", off, size)
				}
				at, name, err := b.resolve(o, uint32(info>>32))
				if err != nil {
					return err
				}
				r := rel{code: b.code[:uint64(base)+size], at: base + uint32(off), kind: uint32(info), symbol: int64(at), target: int64(at) + addend}
				if err := apply(r); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %s: %w", o.name, rs.Name, err)
			}
		}
	}
	return nil
}

// eachRela walks a SHT_RELA section.
func (o *object) eachRela(s *elf.Section, f func(off, info uint64, addend int64) error) error {
	data, err := s.Data()
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	for ; len(data) >= 24; data = data[24:] {
		if err := f(le.Uint64(data), le.Uint64(data[8:]), int64(le.Uint64(data[16:]))); err != nil {
			return err
		}
	}
	return nil
}

// field is the n bytes at the relocation's place.
func (r rel) field(n int) ([]byte, error) {
	if int(r.at)+n > len(r.code) {
		return nil, fmt.Errorf("field past the end of its section")
	}
	return r.code[r.at : int(r.at)+n], nil
}

// pc is the distance from the field to the target.
func (r rel) pc() int64 { return r.target - int64(r.at) }

func (r rel) put32(v int64) error {
	f, err := r.field(4)
	if err != nil {
		return err
	}
	if v < math.MinInt32 || v > math.MaxInt32 {
		return fmt.Errorf("distance %d does not fit", v)
	}
	binary.LittleEndian.PutUint32(f, uint32(int32(v)))
	return nil
}

func relocateX86(r rel) error {
	switch elf.R_X86_64(r.kind) {
	case elf.R_X86_64_NONE:
		return nil
	case elf.R_X86_64_PC32, elf.R_X86_64_PLT32:
		return r.put32(r.pc())
	case elf.R_X86_64_PC64:
		f, err := r.field(8)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(f, uint64(r.pc()))
		return nil
	case elf.R_X86_64_GOTPCREL, elf.R_X86_64_GOTPCRELX, elf.R_X86_64_REX_GOTPCRELX:
		return r.relaxGOT()
	default:
		return fmt.Errorf("%v needs an address, and a flat image has none", elf.R_X86_64(r.kind))
	}
}

// relaxGOT rewrites an access through the global offset table, which an image does not have, to the thing itself: a
// load of the address becomes lea, an indirect call or jump a direct one. Other uses (cmp, add …) would need the
// absolute address.
func (r rel) relaxGOT() error {
	if r.at < 2 {
		return fmt.Errorf("GOT reference without an instruction")
	}
	if _, err := r.field(4); err != nil {
		return err
	}
	op := r.code[r.at-2 : r.at]
	switch {
	case op[0] == 0x8b && op[1]&0xc7 == 0x05: // mov sym@GOTPCREL(%rip), reg
		op[0] = 0x8d // lea sym(%rip), reg
		return r.put32(r.pc())
	case op[0] == 0xff && op[1] == 0x15: // call *sym@GOTPCREL(%rip)
		op[0], op[1] = 0x67, 0xe8 // addr32 call sym
		return r.put32(r.pc())
	case op[0] == 0xff && op[1] == 0x25: // jmp *sym@GOTPCREL(%rip)
		op[0] = 0xe9 // jmp sym; nop. The field begins a byte earlier, and so does the next instruction.
		r.at--
		if err := r.put32(r.pc()); err != nil {
			return err
		}
		r.code[r.at+4] = 0x90
		return nil
	default:
		return fmt.Errorf("instruction % x needs a global offset table", op)
	}
}

// aarch64 instruction fields.
func relocateARM(r rel) error {
	switch k := elf.R_AARCH64(r.kind); k {
	case elf.R_AARCH64_NONE:
		return nil
	case elf.R_AARCH64_PREL32:
		return r.put32(r.pc())
	case elf.R_AARCH64_PREL64:
		f, err := r.field(8)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(f, uint64(r.pc()))
		return nil
	case elf.R_AARCH64_CALL26, elf.R_AARCH64_JUMP26:
		return r.branch(26, 0)
	case elf.R_AARCH64_CONDBR19, elf.R_AARCH64_LD_PREL_LO19:
		return r.branch(19, 5)
	case elf.R_AARCH64_TSTBR14:
		return r.branch(14, 5)
	case elf.R_AARCH64_ADR_PREL_LO21:
		return r.adr(r.pc())
	case elf.R_AARCH64_ADR_PREL_PG_HI21, elf.R_AARCH64_ADR_PREL_PG_HI21_NC, elf.R_AARCH64_ADR_GOT_PAGE:
		// The code section is mapped headerSize into a page, so pages are counted from the file's start.
		return r.adr((r.target+headerSize)>>12 - (int64(r.at)+headerSize)>>12)
	case elf.R_AARCH64_LD64_GOT_LO12_NC:
		return r.addForGOT()
	default:
		scale, ok := armLow12[k]
		if !ok {
			return fmt.Errorf("%v needs an address, and a flat image has none", k)
		}
		return r.low12(scale)
	}
}

// armLow12 gives the scale of the immediate of relocations that take the low 12 bits.
var armLow12 = map[elf.R_AARCH64]uint{
	elf.R_AARCH64_ADD_ABS_LO12_NC: 0, elf.R_AARCH64_LDST8_ABS_LO12_NC: 0, elf.R_AARCH64_LDST16_ABS_LO12_NC: 1,
	elf.R_AARCH64_LDST32_ABS_LO12_NC: 2, elf.R_AARCH64_LDST64_ABS_LO12_NC: 3, elf.R_AARCH64_LDST128_ABS_LO12_NC: 4,
}

// patch replaces bits of the instruction.
func (r rel) patch(mask, bits uint32) error {
	f, err := r.field(4)
	if err != nil {
		return err
	}
	in := binary.LittleEndian.Uint32(f)
	binary.LittleEndian.PutUint32(f, in&^mask|bits&mask)
	return nil
}

// branch sets a word distance of the given width at a bit position.
func (r rel) branch(width, shift uint) error {
	d := r.pc()
	if d&3 != 0 || d>>2 < -(1<<(width-1)) || d>>2 >= 1<<(width-1) {
		return fmt.Errorf("distance %d does not fit", d)
	}
	mask := uint32(1<<width-1) << shift
	return r.patch(mask, uint32(d>>2)<<shift)
}

// adr sets the split 21-bit immediate of ADR and ADRP.
func (r rel) adr(d int64) error {
	if d < -(1<<20) || d >= 1<<20 {
		return fmt.Errorf("distance %d does not fit", d)
	}
	return r.patch(3<<29|0x7ffff<<5, uint32(d)&3<<29|uint32(d>>2)&0x7ffff<<5)
}

func (r rel) low12(scale uint) error {
	low := uint32(r.target+headerSize) & 0xfff
	if low&(1<<scale-1) != 0 {
		return fmt.Errorf("offset %#x is not aligned to %d", low, 1<<scale)
	}
	return r.patch(0xfff<<10, low>>scale<<10)
}

// addForGOT turns "ldr x, [x, :got_lo12:sym]" into "add x, x, :lo12:sym".
func (r rel) addForGOT() error {
	f, err := r.field(4)
	if err != nil {
		return err
	}
	in := binary.LittleEndian.Uint32(f)
	if in>>22 != 0x3e5 { // LDR (immediate, unsigned offset), 64-bit
		return fmt.Errorf("instruction %#08x needs a global offset table", in)
	}
	binary.LittleEndian.PutUint32(f, 0x91000000|in&0x3ff)
	return r.low12(0)
}
