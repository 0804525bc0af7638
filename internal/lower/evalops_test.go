package lower

import (
	"fmt"
	"math/bits"

	"kudzu/internal/ir"
	"kudzu/internal/softfloat"
)

var formats = map[ir.Type]*softfloat.Format{ir.F16: softfloat.F16, ir.BF16: softfloat.BF16, ir.F32: softfloat.F32, ir.F64: softfloat.F64}

func maskBits(v uint64, n int) uint64 {
	if n >= 64 {
		return v
	}
	return v & (1<<n - 1)
}

func signed(v uint64, n int) int64 { return int64(v<<(64-n)) >> (64 - n) }

func flagOf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (t *thread) copyAsync(in *ir.Inst, a []uint64) error {
	to, err := t.memory(ir.Shared, a[0], int(in.Bytes))
	if err != nil {
		return err
	}
	from, err := t.memory(ir.Global, a[1], int(a[2]))
	if err != nil {
		return err
	}
	clear(to)
	copy(to, from)
	return nil
}

// exec evaluates an operation that needs no other thread.
func (t *thread) exec(in *ir.Inst) error {
	set := func(v uint64) error {
		r := in.Results[0]
		t.vals[r.ID] = maskBits(v, r.Type.Bits())
		return nil
	}
	a := make([]uint64, len(in.Args))
	for i := range a {
		a[i] = t.arg(in, i)
	}
	switch in.Op {
	case ir.Undef:
		return set(0xdeadbeefdeadbeef)
	case ir.Param:
		b, err := t.memory(ir.ParamSpace, uint64(in.Off), in.Results[0].Type.Bits()/8)
		if err != nil {
			return err
		}
		return set(getBytes(b))
	case ir.SReg:
		return set(t.sreg(in.Sreg))
	case ir.Clock:
		return set(uint64(t.mc.steps))
	case ir.VarAddr:
		return set(t.mc.vars[in.Sym] + uint64(in.Off))
	case ir.SharedAddr:
		if in.Sym == "" {
			return set(uint64(alignUp(t.mc.m.SharedBytes, t.mc.m.DynamicAlign)) + uint64(in.Off))
		}
		for _, s := range t.mc.m.Shared {
			if s.Name == in.Sym {
				return set(uint64(s.Offset) + uint64(in.Off))
			}
		}
	case ir.LocalAddr:
		for _, s := range t.mc.m.Funcs[0].Slots {
			if s.Name == in.Sym {
				return set(uint64(s.Offset) + uint64(in.Off))
			}
		}
	case ir.ParamAddr:
		return set(uint64(in.Off))
	case ir.ToGeneric:
		return set(a[0] + window(in.Space))
	case ir.FromGeneric:
		return set(a[0] - window(in.Space))
	case ir.IsSpace:
		w := window(in.Space)
		if in.Space == ir.Global {
			return set(flagOf(a[0] >= globalBase && a[0] < paramBase))
		}
		return set(flagOf(a[0] >= w && a[0] < w+0x10_0000_0000))
	case ir.Load, ir.Store, ir.Atomic, ir.AtomicCAS:
		return t.access(in, a)
	case ir.Fence, ir.Prefetch:
		return nil
	case ir.CopyAsync:
		return t.copyAsync(in, a)
	case ir.Pack:
		var v uint64
		sh := 0
		for i := range a {
			v |= a[i] << sh
			sh += in.Args[i].Type.Bits()
		}
		return set(v)
	case ir.Unpack:
		sh := 0
		for _, r := range in.Results {
			t.vals[r.ID] = maskBits(a[0]>>sh, r.Type.Bits())
			sh += r.Type.Bits()
		}
		return nil
	case ir.Select:
		if a[0] != 0 {
			return set(a[1])
		}
		return set(a[2])
	}
	n := 0
	if len(in.Args) > 0 {
		n = in.Args[0].Type.Bits()
	}
	if v, ok := evalInt(in, n, a); ok {
		return set(v)
	}
	if len(in.Args) > 0 || in.Results[0].Type.IsFloat() {
		if v, ok := evalFloat(in, a); ok {
			return set(v)
		}
	}
	return fmt.Errorf("no evaluation of %v", in.Op)
}

