package trace

import (
	"strconv"
	"strings"
)

// append writes name=value, and *name=value where the call wrote it.
func (a *Arg) append(b []byte) []byte {
	v := &a.Value
	if a.Out && v.Kind == Pointer && v.To != nil {
		b = append(b, '*')
		v = v.To
	}
	if a.Name != "" {
		b = append(b, a.Name...)
		b = append(b, '=')
	}
	return v.append(b)
}

// String is the value as text.
func (v *Value) String() string { return string(v.append(nil)) }

// maxShown is how much of an array or of bytes is shown in a line.
const maxShown = 8

func (v *Value) append(b []byte) []byte {
	switch v.Kind {
	case Int, Uint, Float:
		return v.appendNumber(b)
	case Enum:
		return append(b, v.Text...)
	case Handle:
		if v.Bits == 0 && v.Class == "stream" {
			return append(b, '0')
		}
		if v.Text != "" {
			return append(b, v.Text...)
		}
	case Text:
		b = strconv.AppendQuote(b, v.Text)
		if v.Cut {
			b = append(b, "..."...)
		}
		return b
	case Pointer:
		if v.To != nil {
			return v.To.append(b)
		}
		if v.Text != "" {
			return append(b, v.Text...)
		}
	case Fields:
		return v.appendFields(b)
	case Elems:
		return v.appendElems(b)
	case Bytes:
		return v.appendBytes(b)
	case Device:
		if v.Bits < lowest && v.Bits > 0 { // a number, where a parameter's type does not tell it from an address
			return strconv.AppendUint(b, v.Bits, 10)
		}
	case Word:
	}
	if v.Bits == 0 && v.Kind != Word && v.Kind != Device {
		return append(b, "NULL"...)
	}
	if v.Bits == 0 {
		return append(b, '0')
	}
	return strconv.AppendUint(append(b, "0x"...), v.Bits, 16)
}

// appendNumber writes what lines and JSON write the same.
func (v *Value) appendNumber(b []byte) []byte {
	switch v.Kind {
	case Int:
		return strconv.AppendInt(b, int64(v.Bits), 10)
	case Float:
		return strconv.AppendFloat(b, v.Float, 'g', -1, 8*max(v.Size, 4))
	case Uint, Word, Enum, Handle, Device, Pointer, Text, Fields, Elems, Bytes:
	}
	return strconv.AppendUint(b, v.Bits, 10)
}

// appendFields leaves out zeros where there are many fields.
func (v *Value) appendFields(b []byte) []byte {
	b = append(b, '{')
	shown := 0
	for i := range v.Fields {
		f := &v.Fields[i]
		if len(v.Fields) > maxShown && f.Value.zero() {
			continue
		}
		if shown > 0 {
			b = append(b, ", "...)
		}
		if shown == 3*maxShown {
			b = append(b, "..."...)
			break
		}
		b = f.append(b)
		shown++
	}
	if v.Cut {
		b = append(b, ", ..."...)
	}
	return append(b, '}')
}

func (v *Value) appendElems(b []byte) []byte {
	b = append(b, '[')
	for i := range v.Fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		if i == maxShown {
			return append(b, "...]"...)
		}
		b = v.Fields[i].Value.append(b)
	}
	if v.Cut {
		b = append(b, ", ..."...)
	}
	return append(b, ']')
}

const hex = "0123456789abcdef"

func itoa(n int) string { return strconv.Itoa(n) }

func (v *Value) appendBytes(b []byte) []byte {
	b = append(b, '<')
	for i, c := range v.Bytes {
		if i == 4*maxShown {
			b = append(b, "..."...)
			break
		}
		if i > 0 && i%4 == 0 {
			b = append(b, ' ')
		}
		b = append(b, hex[c>>4], hex[c&15])
	}
	return append(b, '>')
}

func (v *Value) zero() bool {
	switch v.Kind {
	case Text:
		return v.Text == ""
	case Fields, Elems:
		for i := range v.Fields {
			if !v.Fields[i].Value.zero() {
				return false
			}
		}
		return true
	case Bytes:
		return strings.Trim(string(v.Bytes), "\x00") == ""
	case Word, Int, Uint, Float, Enum, Handle, Device, Pointer:
	}
	return v.Bits == 0
}
