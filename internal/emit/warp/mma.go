package warp

import (
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Matrix products of tiles with 8 columns. A warp's accumulators are vectors as they are: half a register of PTX is 4 rows of 4
// columns, lane 4g+t of it row g and column 2t (or 2t+1). What they are multiplied with comes from memory, where an operand is
// put once, however many products use it, so that a product is only arithmetic with operands that the load units arrange:
//
//   - of the left matrix, 4 rows of 4 places along k. In step i of 4, lane (g, t) takes place turn(i, t) of row g. Doubling the even
//     or odd elements is something that a load does, so the four places need the vector twice, the second time with
//     its pairs exchanged;
//   - of the right matrix, for each step and each half of the columns, the four elements that lanes t want, repeated for all rows,
//     which a load does too.
//
// A product is a function, one for each kind, and so is putting an operand there: hundreds of them in a kernel cost no more code than
// one.

// turn is the place along k that lane t takes in step i.
func turn(i, t int) int {
	return [4][4]int{{0, 0, 2, 2}, {1, 1, 3, 3}, {2, 2, 0, 0}, {3, 3, 1, 1}}[i][t]
}

// tileKind is a kind of product that is done so.
type tileKind struct {
	name    string
	rows    int     // groups of 8 rows: 1 or 2
	steps   int     // registers of b
	elem    ll.Type // of the vectors: float or i32
	parts   int     // vectors that a register of a becomes
	nibbles bool
	sa, sb  bool // bytes are signed
}

// quads is how many groups of 4 places along k there are.
func (t *tileKind) quads() int { return t.steps * t.parts }

func (t *tileKind) aBytes() int { return t.quads() * 2 * t.rows * 2 * 64 }
func (t *tileKind) bBytes() int { return t.quads()*128 + 64 } // with the correction

// tileOf finds the kind of m, if this processor has it.
func (e *emitter) tileOf(m *ir.Matrix) *tileKind {
	if m == nil || e.w != 32 || m.Sparse || m.N != 8 || m.M != 8 && m.M != 16 || m.A == "f16" && m.K == 4 {
		return nil
	}
	t := &tileKind{rows: m.M / 8, elem: "float", parts: 1, name: fmt.Sprintf("tile.m%dk%d.%s.%s", m.M, m.K, m.A, m.B)}
	pack := 0
	switch m.A {
	case "f16", "bf16":
		pack, t.parts = 2, 2
	case "tf32":
		pack = 1
	case "s8", "u8":
		pack = 4
	case "s4", "u4":
		pack, t.parts, t.nibbles = 8, 2, true
	default:
		return nil
	}
	if pack >= 4 {
		if !e.cpu.vnni {
			return nil
		}
		t.elem, t.sa, t.sb = "i32", m.A[0] == 's', m.B[0] == 's'
	}
	t.steps = m.K / (4 * pack)
	return t
}

// operandSlots is how many prepared operands of a kind of tile are kept at a time; together they stay in the first cache.
const operandSlots = 16

// tiles are the prepared operands of a block.
type tiles struct {
	at    map[string]ll.Val // by their registers
	order map[string][]string
	made  map[string]bool // functions
}

// prepared is the memory where fill puts an operand, unless it is there already.
func (e *emitter) prepared(class string, args []*ir.Value, bytes int, fill func(p ll.Val)) ll.Val {
	if e.tiles.at == nil {
		e.tiles = tiles{map[string]ll.Val{}, map[string][]string{}, map[string]bool{}}
	}
	var key strings.Builder
	key.WriteString(class)
	for _, a := range args {
		if a.Const {
			fmt.Fprintf(&key, " #%x", a.Bits)
		} else {
			fmt.Fprintf(&key, " %p", a)
		}
	}
	k := key.String()
	if p, ok := e.tiles.at[k]; ok {
		return p
	}
	slot := len(e.tiles.order[class])
	if slot >= operandSlots { // the oldest makes room
		old := e.tiles.order[class][0]
		p := e.tiles.at[old]
		delete(e.tiles.at, old)
		e.tiles.order[class] = append(e.tiles.order[class][1:], k)
		e.tiles.at[k] = p
		fill(p)
		return p
	}
	name := fmt.Sprintf("tile %s %d", class, slot)
	p, ok := e.scratch[name]
	if !ok {
		p = e.Alloca(ll.Array(bytes, "i8"), 64)
		e.scratch[name] = p
	}
	e.tiles.order[class] = append(e.tiles.order[class], k)
	e.tiles.at[k] = p
	fill(p)
	return p
}

// forgetTiles is for a new block, which other blocks than this one may lead to.
func (e *emitter) forgetTiles() {
	clear(e.tiles.at)
	clear(e.tiles.order)
}

// widened turns a register into the vectors that are multiplied: f16 as adjacent pairs, 64 elements.
func (e *emitter) widened(t *tileKind, elem string, v ll.Val) []ll.Val {
	switch elem {
	case "f16":
		h := e.Bitcast(v, "<64 x half>")
		return []ll.Val{e.FPExt(h, "float")}
	case "bf16":
		return []ll.Val{e.Recast(e.Shl(v, v.Int(16)), typ(ir.F32)), e.Recast(e.And(v, v.Int(-1<<16)), typ(ir.F32))}
	case "tf32":
		return []ll.Val{e.Recast(e.And(v, v.Int(^0x1fff)), typ(ir.F32))}
	case "s4", "u4":
		const high = -0x0f0f0f10 // 0xf0f0f0f0: nibbles as bytes 16 times too large
		return []ll.Val{e.And(e.Shl(v, v.Int(4)), v.Int(high)), e.And(v, v.Int(high))}
	}
	return []ll.Val{v}
}

// leftOperand puts a into memory.
func (e *emitter) leftOperand(t *tileKind, m *ir.Matrix, args []*ir.Value) ll.Val {
	class := t.name + ".a"
	return e.prepared(class, args, t.aBytes(), func(p ll.Val) {
		e.prepare(class, args, p, func(f *emitter, regs []ll.Val, p ll.Val) {
			for s := 0; s < t.steps; s++ {
				for h := 0; h < t.rows; h++ {
					for j, x := range f.widened(t, m.A, f.biased(t, regs[t.rows*s+h])) {
						f.putLeft(t, p, x, tileAt{step: s, row: h, part: j})
					}
				}
			}
		})
	})
}

// prepare calls the function that puts an operand of this class into memory at p, and has it written if it is the first to.
func (e *emitter) prepare(class string, args []*ir.Value, p ll.Val, body func(f *emitter, regs []ll.Val, p ll.Val)) {
	var regs []string
	for _, a := range args {
		x := e.vector(a)
		regs = append(regs, e.slice(x, 0, 16).String(), e.slice(x, 16, 16).String())
	}
	e.Do("call %svoid @%q(%s, %s)", e.tileConvention(), class, strings.Join(regs, ", "), p)
	if e.tiles.made[class] {
		return
	}
	e.tiles.made[class] = true
	e.tileBodies = append(e.tileBodies, func() {
		f := newEmitter(e.m, e.cfg)
		f.w, f.mod = 32, e.mod
		var params []string
		halves := make([]ll.Val, 2*len(args))
		for i := range halves {
			halves[i] = ll.Val{T: "<16 x i32>", S: fmt.Sprintf("%%r%d", i)}
			params = append(params, halves[i].String())
		}
		f.Func = e.mod.Func(fmt.Sprintf("internal %svoid @%q(%s, ptr %%p) noinline", e.tileConvention(), class, strings.Join(params, ", ")), false)
		whole := make([]ll.Val, len(args))
		for i := range whole {
			whole[i] = f.concat(halves[2*i : 2*i+2])
		}
		body(f, whole, ll.Val{T: "ptr", S: "%p"})
		f.Ret(ll.Val{})
	})
}

// tileAt says which part of a tile a vector of the left operand is.
type tileAt struct{ step, row, part int }

// biased is a register of the left operand as unsigned bytes, where VNNI wants them: see corrected.
func (e *emitter) biased(t *tileKind, v ll.Val) ll.Val {
	switch {
	case t.elem != "i32" || t.sa != t.sb:
		return v
	case t.nibbles:
		return e.Xor(v, v.Int(-0x77777778))
	}
	return e.Xor(v, v.Int(-0x7f7f7f80))
}

// putLeft stores a vector of the left operand for both halves of its rows.
func (e *emitter) putLeft(t *tileKind, p, x ll.Val, at tileAt) {
	n, _ := x.T.Split()
	for half := 0; half < 2; half++ {
		block := 2*at.row + half
		if n == 32 {
			e.putQuad(t, p, x, at.step*t.parts+at.part, block, rangeInts(16*half, 16, func(l int) int { return l }))
			continue
		}
		for q := 0; q < 2; q++ {
			e.putQuad(t, p, x, 2*at.step+q, block, rangeInts(0, 16, func(l int) int { return 8*(4*half+l/4) + 4*q + l%4 }))
		}
	}
}

// putQuad stores 16 lanes of x as a block of a quad, and again with neighbouring pairs swapped.
func (e *emitter) putQuad(t *tileKind, p, x ll.Val, quad, block int, lanes []int) {
	for swap := 0; swap < 2; swap++ {
		pick := make([]int, 16)
		for l := range pick {
			pick[l] = lanes[l^2*swap]
		}
		off := ((quad*2*t.rows+block)*2 + swap) * 64
		e.Store(e.Shuffle(x, x, pick), e.at(p, off), 64)
	}
}

// rightOperand puts b into memory, and behind it what corrected says.
func (e *emitter) rightOperand(t *tileKind, m *ir.Matrix, args []*ir.Value) ll.Val {
	class := t.name + ".b"
	return e.prepared(class, args, t.bBytes(), func(p ll.Val) {
		e.prepare(class, args, p, func(f *emitter, regs []ll.Val, p ll.Val) { f.putRight(t, m, regs, p) })
	})
}

func (e *emitter) putRight(t *tileKind, m *ir.Matrix, regs []ll.Val, p ll.Val) {
	var all []ll.Val
	for _, v := range regs {
		if m.A == "f16" { // pairs in order of k, widened, then in order of steps
			v = e.Shuffle(v, v, rangeInts(0, 32, func(l int) int { return 4*(2*(l%4)+l/4%2) + l/8 }))
			w := e.widened(t, m.B, v)[0]
			for q := 0; q < 2; q++ {
				all = append(all, e.Shuffle(w, w, rangeInts(0, 32, func(l int) int {
					at := turn(l/8, l%4)
					return 32*q + 2*(8*(at>>1)+l%8) + at&1
				})))
			}
			continue
		}
		v = e.Shuffle(v, v, rangeInts(0, 32, func(l int) int { return 4*(2*(l%4)+l/4%2) + turn(l/8, l%4) }))
		all = append(all, e.widened(t, m.B, v)...)
	}
	for i, x := range all {
		e.Store(x, e.at(p, 128*i), 64)
	}
	if t.elem == "i32" && t.sa == t.sb {
		e.Store(e.corrected(t, all), e.at(p, 128*len(all)), 32)
	}
}

// corrected: VNNI multiplies unsigned bytes by signed ones. Where both are signed or both are not, a's are moved by half
// their range, and the sums of b's columns make it good: for each half of the columns, 4 numbers.
func (e *emitter) corrected(t *tileKind, bs []ll.Val) ll.Val {
	half := int64(128)
	sum := ll.Zero("<16 x i32>")
	for _, b := range bs {
		for h := 0; h < 2; h++ {
			x := e.slice(b, 16*h, 16)
			if t.sa { // signed b, by 128 as an unsigned number
				sum = e.vnni(sum, x.Int(-0x7f7f7f80), x)
			} else {
				sum = e.vnni(sum, x, x.Int(0x01010101))
			}
		}
	}
	lo, hi := e.slice(sum, 0, 8), e.slice(sum, 8, 8)
	r := e.Add(lo, hi)
	if t.sa {
		return e.Sub(r.Int(0), r)
	}
	return e.Mul(r, r.Int(half))
}

func (e *emitter) vnni(acc, u, s ll.Val) ll.Val {
	return e.Call("<16 x i32>", "llvm.x86.avx512.vpdpbusd.512", acc, u, s)
}

// tileProduct emits in as a call of its kind's function.
func (e *emitter) tileProduct(t *tileKind, in *ir.Inst) {
	m := in.Mat
	na := t.rows * t.steps
	a, b, c := in.Args[:na], in.Args[na:na+t.steps], in.Args[na+t.steps:]
	pa, pb := e.leftOperand(t, m, a), e.rightOperand(t, m, b)
	acc := e.tileAccumulators(m, c)
	start := acc
	apart := t.elem == "i32" && (m.Sat || t.nibbles) // c is added last
	if apart {
		start = make([]ll.Val, len(acc))
		for i := range start {
			start[i] = acc[i].Int(0)
		}
	}
	var args []string
	for _, x := range start {
		args = append(args, e.slice(x, 0, 16).String(), e.slice(x, 16, 16).String())
	}
	args = append(args, pa.String(), pb.String())
	ret := tileResult(t, len(args)-2)
	r := e.Op(ret, "call %s%s @%q(%s)", e.tileConvention(), ret, t.name, strings.Join(args, ", "))
	if !e.tiles.made[t.name] {
		e.tiles.made[t.name] = true
		e.tileBodies = append(e.tileBodies, func() { e.writeTile(t) })
	}
	var out []ll.Val
	for i := range acc {
		lo := e.ExtractValue(r, 2*i)
		hi := e.ExtractValue(r, 2*i+1)
		x := e.concat([]ll.Val{lo, hi})
		if t.nibbles { // each product is 256 times too large
			x = e.AShr(x, x.Int(8))
		}
		switch {
		case m.Sat:
			x = e.Intr("sadd.sat", acc[i], x)
		case apart:
			x = e.Add(acc[i], x)
		}
		out = append(out, x)
	}
	e.setTile(m, in.Results, out)
}

// tileConvention passes up to 16 vectors in registers; only AVX-512 has registers left then.
func (e *emitter) tileConvention() string {
	if !e.cpu.avx512 {
		return ""
	}
	return "x86_regcallcc "
}

func tileResult(t *tileKind, n int) ll.Type {
	return ll.Struct(slices.Repeat([]ll.Type{ll.Vec(16, t.elem)}, n)...)
}

// tileAccumulators is c, an element a vector; halves are widened.
func (e *emitter) tileAccumulators(m *ir.Matrix, c []*ir.Value) []ll.Val {
	var acc []ll.Val
	for _, v := range c {
		x := e.vector(v)
		if m.C != "f16" {
			acc = append(acc, x)
			continue
		}
		for at := int64(0); at < 32; at += 16 {
			h := e.Trunc(e.LShr(x, x.Int(at)), "i16")
			acc = append(acc, e.FPExt(e.Recast(h, "half"), "float"))
		}
	}
	return acc
}

func (e *emitter) setTile(m *ir.Matrix, results []*ir.Value, out []ll.Val) {
	if m.D != "f16" {
		for i, r := range results {
			e.set(r, out[i])
		}
		return
	}
	for i, r := range results {
		half := func(x ll.Val) ll.Val {
			h := e.canonical(e.FPTrunc(x, "half"), ir.F16, 32)
			return e.ZExt(e.Recast(h, "i16"), "i32")
		}
		hi := half(out[2*i+1])
		e.set(r, e.Or(half(out[2*i]), e.Shl(hi, hi.Int(16))))
	}
}

// writeTiles writes the functions that were called.
func (e *emitter) writeTiles() {
	for _, write := range e.tileBodies {
		write()
	}
}

// writeTile writes the function of a kind of product. With few vector registers it does two groups of four rows at a time.
func (e *emitter) writeTile(t *tileKind) {
	n := 4 * t.rows
	ret := tileResult(t, n)
	var params []string
	vt := ll.Vec(16, t.elem)
	acc := make([]ll.Val, n)
	for i := range acc {
		acc[i] = ll.Val{T: vt, S: fmt.Sprintf("%%c%d", i)}
		params = append(params, acc[i].String())
	}
	p := newEmitter(e.m, e.cfg)
	p.w = 32
	p.mod = e.mod
	p.Func = e.mod.Func(fmt.Sprintf("internal %s%s @%q(%s, ptr %%a, ptr %%b) noinline", e.tileConvention(), ret, t.name, strings.Join(params, ", ")), false)
	together := 2 * t.rows
	if !e.cpu.avx512 {
		together = 2
	}
	for first := 0; first < 2*t.rows; first += together {
		p.tileRows(t, acc, first, together)
	}
	r := ll.Poison(ret)
	for i, x := range acc {
		r = p.InsertValue(r, x, i)
	}
	p.Ret(r)
}

// tileRows adds the products of some groups of 4 rows. acc has for each 8 rows two halves of the columns, each two vectors.
func (e *emitter) tileRows(t *tileKind, acc []ll.Val, first, n int) {
	a, b := ll.Val{T: "ptr", S: "%a"}, ll.Val{T: "ptr", S: "%b"}
	at := func(block, col int) *ll.Val { return &acc[block/2*4+col*2+block%2] }
	four := func(off int) ll.Val { // 16 bytes, repeated
		x := e.Load("<4 x float>", e.at(b, off), 16)
		return e.Shuffle(x, x, rangeInts(0, 16, func(l int) int { return l % 4 }))
	}
	bits := func(x ll.Val) ll.Val { return e.Recast(x, t.elem) }
	if t.elem == "i32" && t.sa == t.sb {
		for col := 0; col < 2; col++ {
			x := bits(four(t.quads()*128 + 16*col))
			for r := first; r < first+n; r++ {
				*at(r, col) = e.Add(*at(r, col), x)
			}
		}
	}
	for quad := 0; quad < t.quads(); quad++ {
		for i := 0; i < 4; i++ {
			bv := [2]ll.Val{bits(four(quad*128 + i*32)), bits(four(quad*128 + i*32 + 16))}
			for r := first; r < first+n; r++ {
				x := e.Load("<16 x float>", e.at(a, ((quad*2*t.rows+r)*2+i/2)*64), 64)
				av := bits(e.Shuffle(x, x, rangeInts(0, 16, func(l int) int { return l&^1 + i%2 })))
				for col := 0; col < 2; col++ {
					*at(r, col) = e.tileStep(t, *at(r, col), av, bv[col])
				}
			}
		}
	}
}

func (e *emitter) tileStep(t *tileKind, acc, a, b ll.Val) ll.Val {
	switch {
	case t.elem == "float":
		return e.Intr("fma", a, b, acc)
	case t.sb: // a is unsigned, or made so
		return e.vnni(acc, a, b)
	}
	return e.vnni(acc, b, a)
}
