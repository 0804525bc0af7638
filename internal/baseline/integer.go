package baseline

import "kudzu/internal/baseline/x86"

// writers write the instructions.
var writers map[string]func(*gen, *inst)

func init() {
	writers = map[string]func(*gen, *inst){
		"add": integers, "sub": integers, "mul": integers, "sdiv": integers, "udiv": integers, "srem": integers, "urem": integers,
		"and": integers, "or": integers, "xor": integers, "shl": integers, "lshr": integers, "ashr": integers,
		"fadd": floats, "fsub": floats, "fmul": floats, "fdiv": floats, "fneg": negate,
		"icmp": icmp, "fcmp": fcmp, "select": choose,
		"zext": extend, "sext": extend, "trunc": truncate, "fpext": fpext, "fptrunc": fptrunc,
		"sitofp": toFloat, "uitofp": toFloat, "fptosi": toInteger, "fptoui": toInteger,
		"getelementptr": address, "load": loads, "store": stores, "atomicrmw": rmw, "cmpxchg": exchange, "fence": fence, "alloca": alloca,
		"extractelement": extract, "insertelement": insert, "shufflevector": shuffle, "insertvalue": insertValue,
		"unreachable": func(g *gen, _ *inst) { g.Trap() }, "call": call,
	}
}

// lanewise are the operations that an instruction does for every lane, by the lane's bits: 8, 16, 32, 64.
var lanewise = map[string][4]x86.Op{
	"add":  {x86.VPADDB, x86.VPADDW, x86.VPADDD, x86.VPADDQ},
	"sub":  {x86.VPSUBB, x86.VPSUBW, x86.VPSUBD, x86.VPSUBQ},
	"mul":  {{}, x86.VPMULLW, x86.VPMULLD, x86.VPMULLQ},
	"and":  {x86.VPANDD, x86.VPANDD, x86.VPANDD, x86.VPANDD},
	"or":   {x86.VPORD, x86.VPORD, x86.VPORD, x86.VPORD},
	"xor":  {x86.VPXORD, x86.VPXORD, x86.VPXORD, x86.VPXORD},
	"shl":  {{}, x86.VPSLLVW, x86.VPSLLVD, x86.VPSLLVQ},
	"lshr": {{}, x86.VPSRLVW, x86.VPSRLVD, x86.VPSRLVQ},
	"ashr": {{}, x86.VPSRAVW, x86.VPSRAVD, x86.VPSRAVQ},

	"smin": {x86.VPMINSB, x86.VPMINSW, x86.VPMINSD, x86.VPMINSQ},
	"smax": {x86.VPMAXSB, x86.VPMAXSW, x86.VPMAXSD, x86.VPMAXSQ},
	"umin": {x86.VPMINUB, x86.VPMINUW, x86.VPMINUD, x86.VPMINUQ},
	"umax": {x86.VPMAXUB, x86.VPMAXUW, x86.VPMAXUD, x86.VPMAXUQ},

	"sadd.sat": {x86.VPADDSB, x86.VPADDSW, {}, {}},
	"uadd.sat": {x86.VPADDUSB, x86.VPADDUSW, {}, {}},
	"ssub.sat": {x86.VPSUBSB, x86.VPSUBSW, {}, {}},
	"usub.sat": {x86.VPSUBUSB, x86.VPSUBUSW, {}, {}},
}

// column is the place of an element's width in such a table; -1: none.
func column(bits uint16) int {
	switch bits {
	case 8:
		return 0
	case 16:
		return 1
	case 32:
		return 2
	case 64:
		return 3
	}
	return -1
}

// usable reports an instruction that there is, on this machine.
func (g *gen) usable(op x86.Op) bool {
	return op != x86.Op{} && (g.target.AVX512 || !op.NeedsEVEX())
}

func integers(g *gen, in *inst) {
	t := in.t.asNumber()
	if !t.vector {
		g.scalarBinary(in, t)
		return
	}
	if c := column(t.bits); c >= 0 {
		if op := lanewise[in.op][c]; g.usable(op) {
			g.vectorBinary(in, op)
			return
		}
		if f := longs[in.op]; f != nil && t.bits == 64 {
			g.vectorLong(in, f)
			return
		}
	}
	g.laneByLane(in)
}

// vectorBinary is one instruction a register's worth.
func (g *gen) vectorBinary(in *inst, op x86.Op) {
	a, b := in.args[0], in.args[1]
	g.pieces(g.size(in.t), func(off int, l x86.Width, n int) {
		x, y := g.reg(a, off, l), g.rm(b, off, l)
		r := g.fresh()
		g.V(op, l, r, x, y)
		g.put(in.res, off, l, r, n)
	})
}

// element is lane i of a vector operand, as memory.
func (g *gen) element(o operand, i int) x86.Mem { return g.mem(o).Plus(int32(i * o.t.elem())) }

