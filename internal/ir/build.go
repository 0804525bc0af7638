package ir

import "slices"

// NewBlock appends an empty block to f.
func (f *Func) NewBlock(name string) *Block {
	b := &Block{ID: f.nextBlock, Func: f, Name: name}
	f.nextBlock++
	f.Blocks = append(f.Blocks, b)
	return b
}

// NewValue makes a value of f that nothing defines yet.
func (f *Func) NewValue(t Type) *Value {
	v := &Value{ID: f.nextValue, Type: t}
	f.nextValue++
	return v
}

// ConstInt is a constant of type t. Constants are not instructions and belong to no block; floats are given as bits.
func ConstInt(t Type, bits uint64) *Value {
	if n := t.Bits(); n < 64 {
		bits &= 1<<n - 1
	}
	return &Value{ID: -1, Type: t, Const: true, Bits: bits}
}

// Int is the constant as a signed number.
func (v *Value) Int() int64 {
	n := v.Type.Bits()
	if n == 0 || n >= 64 {
		return int64(v.Bits)
	}
	return int64(v.Bits<<(64-n)) >> (64 - n)
}

// NewInst makes an instruction with results of the given types, in no block yet.
func (f *Func) NewInst(op Op, results []Type, args ...*Value) *Inst {
	in := &Inst{Op: op, Args: args}
	for i, t := range results {
		v := f.NewValue(t)
		v.Def, v.Index = in, i
		in.Results = append(in.Results, v)
	}
	return in
}

// CloneInst copies in, with results of its own and in no block yet. with maps the original's operands and its mask to the copy's;
// nil: they stay. It is called after the results are made.
func (f *Func) CloneInst(in *Inst, with func(*Value) *Value) *Inst {
	c := &Inst{Op: in.Op, Args: slices.Clone(in.Args), Targets: slices.Clone(in.Targets), Line: in.Line, Mask: in.Mask, Attr: in.Attr}
	for i, r := range in.Results {
		v := f.NewValue(r.Type)
		v.Def, v.Index = c, i
		c.Results = append(c.Results, v)
	}
	if with == nil {
		return c
	}
	for i, a := range c.Args {
		c.Args[i] = with(a)
	}
	if c.Mask != nil {
		c.Mask = with(c.Mask)
	}
	return c
}

// Append adds in at the end of b.
func (b *Block) Append(in *Inst) *Inst {
	in.Block = b
	b.Insts = append(b.Insts, in)
	return in
}

// Builder appends instructions to a block, all with the current line.
type Builder struct {
	Func  *Func
	Block *Block
	Line  int32
}

// Emit appends an operation with one result.
func (b *Builder) Emit(op Op, t Type, attr Attr, args ...*Value) *Value {
	in := b.Func.NewInst(op, []Type{t}, args...)
	in.Attr, in.Line = attr, b.Line
	b.Block.Append(in)
	return in.Results[0]
}

// EmitN appends an operation with any number of results.
func (b *Builder) EmitN(op Op, types []Type, attr Attr, args ...*Value) *Inst {
	in := b.Func.NewInst(op, types, args...)
	in.Attr, in.Line = attr, b.Line
	return b.Block.Append(in)
}

// Terminate ends the block.
func (b *Builder) Terminate(op Op, attr Attr, args []*Value, targets ...*Block) *Inst {
	in := b.Func.NewInst(op, nil, args...)
	in.Attr, in.Line, in.Targets = attr, b.Line, targets
	return b.Block.Append(in)
}

// Rewire recomputes Preds of every block from the terminators. A block that branches twice to one target is listed once.
func (f *Func) Rewire() {
	for _, b := range f.Blocks {
		b.Preds = b.Preds[:0]
	}
	for _, b := range f.Blocks {
		for _, s := range b.Succs() {
			if n := len(s.Preds); n == 0 || s.Preds[n-1] != b {
				s.Preds = append(s.Preds, b)
			}
		}
	}
}

// Renumber gives blocks and values dense numbers in layout order, so that printed forms do not shift.
func (f *Func) Renumber() {
	n := 0
	for _, p := range f.Params {
		p.ID = n
		n++
	}
	for i, b := range f.Blocks {
		b.ID = i
		for _, in := range b.Insts {
			for _, r := range in.Results {
				r.ID = n
				n++
			}
		}
	}
	f.nextValue, f.nextBlock = n, len(f.Blocks)
}
