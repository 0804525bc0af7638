package cublas

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"kudzu/internal/driver"
	"kudzu/internal/shim/again"
	"kudzu/internal/spec/cu"
)

// Sum is one call that is done again number by number: each is a sum that is computed in f64.
type Sum struct {
	Library string
	What    string
	Axes    string
	Batch   int64
	Kind    Elem // what the kernels compute with
	Steps   float64
	// Operands are the memory of the call; the last Outs of them are written.
	Operands []*Operand
	Outs     int // 0: one
	// Ready is called for each matrix of the batch before its numbers.
	Ready func(b int64)
	// Number is the one at row i and column j of an operand that is written.
	Number func(o *Operand, b, i, j int64) Number
	// Other, where there is one, does the call for one matrix: raw is a copy of the last operand's memory.
	Other func(b int64, raw []byte)
	With  string // who is Other
}

// Number is what a call must have left.
type Number struct {
	V     complex128
	Size  float64 // the absolute values that were added
	N     int64   // how many
	Slack float64 // how much more it may be off
	Kept  bool    // it is as it was
	Open  uint8   // of a byte: bits that may be either
}

// settled is a number that a call left, with the bits that may be either as n has them.
func (n *Number) settled(got complex128) complex128 {
	if n.Open == 0 {
		return got
	}
	return complex(float64(int8(uint8(int8(real(got)))&^n.Open|uint8(int8(real(n.V)))&n.Open)), 0)
}

// Operand is a matrix of a call, a vector or one number, or a batch of them.
type Operand struct {
	Base         uint64 // or the address of a list of addresses
	Stride       int64  // numbers to the next of a batch
	Down, Right  int64  // numbers to the next row, and column
	Rows, Cols   int64
	List, Host   bool
	Conj         bool // its conjugate is meant
	Elem         Elem
	at           []uint64 // the first number of each
	of           int64    // whose numbers v are, counted from 1
	v            []complex128
	m            *again.Memory
	lowest, past int64 // the numbers that there are, from the first
}

// Matrix is an operand that lies as a view says.
func Matrix(v View, rows, cols int64, e Elem) *Operand {
	return &Operand{Base: v.Base, Stride: v.Stride, List: v.List, Down: 1, Right: v.LD, Rows: rows, Cols: cols, Elem: e}
}

// lineOf is a vector of a batch.
func lineOf(v View, n int64, e Elem) *Operand {
	return &Operand{Base: v.Base, Stride: v.Stride, List: v.List, Down: v.LD, Rows: n, Cols: 1, Elem: e}
}

func (v vector) operand(n int64, e Elem) *Operand {
	return &Operand{Base: v.base, Down: v.inc, Rows: n, Cols: 1, Elem: e}
}

// Operand is a scalar, whose value is At(0, 0).
func (s Scalar) Operand() *Operand {
	o := &Operand{Base: s.At, Rows: 1, Cols: 1, Elem: s.Type, Conj: s.Conj}
	if s.At == 0 {
		o.v, o.of, o.Rows = []complex128{complex(s.Re, s.Im)}, -1, 0
		if s.Conj {
			o.v[0] = complex(s.Re, -s.Im)
		}
	}
	return o
}

// spans finds the matrices of a batch.
func (o *Operand) spans(l *again.Lists, batch int64) []again.Span {
	if o.Rows == 0 || o.Cols == 0 {
		return nil
	}
	size := int64(o.Elem.Size())
	for _, d := range [2]int64{(o.Rows - 1) * o.Down, (o.Cols - 1) * o.Right} {
		o.lowest, o.past = o.lowest+min(d, 0), o.past+max(d, 0)
	}
	o.past++
	unit := o.Elem.real().Size()
	var list []again.Span
	for b := range batch {
		at := o.Base + uint64(b*o.Stride*size)
		if o.List {
			at = l.At(o.Base+uint64(b)*8) + uint64(o.Stride*size)
		}
		o.at = append(o.at, at)
		if b == 0 || o.List || o.Stride != 0 {
			list = append(list, again.Span{At: at + uint64(o.lowest*size), Bytes: uint64((o.past - o.lowest) * size), Unit: unit, Host: o.Host})
		}
	}
	return list
}

// decode is the numbers of matrix b in its memory.
func (o *Operand) decode(raw []byte) []complex128 {
	v := make([]complex128, 0, o.Rows*o.Cols)
	size := int64(o.Elem.Size())
	for j := range o.Cols {
		for i := range o.Rows {
			x := Decode(o.Elem, raw[(i*o.Down+j*o.Right-o.lowest)*size:])
			if o.Conj {
				x = cmplx.Conj(x)
			}
			v = append(v, x)
		}
	}
	return v
}

func (o *Operand) memory(b int64) (at, n uint64) {
	size := int64(o.Elem.Size())
	return o.at[b] + uint64(o.lowest*size), uint64((o.past - o.lowest) * size)
}

