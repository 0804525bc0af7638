package baseline

// kind is what a type's elements are.
type kind uint8

const (
	void kind = iota
	integer
	float
	pointer
	aggregate
)

// typ is a type of LLVM's: a scalar, or a vector where lanes > 1.
type typ struct {
	kind   kind
	bits   uint16 // of an element; of an aggregate its number in reader.aggregates
	lanes  uint16
	vector bool // <1 x T> is a vector too
}

var (
	boolean = typ{kind: integer, bits: 1, lanes: 1}
	word    = typ{kind: integer, bits: 64, lanes: 1}
)

func (t typ) isMask() bool { return t.vector && t.bits == 1 }

// scalar is the type of an element.
func (t typ) scalar() typ { return typ{kind: t.kind, bits: t.bits, lanes: 1} }

// container is how many bytes hold so many bits of an integer: the next power of two, or eight bytes at a time.
func container(bits int) int {
	switch {
	case bits <= 8:
		return 1
	case bits <= 16:
		return 2
	case bits <= 32:
		return 4
	}
	return (bits + 63) / 64 * 8
}

// elem is the bytes of an element in memory.
func (t typ) elem() int { return container(int(t.bits)) }

// size is the bytes of a value, in its slot and in memory. A vector of bits is a number of as many bits.
func (t typ) size() int {
	if t.isMask() {
		return container(int(t.lanes))
	}
	return t.elem() * int(t.lanes)
}

// asNumber is the integer that holds a vector of bits.
func (t typ) asNumber() typ {
	if t.isMask() {
		return typ{kind: integer, bits: t.lanes, lanes: 1}
	}
	return t
}
