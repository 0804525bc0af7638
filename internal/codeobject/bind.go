package codeobject

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Binding is an address that a code object needs from outside: a variable of the module, or what the runtime lends.
type Binding struct {
	Name   string
	Offset uint64 // in the file
	Kind   BindKind
	Addend int64
	Weak   bool // may stay 0
}

// BindKind says which bits of the address are written.
type BindKind uint8

// The kinds of binding: all 64 bits, the low 32, the high 32.
const (
	Bind64 BindKind = iota
	BindLow
	BindHigh
)

// bindSection holds the bindings of a code object. It is not loaded.
const bindSection = ".kudzu.bind"

// ErrUnbound reports a name that nothing defines.
var ErrUnbound = errors.New("undefined symbol")

func encodeBindings(list []Binding) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(len(list)))
	for _, x := range list {
		weak := byte(0)
		if x.Weak {
			weak = 1
		}
		b = le.AppendUint64(b, x.Offset)
		b = le.AppendUint64(b, uint64(x.Addend))
		b = append(b, byte(x.Kind), weak)
		b = le.AppendUint32(b, uint32(len(x.Name)))
		b = append(b, x.Name...)
	}
	return b
}

func readBindings(f *file) ([]Binding, error) {
	s := f.section(bindSection)
	if s == nil {
		return nil, nil
	}
	b, err := s.bytes(f)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	bad := fmt.Errorf("code object: section %s is damaged", bindSection)
	const fixed = 22
	if len(b) < 4 || uint64(le.Uint32(b)) > uint64(len(b))/fixed {
		return nil, bad
	}
	list := make([]Binding, le.Uint32(b))
	b = b[4:]
	for i := range list {
		if len(b) < fixed {
			return nil, bad
		}
		x := Binding{Offset: le.Uint64(b), Addend: int64(le.Uint64(b[8:])), Kind: BindKind(b[16]), Weak: b[17] == 1}
		n := uint64(le.Uint32(b[18:]))
		if n > uint64(len(b)-fixed) || x.Kind > BindHigh {
			return nil, bad
		}
		x.Name = string(b[fixed : fixed+n])
		b = b[fixed+n:]
		w := uint64(4)
		if x.Kind == Bind64 {
			w = 8
		}
		if x.Offset > uint64(len(f.data)) || w > uint64(len(f.data))-x.Offset {
			return nil, bad
		}
		list[i] = x
	}
	return list, nil
}

// Bind gives a copy of the code object with every address filled in.
func (o *Object) Bind(resolve func(name string) (addr uint64, ok bool)) ([]byte, error) {
	out := append([]byte(nil), o.data...)
	le := binary.LittleEndian
	for _, x := range o.Bindings {
		v, ok := resolve(x.Name)
		if !ok && !x.Weak {
			return nil, fmt.Errorf("%s: %w", x.Name, ErrUnbound)
		}
		if v += uint64(x.Addend); !ok {
			v = 0
		}
		switch at := out[x.Offset:]; x.Kind {
		case Bind64:
			le.PutUint64(at, v)
		case BindLow:
			le.PutUint32(at, uint32(v))
		case BindHigh:
			le.PutUint32(at, uint32(v>>32))
		}
	}
	return out, nil
}
