package pass

import (
	"fmt"
	"strings"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// lin is v as a linear form, before the two loops: what the first loop leaves behind is what it would after n & (u-1) iterations.
func (r *pair) lin(v *ir.Value) analysis.Linear { return r.forms.Of(v) }

// look is what linear forms know of the first loop, and of extensions.
func (r *pair) look(v *ir.Value) (analysis.Linear, bool) {
	if v == r.rem || v.Def == nil || v.Type != ir.I32 && v.Type != ir.I64 {
		return analysis.Whole(v), true
	}
	switch d := v.Def; d.Op {
	case ir.SExt, ir.ZExt:
		if a := d.Args[0]; a.Type == ir.I32 && v.Type == ir.I64 {
			return r.extended(a, d.Op), true
		}
	case ir.Phi:
		if pa := r.goesOn(v); pa != nil {
			if s, ok := r.a.step(pa); ok {
				init, _ := r.a.ways(pa)
				return r.after(init, s), true
			}
		}
	}
	return analysis.Linear{}, false
}

// after is a counter behind the first loop.
func (r *pair) after(init *ir.Value, step int64) analysis.Linear {
	l := r.lin(init)
	trips := analysis.Whole(r.rem)
	if l.Bits == 64 && r.rem.Type == ir.I32 {
		trips = extension(r.rem, ir.ZExt)
	}
	return l.Plus(trips, step)
}

// extension is the extension of a 32-bit number as one term.
func extension(v *ir.Value, op ir.Op) analysis.Linear {
	if v.Const {
		return analysis.Linear{Bits: 64, C: uint64(v.Int())}
	}
	return analysis.Linear{Bits: 64, Terms: []analysis.Term{{V: v, Ext: op, K: 1}}}
}

// extended is the extension of a 32-bit number. It goes through the sum of where the loops begin and the first loop's iterations, which
// is not above where they end.
func (r *pair) extended(v *ir.Value, op ir.Op) analysis.Linear {
	x, trips := r.lin(v), analysis.Whole(r.rem)
	if r.lo != nil && op == ir.SExt && r.rem.Type == ir.I32 {
		base := r.lin(r.lo)
		switch {
		case x.Equal(base):
			return extension(r.lo, op)
		case x.Equal(base.Plus(trips, 1)):
			return extension(r.lo, op).Plus(extension(r.rem, ir.ZExt), 1)
		}
	}
	if x.C < 1<<31-64 { // u is at most 64
		c := analysis.Linear{Bits: 32, C: x.C}
		switch {
		case x.Equal(c):
			return analysis.Linear{Bits: 64, C: x.C}
		case r.rem.Type == ir.I32 && x.Equal(c.Plus(trips, 1)):
			return analysis.Linear{Bits: 64, C: x.C}.Plus(extension(r.rem, ir.ZExt), 1)
		}
	}
	return extension(v, op)
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

// run adds the values of an iteration to env. There are no writes, so that a load is a function of its address.
func (ts terms) run(b *ir.Block, env map[*ir.Value]term) {
	for _, in := range b.Insts[numPhis(b) : len(b.Insts)-1] {
		v := in.Results[0]
		if in.Op == ir.Add && in.Args[1].Const {
			x := ts.of(in.Args[0], env)
			x.off = (x.off + in.Args[1].Bits) & lowBits(v.Type)
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
		want.off = (want.off + r.ahead[pb]) & lowBits(pa.Results[0].Type)
		if want != got {
			return false
		}
	}
	return true
}
