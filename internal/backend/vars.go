package backend

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Vars are a module's variables in one piece of a device's memory. Externs that no one defines have no place: kernels that name one do
// not load.
type Vars struct {
	decls  []VarDecl
	places map[string]VarPlace
	total  uint64
	base   Addr
}

// VarPlace is where a variable lives.
type VarPlace struct {
	Addr  Addr
	Size  uint64
	Const bool
}

// leastVarAlign leaves room for the widest access, whatever a declaration says.
const leastVarAlign = 16

// LayVars gives every variable an offset. No variable may want a greater alignment than mostAlign, and all together no more than memory.
func LayVars(decls []VarDecl, mostAlign, memory uint64) (*Vars, error) {
	s := &Vars{decls: decls, places: map[string]VarPlace{}}
	for i := range decls {
		v := &decls[i]
		if v.Extern {
			continue
		}
		align := max(v.Align, leastVarAlign)
		if v.Align&(v.Align-1) != 0 || align > mostAlign {
			return nil, fmt.Errorf("variable %s: alignment %d", v.Name, v.Align)
		}
		if uint64(len(v.Init)) > v.Size {
			return nil, fmt.Errorf("variable %s: %d bytes initialised of %d", v.Name, len(v.Init), v.Size)
		}
		if _, twice := s.places[v.Name]; twice {
			return nil, fmt.Errorf("variable %s: defined twice", v.Name)
		}
		s.total = (s.total + align - 1) &^ (align - 1)
		s.places[v.Name] = VarPlace{Addr(s.total), v.Size, v.Const}
		if s.total > memory || max(v.Size, 1) > memory-s.total {
			return nil, fmt.Errorf("variable %s: %d bytes: %w", v.Name, v.Size, ErrNoMemory)
		}
		s.total += max(v.Size, 1)
	}
	return s, nil
}

// Total is the bytes they take, 0 if there are none.
func (s *Vars) Total() uint64 { return s.total }

// Base is where they begin, 0 before they were placed.
func (s *Vars) Base() Addr { return s.base }

// PlaceAt says where they begin. It is called once.
func (s *Vars) PlaceAt(base Addr) {
	s.base = base
	for name, v := range s.places {
		v.Addr += base
		s.places[name] = v
	}
}

// Initialise writes what they begin as to b, their memory, which is clear. funcID answers for a function's name.
func (s *Vars) Initialise(b []byte, funcID func(name string) uint64) error {
	where := func(symbol string) uint64 {
		if v, ok := s.places[symbol]; ok {
			return uint64(v.Addr)
		}
		return funcID(symbol)
	}
	for i := range s.decls {
		v := &s.decls[i]
		if v.Extern {
			continue
		}
		if err := v.Initialise(b[s.places[v.Name].Addr-s.base:][:v.Size], where); err != nil {
			return err
		}
	}
	return nil
}

// Find is where the variable of this name lives.
func (s *Vars) Find(name string) (VarPlace, bool) {
	p, ok := s.places[name]
	return p, ok
}

// Var is Find as a Program answers it.
func (s *Vars) Var(name string) (Addr, uint64, error) {
	v, ok := s.places[name]
	if !ok {
		return 0, 0, fmt.Errorf("variable %s: %w", name, ErrNotFound)
	}
	return v.Addr, v.Size, nil
}

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
