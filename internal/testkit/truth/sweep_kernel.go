package truth

import (
	"fmt"
	"strings"

	"kudzu/internal/ptx/isa"
)

// The hash of one input and its outputs is a chain of MurmurHash3's finalizers, each a bijection of the word it takes in: one
// wrong bit of one output always changes a chunk's sum, and several cancel with a chance of 2^-32.
const (
	mixInput = 0x9e3779b1
	mix1     = 0x85ebca6b
	mix2     = 0xc2b2ae35
)

// sampleModes has four bits for each of the first eight chunks of a sample: which operands take edge values, all others
// being random bits. Chunk 0 has edge values alone, and so all pairs of them.
const sampleModes = 0x8bde421f

// sweepText writes the module of sweeps of one shape: kernel k adds each chunk's hashes into out[block][sweep], or, in the
// module that shows them, stores what each input gave as 8 bytes.
//
// Block b takes the inputs of chunk first+b, which are steps times sweepThreads.
func sweepText(sweeps []*Sweep, show bool) string {
	var b strings.Builder
	b.WriteString(header(sweeps[0].profile))
	b.WriteString(".visible .entry k(.param .u64 out, .param .u64 edges, .param .u32 first, .param .u32 steps)\n{\n")
	w := &sweepWriter{b: &b, show: show}
	w.p(".reg .b32 %%x, %%n, %%h, %%t, %%g, %%w, %%e<4>, %%c, %%acc<%d>;", len(sweeps))
	w.p(".reg .b64 %%out, %%in, %%a;\n\t.reg .pred %%more, %%q<4>;\n\t.reg .b16 %%z, %%o;")
	w.p("ld.param.u64 %%out, [out];\n\tld.param.u64 %%in, [edges];\n\tld.param.u32 %%n, [steps];\n\tld.param.u32 %%c, [first];")
	w.p("mov.u32 %%t, %%ctaid.x;\n\tadd.u32 %%c, %%c, %%t;\n\tmul.lo.u32 %%x, %%c, %%n;\n\tshl.b32 %%x, %%x, 8;\n\tmov.u32 %%g, %%tid.x;\n\tadd.u32 %%x, %%x, %%g;")
	// %o is 0, which an assembler cannot know: NVIDIA's takes the result of a comparison of halves, which its instruction writes twice, for
	// extended by zeros already.
	w.p("shr.u32 %%w, %%n, 31;\n\tcvt.u16.u32 %%o, %%w;")
	// In out: one word a sweep and block, or 8 bytes an input and sweep.
	if show {
		w.p("mul.lo.u32 %%w, %%t, %%n;\n\tshl.b32 %%w, %%w, 8;\n\tadd.u32 %%w, %%w, %%g;\n\tmad.wide.u32 %%out, %%w, %d, %%out;", 8*len(sweeps))
	} else {
		w.p("mad.wide.u32 %%out, %%t, %d, %%out;", 4*len(sweeps))
	}
	for i := range sweeps {
		w.p("mov.u32 %%acc%d, 0;", i)
	}
	b.WriteString("loop:\n")
	w.inputs(sweeps[0])
	w.p("mul.lo.u32 %%g, %%x, %#x;", uint32(mixInput))
	for i, s := range sweeps {
		w.sweep(i, s)
	}
	w.p("add.u32 %%x, %%x, %d;\n\tsub.u32 %%n, %%n, 1;\n\tsetp.ne.u32 %%more, %%n, 0;", sweepThreads)
	if show {
		w.p("add.u64 %%out, %%out, %d;", 8*len(sweeps)*sweepThreads)
	}
	w.p("@%%more bra loop;")
	for i := range sweeps {
		if !show {
			w.p("red.global.add.u32 [%%out+%d], %%acc%d;", 4*i, i)
		}
	}
	w.p("ret;")
	b.WriteString("}\n")
	return b.String()
}

type sweepWriter struct {
	b    *strings.Builder
	show bool
}

func (w *sweepWriter) p(format string, args ...any) { fmt.Fprintf(w.b, "\t"+format+"\n", args...) }

// fmix is MurmurHash3's finalizer of %h.
func (w *sweepWriter) fmix() {
	w.p("shr.u32 %%t, %%h, 16;\n\txor.b32 %%h, %%h, %%t;\n\tmul.lo.u32 %%h, %%h, %#x;", uint32(mix1))
	w.p("shr.u32 %%t, %%h, 13;\n\txor.b32 %%h, %%h, %%t;\n\tmul.lo.u32 %%h, %%h, %#x;", uint32(mix2))
	w.p("shr.u32 %%t, %%h, 16;\n\txor.b32 %%h, %%h, %%t;")
}