func (t *thread) sreg(r ir.SpecialReg) uint64 {
	lane := t.linear % 32
	switch {
	case r >= ir.TidX && r <= ir.TidZ:
		return uint64(t.tid[r-ir.TidX])
	case r >= ir.NtidX && r <= ir.NtidZ:
		return uint64(t.mc.block[r-ir.NtidX])
	case r >= ir.CtaidX && r <= ir.CtaidZ:
		return uint64(t.cta.id[r-ir.CtaidX])
	case r >= ir.NctaidX && r <= ir.NctaidZ:
		return uint64(t.mc.grid[r-ir.NctaidX])
	}
	switch r {
	case ir.LaneID:
		return uint64(lane)
	case ir.WarpID:
		return uint64(t.linear / 32)
	case ir.NWarpID:
		return uint64(len(t.cta.threads)+31) / 32
	case ir.LanemaskEQ:
		return 1 << lane
	case ir.LanemaskLE:
		return 2<<lane - 1
	case ir.LanemaskLT:
		return 1<<lane - 1
	case ir.LanemaskGE:
		return ^uint64(1<<lane - 1)
	case ir.LanemaskGT:
		return ^uint64(2<<lane - 1)
	case ir.DynamicSmem:
		return uint64(t.mc.dynamic)
	case ir.TotalSmem:
		return uint64(len(t.cta.shared))
	case ir.ClusterNctaRank, ir.ClusterNctaIDX, ir.ClusterNctaIDY, ir.ClusterNctaIDZ:
		return 1
	}
	return 0
}

// accessBytes is what all elements of an access take, which its address must be a multiple of.
func accessBytes(in *ir.Inst) int {
	vals := in.Args[1:]
	if in.Op == ir.Load {
		vals = in.Results
	} else if in.Op != ir.Store {
		vals = vals[:1]
	}
	n := 0
	for _, v := range vals {
		n += max(v.Type.Bits()/8, 1)
	}
	return n
}

func (t *thread) access(in *ir.Inst, a []uint64) error {
	at := a[0]
	if size := accessBytes(in); at%uint64(size) != 0 && in.Space != ir.ParamSpace {
		return errMisaligned
	}
	each := func(typ ir.Type, f func(b []byte)) error {
		b, err := t.memory(in.Space, at, typ.Bits()/8)
		if err != nil {
			return err
		}
		f(b)
		at += uint64(typ.Bits() / 8)
		return nil
	}
	switch in.Op {
	case ir.Load:
		for _, r := range in.Results {
			if err := each(r.Type, func(b []byte) { t.vals[r.ID] = getBytes(b) }); err != nil {
				return err
			}
		}
		return nil
	case ir.Store:
		for i, v := range in.Args[1:] {
			if err := each(v.Type, func(b []byte) { putBytes(b, a[i+1]) }); err != nil {
				return err
			}
		}
		return nil
	}
	typ := in.Args[1].Type
	return each(typ, func(b []byte) {
		old := getBytes(b)
		if in.Op == ir.AtomicCAS {
			if old == a[1] {
				putBytes(b, a[2])
			}
		} else {
			putBytes(b, combine(in.AtomOp, typ, old, a[1]))
		}
		if len(in.Results) > 0 {
			t.vals[in.Results[0].ID] = old
		}
	})
}

// combine is the operation of atom, red and redux.
func combine(op ir.AtomOp, typ ir.Type, x, y uint64) uint64 {
	n := typ.Bits()
	if f := formats[typ]; f != nil {
		switch op {
		case ir.AtomAdd:
			return f.Add(x, y, softfloat.Env{})
		case ir.AtomFMin:
			return f.Min(x, y, softfloat.MinMax{})
		case ir.AtomFMax:
			return f.Max(x, y, softfloat.MinMax{})
		}
		return y
	}
	v := y
	switch op {
	case ir.AtomAdd:
		v = x + y
	case ir.AtomAnd:
		v = x & y
	case ir.AtomOr:
		v = x | y
	case ir.AtomXor:
		v = x ^ y
	case ir.AtomMinU:
		v = min(x, y)
	case ir.AtomMaxU:
		v = max(x, y)
	case ir.AtomMinS:
		v = uint64(min(signed(x, n), signed(y, n)))
	case ir.AtomMaxS:
		v = uint64(max(signed(x, n), signed(y, n)))
	case ir.AtomInc:
		v = x + 1
		if x >= y {
			v = 0
		}
	case ir.AtomDec:
		v = x - 1
		if x == 0 || x > y {
			v = y
		}
	}
	return maskBits(v, n)
}

