package backend

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Initialise writes what v begins as to at, its memory. where answers what a name stands for: where a variable lies, or the id of
// a function.
func (v *VarDecl) Initialise(at []byte, where func(symbol string) uint64) error {
	copy(at, v.Init)
	for _, r := range v.Relocs {
		if r.Size < 1 || r.Size > 8 || r.Offset > v.Size || v.Size-r.Offset < uint64(r.Size) {
			return fmt.Errorf("variable %s: address of %d bytes at offset %d of %d", v.Name, r.Size, r.Offset, v.Size)
		}
		x := where(r.Symbol) + uint64(r.Addend)
		if r.Mask != 0 { // PTX ISA, "Initializers": a mask picks bits of the address, moved to the right
			x = x & r.Mask >> bits.TrailingZeros64(r.Mask)
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], x)
		copy(at[r.Offset:], word[:r.Size])
	}
	return nil
}