// inputs declares the operands, called %in<k>, and sets them from %x.
func (w *sweepWriter) inputs(s *Sweep) {
	for k, r := range s.sources() {
		decl := r.fam.decl
		w.p(".reg %s %%in%d;", decl, k)
		if s.All {
			w.fromWord(r, k, "%x")
			continue
		}
		w.sampled(r, k)
	}
}

// fromWord sets operand k from a 32-bit register.
func (w *sweepWriter) fromWord(r reg, k int, from string) {
	switch r.fam.bytes {
	case 1:
		w.p("cvt.u8.u32 %%in%d, %s;", k, from)
	case 2:
		w.p("cvt.u16.u32 %%z, %s;\n\tmov.b16 %%in%d, %%z;", from, k)
	case 4:
		w.p("mov.b32 %%in%d, %s;", k, from)
	default:
		panic("BUG: operand of " + r.fam.decl)
	}
}

// sampled sets operand k of a sample: random bits, or an edge value where the chunk's mode says so.
func (w *sweepWriter) sampled(r reg, k int) {
	word := func(salt int) {
		w.p("add.u32 %%h, %%x, %#x;\n\tmul.lo.u32 %%h, %%h, %#x;", uint32(k*0x3c6ef372+salt*0x1b873593+0x52dce729), uint32(mixInput))
		w.fmix()
	}
	word(1)
	if r.typ == isa.Pred {
		w.p("setp.lt.s32 %%in%d, %%h, 0;", k)
		return
	}
	w.p("mov.u32 %%e0, %%h;")
	if r.fam.bytes == 8 {
		word(2)
		w.p("mov.u32 %%e1, %%h;")
	}
	w.p("shr.u32 %%t, %%x, 20;\n\tshl.b32 %%t, %%t, 2;\n\tmov.u32 %%w, %#x;\n\tshr.u32 %%w, %%w, %%t;\n\tand.b32 %%w, %%w, %d;\n\tsetp.ne.u32 %%q0, %%w, 0;", uint32(sampleModes), 1<<k)
	w.p("shr.u32 %%t, %%x, %d;\n\tand.b32 %%t, %%t, %d;\n\tmad.wide.u32 %%a, %%t, 8, %%in;", 6*k, edgeCount-1)
	w.p("ld.global.u32 %%e2, [%%a+%d];\n\tselp.b32 %%e0, %%e2, %%e0, %%q0;", 8*edgeCount*k)
	if r.fam.bytes == 8 {
		w.p("ld.global.u32 %%e3, [%%a+%d];\n\tselp.b32 %%e1, %%e3, %%e1, %%q0;\n\tmov.b64 %%in%d, {%%e0, %%e1};", 8*edgeCount*k+4, k)
		return
	}
	w.fromWord(r, k, "%e0")
}

// sweep runs one line on the inputs and takes its results into the sum, or stores them.
func (w *sweepWriter) sweep(i int, s *Sweep) {
	w.b.WriteString("\t{\n")
	k := 0
	for _, r := range s.regs {
		w.p(".reg %s %s;", r.fam.decl, r.name)
		switch {
		case r.dest:
		case r.typ == isa.Pred:
			w.p("mov.pred %s, %%in%d;", r.name, k)
			k++
		case r.fam.bytes == 1:
			w.p("cvt.u8.u8 %s, %%in%d;", r.name, k)
			k++
		default:
			w.p("mov.b%d %s, %%in%d;", 8*r.fam.bytes, r.name, k)
			k++
		}
	}
	w.p("%s", s.Text)
	words := 0
	word := func(format string, args ...any) {
		w.p(format, args...)
		if w.show {
			if words < 2 {
				w.p("st.global.u32 [%%out+%d], %%w;", 8*i+4*words)
			}
		} else {
			w.p("xor.b32 %%h, %%h, %%w;")
			w.fmix()
		}
		words++
	}
	if !w.show {
		w.p("mov.u32 %%h, %%g;")
	}
	for _, r := range s.regs {
		switch {
		case !r.dest:
		case r.typ == isa.Pred:
			word("selp.u32 %%w, 1, 0, %s;", r.name)
		case r.fam.bytes == 1:
			word("cvt.u32.u8 %%w, %s;", r.name)
		case r.fam.bytes == 2:
			word("mov.b16 %%z, %s;\n\tmov.b32 %%w, {%%z, %%o};", r.name)
		case r.fam.bytes == 4:
			word("mov.b32 %%w, %s;", r.name)
		default:
			word("mov.b64 {%%w, %%e0}, %s;", r.name)
			word("mov.u32 %%w, %%e0;")
		}
	}
	if !w.show {
		w.p("add.u32 %%acc%d, %%acc%d, %%h;", i, i)
	}
	w.b.WriteString("\t}\n")
}
