package tensormap

// Field is what tensormap.replace changes.
type Field uint8

// The fields.
const (
	NoField Field = iota
	GlobalAddress
	RankField // less one
	BoxDim
	GlobalDim
	GlobalStride
	ElementStride
	Elemtype
	InterleaveLayout
	SwizzleMode
	FillMode
)

var fields = map[string]Field{
	".global_address": GlobalAddress, ".rank": RankField, ".box_dim": BoxDim, ".global_dim": GlobalDim, ".global_stride": GlobalStride,
	".element_stride": ElementStride, ".elemtype": Elemtype, ".interleave_layout": InterleaveLayout, ".swizzle_mode": SwizzleMode, ".fill_mode": FillMode,
}

// FieldOf is the field that a word of the instruction names.
func FieldOf(word string) Field { return fields[word] }

// Patch is a part of a change: some bits of the Bytes bytes at Off become those of the new value, less Less, shifted right or left.
// The rest stays, whatever it is: the vendor's assembler makes loads and stores of the instruction, and nothing asks whether a map is
// there (recorded).
type Patch struct {
	Off, Bytes  int
	Mask        uint64
	Less        uint64
	Right, Left uint
}

// Apply is the word after the change.
func (p *Patch) Apply(old, value uint64) uint64 {
	return old&^p.Mask | (value-p.Less)>>p.Right<<p.Left&p.Mask
}

// patch writes one part of a map, as 32 bits.
func (f bits) patch(less uint64, right uint) Patch {
	half := f.shift / 32
	left := uint(f.shift % 32)
	return Patch{Off: 8*int(f.word) + 4*int(half), Bytes: 4, Mask: f.mask() << left, Less: less, Right: right, Left: left}
}

// atomicity is a bit that a swizzle's change clears.
const atomicity = 1 << 22

// Patches are what a change of dimension ord does; those without a dimension have 0. constant is the new value of the fields whose
// value is one. None: there is no such field, dimension or value.
func (f Field) Patches(ord int, constant uint64) []Patch {
	if ord < 0 || ord >= MaxRank || f == GlobalStride && ord >= MaxRank-1 {
		return nil
	}
	switch f {
	case GlobalAddress:
		return []Patch{{Bytes: 8, Mask: ^uint64(0)}}
	case RankField:
		return []Patch{inRank.patch(0, 0)}
	case BoxDim:
		return []Patch{inBox[ord].patch(1, 0)}
	case GlobalDim:
		return []Patch{inDim[ord].patch(1, 0)}
	case GlobalStride:
		return []Patch{inStride[ord].patch(0, 4), inStrideHigh[ord].patch(0, 36)}
	case ElementStride:
		return []Patch{inStep[ord].patch(1, 0)}
	case Elemtype:
		p, tf32 := inType.patch(0, 0), uint64(len(codes))
		switch {
		case constant < tf32:
			return []Patch{p} // the bit of TF32 is never cleared
		case constant > tf32+1:
			return nil
		}
		f32, _ := F32.code()
		p.Less = tf32 - f32
		return []Patch{p, inTF32.patch(constant-1, 0)}
	case InterleaveLayout:
		return []Patch{inInterleave.patch(0, 0)}
	case SwizzleMode:
		p := inSwizzle.patch(0, 0)
		p.Mask |= atomicity
		return []Patch{p}
	case FillMode:
		return []Patch{inNaN.patch(0, 0)}
	case NoField:
	}
	return nil
}