// laneByLane does an operation of integers one lane after the other.
func (g *gen) laneByLane(in *inst) {
	size := in.t.elem()
	if size > 8 {
		g.wideLanes(in)
		return
	}
	for i := range int(in.t.lanes) {
		for k, a := range in.args[:2] {
			m := g.element(a, i)
			if signed(in.op) {
				g.LoadSigned(size, [...]x86.Reg{x86.RAX, x86.RCX}[k], m)
			} else {
				g.Load(size, [...]x86.Reg{x86.RAX, x86.RCX}[k], m)
			}
		}
		g.registers(in.op, max(size, 4))
		g.Store(size, g.slot(in.res).Plus(int32(i*size)), x86.RAX)
	}
}

// signed reports an operation that looks at its first operand's sign.
func signed(op string) bool { return op == "sdiv" || op == "srem" || op == "ashr" }

// scalarBinary is an operation of numbers of up to 64 bits.
func (g *gen) scalarBinary(in *inst, t typ) {
	if t.bits > 64 {
		g.wideLanes(in)
		return
	}
	size := container(int(t.bits))
	if g.inPlace(in, t, size) {
		return
	}
	if signed(in.op) {
		g.loadSigned(x86.RAX, in.args[0], t)
	} else {
		g.load(x86.RAX, in.args[0])
	}
	if v, ok := g.constantOf(in.args[1]); ok && g.immediate(in.op, t, v) {
		g.finish(in, t, size)
		return
	}
	if signed(in.op) && in.op != "ashr" {
		g.loadSigned(x86.RCX, in.args[1], t)
	} else {
		g.load(x86.RCX, in.args[1])
	}
	g.registers(in.op, max(size, 4))
	g.finish(in, t, size)
}

// finish cuts the result in rax to its bits and stores it.
func (g *gen) finish(in *inst, t typ, size int) {
	if int(t.bits) != size*8 && in.op != "and" && in.op != "or" && in.op != "lshr" && in.op != "udiv" && in.op != "urem" {
		g.cut(x86.RAX, int(t.bits))
	}
	g.store(in.res, x86.RAX)
}

// cut keeps the low bits of a register.
func (g *gen) cut(r x86.Reg, bits int) {
	switch {
	case bits < 32:
		g.AluImm(x86.AND, 4, x86.R(r), 1<<bits-1)
	case bits < 64:
		g.ShiftImm(x86.SHL, 8, x86.R(r), uint8(64-bits))
		g.ShiftImm(x86.SHR, 8, x86.R(r), uint8(64-bits))
	}
}

// alus are the operations that are one instruction.
var alus = map[string]x86.ALU{"add": x86.ADD, "sub": x86.SUB, "and": x86.AND, "or": x86.OR, "xor": x86.XOR}

var shifts = map[string]x86.Shift{"shl": x86.SHL, "lshr": x86.SHR, "ashr": x86.SAR}

// immediate is rax = rax op v where the instruction takes the number.
func (g *gen) immediate(op string, t typ, v uint64) bool {
	size := max(container(int(t.bits)), 4)
	if s, ok := shifts[op]; ok {
		g.ShiftImm(s, size, x86.R(x86.RAX), uint8(v)&63)
		return true
	}
	a, ok := alus[op]
	if size == 4 {
		v = uint64(int64(int32(v)))
	}
	if !ok || v != uint64(int64(int32(v))) {
		return false
	}
	g.AluImm(a, size, x86.R(x86.RAX), int32(v))
	return true
}

// registers is rax = rax op rcx.
func (g *gen) registers(op string, size int) {
	if a, ok := alus[op]; ok {
		g.Alu(a, size, x86.RAX, x86.R(x86.RCX))
		return
	}
	if s, ok := shifts[op]; ok {
		g.ShiftCL(s, size, x86.R(x86.RAX))
		return
	}
	switch op {
	case "mul":
		g.Imul(size, x86.RAX, x86.R(x86.RCX))
	case "udiv", "urem":
		g.Alu(x86.XOR, 4, x86.RDX, x86.R(x86.RDX))
		g.Unary(x86.DIV, size, x86.R(x86.RCX))
	case "sdiv", "srem":
		g.Cqo(size)
		g.Unary(x86.IDIV, size, x86.R(x86.RCX))
	case "smin", "smax", "umin", "umax":
		g.Alu(x86.CMP, size, x86.RAX, x86.R(x86.RCX))
		g.Cmov(map[string]x86.Cond{"smin": x86.G, "smax": x86.L, "umin": x86.A, "umax": x86.B}[op], size, x86.RAX, x86.R(x86.RCX))
	default:
		fail("%s of numbers", op)
	}
	if op == "urem" || op == "srem" {
		g.Mov(8, x86.RAX, x86.RDX)
	}
}
