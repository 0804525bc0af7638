// Package fuse computes expressions of tensors, element by element, and reductions of such expressions. An expression is a Program;
// its kernel is PTX that is written when the program first runs on tensors of a layout, and compiled and cached like any kernel.
// Sizes and strides are parameters: a program that runs on other sizes is not compiled again.
package fuse

import (
	"fmt"
	"strings"
	"sync"

	"kudzu/internal/lockrank"
	"kudzu/internal/shim/cudnn/nn"
)

// Kind is what a value is while it is computed with.
type Kind uint8

// The kinds.
const (
	F32 Kind = iota
	F64
	S32
	S64
	Bool
)

var kinds = [...]struct {
	ptx      string // type in instructions
	reg      string // letter of its registers
	size     int64
	floating bool
}{
	F32: {"f32", "f", 4, true}, F64: {"f64", "d", 8, true}, S32: {"s32", "r", 4, false}, S64: {"s64", "l", 8, false}, Bool: {"pred", "p", 1, false},
}

// KindOf is the kind that holds all values of a type.
func KindOf(e nn.Elem) Kind {
	switch e {
	case nn.F64:
		return F64
	case nn.S8, nn.U8, nn.S32:
		return S32
	case nn.S64:
		return S64
	case nn.Bool:
		return Bool
	case nn.F32, nn.F16, nn.BF16, nn.E4M3, nn.E5M2:
	}
	return F32
}

// Value is a node of a program.
type Value int

type source uint8

const (
	fromOp      source = iota
	fromTensor         // slot
	fromIndex          // slot: what its strides make of an index
	fromScalar         // slot
	fromConst          // constant
	fromReduced        // args[0], over all that is reduced
)

type node struct {
	from     source
	kind     Kind
	op       Op
	args     []Value
	slot     int
	constant float64
	after    bool // it is known only when the reductions are done
}

// slot is a tensor of a program: its type, and which side of a reduction it is on.
type slot struct {
	elem  nn.Elem
	index bool // no memory
	after bool
}

type store struct {
	slot  int
	value Value
}

// Program is an expression. It is made once, then runs any number of times.
type Program struct {
	nodes   []node
	slots   []slot
	stores  []store
	scalars int
	reduced []Value

	once sync.Once
	id   string // made once

	mu   lockrank.Mutex[lockrank.DNNProgram]
	used map[string]*compiled // guarded by mu: by shape, so that they stay as long as the program
}

func (p *Program) add(n node) Value {
	for _, a := range n.args {
		n.after = n.after || p.nodes[a].after || p.nodes[a].from == fromReduced
	}
	p.nodes = append(p.nodes, n)
	return Value(len(p.nodes) - 1)
}

func (p *Program) slot(s slot) int {
	p.slots = append(p.slots, s)
	return len(p.slots) - 1
}

// In is an element of the next tensor.
func (p *Program) In(e nn.Elem) Value {
	return p.add(node{from: fromTensor, kind: KindOf(e), slot: p.slot(slot{elem: e})})
}

// After is an element of the next tensor, which has the shape of what a reduction leaves.
func (p *Program) After(e nn.Elem) Value {
	return p.add(node{from: fromTensor, kind: KindOf(e), slot: p.slot(slot{elem: e, after: true}), after: true})
}

// Index is the sum of an element's indices, each times the stride of the next tensor, which has no memory.
func (p *Program) Index() Value {
	return p.add(node{from: fromIndex, kind: S64, slot: p.slot(slot{index: true})})
}

// Scalar is the next number given to Run.
func (p *Program) Scalar(k Kind) Value {
	p.scalars++
	return p.add(node{from: fromScalar, kind: k, slot: p.scalars - 1})
}

// Const is a number that is part of the program.
func (p *Program) Const(k Kind, v float64) Value {
	return p.add(node{from: fromConst, kind: k, constant: v})
}

// Do applies an operation. Arguments are converted to the kind, which is what is computed with.
func (p *Program) Do(k Kind, op Op, args ...Value) Value {
	row := &ops[op]
	if len(args) != row.args {
		panic(fmt.Sprintf("BUG: %s of %d", row.name, len(args)))
	}
	switch {
	case row.logical:
		k = Bool
	case op == Uniform:
		return p.add(node{kind: F32, op: op, args: []Value{p.As(S64, args[0]), p.As(S64, args[1]), p.As(S64, args[2])}})
	case k == Bool && op != Select:
		k = S32
	}
	if op.asFloat(k) {
		return p.As(k, p.Do(F64, op, args...))
	}
	given := make([]Value, len(args))
	for i, a := range args {
		if op == Select && i == 0 {
			given[i] = p.As(Bool, a)
		} else {
			given[i] = p.As(k, a)
		}
	}
	if row.compares {
		return p.add(node{kind: Bool, op: op, args: given})
	}
	return p.add(node{kind: k, op: op, args: given})
}

// As converts a value.
func (p *Program) As(k Kind, v Value) Value {
	if p.nodes[v].kind == k {
		return v
	}
	return p.add(node{kind: k, op: convert, args: []Value{v}})
}

// Reduce is a value over all that is reduced, by Add, Mul, Min, Max, MinNaN or MaxNaN. Sums and products are kept in the widest kind.
func (p *Program) Reduce(op Op, v Value) Value {
	k := p.nodes[v].kind
	if k == Bool {
		k = S32
	}
	if op == Add || op == Mul {
		k = map[Kind]Kind{F32: F64, F64: F64, S32: S64, S64: S64}[k]
	}
	r := p.add(node{from: fromReduced, kind: k, op: op, args: []Value{p.As(k, v)}})
	p.reduced = append(p.reduced, r)
	return r
}

// Out stores a value in the next tensor.
func (p *Program) Out(e nn.Elem, v Value) {
	n := p.nodes[v]
	after := n.after || n.from == fromReduced
	p.stores = append(p.stores, store{p.slot(slot{elem: e, after: after}), v})
}

// key tells programs apart. A program that has run does not grow.
func (p *Program) key() string {
	p.once.Do(func() { p.id = p.spell() })
	return p.id
}

func (p *Program) spell() string {
	var b strings.Builder
	for _, n := range p.nodes {
		fmt.Fprintf(&b, "%d.%d.%d.%d.%v.%x,", n.from, n.kind, n.op, n.slot, n.args, n.constant)
	}
	for _, s := range p.slots {
		fmt.Fprintf(&b, "%d%t%t,", s.elem, s.index, s.after)
	}
	for _, s := range p.stores {
		fmt.Fprintf(&b, "%d=%d,", s.slot, s.value)
	}
	return b.String()
}

// KindOf is the kind of a value.
func (p *Program) KindOf(v Value) Kind { return p.nodes[v].kind }
