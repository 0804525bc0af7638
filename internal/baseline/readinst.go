package baseline

import (
	"strconv"
	"strings"
)

// line reads a line of a function: a label or an instruction.
func (r *reader) line(line string) {
	if line[0] != ' ' {
		name, _, ok := strings.Cut(line, ":")
		if !ok {
			fail("line %q", line)
		}
		r.begin(name)
		return
	}
	in := &inst{res: -1}
	if i := strings.Index(line, ", !"); i >= 0 {
		if d := strings.Index(line[i:], "!dbg !"); d >= 0 {
			n, _, _ := strings.Cut(line[i+d+len("!dbg !"):], ",")
			v, _ := strconv.Atoi(strings.TrimSpace(n))
			in.debug = int32(v)
		}
		line = line[:i]
	}
	r.text, r.at = line, 0
	var result string
	if r.peek() == '%' {
		r.at++
		result = r.name()
		r.expect('=')
	}
	in.op = r.word()
	if in.op == "tail" || in.op == "notail" {
		in.op = r.word()
	}
	read := readers[in.op]
	if read == nil {
		fail("instruction %s", in.op)
	}
	read(r, in)
	if result != "" {
		in.res = r.define(result, in.t)
	}
	b := &r.f.blocks[r.current]
	b.insts = append(b.insts, in)
}

// readers read the operands of each instruction.
var readers = map[string]func(*reader, *inst){
	"add": readBinary, "sub": readBinary, "mul": readBinary, "sdiv": readBinary, "udiv": readBinary, "srem": readBinary, "urem": readBinary,
	"and": readBinary, "or": readBinary, "xor": readBinary, "shl": readBinary, "lshr": readBinary, "ashr": readBinary,
	"fadd": readBinary, "fsub": readBinary, "fmul": readBinary, "fdiv": readBinary,
	"fneg": readUnary, "freeze": readUnary,
	"icmp": readCompare, "fcmp": readCompare, "select": readList,
	"zext": readCast, "sext": readCast, "trunc": readCast, "fpext": readCast, "fptrunc": readCast, "sitofp": readCast, "uitofp": readCast, "fptosi": readCast, "fptoui": readCast,
	"bitcast": readCast, "ptrtoint": readCast, "inttoptr": readCast,
	"getelementptr": readAddress, "load": readLoad, "store": readStore, "atomicrmw": readRMW, "cmpxchg": readExchange, "fence": readNothing, "alloca": readAlloca,
	"extractelement": readList, "insertelement": readList, "shufflevector": readShuffle, "extractvalue": readValue, "insertvalue": readValue,
	"phi": readPhi, "br": readBranch, "switch": readSwitch, "ret": readReturn, "unreachable": readNothing, "call": readCall,
}

// flags are words between an instruction's name and its type that change nothing for us.
var flags = map[string]bool{"nuw": true, "nsw": true, "exact": true, "disjoint": true, "nneg": true, "inbounds": true, "nusw": true, "samesign": true,
	"nsz": true, "nnan": true, "ninf": true, "volatile": true, "weak": true}

func (r *reader) flags() {
	for flags[r.peekWord()] {
		r.word()
	}
}

func readBinary(r *reader, in *inst) {
	r.flags()
	in.t = r.typ()
	a := r.operand(in.t)
	r.expect(',')
	in.args = []operand{a, r.operand(in.t)}
}

func readUnary(r *reader, in *inst) {
	r.flags()
	in.t = r.typ()
	in.args = []operand{r.operand(in.t)}
}

func readCompare(r *reader, in *inst) {
	r.flags()
	in.sub = r.word()
	t := r.typ()
	a := r.operand(t)
	r.expect(',')
	in.args = []operand{a, r.operand(t)}
	in.t = typ{kind: integer, bits: 1, lanes: t.lanes, vector: t.vector}
}

// readList reads typed operands: select, extractelement, insertelement.
func readList(r *reader, in *inst) {
	r.flags()
	for {
		in.args = append(in.args, r.typed())
		if !r.take(',') {
			break
		}
	}
	switch in.op {
	case "select":
		in.t = in.args[1].t
	case "extractelement":
		in.t = in.args[0].t.scalar()
	default:
		in.t = in.args[0].t
	}
}

func readCast(r *reader, in *inst) {
	r.flags()
	in.args = []operand{r.typed()}
	r.word() // to
	in.t = r.typ()
}

func readAddress(r *reader, in *inst) {
	r.flags()
	in.mem = r.typ()
	r.expect(',')
	for {
		in.args = append(in.args, r.typed())
		if !r.take(',') {
			break
		}
	}
	if len(in.args) != 2 {
		fail("getelementptr of %d indices", len(in.args)-1)
	}
	in.t = in.args[0].t
	if in.args[1].t.vector {
		in.t = typ{kind: pointer, bits: 64, lanes: in.args[1].t.lanes, vector: true}
	}
}

func readLoad(r *reader, in *inst) {
	if w := r.peekWord(); w == "atomic" || w == "volatile" {
		in.sub = r.word()
	}
	r.flags()
	in.t = r.typ()
	r.expect(',')
	in.args = []operand{r.typed()}
}

func readStore(r *reader, in *inst) {
	if r.peekWord() == "atomic" {
		in.sub = r.word()
	}
	r.flags()
	v := r.typed()
	r.expect(',')
	in.args = []operand{v, r.typed()}
	if in.sub != "" && strings.Contains(r.text[r.at:], "seq_cst") {
		in.sub = "seq_cst"
	}
}

