// Package progen makes random valid kernels, the same from the same seed: operations of the whole instruction table,
// divergence, nested loops whose trip counts depend on data, loops with two entries, switches, calls, recursion and calls
// through pointers, shared and local memory, shuffles and votes of whole warps, barriers in uniform flow, by warps and with
// threads that have ended, and atomics whose result does not depend on their order; accesses of mixed widths to one place with stores, fences,
// volatile and ordered accesses between; tables that all blocks read; counts of bytes; warps that hand over global memory at a barrier;
// threads that walk by themselves (walk.go); kernels as people write them (regular.go); vector registers and variables of functions (vectors.go); sorting networks with chains of conditions between barriers, and byte tables in loops that go
// on by the block's size (network.go); carries over many words; ways that end in a trap and are never taken; a dozen levels of choices and
// loops; blocks whose warps hold several rows or lanes without a thread. Two executors must
// leave the same bytes in memory.
package progen

import (
	"fmt"
	"strings"
)

const (
	// inBytes is each thread's input: a value for every register, 8 bytes each.
	inBytes = 8 * 64
	// outBytes is each thread's output: every register, then its own slot.
	outBytes = inBytes + slotBytes
	// slotBytes is the thread's own piece of global memory.
	slotBytes = 64
	// Cells are counters that all threads change, each by one operation.
	Cells      = 24
	localBytes = 64
)

// kind is what a node is.
type kind uint8

const (
	text   kind = iota // instructions
	choice             // if a else b
	loop               // a, some times
	jump               // a switch over parts
	escape             // leaves the innermost loop, or begins its next round
	tangle             // a loop of a and b that is entered at either
)

// node is a statement. The tree is what a reducer works on.
type node struct {
	kind  kind
	lines []string // text: the instructions; choice: sets sp; loop: sets the counter lc; jump: sets sw
	pred  string   // choice, escape: a guard
	a, b  []*node
	parts [][]*node
	again bool // escape: continue, not break
	until bool // loop: tested at the end
}

// function is a device function of two numbers.
type function struct{ body []*node }

// Program is a kernel with what its launch needs.
type Program struct {
	Seed        uint64
	Grid, Block [3]uint32
	Uniform     uint32 // a parameter
	leave       string // a guard: threads that end before the last barrier; "": none
	functions   []*function
	body        []*node
	totals      bool     // some statement adds to the block's total
	bins        bool     // some statement counts in bins
	pairs       bool     // some statement exchanges pairs
	alone       []string // instead of all that: threads that walk by themselves
	regular     []string // or a regular program
}

// Threads is how many run.
func (p *Program) Threads() int {
	n := 1
	for i := range 3 {
		n *= int(p.Grid[i] * p.Block[i])
	}
	return n
}

// blockThreads is how many a block has.
func (p *Program) blockThreads() int { return int(p.Block[0] * p.Block[1] * p.Block[2]) }

// Sizes are the bytes of the three buffers that the kernel gets: in, out, cells.
func (p *Program) Sizes() (in, out, cells int) {
	return p.Threads() * inBytes, p.Threads() * outBytes, Cells * 8
}

func name(prefix string, n int) string { return fmt.Sprintf("%s%d", prefix, n) }

// printer writes a program as PTX.
type printer struct {
	strings.Builder
	labels int
	loops  []string // the ends of the loops around, innermost last
	depth  int
}

func (w *printer) p(format string, args ...any) {
	w.WriteString(strings.Repeat("\t", w.depth+1))
	fmt.Fprintf(w, format+"\n", args...)
}

func (w *printer) label() string {
	w.labels++
	return fmt.Sprintf("L%d", w.labels)
}

