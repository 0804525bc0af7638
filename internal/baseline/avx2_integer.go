package baseline

import "kudzu/internal/baseline/x86"

// longs are operations of 64 bits that AVX2 has no instruction for.
var longs map[string]func(g *gen, l x86.Width, x, y x86.Reg) x86.Reg

func init() {
	longs = map[string]func(g *gen, l x86.Width, x, y x86.Reg) x86.Reg{"mul": mulLong, "ashr": ashrLong}
	for _, op := range []string{"smin", "smax", "umin", "umax"} {
		longs[op] = func(g *gen, l x86.Width, x, y x86.Reg) x86.Reg { return g.extremeLong(op, l, x, y) }
	}
}

// vectorLong writes one of them.
func (g *gen) vectorLong(in *inst, f func(g *gen, l x86.Width, x, y x86.Reg) x86.Reg) {
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x, y := g.reg(in.args[0], off, l), g.reg(in.args[1], off, l)
		g.put(in.res, off, l, f(g, l, x, y), n)
	})
}

// mulLong adds the products of halves.
func mulLong(g *gen, l x86.Width, x, y x86.Reg) x86.Reg {
	r, s := g.fresh(), g.fresh()
	g.VI(x86.VPSRLQ, l, r, 0, x86.R(x), 32)
	g.V(x86.VPMULUDQ, l, r, r, x86.R(y))
	g.VI(x86.VPSRLQ, l, s, 0, x86.R(y), 32)
	g.V(x86.VPMULUDQ, l, s, s, x86.R(x))
	g.V(x86.VPADDQ, l, r, r, x86.R(s))
	g.VI(x86.VPSLLQ, l, r, 0, x86.R(r), 32)
	g.V(x86.VPMULUDQ, l, s, x, x86.R(y))
	g.V(x86.VPADDQ, l, r, r, x86.R(s))
	return r
}

// ashrLong shifts as if without a sign, and gives the sign back from where it went.
func ashrLong(g *gen, l x86.Width, x, y x86.Reg) x86.Reg {
	r, s := g.fresh(), g.fresh()
	g.V(x86.VMOVDQU, l, s, 0, g.lanesOf(8, func(int) uint64 { return 1 << 63 }))
	g.V(x86.VPSRLVQ, l, s, s, x86.R(y))
	g.V(x86.VPSRLVQ, l, r, x, x86.R(y))
	g.V(x86.VPXORD, l, r, r, x86.R(s))
	g.V(x86.VPSUBQ, l, r, r, x86.R(s))
	return r
}

// extremeLong picks the smaller or larger of two.
func (g *gen) extremeLong(op string, l x86.Width, x, y x86.Reg) x86.Reg {
	m, _ := g.compared(op[:1]+"gt", 3, l, x, y)
	if op[1:] == "min" {
		x, y = y, x
	}
	r := g.fresh()
	g.pick(l, r, y, x86.R(x), m)
	return r
}

// absoluteLong is the value of lanes of 64 bits without their signs.
func (g *gen) absoluteLong(in *inst) {
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x := g.reg(in.args[0], off, l)
		r, s := g.fresh(), g.fresh()
		g.V(x86.VPXORD, l, s, s, x86.R(s))
		g.V(x86.VPCMPGTQ, l, s, s, x86.R(x))
		g.V(x86.VPXORD, l, r, x, x86.R(s))
		g.V(x86.VPSUBQ, l, r, r, x86.R(s))
		g.put(in.res, off, l, r, n)
	})
}
