package progen

import (
	"fmt"
	"strings"
)

// Regular programs are kernels as people write them: arrays and their bounds, loops by the block's or the grid's size, tiles in shared memory,
// windows, tables that all blocks read. Random statements hardly ever have what the passes look for that make such code fast
// (pass.Forcible); these do, in many variations. Each is one of the functions in regularKernels.

// regular is a kernel that is being written. Its arrays are a, what the kernel is given, and c, what it leaves.
type regular struct {
	*maker
	out   []string
	count map[string]int // registers of each kind so far

	threads, blocks int
	tid, block      string // numbers in the block and of the block
}

// words is how many numbers of 32 bits an array may have: a whole launch's, with room for what lies beside them.
func (k *regular) words() int { return k.threads * k.blocks * inBytes / 4 }

// regularly makes such a program.
func (m *maker) regularly() {
	k := &regular{maker: m, count: map[string]int{}}
	kernel := regularKernels[m.IntN(len(regularKernels))]
	blocks := kernel.blocks
	m.prog.Block = blocks[m.IntN(len(blocks))]
	m.prog.Grid = [3]uint32{uint32(1 + m.IntN(9)), uint32(1 + m.IntN(2)), 1}
	k.threads, k.blocks = m.prog.blockThreads(), int(m.prog.Grid[0]*m.prog.Grid[1])
	k.p("ld.param.u64 a, [in];\n\tld.param.u64 c, [out];\n\tld.param.u32 uni, [uniform];")
	k.tid = k.u32("mov.u32 $, %%tid.x;")
	if m.prog.Block[1] > 1 {
		k.tid = k.u32("mad.lo.u32 $, %s, %s, %s;", k.u32("mov.u32 $, %%tid.y;"), k.u32("mov.u32 $, %%ntid.x;"), k.tid)
	}
	k.block = k.u32("mad.lo.u32 $, %s, %s, %s;", k.u32("mov.u32 $, %%ctaid.y;"), k.u32("mov.u32 $, %%nctaid.x;"), k.u32("mov.u32 $, %%ctaid.x;"))
	if k.IntN(4) == 0 { // a flag in memory may end the block
		flag := k.u32("ld.global.b32 $, [%s];", k.at("a", k.number(k.IntN(64)), 4))
		k.p("@%s bra DONE;", k.pred("setp.eq.u32 $, %s, 3;", k.u32("and.b32 $, %s, 7;", flag)))
	}
	kernel.write(k)
	k.p("DONE: ret;")
	var decl []string
	for _, kind := range []struct{ prefix, typ string }{{"x", "b32"}, {"y", "b64"}, {"z", "f32"}, {"g", "b16"}, {"k", "pred"}} {
		if n := k.count[kind.prefix]; n > 0 {
			decl = append(decl, fmt.Sprintf(".reg .%s %s<%d>;", kind.typ, kind.prefix, n))
		}
	}
	m.prog.regular = append(append(decl, ".reg .b64 a, c;\n\t.reg .b32 uni;"), k.out...)
}

// p writes an instruction.
func (k *regular) p(format string, args ...any) {
	k.out = append(k.out, fmt.Sprintf(format, args...))
}

// register is a new one.
func (k *regular) register(prefix string) string {
	k.count[prefix]++
	return name(prefix, k.count[prefix]-1)
}

// def writes an instruction whose result, $, is a new register.
func (k *regular) def(prefix, format string, args ...any) string {
	r := k.register(prefix)
	k.p(strings.ReplaceAll(format, "$", r), args...)
	return r
}

func (k *regular) u32(format string, args ...any) string  { return k.def("x", format, args...) }
func (k *regular) u64(format string, args ...any) string  { return k.def("y", format, args...) }
func (k *regular) f32(format string, args ...any) string  { return k.def("z", format, args...) }
func (k *regular) b16(format string, args ...any) string  { return k.def("g", format, args...) }
func (k *regular) pred(format string, args ...any) string { return k.def("k", format, args...) }

// unknown is a number that the compiler does not know.
func (k *regular) unknown(n int) string {
	by := 1 + k.IntN(9)
	return k.u32("mad.lo.s32 $, uni, %d, %d;", by, n-by*int(k.prog.Uniform))
}

// number is n, known to the compiler or not.
func (k *regular) number(n int) string {
	if k.IntN(2) == 0 {
		return fmt.Sprint(n)
	}
	return k.unknown(n)
}