func readRMW(r *reader, in *inst) {
	r.flags()
	in.sub = r.word()
	p := r.typed()
	r.expect(',')
	v := r.typed()
	in.args, in.t = []operand{p, v}, v.t
}

func readExchange(r *reader, in *inst) {
	r.flags()
	p := r.typed()
	r.expect(',')
	want := r.typed()
	r.expect(',')
	in.args = []operand{p, want, r.typed()}
	r.aggregates = append(r.aggregates, []typ{want.t, boolean})
	in.t = typ{kind: aggregate, bits: uint16(len(r.aggregates) - 1), lanes: 1}
}

func readNothing(r *reader, in *inst) {
	if in.op == "fence" && strings.Contains(r.text, "seq_cst") {
		in.sub = "seq_cst"
	}
}

func readAlloca(r *reader, in *inst) {
	in.mem = r.typ()
	in.t = typ{kind: pointer, bits: 64, lanes: 1}
	in.list = []int{1}
	if r.take(',') && r.peekWord() != "align" {
		n := r.typed()
		if !n.isConst() {
			fail("alloca of a number that is not known")
		}
		in.list[0] = int(r.numberOf(n))
	}
}

// numberOf is a constant's value.
func (r *reader) numberOf(o operand) int64 {
	data := r.consts[o.con].data
	var v uint64
	for i := min(len(data), 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(data[i])
	}
	shift := 64 - min(int(o.t.bits), 64)
	return int64(v<<shift) >> shift
}

func readShuffle(r *reader, in *inst) {
	a := r.typed()
	r.expect(',')
	b := r.typed()
	r.expect(',')
	mt := r.typ()
	in.args = []operand{a, b}
	in.t = typ{kind: a.t.kind, bits: a.t.bits, lanes: mt.lanes, vector: true}
	in.list = make([]int, mt.lanes)
	if r.peek() != '<' {
		switch w := r.word(); w {
		case "zeroinitializer":
		case "splat":
			r.expect('(')
			r.typ()
			n := r.number()
			for i := range in.list {
				in.list[i] = n
			}
			r.expect(')')
		default:
			fail("mask %q", w)
		}
		return
	}
	r.at++
	for i := range in.list {
		r.typ()
		if w := r.peekWord(); w == "poison" || w == "undef" {
			r.word()
			in.list[i] = -1
		} else {
			in.list[i] = r.number()
		}
		r.take(',')
	}
}

// readValue reads extractvalue and insertvalue with one index.
func readValue(r *reader, in *inst) {
	in.args = []operand{r.typed()}
	in.t = in.args[0].t
	r.expect(',')
	if in.op == "insertvalue" {
		in.args = append(in.args, r.typed())
		r.expect(',')
	}
	in.list = []int{r.number()}
	if in.op == "extractvalue" {
		in.t = r.aggregates[in.args[0].t.bits][in.list[0]]
	}
}

func readPhi(r *reader, in *inst) {
	in.t = r.typ()
	for r.take('[') {
		in.args = append(in.args, r.operand(in.t))
		r.expect(',')
		r.expect('%')
		in.labels = append(in.labels, r.label(r.name()))
		r.expect(']')
		r.take(',')
	}
}

func (r *reader) target() int32 {
	r.word() // label
	r.expect('%')
	return r.label(r.name())
}

func readBranch(r *reader, in *inst) {
	if r.peekWord() == "label" {
		in.labels = []int32{r.target()}
		return
	}
	in.args = []operand{r.typed()}
	r.expect(',')
	yes := r.target()
	r.expect(',')
	in.labels = []int32{yes, r.target()}
}

func readSwitch(r *reader, in *inst) {
	x := r.typed()
	in.args = []operand{x}
	r.expect(',')
	in.labels = []int32{r.target()}
	r.expect('[')
	for !r.take(']') {
		c := r.typed()
		in.list = append(in.list, int(r.numberOf(c)))
		r.expect(',')
		in.labels = append(in.labels, r.target())
	}
}

func readReturn(r *reader, in *inst) {
	if t := r.typ(); t.kind != void {
		in.args = []operand{r.operand(t)}
	}
}

func readCall(r *reader, in *inst) {
	if r.peekWord() == "x86_regcallcc" {
		r.word()
	}
	in.t = r.typ()
	if r.peekWord() == "asm" {
		r.word()
		for w := r.peekWord(); w != ""; w = r.peekWord() {
			r.word()
		}
		r.expect('"')
		r.at--
		in.sub = "asm " + r.name()
		r.expect(',')
		r.space()
		in.sub += "|" + r.name()
	} else if r.take('@') {
		in.sub = r.name()
	} else {
		r.expect('%')
		in.sub = "*"
		in.args = append(in.args, operand{val: r.value(r.name()), t: word})
	}
	r.expect('(')
	for !r.take(')') {
		t := r.typ()
		for w := r.peekWord(); w == "noalias" || w == "align" || w == "signext" || w == "zeroext" || w == "immarg" || w == "elementtype"; w = r.peekWord() {
			r.word()
			if r.take('(') { // the type that a pointer is to
				r.typ()
				r.expect(')')
			}
		}
		if r.peek() == '!' {
			fail("metadata operand")
		}
		in.args = append(in.args, r.operand(t))
		r.take(',')
	}
}
