package codeobject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"
)

// MessagePack, as much of it as code object metadata may use: nil, booleans, integers, floats, strings, binaries, arrays and
// maps. Maps have string keys.

var errPack = errors.New("metadata: MessagePack ends early")

const maxDepth = 16

// unpacker reads values from a note. What a value says of its own length is believed only as far as there are bytes.
type unpacker struct {
	b     []byte
	depth int
}

func (u *unpacker) take(n int) ([]byte, error) {
	if n < 0 || n > len(u.b) {
		return nil, errPack
	}
	b := u.b[:n]
	u.b = u.b[n:]
	return b, nil
}

func (u *unpacker) number(n int) (uint64, error) {
	b, err := u.take(n)
	if err != nil {
		return 0, err
	}
	var v uint64
	for _, x := range b {
		v = v<<8 | uint64(x)
	}
	return v, nil
}

// value reads one: nil, bool, int64, uint64, float64, string, []any or map[string]any.
func (u *unpacker) value() (any, error) {
	if u.depth++; u.depth > maxDepth {
		return nil, fmt.Errorf("metadata: nested deeper than %d", maxDepth)
	}
	defer func() { u.depth-- }()
	t, err := u.number(1)
	if err != nil {
		return nil, err
	}
	switch {
	case t < 0x80:
		return int64(t), nil
	case t < 0x90:
		return u.object(int(t & 15))
	case t < 0xa0:
		return u.array(int(t & 15))
	case t < 0xc0:
		return u.text(int(t & 31))
	case t >= 0xe0:
		return int64(int8(t)), nil
	}
	return u.tagged(byte(t))
}

// sized are the types whose length follows: bytes of the length, by tag.
var sized = map[byte]int{0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4}

func (u *unpacker) tagged(t byte) (any, error) {
	if w, ok := sized[t]; ok {
		n, err := u.number(w)
		if err != nil {
			return nil, err
		}
		switch {
		case t >= 0xde:
			return u.object(int(n))
		case t >= 0xdc:
			return u.array(int(n))
		}
		return u.text(int(n))
	}
	switch t {
	case 0xc0:
		return nil, nil
	case 0xc2, 0xc3:
		return t == 0xc3, nil
	case 0xca:
		n, err := u.number(4)
		return float64(math.Float32frombits(uint32(n))), err
	case 0xcb:
		n, err := u.number(8)
		return math.Float64frombits(n), err
	case 0xcc, 0xcd, 0xce, 0xcf:
		n, err := u.number(1 << (t - 0xcc))
		if n > math.MaxInt64 {
			return n, err
		}
		return int64(n), err
	case 0xd0, 0xd1, 0xd2, 0xd3:
		w := 1 << (t - 0xd0)
		n, err := u.number(w)
		return int64(n<<(64-8*w)) >> (64 - 8*w), err
	}
	return nil, fmt.Errorf("metadata: MessagePack type %#x", t)
}

func (u *unpacker) text(n int) (any, error) {
	b, err := u.take(n)
	return string(b), err
}

func (u *unpacker) array(n int) (any, error) {
	if n > len(u.b) { // an element takes a byte at least
		return nil, errPack
	}
	a := make([]any, 0, min(n, 1024)) // the length is only a claim
	for range n {
		v, err := u.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	return a, nil
}

func (u *unpacker) object(n int) (any, error) {
	if n > len(u.b)/2 {
		return nil, errPack
	}
	m := make(map[string]any, min(n, 64))
	for range n {
		k, err := u.value()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, errors.New("metadata: a key is no string")
		}
		if m[key], err = u.value(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// pack appends a value as LLVM writes it: shortest forms, keys sorted.
func pack(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 0xc0)
	case bool:
		if v {
			return append(b, 0xc3)
		}
		return append(b, 0xc2)
	case int64:
		return packInt(b, v)
	case uint64:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), v)
	case float64:
		return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v))
	case string:
		return append(packLength(b, len(v), 0xa0, 31, 0xd9), v...)
	case []any:
		b = packLength(b, len(v), 0x90, 15, 0xdb)
		for _, x := range v {
			b = pack(b, x)
		}
		return b
	case map[string]any:
		b = packLength(b, len(v), 0x80, 15, 0xdd)
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			b = pack(pack(b, k), v[k])
		}
		return b
	}
	panic(fmt.Sprintf("BUG: codeobject: pack %T", v))
}

// packLength writes a length: in the tag up to most, else after wide (1 byte), wide+1 (2), wide+2 (4). Arrays and maps have
// no form with one byte.
func packLength(b []byte, n int, short, most, wide byte) []byte {
	switch {
	case n <= int(most):
		return append(b, short|byte(n))
	case n <= 0xff && wide == 0xd9:
		return append(b, wide, byte(n))
	case n <= 0xffff:
		return binary.BigEndian.AppendUint16(append(b, wide+1), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, wide+2), uint32(n))
}

func packInt(b []byte, v int64) []byte {
	switch {
	case v >= 0 && v < 0x80, v < 0 && v >= -32:
		return append(b, byte(v))
	case v >= 0 && v <= 0xff:
		return append(b, 0xcc, byte(v))
	case v >= 0 && v <= 0xffff:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(v))
	case v >= 0 && v <= 0xffffffff:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(v))
	case v >= 0:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), uint64(v))
	case v >= math.MinInt8:
		return append(b, 0xd0, byte(v))
	case v >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(v))
	case v >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(v))
}