// at is the address of an element of so many bytes.
func (k *regular) at(array, index string, bytes int) string {
	switch k.IntN(3) {
	case 0:
		return k.u64("mad.wide.s32 $, %s, %d, %s;", index, bytes, array)
	case 1:
		return k.u64("add.s64 $, %s, %s;", array, k.u64("mul.wide.s32 $, %s, %d;", index, bytes))
	}
	wide := k.u64("cvt.s64.s32 $, %s;", index)
	return k.u64("add.s64 $, %s, %s;", array, k.u64("mul.lo.s64 $, %s, %d;", wide, bytes))
}

// how is the way a load goes: as ordinary memory, or as memory that nobody writes.
func (k *regular) how() string { return []string{".global", ".global.nc"}[k.IntN(2)] }

// value is what a has at an index below limit: a number of its type, a byte, a half, one of four, or what a place has that is read first.
// Floats are small whole numbers mostly, so that sums do not lose what is added.
func (k *regular) value(index string, limit int, float bool) string {
	words := k.words()
	var v string
	switch k.IntN(7) {
	case 0:
		b := k.b16("ld%s.u8 $, [%s];", k.how(), k.at("a", index, 1))
		v = k.u32("cvt.u32.u16 $, %s;", b)
	case 1:
		b := k.b16("ld%s.u16 $, [%s];", k.how(), k.at("a", index, 2))
		v = k.u32("cvt.u32.u16 $, %s;", b)
	case 2:
		if 4*limit <= words {
			r := []string{k.register("x"), k.register("x"), k.register("x"), k.register("x")}
			k.p("ld%s.v4.b32 {%s}, [%s];", k.how(), strings.Join(r, ", "), k.at("a", index, 16))
			v = k.u32("xor.b32 $, %s, %s;", r[0], r[1+k.IntN(3)])
			break
		}
		fallthrough
	case 3:
		if s := 1 + k.IntN(4); s*limit <= words {
			v = k.u32("ld%s.b32 $, [%s];", k.how(), k.at("a", k.u32("mul.lo.s32 $, %s, %s;", index, k.number(s)), 4))
			break
		}
		fallthrough
	case 4:
		to := k.u32("ld%s.b32 $, [%s];", k.how(), k.at("a", index, 4))
		to = k.u32("and.b32 $, %s, %d;", to, 1<<(3+k.IntN(6))-1)
		v = k.u32("ld%s.b32 $, [%s];", k.how(), k.at("a", to, 4))
	default:
		v = k.u32("ld%s.b32 $, [%s];", k.how(), k.at("a", index, 4))
	}
	if !float {
		return v
	}
	if k.IntN(4) == 0 {
		return k.f32("mov.b32 $, %s;", v)
	}
	return k.f32("cvt.rn.f32.s32 $, %s;", k.u32("and.b32 $, %s, 255;", v))
}

// mixed combines two numbers.
func (k *regular) mixed(x, y string, float bool) string {
	if float {
		switch k.IntN(8) {
		case 0:
			return k.f32("fma.rn.f32 $, %s, %s, 0f3F000000;", x, y)
		case 1:
			return k.f32("mul.rn.f32 $, %s, %s;", x, y)
		case 2:
			return k.f32("max.f32 $, %s, %s;", x, y)
		case 3:
			return k.f32("sub.rn.f32 $, %s, %s;", x, y)
		case 4:
			return k.f32("div.rn.f32 $, %s, %s;", x, y)
		case 5:
			return k.f32("selp.f32 $, %s, %s, %s;", x, y, k.pred("setp.lt.f32 $, %s, %s;", x, y))
		}
		return k.f32("add.rn.f32 $, %s, %s;", x, y)
	}
	switch k.IntN(7) {
	case 0:
		return k.u32("mad.lo.u32 $, %s, %d, %s;", x, 1+k.IntN(9), y)
	case 1:
		return k.u32("xor.b32 $, %s, %s;", x, y)
	case 2:
		return k.u32("min.u32 $, %s, %s;", x, y)
	case 3:
		return k.u32("shf.l.wrap.b32 $, %s, %s, %d;", x, y, 1+k.IntN(31))
	case 4:
		return k.u32("dp4a.u32.s32 $, %s, %s, 3;", x, y)
	case 5:
		return k.u32("selp.b32 $, %s, %s, %s;", x, y, k.pred("setp.gt.s32 $, %s, %s;", x, y))
	}
	return k.u32("add.s32 $, %s, %s;", x, y)
}

// kept is a register that begins as a number and is added to; keep adds.
func (k *regular) kept(float bool) string {
	if float {
		return k.f32("mov.f32 $, 0f00000000;")
	}
	return k.u32("mov.u32 $, 7;")
}

func (k *regular) keep(sum, v string, float bool) {
	if float {
		k.p("%s %s, %s, %s;", []string{"add.rn.f32", "max.f32", "add.rn.f32"}[k.IntN(3)], sum, sum, v)
	} else {
		k.p("%s %s, %s, %s;", []string{"add.s32", "xor.b32", "max.u32"}[k.IntN(3)], sum, sum, v)
	}
}