func icmp(c ir.Cmp, x, y uint64, n int) bool {
	a, b := signed(x, n), signed(y, n)
	switch c {
	case ir.EQ:
		return x == y
	case ir.NE:
		return x != y
	case ir.LT:
		return a < b
	case ir.LE:
		return a <= b
	case ir.GT:
		return a > b
	case ir.GE:
		return a >= b
	case ir.LO:
		return x < y
	case ir.LS:
		return x <= y
	case ir.HI:
		return x > y
	}
	return x >= y
}

func evalInt(in *ir.Inst, n int, a []uint64) (uint64, bool) {
	s := func(i int) int64 { return signed(a[i], n) }
	all := maskBits(^uint64(0), n)
	switch in.Op {
	case ir.Copy, ir.Trunc, ir.ZExt, ir.Bitcast:
		return a[0], true
	case ir.SExt:
		return uint64(s(0)), true
	case ir.Add:
		return a[0] + a[1], true
	case ir.Sub:
		return a[0] - a[1], true
	case ir.Mul:
		return a[0] * a[1], true
	case ir.MulHiU:
		if n == 64 {
			hi, _ := bits.Mul64(a[0], a[1])
			return hi, true
		}
		return a[0] * a[1] >> n, true
	case ir.MulHiS:
		if n == 64 {
			hi, _ := bits.Mul64(a[0], a[1])
			return hi - uint64(s(0)>>63)&a[1] - uint64(s(1)>>63)&a[0], true
		}
		return uint64(s(0) * s(1) >> n), true
	case ir.DivU:
		if a[1] == 0 {
			return all, true
		}
		return a[0] / a[1], true
	case ir.RemU:
		if a[1] == 0 {
			return all, true
		}
		return a[0] % a[1], true
	case ir.DivS:
		if a[1] == 0 {
			return all, true
		}
		return uint64(s(0) / s(1)), true
	case ir.RemS:
		if a[1] == 0 {
			return all, true
		}
		return uint64(s(0) % s(1)), true
	case ir.Neg:
		return -a[0], true
	case ir.AbsS:
		return uint64(max(s(0), -s(0))), true
	case ir.MinS:
		return uint64(min(s(0), s(1))), true
	case ir.MaxS:
		return uint64(max(s(0), s(1))), true
	case ir.MinU:
		return min(a[0], a[1]), true
	case ir.MaxU:
		return max(a[0], a[1]), true
	case ir.AddSatS:
		return uint64(min(max(s(0)+s(1), -1<<(n-1)), 1<<(n-1)-1)), true
	case ir.SubSatS:
		return uint64(min(max(s(0)-s(1), -1<<(n-1)), 1<<(n-1)-1)), true
	case ir.CarryAdd:
		lo, c := bits.Add64(a[0], a[1], a[2])
		if n < 64 {
			c = lo >> n
		}
		return c, true
	case ir.BorrowSub:
		_, c := bits.Sub64(a[0], a[1], a[2])
		return c, true
	case ir.And:
		return a[0] & a[1], true
	case ir.Or:
		return a[0] | a[1], true
	case ir.Xor:
		return a[0] ^ a[1], true
	case ir.Not:
		return ^a[0], true
	case ir.Shl:
		return a[0] << a[1], true
	case ir.ShrU:
		return a[0] >> a[1], true
	case ir.ShrS:
		return uint64(s(0) >> min(a[1], 63)), true
	case ir.ICmp:
		return flagOf(icmp(in.Cmp, a[0], a[1], n)), true
	}
	return evalBits(in, n, a)
}

// dotProduct is a product of dp4a or dp2a: of x, of n bits, and of the byte y.
func dotProduct(dot ir.Dot, x uint64, n int, y uint64) uint64 {
	p, q := int64(x), int64(y)
	if dot&ir.DotSignedA != 0 {
		p = signed(x, n)
	}
	if dot&ir.DotSignedB != 0 {
		q = signed(y, 8)
	}
	return uint64(p * q)
}