// Text is the module, with one kernel called k.
func (p *Program) Text() string {
	w := &printer{}
	fmt.Fprintf(w, "// seed %d, grid %v, block %v, uniform %d\n", p.Seed, p.Grid, p.Block, p.Uniform)
	w.WriteString(".version 9.0\n.target sm_90\n.address_size 64\n")
	for i := range p.functions {
		fmt.Fprintf(w, "%s;\n", signature(i))
	}
	if n := len(p.functions); n > 0 {
		var names []string
		for i := range n {
			names = append(names, name("call", i))
		}
		fmt.Fprintf(w, ".global .align 8 .u64 pointers[%d] = {%s};\n", n, strings.Join(names, ", "))
	}
	for i, f := range p.functions {
		w.function(i, f)
	}
	w.WriteString(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 cells, .param .u32 uniform)\n{\n")
	if p.regular != nil {
		for _, l := range p.regular {
			w.p("%s", l)
		}
		w.WriteString("}\n")
		return w.String()
	}
	w.registers()
	if p.alone != nil {
		w.walk(p)
		return w.String()
	}
	if p.bins {
		w.p(".shared .align 16 .b8 bins[1024];")
	}
	if p.pairs {
		w.p(".shared .align 8 .b8 pairs_[%d];\n\t.reg .b32 pairs;\n\tmov.u32 pairs, pairs_;", 26*p.blockThreads())
	}
	w.p(".shared .align 16 .b8 exchange[%d];\n\t.shared .align 16 .b8 mine[%d];\n\t.shared .align 8 .b8 totals[64];", 4*p.blockThreads(), 16*p.blockThreads())
	w.p("mov.u32 tid, %%tid.z;\n\tmov.u32 w1, %%ntid.y;\n\tmov.u32 w2, %%tid.y;\n\tmad.lo.u32 tid, tid, w1, w2;")
	w.p("mov.u32 w1, %%ntid.x;\n\tmov.u32 w2, %%tid.x;\n\tmad.lo.u32 tid, tid, w1, w2;")
	w.places(p)
	w.p("and.b32 w1, tid, -32;\n\tsub.u32 w1, %d, w1;\n\tmin.u32 w1, w1, 32;\n\tsub.u32 w1, 32, w1;\n\tmov.u32 wm, -1;\n\tshr.u32 wm, wm, w1;", p.blockThreads()) // the lanes of the warp that have a thread
	w.p("mov.u32 sh_, mine;\n\tmad.lo.u32 sh_, tid, 16, sh_;\n\tmov.u32 ex_, exchange;\n\tmov.u32 tot_, totals;\n\tmov.u64 loc_, own;")
	w.p("mov.u64 w3, 0;\n\tst.shared.v2.u64 [sh_], {w3, w3};\n\tst.shared.u64 [totals], w3;\n\tst.shared.u64 [totals+8], w3;\n\tst.shared.u64 [totals+16], w3;")
	for i := 0; i < localBytes; i += 8 {
		w.p("st.local.u64 [own+%d], w3;", i)
	}
	w.ownTables(0)
	w.vectorRegisters()
	w.p("bar.sync 0;")
	w.move("in_", true)
	w.nodes(p.body)
	if p.leave != "" {
		w.p("@%s bra STAY;", p.leave)
		w.move("out_", false)
		w.p("exit;\n\tSTAY:")
	}
	w.p("bar.sync 0;")
	if p.totals {
		w.p("setp.ne.u32 sp, tid, 0;\n\t@sp bra DONE;\n\tld.shared.u64 w3, [totals];\n\tred.global.add.u64 [cells_+%d], w3;\n\tDONE:", 8*(Cells-1))
	}
	w.move("out_", false)
	w.p("ret;")
	w.WriteString("}\n")
	return w.String()
}

// places computes the thread's number in the grid and where its memory is.
func (w *printer) places(p *Program) {
	w.p("mov.u32 gid, %%ctaid.y;\n\tmov.u32 w1, %%nctaid.x;\n\tmov.u32 w2, %%ctaid.x;\n\tmad.lo.u32 gid, gid, w1, w2;\n\tmad.lo.u32 gid, gid, %d, tid;", p.blockThreads())
	w.p("ld.param.u64 in_, [in];\n\tld.param.u64 out_, [out];\n\tld.param.u64 cells_, [cells];\n\tld.param.u32 uni, [uniform];")
	w.p("mad.wide.u32 in_, gid, %d, in_;\n\tmad.wide.u32 out_, gid, %d, out_;\n\tadd.u64 slot_, out_, %d;", inBytes, outBytes, inBytes)
}

// walk writes a program of threads that walk by themselves: what they keep is r5 and f0.
func (w *printer) walk(p *Program) {
	w.p("mov.u32 tid, %%tid.x;")
	w.places(p)
	w.p("mov.u32 r5, 77;\n\tmov.f32 f0, 0f3F800000;")
	for _, l := range p.alone {
		w.p("%s", l)
	}
	w.p("st.global.u32 [out_+40], r5;\n\tst.global.f32 [out_+%d], f0;\n\tret;", 8*(8+5))
	w.WriteString("}\n")
}

// registers declares them all.
func (w *printer) registers() {
	for _, f := range families {
		w.p(".reg %s %s<%d>;", f.decl, f.prefix, f.count)
	}
	w.p(".reg .b32 tid, gid, uni, sh_, ex_, tot_, sw, w1, w2, lvl, lc<8>, n<8>, wm;\n\t.reg .b16 m<4>;\n\t.reg .b64 v<2>;\n\t.reg .f32 e<3>;\n\t.reg .pred q<4>;\n\t.reg .b64 in_, out_, cells_, slot_, loc_, w3, w4;\n\t.reg .pred sp, lp;")
	w.p(".local .align 16 .b8 own[%d];", localBytes)
}

// move loads all registers from a thread's piece of memory, or stores them.
func (w *printer) move(base string, load bool) {
	off := 0
	for _, f := range families {
		for i := range f.count {
			r := name(f.prefix, i)
			switch {
			case f.decl == ".pred" && load:
				w.p("ld.global.u32 w1, [%s+%d];\n\tsetp.ne.u32 %s, w1, 0;", base, off, r)
			case f.decl == ".pred":
				w.p("selp.u32 w1, 1, 0, %s;\n\tst.global.u32 [%s+%d], w1;", r, base, off)
			case load:
				w.p("ld.global.%s %s, [%s+%d];", f.mem, r, base, off)
			default:
				w.p("st.global.%s [%s+%d], %s;", f.mem, base, off, r)
			}
			off += 8
		}
	}
}

// signature is a function's head: two numbers, and how deep it may call further.
func signature(i int) string {
	return fmt.Sprintf(".func (.param .b32 res) call%d(.param .b32 a, .param .b32 b, .param .b32 n)", i)
}

// function writes a device function: its registers begin as combinations of the two arguments.
func (w *printer) function(i int, f *function) {
	fmt.Fprintf(w, "%s\n{\n", signature(i))
	w.registers()
	w.ownTables(i + 1)
	w.vectorRegisters()
	w.p("mov.u64 loc_, own;\n\tmov.u64 w3, 0;")
	for i := 0; i < localBytes; i += 8 {
		w.p("st.local.u64 [own+%d], w3;", i)
	}
	w.p("ld.param.b32 r0, [a];\n\tld.param.b32 r1, [b];\n\tld.param.b32 lvl, [n];\n\tmov.u32 uni, 5;\n\tmov.u32 tid, 0;")
	n := uint32(1)
	for _, fam := range families {
		for k := range fam.count {
			r := name(fam.prefix, k)
			n = n*1664525 + 1013904223
			switch {
			case fam.prefix == "r" && k < 2:
			case fam.decl == ".pred":
				w.p("and.b32 w1, r%d, %d;\n\tsetp.ne.u32 %s, w1, 0;", k%2, 1<<(k+1), r)
			case fam.bytes == 8:
				w.p("cvt.u64.u32 w3, r%d;\n\tmul.lo.u64 w3, w3, 0x%x;\n\tmov.b64 %s, w3;", k%2, uint64(n)<<17|uint64(n), r)
			case fam.bytes == 2:
				w.p("shr.u32 w1, r%d, %d;\n\tcvt.u16.u32 %s, w1;", k%2, k, "h0")
				if r != "h0" {
					w.p("mov.b16 %s, h0;", r)
				}
			default:
				w.p("xor.b32 w1, r%d, 0x%x;\n\tmov.b32 %s, w1;", k%2, n, r)
			}
		}
	}
	w.nodes(f.body)
	w.p("st.param.b32 [res], r2;\n\tret;")
	w.WriteString("}\n")
}

func (w *printer) nodes(list []*node) {
	for _, n := range list {
		w.node(n)
	}
}

func (w *printer) in(list []*node) {
	w.depth++
	w.nodes(list)
	w.depth--
}

func (w *printer) node(n *node) {
	switch n.kind {
	case text:
		for _, l := range n.lines {
			w.p("%s", l)
		}
	case choice:
		w.choice(n)
	case loop:
		w.loop(n)
	case jump:
		w.jump(n)
	case tangle:
		w.tangle(n)
	case escape:
		if len(w.loops) == 0 {
			return // the reducer took the loop away
		}
		to := w.loops[len(w.loops)-1]
		if n.again {
			to += "n"
		}
		w.p("@%s bra %s;", n.pred, to)
	}
}

func (w *printer) choice(n *node) {
	for _, l := range n.lines {
		w.p("%s", l)
	}
	other, end := w.label(), w.label()
	w.p("@%s bra %s;", n.pred, other)
	w.in(n.a)
	if len(n.b) > 0 {
		w.p("bra %s;", end)
	}
	w.p("%s:", other)
	if len(n.b) > 0 {
		w.in(n.b)
		w.p("%s:", end)
	}
}

func (w *printer) loop(n *node) {
	counter := fmt.Sprintf("lc%d", len(w.loops))
	for _, l := range n.lines {
		w.p("%s", strings.ReplaceAll(l, "lc", counter))
	}
	top, end := w.label(), w.label()
	w.p("%s:", top)
	if !n.until {
		w.p("setp.eq.u32 lp, %s, 0;\n\t@lp bra %s;", counter, end)
	}
	w.loops = append(w.loops, end)
	w.in(n.a)
	w.loops = w.loops[:len(w.loops)-1]
	w.p("%sn:", end)
	if n.until {
		w.p("setp.ne.u32 lp, %s, 0;\n\tsub.u32 %s, %s, 1;\n\t@lp bra %s;", counter, counter, counter, top)
	} else {
		w.p("sub.u32 %s, %s, 1;\n\tbra %s;", counter, counter, top)
	}
	w.p("%s:", end)
}

// tangle is a loop that begins at a or at b, as the guard says, and goes round to either.
func (w *printer) tangle(n *node) {
	counter := fmt.Sprintf("lc%d", len(w.loops))
	for _, l := range n.lines {
		w.p("%s", strings.ReplaceAll(l, "lc", counter))
	}
	first, second, end := w.label(), w.label(), w.label()
	w.loops = append(w.loops, end)
	w.p("@%s bra %s;\n\t%s:", n.pred, second, first)
	w.in(n.a)
	w.p("%s:", second)
	w.in(n.b)
	w.loops = w.loops[:len(w.loops)-1]
	w.p("%sn:", end)
	w.p("setp.eq.u32 lp, %s, 0;\n\t@lp bra %s;\n\tsub.u32 %s, %s, 1;", counter, end, counter, counter)
	w.p("@%s bra %s;\n\tbra %s;", strings.TrimPrefix(n.pred, "!"), second, first)
	w.p("%s:", end)
}

func (w *printer) jump(n *node) {
	for _, l := range n.lines {
		w.p("%s", l)
	}
	var labels []string
	for range n.parts {
		labels = append(labels, w.label())
	}
	end := w.label()
	w.p("T%s: .branchtargets %s;", end, strings.Join(labels, ", "))
	w.p("brx.idx sw, T%s;", end)
	for i, part := range n.parts {
		w.p("%s:", labels[i])
		w.in(part)
		w.p("bra %s;", end)
	}
	w.p("%s:", end)
}