// leave stores a number as the element of c at an index below limit, which no other thread has.
func (k *regular) leave(index, v string, limit int, float bool) {
	typ := "b32"
	if float {
		typ = "f32"
	}
	switch n := k.IntN(6); {
	case n == 0 && 2*limit <= k.words():
		k.p("st.global.v2.%s [%s], {%s, %s};", typ, k.at("c", index, 8), v, v)
	case n == 1 && 3*limit <= k.words():
		to := k.at("c", k.u32("mul.lo.s32 $, %s, 3;", index), 4)
		k.p("st.global.%s [%s], %s;\n\tst.global.%s [%s+4], %s;", typ, to, v, typ, to, v)
	case n == 2 && !float:
		k.p("st.global.u8 [%s], %s;", k.at("c", index, 1), k.b16("cvt.u16.u32 $, %s;", v))
	default:
		k.p("st.global.%s [%s], %s;", typ, k.at("c", index, 4), v)
	}
}

// loop writes body for i from begin while it is less than end, by step. What is written in it is a round.
func (k *regular) loop(begin, end, step string, body func(i string)) {
	t := k.tag()
	i := k.u32("mov.u32 $, %s;", begin)
	k.p("@%s bra %sE;", k.pred("setp.ge.s32 $, %s, %s;", i, end), t)
	k.p("%sL:", t)
	body(i)
	k.p("add.s32 %s, %s, %s;", i, i, step)
	k.p("@%s bra %sL;", k.pred("setp.lt.s32 $, %s, %s;", i, end), t)
	k.p("%sE:", t)
}

// when writes body under a condition.
func (k *regular) when(p string, body func()) {
	t := k.tag()
	k.p("@!%s bra %s;", p, t)
	body()
	k.p("%s:", t)
}

// all is the sum, in each thread, of what the threads of the block have: a tree in shared memory, or shuffles and a word of each warp.
func (k *regular) all(v string, float bool) string {
	add, typ := "add.s32", "b32"
	if float {
		add, typ = "add.rn.f32", "f32"
	}
	sum := func(x, y string) string {
		if float {
			return k.f32("add.rn.f32 $, %s, %s;", x, y)
		}
		return k.u32("add.s32 $, %s, %s;", x, y)
	}
	load := func(from string, off int) string {
		if float {
			return k.f32("ld.shared.f32 $, [%s+%d];", from, off)
		}
		return k.u32("ld.shared.b32 $, [%s+%d];", from, off)
	}
	t := k.tag()
	k.p(".shared .align 16 .b8 %s_[%d];", t, 4*k.threads)
	place := k.u32("mov.u32 $, %s_;", t)
	if k.IntN(2) == 0 {
		mine := k.u32("mad.lo.u32 $, %s, 4, %s;", k.tid, place)
		k.p("st.shared.%s [%s], %s;\n\tbar.sync 0;", typ, mine, v)
		for s := k.threads / 2; s > 0; s /= 2 {
			k.when(k.pred("setp.lt.u32 $, %s, %d;", k.tid, s), func() {
				k.p("st.shared.%s [%s], %s;", typ, mine, sum(load(mine, 0), load(mine, 4*s)))
			})
			k.p("bar.sync 0;")
		}
		return load(place, 0)
	}
	x := k.def(map[bool]string{true: "z", false: "x"}[float], "mov.%s $, %s;", typ, v)
	for s := 16; s > 0; s /= 2 {
		other := k.register("x")
		if float {
			k.p("shfl.sync.bfly.b32 %s, %s, %d, 31, -1;", other, k.u32("mov.b32 $, %s;", x), s)
			k.p("%s %s, %s, %s;", add, x, x, k.f32("mov.b32 $, %s;", other))
		} else {
			k.p("shfl.sync.bfly.b32 %s, %s, %d, 31, -1;\n\t%s %s, %s, %s;", other, x, s, add, x, x, other)
		}
	}
	warp := k.u32("shr.u32 $, %s, 5;", k.tid)
	k.when(k.pred("setp.eq.u32 $, %s, 0;", k.u32("and.b32 $, %s, 31;", k.tid)), func() {
		k.p("st.shared.%s [%s], %s;", typ, k.u32("mad.lo.u32 $, %s, 4, %s;", warp, place), x)
	})
	k.p("bar.sync 0;")
	total := load(place, 0)
	for w := 1; w < k.threads/32; w++ {
		total = sum(total, load(place, 4*w))
	}
	k.p("bar.sync 0;")
	return total
}