func evalBits(in *ir.Inst, n int, a []uint64) (uint64, bool) {
	switch in.Op {
	case ir.Popc:
		return uint64(bits.OnesCount64(a[0])), true
	case ir.Clz:
		return uint64(bits.LeadingZeros64(a[0]) - (64 - n)), true
	case ir.Brev:
		return bits.Reverse64(a[0]) >> (64 - n), true
	case ir.BfeU, ir.BfeS:
		pos, l := int(a[1]&0xff), int(a[2]&0xff)
		if l == 0 {
			return 0, true
		}
		if in.Op == ir.BfeU {
			return maskBits(a[0]>>min(pos, 64), min(l, 64)), true
		}
		v := signed(a[0], n) >> min(pos, n-1)
		if pos+l < n {
			v = v << (64 - l) >> (64 - l)
		}
		return uint64(v), true
	case ir.Bfi:
		pos, l := int(a[2]&0xff), int(a[3]&0xff)
		m := maskBits(^uint64(0), min(l, 64))
		if l == 0 {
			m = 0
		}
		m <<= pos
		return a[1]&^m | a[0]<<pos&m, true
	case ir.BfindU, ir.BfindS:
		v := a[0]
		if in.Op == ir.BfindS && signed(v, n) < 0 {
			v = maskBits(^v, n)
		}
		return uint64(bits.Len64(v)) - 1, true
	case ir.Lop3:
		var r uint64
		for i := range 32 {
			k := a[0]>>i&1<<2 | a[1]>>i&1<<1 | a[2]>>i&1
			r |= uint64(in.Lut>>k&1) << i
		}
		return r, true
	case ir.Prmt:
		src := a[0] | a[1]<<32
		var r uint64
		for i := range 4 {
			sel := a[2] >> (4 * i) & 0xf
			b := src >> (8 * (sel & 7)) & 0xff
			if sel&8 != 0 {
				b = uint64(signed(b, 8)>>7) & 0xff
			}
			r |= b << (8 * i)
		}
		return r, true
	case ir.FshL, ir.FshR:
		k := min(a[2], 32)
		if in.Wrap {
			k = a[2] & 31
		}
		v := a[1]<<32 | a[0]
		if in.Op == ir.FshL {
			return v << k >> 32, true
		}
		return v >> k, true
	case ir.Dp4a:
		r := a[2]
		for i := range 4 {
			r += dotProduct(in.Dot, a[0]>>(8*i)&0xff, 8, a[1]>>(8*i)&0xff)
		}
		return r, true
	case ir.Dp2a:
		r := a[2]
		for i := range 2 {
			r += dotProduct(in.Dot, a[0]>>(16*i)&0xffff, 16, a[1]>>(8*i+int(in.Dot>>2&1)*16)&0xff)
		}
		return r, true
	case ir.Fns:
		return fns(uint32(a[0]), int(int32(a[1])), int(int32(a[2]))), true
	case ir.Bmsk:
		pos, l := a[0], a[1]
		if in.Wrap {
			pos, l = pos&31, l&31
		}
		return maskBits(^uint64(0), int(min(l, 32))) << min(pos, 63), true
	}
	return 0, false
}

// fns finds the offset-th set bit of mask from base on, upwards or downwards. PTX ISA, "fns".
func fns(mask uint32, base, offset int) uint64 {
	n, step, pos := 0, 1, base
	switch {
	case offset == 0:
		if base >= 0 && base < 32 && mask>>base&1 != 0 {
			return uint64(base)
		}
		return 0xffffffff
	case offset > 0:
		pos, n = base, offset-1
	default:
		pos, n, step = base, -offset-1, -1
	}
	for ; pos >= 0 && pos < 32; pos += step {
		if mask>>pos&1 != 0 {
			if n == 0 {
				return uint64(pos)
			}
			n--
		}
	}
	return 0xffffffff
}

var sfModes = map[ir.Rnd]softfloat.Mode{ir.RN: softfloat.RN, ir.RZ: softfloat.RZ, ir.RM: softfloat.RM, ir.RP: softfloat.RP, ir.RNA: softfloat.RNA}