// All are the numbers of matrix b before the call, column by column.
func (o *Operand) All(b int64) []complex128 {
	if o.of == b+1 || o.of < 0 || len(o.at) == 0 {
		return o.v
	}
	o.v, o.of = o.decode(o.m.Before(o.memory(b))), b+1
	return o.v
}

// Bytes is the memory of matrix b before the call.
func (o *Operand) Bytes(b int64) []byte {
	if len(o.at) == 0 {
		return nil
	}
	return o.m.Before(o.memory(b))
}

// At is one of them.
func (o *Operand) At(b, i, j int64) complex128 { return o.All(b)[i+j*o.Rows] }

// Do runs a call, and has it done again where somebody asked for that.
func (s *Sum) Do(d *driver.Thread, stream cu.CUstream, run func() error) error {
	outs := s.Operands[len(s.Operands)-max(1, s.Outs):]
	c := &again.Call{Library: s.Library, What: s.What, With: s.With, Axes: s.Axes, Steps: s.Steps * float64(s.Batch)}
	if c.Library == "" {
		c.Library = "cuBLAS"
	}
	if c.Axes == "" {
		c.Axes = "matrix row column"
	}
	c.Spans = func(l *again.Lists) (list []again.Span) {
		for _, o := range s.Operands {
			part := o.spans(l, s.Batch)
			for i := range part {
				part[i].Out = slices.Contains(outs, o)
			}
			list = append(list, part...)
		}
		return list
	}
	c.Check = func(m *again.Memory) {
		for _, o := range s.Operands {
			o.m = m
		}
		for b := range s.Batch {
			if s.Ready != nil {
				s.Ready(b)
			}
			for _, o := range outs {
				s.check(m, b, o)
			}
		}
	}
	return again.Do(d, stream, c, run)
}

func (s *Sum) check(m *again.Memory, b int64, out *Operand) {
	now := out.decode(m.Now(out.memory(b)))
	var other []complex128
	if s.Other != nil {
		raw := append([]byte(nil), m.Before(out.memory(b))...)
		s.Other(b, raw)
		other = out.decode(raw)
	}
	for j := range out.Cols {
		for i := range out.Rows {
			n := s.Number(out, b, i, j)
			got := n.settled(now[i+j*out.Rows])
			if n.Kept {
				m.Compare(got, out.At(b, i, j), 0, math.Inf(1), b, i, j)
				continue
			}
			want := n.V
			if other != nil {
				want = other[i+j*out.Rows]
			}
			want = Decode(out.Elem, Encode(out.Elem, want))
			bound := n.Slack + 2*roundings(n.N)*unitOf(s.Kind)*finite(n.Size) + 2*unitOf(out.Elem)*finite(sizeOf(want)) + leastOf(out.Elem)
			if finite(n.Size) >= largestOf(s.Kind) && (cmplx.IsInf(got) || cmplx.IsNaN(got)) { // a part of the sum was infinite
				bound = math.Inf(1)
			}
			m.Compare(got, want, bound, largestOf(out.Elem), b, i, j)
		}
	}
}

// roundings is how many units in the last place a sum of n numbers may be off. Kernels add long sums up in parts, and errors of many
// roundings mostly cancel out.
func roundings(n int64) float64 { return min(float64(n)+4, 64+4*math.Sqrt(float64(n))) }

// Report names a call: gemv f32 128x64.
func Report(name string, e Elem, sizes ...int64) string {
	s := fmt.Sprintf("%s %s", name, e)
	for i, n := range sizes {
		if s += "x"; i == 0 {
			s = s[:len(s)-1] + " "
		}
		s += fmt.Sprint(n)
	}
	return s
}

// finite is 0 for what is not: no rounding explains a number in place of an infinity.
func finite(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return v
}

// sizeOf is at least the absolute value.
func sizeOf(v complex128) float64 { return math.Abs(real(v)) + math.Abs(imag(v)) }

// unitOf is the distance of 1 and the next number.
func unitOf(e Elem) float64 {
	switch e {
	case F32, C32:
		return 0x1p-23
	case F64, C64:
		return 0x1p-52
	case F16:
		return 0x1p-10
	case BF16:
		return 0x1p-7
	}
	return 0 // integers
}

// leastOf is the distance of 0 and the next number.
func leastOf(e Elem) float64 {
	switch e {
	case F32, C32:
		return 0x1p-149
	case F64, C64:
		return 0x1p-1074
	case F16:
		return 0x1p-24
	case BF16:
		return 0x1p-133
	}
	return 0
}

// largestOf is the largest number.
func largestOf(e Elem) float64 {
	switch e {
	case F32, C32, BF16:
		return math.MaxFloat32
	case F16:
		return 65504
	}
	return math.MaxFloat64
}
