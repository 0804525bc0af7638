package warp_test

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A random program: blocks of integer operations on eight registers, each ending in a branch on a register to any two
// blocks, forwards or back, so that the graph is of any shape. Fuel bounds every thread's way. A few blocks write to
// memory or wait at nothing; lanes start with different values and so diverge.

const regs = 6

var sizes = 9 // of programs: KZ_SIZE makes them smaller to look at a failure

type ranOp struct {
	kind       int
	d, a, b, k int
}

type ranBlock struct {
	ops       []ranOp
	test, bit int
	yes, no   int // len(blocks): exit
}

type program struct{ blocks []ranBlock }

func randomProgram(r *rand.Rand) *program {
	p := &program{}
	n := 2 + r.Intn(sizes)
	for i := 0; i < n; i++ {
		b := ranBlock{test: r.Intn(regs), bit: r.Intn(4), yes: r.Intn(n + 1), no: r.Intn(n + 1)}
		if r.Intn(3) == 0 { // mostly forwards
			b.yes = i + 1
		}
		for j := r.Intn(4); j >= 0; j-- {
			b.ops = append(b.ops, ranOp{r.Intn(11), r.Intn(regs), r.Intn(regs), r.Intn(regs), r.Intn(16)})
		}
		p.blocks = append(p.blocks, b)
	}
	return p
}