func fcmp(c ir.Cmp, o softfloat.Order) bool {
	lt, eq, gt, un := o == softfloat.Less, o == softfloat.Equal, o == softfloat.Greater, o == softfloat.Unordered
	switch c {
	case ir.EQ:
		return eq
	case ir.NE:
		return lt || gt
	case ir.LT:
		return lt
	case ir.LE:
		return lt || eq
	case ir.GT:
		return gt
	case ir.GE:
		return gt || eq
	case ir.EQU:
		return eq || un
	case ir.NEU:
		return !eq
	case ir.LTU:
		return lt || un
	case ir.LEU:
		return !gt
	case ir.GTU:
		return gt || un
	case ir.GEU:
		return !lt
	case ir.NUM:
		return !un
	}
	return un
}

func evalFloat(in *ir.Inst, a []uint64) (uint64, bool) {
	at, rt := in.Args[0].Type, in.Results[0].Type
	if at == ir.F16x2 || at == ir.BF16x2 {
		return evalPacked(in, a)
	}
	f, g := formats[at], formats[rt]
	e := softfloat.Env{Mode: sfModes[in.Rnd], FTZ: in.FTZ, Sat: in.Sat}
	mm := softfloat.MinMax{FTZ: in.FTZ, NaN: in.NaN, XorSign: in.XorSign}
	flush := func(x uint64) uint64 {
		if in.FTZ {
			return f.Flush(x)
		}
		return x
	}
	switch in.Op {
	case ir.FAdd:
		return f.Add(a[0], a[1], e), true
	case ir.FSub:
		return f.Sub(a[0], a[1], e), true
	case ir.FMul:
		return f.Mul(a[0], a[1], e), true
	case ir.FDiv:
		return f.Div(a[0], a[1], e), true
	case ir.FFma:
		return f.Fma(a[0], a[1], a[2], e), true
	case ir.FSqrt:
		return f.Sqrt(a[0], e), true
	case ir.FRcp:
		return f.Rcp(a[0], e), true
	case ir.FNeg, ir.FAbs:
		switch {
		case f == softfloat.F64 && f.IsNaN(a[0]):
			return a[0] | 1<<51, true
		case f.IsNaN(a[0]):
			return f.CanonicalNaN(), true
		case in.Op == ir.FNeg:
			return f.Neg(flush(a[0])), true
		}
		return f.Abs(flush(a[0])), true
	case ir.FMin:
		return f.Min(a[0], a[1], mm), true
	case ir.FMax:
		return f.Max(a[0], a[1], mm), true
	case ir.FCopysign:
		return f.Abs(a[0]) | (a[1] ^ f.Abs(a[1])), true
	case ir.FRound:
		return f.RoundInt(a[0], e), true
	case ir.FRelu:
		return f.Relu(a[0]), true
	case ir.FCmp:
		return flagOf(fcmp(in.Cmp, f.Compare(a[0], a[1], in.FTZ))), true
	case ir.FTest:
		x := a[0]
		num := !f.IsNaN(x)
		fin := num && !f.IsInf(x)
		return flagOf([]bool{fin, f.IsInf(x), num, !num, fin && !f.IsSubnormal(x), f.IsSubnormal(x)}[in.Test]), true
	case ir.FToS, ir.FToU:
		return f.ToInt(a[0], softfloat.Int{Width: uint(rt.Bits()), Signed: in.Op == ir.FToS}, e), true
	case ir.SToF, ir.UToF:
		return g.FromInt(a[0], uint(at.Bits()), in.Op == ir.SToF, e), true
	case ir.FExt, ir.FTrunc:
		v := f.Convert(g, a[0], e)
		if in.Relu {
			v = g.Relu(v)
		}
		return v, true
	}
	return 0, false
}

// evalPacked does each half by itself.
func evalPacked(in *ir.Inst, a []uint64) (uint64, bool) {
	elem := ir.F16
	if in.Args[0].Type == ir.BF16x2 {
		elem = ir.BF16
	}
	half := *in
	half.Args, half.Results = nil, []*ir.Value{{Type: elem}}
	var r uint64
	for h := range 2 {
		var b []uint64
		half.Args = nil
		for i := range a {
			b = append(b, a[i]>>(16*h)&0xffff)
			half.Args = append(half.Args, &ir.Value{Type: elem})
		}
		v, ok := evalFloat(&half, b)
		if !ok {
			return 0, false
		}
		r |= v << (16 * h)
	}
	return r, true
}
