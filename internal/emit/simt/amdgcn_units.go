package simt

import (
	"fmt"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// matrixUnit is the instruction of a GPU that computes products of one kind. All of them multiply 16 rows by 16 columns; how much of k one
// takes is words, the registers of a lane that hold an operand.
type matrixUnit struct {
	name    string  // LLVM's, after llvm.amdgcn.
	operand ll.Type // type of an operand
	words   int
	sum     ll.Type // type of an element of the result
	sums    int     // registers of the result in a lane
	pack    int     // elements of k in a register of PTX's fragments
	// widened: a pair of f16 goes in as two f32, for a unit that would flush f16's subnormals.
	widened bool
	// signs: the instruction says which operands are signed. Without, both are, and what unsigned ones lack is added (planes).
	signs [2]bool
	flags bool
	mfma  bool
}

// unit chooses the instruction for a product, and ok says that there is one.
func (t amdgcn) unit(m *ir.Matrix) (u matrixUnit, ok bool) {
	if m.Sparse || m.Scale != "" || m.Bit != "" || m.N != 8 || m.M != 8 && m.M != 16 || m.A == "f16" && m.K == 4 {
		return u, false
	}
	switch {
	case t.major == 11:
		u, ok = rdna3(m)
	case t.major == 12:
		u, ok = rdna4(m)
	case t.name == "gfx908" || t.name == "gfx90a" || t.name == "gfx942":
		u, ok = t.cdna(m)
	}
	if !ok {
		return u, false
	}
	steps := m.K / (4 * u.pack) // registers along k of a row
	return u, steps == 1 || steps == 2
}

func bytes(elem string) bool   { return elem == "s8" || elem == "u8" }
func nibbles(elem string) bool { return elem == "s4" || elem == "u4" }

// rdna3 is gfx11: both halves of a wave hold all of an operand.
func rdna3(m *ir.Matrix) (matrixUnit, bool) {
	u := matrixUnit{sum: "float", sums: 8, signs: [2]bool{m.A[0] == 's', m.B[0] == 's'}}
	switch {
	case m.A == "f16" && m.B == "f16":
		u.name, u.operand, u.words, u.pack = "wmma.f32.16x16x16.f16.v8f32.v16f16", "<16 x half>", 8, 2
	case m.A == "bf16" && m.B == "bf16":
		u.name, u.operand, u.words, u.pack = "wmma.f32.16x16x16.bf16.v8f32.v16i16", "<16 x i16>", 8, 2
	case bytes(m.A) && bytes(m.B):
		u.name, u.operand, u.words, u.pack, u.sum, u.flags = "wmma.i32.16x16x16.iu8.v8i32.v4i32", "<4 x i32>", 4, 4, "i32", true
	case nibbles(m.A) && nibbles(m.B):
		u.name, u.operand, u.words, u.pack, u.sum, u.flags = "wmma.i32.16x16x16.iu4.v8i32.v2i32", "<2 x i32>", 2, 8, "i32", true
	default:
		return u, false
	}
	return u, true
}

// rdna4 is gfx12: each half of a wave holds half of an operand's k.
func rdna4(m *ir.Matrix) (matrixUnit, bool) {
	u := matrixUnit{sum: "float", sums: 8, signs: [2]bool{m.A[0] == 's', m.B[0] == 's'}}
	fp8 := map[string]string{"e4m3": "fp8", "e5m2": "bf8"}
	switch {
	case m.A == "f16" && m.B == "f16":
		u.name, u.operand, u.words, u.pack = "wmma.f32.16x16x16.f16.v8f32.v8f16", "<8 x half>", 4, 2
	case m.A == "bf16" && m.B == "bf16":
		u.name, u.operand, u.words, u.pack = "wmma.f32.16x16x16.bf16.v8f32.v8i16", "<8 x i16>", 4, 2
	case fp8[m.A] != "" && fp8[m.B] != "": // the right operand comes first: the product is computed transposed
		u.name, u.operand, u.words, u.pack = fmt.Sprintf("wmma.f32.16x16x16.%s.%s.v8f32.v2i32", fp8[m.B], fp8[m.A]), "<2 x i32>", 2, 4
	case bytes(m.A) && bytes(m.B):
		u.name, u.operand, u.words, u.pack, u.sum, u.flags = "wmma.i32.16x16x16.iu8.v8i32.v2i32", "<2 x i32>", 2, 4, "i32", true
	case nibbles(m.A) && nibbles(m.B):
		u.name, u.operand, u.words, u.pack, u.sum, u.flags = "wmma.i32.16x16x32.iu4.v8i32.v2i32", "<2 x i32>", 2, 8, "i32", true
	default:
		return u, false
	}
	return u, true
}

// cdna is gfx908 and its successors: each quarter of a wave holds a quarter of an operand's k, and the whole wave one product. Its fp8
// before gfx950 is not NVIDIA's (no infinities, one zero, another bias), and it has no products of 4 bits.
func (t amdgcn) cdna(m *ir.Matrix) (matrixUnit, bool) {
	u := matrixUnit{sum: "float", sums: 4, mfma: true, signs: [2]bool{m.A[0] == 's', m.B[0] == 's'}}
	f32 := func() { u.name, u.operand, u.words = "mfma.f32.16x16x4f32", "float", 1 }
	switch {
	case m.A == "f16" && m.B == "f16" && t.name == "gfx90a": // whose f16 unit takes subnormal operands for zero
		f32()
		u.pack, u.widened = 2, true
	case m.A == "f16" && m.B == "f16":
		u.name, u.operand, u.words, u.pack = "mfma.f32.16x16x16f16", "<4 x half>", 2, 2
	case m.A == "bf16" && m.B == "bf16" && t.name == "gfx908":
		u.name, u.operand, u.words, u.pack = "mfma.f32.16x16x8bf16", "<2 x i16>", 1, 2
	case m.A == "bf16" && m.B == "bf16":
		u.name, u.operand, u.words, u.pack = "mfma.f32.16x16x16bf16.1k", "<4 x i16>", 2, 2
	case m.A == "tf32" && m.B == "tf32":
		f32()
		u.pack = 1
	case bytes(m.A) && bytes(m.B) && t.name == "gfx942":
		u.name, u.operand, u.words, u.pack, u.sum = "mfma.i32.16x16x32.i8", "i64", 2, 4, "i32"
	case bytes(m.A) && bytes(m.B):
		u.name, u.operand, u.words, u.pack, u.sum = "mfma.i32.16x16x16i8", "i32", 1, 4, "i32"
	default:
		return u, false
	}
	return u, true
}
