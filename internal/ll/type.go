package ll

import (
	"fmt"
	"strconv"
	"strings"
)

// Type is an LLVM type as its text: i32, float, <32 x i32>, ptr addrspace(3), { i32, i1 }.
type Type string

// IntType is the integer type of so many bits.
func IntType(bits int) Type { return Type("i" + strconv.Itoa(bits)) }

// Vec is the type of n lanes of t; one lane is t itself.
func Vec(n int, t Type) Type {
	if n == 1 {
		return t
	}
	return "<" + Type(strconv.Itoa(n)) + " x " + t + ">"
}

// Array is the type of n elements t in memory.
func Array(n int, t Type) Type { return "[" + Type(strconv.Itoa(n)) + " x " + t + "]" }

// Struct is the type of several values.
func Struct(fields ...Type) Type {
	texts := make([]string, len(fields))
	for i, t := range fields {
		texts[i] = string(t)
	}
	return Type("{ " + strings.Join(texts, ", ") + " }")
}

// PtrTo is the type of pointers to a numbered address space.
func PtrTo(space int) Type {
	if space == 0 {
		return "ptr"
	}
	return Type(fmt.Sprintf("ptr addrspace(%d)", space))
}

// Split takes a vector's type apart; of another type there is one lane.
func (t Type) Split() (lanes int, elem Type) {
	if t == "" || t[0] != '<' {
		return 1, t
	}
	count, rest, ok := strings.Cut(string(t[1:len(t)-1]), " x ")
	n, err := strconv.Atoi(count)
	if !ok || err != nil {
		panic("BUG: type " + string(t))
	}
	return n, Type(rest)
}

// Lanes is how many elements a vector has; of another type 1.
func (t Type) Lanes() int {
	n, _ := t.Split()
	return n
}

// Elem is the type of a vector's elements, or t.
func (t Type) Elem() Type {
	_, e := t.Split()
	return e
}

// WithElem is the type with other elements.
func (t Type) WithElem(e Type) Type { return Vec(t.Lanes(), e) }

// ElemBits is the width of one element.
func (t Type) ElemBits() int {
	e := t.Elem()
	switch e {
	case "half", "bfloat":
		return 16
	case "float":
		return 32
	case "double":
		return 64
	}
	n, err := strconv.Atoi(strings.TrimPrefix(string(e), "i"))
	if err != nil {
		panic("BUG: width of type " + string(t))
	}
	return n
}

// Bits is the width of all elements together.
func (t Type) Bits() int { return t.Lanes() * t.ElemBits() }

// IsInt reports integers and vectors of them.
func (t Type) IsInt() bool {
	e := t.Elem()
	return len(e) > 1 && e[0] == 'i'
}

// IsFloat reports floats and vectors of them.
func (t Type) IsFloat() bool {
	switch t.Elem() {
	case "half", "bfloat", "float", "double":
		return true
	}
	return false
}

// IsPtr reports pointers and vectors of them.
func (t Type) IsPtr() bool { return strings.HasPrefix(string(t.Elem()), "ptr") }

// Field is the type of field i of a struct.
func (t Type) Field(i int) Type {
	if t == "" || t[0] != '{' {
		panic("BUG: a field of type " + string(t))
	}
	return Type(strings.Split(strings.Trim(string(t), "{ }"), ", ")[i])
}

// mangled is the type as names of intrinsics spell it: v32i32, f32, p0.
func (t Type) mangled() string {
	n, e := t.Split()
	s := string(e)
	switch e {
	case "float":
		s = "f32"
	case "double":
		s = "f64"
	case "half":
		s = "f16"
	case "bfloat":
		s = "bf16"
	case "ptr":
		s = "p0"
	}
	if n > 1 {
		return "v" + strconv.Itoa(n) + s
	}
	return s
}

// isVector reports a vector, be it of one lane.
func (t Type) isVector() bool { return t != "" && t[0] == '<' }
