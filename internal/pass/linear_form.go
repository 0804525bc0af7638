package pass

import (
	"fmt"
	"strings"

	"kudzu/internal/ir"
)

// linear is a number as a sum of multiples of values that are not looked into, modulo 2^bits.
type linear struct {
	bits int
	c    uint64
	t    map[atom]uint64
}

// atom is a value, or (ext 's', 'z') its extension to 64 bits.
type atom struct {
	v   *ir.Value
	ext byte
}

func (l linear) mask() uint64 {
	if l.bits >= 64 {
		return ^uint64(0)
	}
	return 1<<l.bits - 1
}

// plus is l + k × m.
func (l linear) plus(m linear, k int64) linear {
	r := linear{bits: l.bits, c: (l.c + uint64(k)*m.c) & l.mask(), t: map[atom]uint64{}}
	for a, n := range l.t {
		r.t[a] = n
	}
	for a, n := range m.t {
		if r.t[a] = (r.t[a] + uint64(k)*n) & l.mask(); r.t[a] == 0 {
			delete(r.t, a)
		}
	}
	return r
}

func (l linear) equal(m linear) bool {
	d := l.plus(m, -1)
	return l.bits == m.bits && d.c == 0 && len(d.t) == 0
}

// lin is v as a linear form, before the two loops: what the first loop leaves behind is what it would after n & (u-1) iterations.
func (r *pair) lin(v *ir.Value, depth int) linear {
	l := linear{bits: v.Type.Bits(), t: map[atom]uint64{}}
	whole := func() linear { l.t[atom{v: v}] = 1; return l }
	d := v.Def
	switch {
	case v.Const && v.Type.Bits() <= 64:
		l.c = v.Bits
		return l
	case v == r.rem || d == nil || depth > 12 || v.Type != ir.I32 && v.Type != ir.I64:
		return whole()
	}
	switch d.Op {
	case ir.Add, ir.Sub:
		k := int64(1)
		if d.Op == ir.Sub {
			k = -1
		}
		return r.lin(d.Args[0], depth+1).plus(r.lin(d.Args[1], depth+1), k)
	case ir.Shl, ir.Mul:
		c := d.Args[1]
		if !c.Const || d.Op == ir.Shl && c.Bits >= 32 {
			return whole()
		}
		k := c.Int()
		if d.Op == ir.Shl {
			k = 1 << c.Bits
		}
		return l.plus(r.lin(d.Args[0], depth+1), k)
	case ir.SExt, ir.ZExt:
		if a := d.Args[0]; a.Type == ir.I32 && v.Type == ir.I64 {
			return r.extended(a, d.Op, depth)
		}
	case ir.Phi:
		if pa := r.goesOn(v); pa != nil {
			if s, ok := r.a.step(pa); ok {
				init, _ := r.a.ways(pa)
				return r.after(init, s)
			}
		}
	}
	return whole()
}

// after is a counter behind the first loop.
func (r *pair) after(init *ir.Value, step int64) linear {
	l := r.lin(init, 0)
	a := atom{v: r.rem}
	if l.bits == 64 && r.rem.Type == ir.I32 {
		a.ext = 'z'
	}
	if l.bits < r.rem.Type.Bits() {
		a = atom{v: init, ext: '?'} // not a number of iterations of this width: equal to nothing
	}
	return l.plus(linear{t: map[atom]uint64{a: 1}}, step)
}

// extended is the extension of a 32-bit number. It goes through the sum of where the loops begin and the first loop's iterations, which is
// not above where they end.
func (r *pair) extended(v *ir.Value, op ir.Op, depth int) linear {
	ext := byte('z')
	if op == ir.SExt {
		ext = 's'
	}
	l := linear{bits: 64, t: map[atom]uint64{}}
	x := r.lin(v, depth+1)
	if r.lo != nil && op == ir.SExt && r.rem.Type == ir.I32 {
		if base := r.lin(r.lo, depth+1); x.equal(base) || x.equal(base.plus(linear{t: map[atom]uint64{{v: r.rem}: 1}}, 1)) {
			if !x.equal(base) {
				l.t[atom{r.rem, 'z'}] = 1
			}
			if r.lo.Const {
				l.c = uint64(r.lo.Int())
			} else {
				l.t[atom{r.lo, 's'}] = 1
			}
			return l
		}
	}
	if n, some := x.t[atom{v: r.rem}]; len(x.t) == 0 || len(x.t) == 1 && some && n == 1 {
		if x.c < 1<<31-64 { // u is at most 64
			if some {
				l.t[atom{r.rem, 'z'}] = 1
			}
			l.c = x.c
			return l
		}
	}
	l.t[atom{v, ext}] = 1
	return l
}

// term is a value in symbols: a number above a node.
type term struct {
	node int
	off  uint64
}

// node is an operation on terms, or a symbol.
type node struct {
	op   ir.Op
	attr ir.Attr
	t    ir.Type
	v    *ir.Value // symbols
	args string
}

// terms numbers nodes, so that equal ones are one.
type terms map[node]int

func (ts terms) number(n node) int {
	i, ok := ts[n]
	if !ok {
		i = len(ts)
		ts[n] = i
	}
	return i
}

func (ts terms) of(v *ir.Value, env map[*ir.Value]term) term {
	if t, ok := env[v]; ok {
		return t
	}
	if v.Const {
		return term{ts.number(node{t: v.Type}), v.Bits}
	}
	return term{ts.number(node{t: v.Type, v: v}), 0}
}

// run adds the values of a round to env. There are no writes, so that a load is a function of its address.
func (ts terms) run(b *ir.Block, env map[*ir.Value]term) {
	for _, in := range b.Insts[numPhis(b) : len(b.Insts)-1] {
		v := in.Results[0]
		if in.Op == ir.Add && in.Args[1].Const {
			x := ts.of(in.Args[0], env)
			x.off = (x.off + in.Args[1].Bits) & linear{bits: v.Type.Bits()}.mask()
			env[v] = x
			continue
		}
		var args strings.Builder
		for _, a := range in.Args {
			t := ts.of(a, env)
			fmt.Fprintf(&args, "%d+%d ", t.node, t.off)
		}
		env[v] = term{ts.number(node{op: in.Op, attr: in.Attr, t: v.Type, args: args.String()}), 0}
	}
}

// sameBody reports that an iteration of the second loop does what u iterations of the first do.
func (r *pair) sameBody() bool {
	ts := terms{}
	a, b := r.a.h, r.b.h
	phis := a.Insts[:numPhis(a)]
	envA, envB := map[*ir.Value]term{}, map[*ir.Value]term{}
	for _, pb := range b.Insts[:numPhis(b)] {
		if pa := r.twin[pb]; pa != nil {
			t := ts.of(pa.Results[0], nil)
			t.off = r.ahead[pb]
			envB[pb.Results[0]] = t
		}
	}
	for range r.u {
		ts.run(a, envA)
		next := map[*ir.Value]term{}
		for _, pa := range phis {
			_, n := r.a.ways(pa)
			next[pa.Results[0]] = ts.of(n, envA)
		}
		envA = next
	}
	ts.run(b, envB)
	for _, pb := range b.Insts[:numPhis(b)] {
		pa := r.twin[pb]
		if pa == nil {
			continue
		}
		_, n := r.b.ways(pb)
		want, got := envA[pa.Results[0]], ts.of(n, envB)
		want.off = (want.off + r.ahead[pb]) & linear{bits: pa.Results[0].Type.Bits()}.mask()
		if want != got {
			return false
		}
	}
	return true
}