func (p *program) ptx() string {
	var b strings.Builder
	b.WriteString(`.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 uni)
{
	.reg .pred %p<4>;
	.reg .b32 %r<20>;
	.reg .b32 %x<8>;
	.reg .b64 %rd<12>;
	.local .align 4 .b8 buf[64];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.s32 %r4, %r2, %r3, %r1;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r5, [uni];
	mul.wide.u32 %rd3, %r4, 4;
	add.s64 %rd4, %rd1, %rd3;
	mul.wide.u32 %rd5, %r4, 24;
	add.s64 %rd6, %rd2, %rd5;
	ld.global.u32 %x0, [%rd4];
	mov.u32 %x1, %r4;
	mov.u32 %x2, %r5;
	mov.u32 %x3, 7;
	add.u32 %x4, %r4, 100;
	xor.b32 %x5, %x0, %r5;
	mov.u32 %r6, 40;
	mov.u64 %rd8, buf;
`)
	for i, bl := range p.blocks {
		fmt.Fprintf(&b, "B%d:\n\tsub.u32 %%r6, %%r6, 1;\n\tsetp.eq.u32 %%p1, %%r6, 0;\n\t@%%p1 bra B%d;\n", i, len(p.blocks))
		for _, o := range bl.ops {
			d, x, y := fmt.Sprintf("%%x%d", o.d), fmt.Sprintf("%%x%d", o.a), fmt.Sprintf("%%x%d", o.b)
			switch o.kind {
			case 0:
				fmt.Fprintf(&b, "\tadd.u32 %s, %s, %s;\n", d, x, y)
			case 1:
				fmt.Fprintf(&b, "\tsub.u32 %s, %s, %s;\n", d, x, y)
			case 2:
				fmt.Fprintf(&b, "\tmul.lo.u32 %s, %s, %d;\n", d, x, o.k)
			case 3:
				fmt.Fprintf(&b, "\txor.b32 %s, %s, %s;\n", d, x, y)
			case 4:
				fmt.Fprintf(&b, "\tshr.u32 %s, %s, %d;\n", d, x, o.k)
			case 5:
				fmt.Fprintf(&b, "\tadd.u32 %s, %s, %d;\n", d, x, o.k)
			case 6:
				fmt.Fprintf(&b, "\tsetp.lt.s32 %%p2, %s, %s;\n\tselp.b32 %s, %s, %d, %%p2;\n", x, y, d, x, o.k)
			case 7: // own slot of global memory
				fmt.Fprintf(&b, "\tst.global.u32 [%%rd6+%d], %s;\n", 4*o.d, x)
			case 8:
				fmt.Fprintf(&b, "\tld.global.u32 %s, [%%rd6+%d];\n", d, 4*o.a)
			case 9: // a local array at a varying index
				fmt.Fprintf(&b, "\tand.b32 %%r7, %s, 15;\n\tmul.wide.u32 %%rd9, %%r7, 4;\n\tadd.s64 %%rd9, %%rd8, %%rd9;\n\tst.local.u32 [%%rd9], %s;\n\tld.local.u32 %s, [%%rd9];\n", x, y, d)
			case 10: // a table at a varying index
				fmt.Fprintf(&b, "\tand.b32 %%r7, %s, 31;\n\tmul.wide.u32 %%rd9, %%r7, 4;\n\tadd.s64 %%rd9, %%rd1, %%rd9;\n\tld.global.u32 %s, [%%rd9];\n", x, d)
			}
		}
		fmt.Fprintf(&b, "\tand.b32 %%r8, %%x%d, %d;\n\tsetp.ne.u32 %%p3, %%r8, 0;\n\t@%%p3 bra B%d;\n\tbra B%d;\n", bl.test, 1<<bl.bit, bl.yes, bl.no)
	}
	fmt.Fprintf(&b, "B%d:\n", len(p.blocks))
	for i := 0; i < regs; i++ {
		fmt.Fprintf(&b, "\tst.global.u32 [%%rd6+%d], %%x%d;\n", 4*i, i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

func (p *program) run(in []uint32, uni uint32, id int) [regs]uint32 {
	x := [regs]uint32{in[id], uint32(id), uni, 7, uint32(id) + 100, in[id] ^ uni}
	var slot [regs]uint32
	fuel := 40
	for at := 0; at < len(p.blocks); {
		if fuel--; fuel == 0 {
			break
		}
		bl := p.blocks[at]
		for _, o := range bl.ops {
			switch a, b := x[o.a], x[o.b]; o.kind {
			case 0:
				x[o.d] = a + b
			case 1:
				x[o.d] = a - b
			case 2:
				x[o.d] = a * uint32(o.k)
			case 3:
				x[o.d] = a ^ b
			case 4:
				x[o.d] = a >> o.k
			case 5:
				x[o.d] = a + uint32(o.k)
			case 6:
				if int32(a) < int32(b) {
					x[o.d] = a
				} else {
					x[o.d] = uint32(o.k)
				}
			case 7:
				slot[o.d] = a
			case 8:
				x[o.d] = slot[o.a]
			case 9:
				x[o.d] = b
			case 10:
				x[o.d] = in[a&31]
			}
		}
		if x[bl.test]&(1<<bl.bit) != 0 {
			at = bl.yes
		} else {
			at = bl.no
		}
	}
	return x
}

func TestRandomPrograms(t *testing.T) {
	first, count := int64(1), 25
	if s := os.Getenv("KZ_SEED"); s != "" {
		first, _ = strconv.ParseInt(s, 10, 64)
		count = 1
	}
	if s := os.Getenv("KZ_COUNT"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("KZ_SIZE"); s != "" {
		sizes, _ = strconv.Atoi(s)
	}
	for seed := first; seed < first+int64(count); seed++ {
		r := rand.New(rand.NewSource(seed))
		p := randomProgram(r)
		threads := []uint32{64, 32, 50, 96}[r.Intn(4)]
		block := [3]uint32{threads, 1, 1}
		spec := block
		if r.Intn(3) == 0 {
			spec = [3]uint32{}
		}
		total := int(threads) * 2
		in := make([]uint32, total+32)
		for i := range in {
			in[i] = r.Uint32()
		}
		uni := r.Uint32()
		out := make([]uint32, regs*total)
		want := make([]uint32, regs*total)
		for i := 0; i < total; i++ {
			x := p.run(in, uni, i)
			copy(want[regs*i:], x[:])
		}
		k := compile(t, fromPTX(t, p.ptx(), "k"), spec, "")
		ok(t, k.launch(t, [3]uint32{2, 1, 1}, block, 0, in, out, uni))
		for i := range want {
			if out[i] != want[i] {
				t.Errorf("seed %d (%d blocks): thread %d register %d = %#x, not %#x", seed, len(p.blocks), i/regs, i%regs, out[i], want[i])
				break
			}
		}
	}
}
