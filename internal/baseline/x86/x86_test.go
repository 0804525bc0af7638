package x86

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "have the GNU assembler write testdata/encodings.txt")

// encodings are instructions in the assembler's words (Intel's syntax) and in ours.
var encodings = []struct {
	text  string
	write func(a *Asm)
}{
	{"{load} add eax, ecx", func(a *Asm) { a.Alu(ADD, 4, RAX, R(RCX)) }},
	{"sub r9, qword ptr [rbp+8]", func(a *Asm) { a.Alu(SUB, 8, R9, M(At(RBP, 8))) }},
	{"xor word ptr [rsp+0x200], ax", func(a *Asm) { a.AluStore(XOR, 2, At(RSP, 0x200), RAX) }},
	{"cmp byte ptr [rbp-1], 0", func(a *Asm) { a.AluImm(CMP, 1, M(At(RBP, -1)), 0) }},
	{"and r10d, 0x1234567", func(a *Asm) { a.AluImm(AND, 4, R(R10), 0x1234567) }},
	{"cmp cx, 0x1234", func(a *Asm) { a.AluImm(CMP, 2, R(RCX), 0x1234) }},
	{"movzx eax, byte ptr [r12]", func(a *Asm) { a.Load(1, RAX, At(R12, 0)) }},
	{"movzx eax, word ptr [r13]", func(a *Asm) { a.Load(2, RAX, At(R13, 0)) }},
	{"mov r15, qword ptr [rdx+rcx*8+16]", func(a *Asm) { a.Load(8, R15, Indexed(RDX, RCX, 8, 16)) }},
	{"movsx rax, byte ptr [rbp]", func(a *Asm) { a.LoadSigned(1, RAX, At(RBP, 0)) }},
	{"movsxd rcx, dword ptr [rbp]", func(a *Asm) { a.LoadSigned(4, RCX, At(RBP, 0)) }},
	{"movzx r12, sil", func(a *Asm) { a.ZeroExtend(1, R12, R(RSI)) }},
	{"movzx r9d, ax", func(a *Asm) { a.ZeroExtend(2, R9, R(RAX)) }},
	{"{load} mov r10d, ecx", func(a *Asm) { a.ZeroExtend(4, R10, R(RCX)) }},
	{"mov byte ptr [rcx], sil", func(a *Asm) { a.Store(1, At(RCX, 0), RSI) }},
	{"mov word ptr [rcx], dx", func(a *Asm) { a.Store(2, At(RCX, 0), RDX) }},
	{"mov qword ptr [rbp+0x80], -1", func(a *Asm) { a.StoreImm(8, At(RBP, 0x80), -1) }},
	{"mov word ptr [rbp], 5", func(a *Asm) { a.StoreImm(2, At(RBP, 0), 5) }},
	{"mov r8d, 0xfffffffe", func(a *Asm) { a.MovImm(R8, 0xfffffffe) }},
	{"mov rdx, -2", func(a *Asm) { a.MovImm(RDX, 0xfffffffffffffffe) }},
	{"movabs r11, 0x123456789abcdef0", func(a *Asm) { a.MovImm(R11, 0x123456789abcdef0) }},
	{"lea rax, [rbp+0x1234]", func(a *Asm) { a.Lea(RAX, At(RBP, 0x1234)) }},
	{"lea r12d, [r13-5]", func(a *Asm) { a.Lea4(R12, At(R13, -5)) }},
	{"imul r8, qword ptr [rax]", func(a *Asm) { a.Imul(8, R8, M(At(RAX, 0))) }},
	{"idiv rcx", func(a *Asm) { a.Unary(IDIV, 8, R(RCX)) }},
	{"neg eax", func(a *Asm) { a.Unary(NEG, 4, R(RAX)) }},
	{"cqo", func(a *Asm) { a.Cqo(8) }},
	{"sar rax, cl", func(a *Asm) { a.ShiftCL(SAR, 8, R(RAX)) }},
	{"shl r9d, 7", func(a *Asm) { a.ShiftImm(SHL, 4, R(R9), 7) }},
	{"shld rax, rdx, cl", func(a *Asm) { a.DoubleShiftCL(false, 8, RAX, RDX) }},
	{"shrd eax, edx, cl", func(a *Asm) { a.DoubleShiftCL(true, 4, RAX, RDX) }},
	{"test rdx, rdx", func(a *Asm) { a.Test(8, RDX, R(RDX)) }},
	{"setne byte ptr [rbp+3]", func(a *Asm) { a.Setcc(NE, M(At(RBP, 3))) }},
	{"cmova rax, rcx", func(a *Asm) { a.Cmov(A, 8, RAX, R(RCX)) }},
	{"popcnt rax, rax", func(a *Asm) { a.Popcnt(8, RAX, R(RAX)) }},
	{"tzcnt r8d, r9d", func(a *Asm) { a.Tzcnt(4, R8, R(R9)) }},
	{"lzcnt rax, rax", func(a *Asm) { a.Lzcnt(8, RAX, R(RAX)) }},
	{"bswap r10", func(a *Asm) { a.Bswap(8, R10) }},
	{"bt rsi, 31", func(a *Asm) { a.BitTest(8, R(RSI), 31) }},
	{"bt rax, rcx", func(a *Asm) { a.BitTestReg(8, RAX, RCX) }},
	{"lock xadd dword ptr [rsi], eax", func(a *Asm) { a.LockXadd(4, At(RSI, 0), RAX) }},
	{"xchg word ptr [rsi], ax", func(a *Asm) { a.Xchg(2, At(RSI, 0), RAX) }},
	{"lock cmpxchg byte ptr [rsi], dl", func(a *Asm) { a.LockCmpxchg(1, At(RSI, 0), RDX) }},
	{"lock cmpxchg16b xmmword ptr [rsi]", func(a *Asm) { a.LockCmpxchg16(At(RSI, 0)) }},
	{"call r11", func(a *Asm) { a.CallReg(R11) }},
	{"prefetcht0 byte ptr [rcx]", func(a *Asm) { a.Prefetch(At(RCX, 0)) }},

	{"{vex3} vpaddd ymm1, ymm2, ymmword ptr [rbp+32]", func(a *Asm) { a.V(VPADDD, 1, 1, 2, M(At(RBP, 32))) }},
	{"{vex3} vpaddq xmm9, xmm10, xmm11", func(a *Asm) { a.V(VPADDQ, 0, 9, 10, R(11)) }},
	{"vpaddd zmm17, zmm18, zmmword ptr [rbp+64]", func(a *Asm) { a.V(VPADDD, 2, 17, 18, M(At(RBP, 64))) }},
	{"vpaddq zmm1, zmm2, zmmword ptr [rbp+65]", func(a *Asm) { a.V(VPADDQ, 2, 1, 2, M(At(RBP, 65))) }},
	{"vpmullq zmm3, zmm30, zmm31", func(a *Asm) { a.V(VPMULLQ, 2, 3, 30, R(31)) }},
	{"vpslld zmm20, zmm21, 5", func(a *Asm) { a.VI(VPSLLD, 2, 20, 0, R(21), 5) }},
	{"{vex3} vpsrlq ymm8, ymm9, 63", func(a *Asm) { a.VI(VPSRLQ, 1, 8, 0, R(9), 63) }},
	{"vpsllvw zmm1, zmm2, zmm3", func(a *Asm) { a.V(VPSLLVW, 2, 1, 2, R(3)) }},
	{"vpcmpud k1, zmm2, zmmword ptr [rbp+128], 5", func(a *Asm) { a.VI(VPCMPUD, 2, 1, 2, M(At(RBP, 128)), 5) }},
	{"vcmpps k1, xmm2, xmm3, 3", func(a *Asm) { a.VI(VCMPPS.Masked(), 0, 1, 2, R(3), 3) }},
	{"vmovdqu32 zmm5{k1}, zmmword ptr [rbp]", func(a *Asm) { a.VK(VMOVDQU, 2, 5, 0, M(At(RBP, 0)), 1) }},
	{"vmovdqu8 zmm5{k1}{z}, zmmword ptr [rcx]", func(a *Asm) {
		a.Vector(Vec{Op: VMOVDQU8, L: 2, Dst: 5, RM: M(At(RCX, 0)), Mask: 1, Zero: true, Imm: -1})
	}},
	{"vmovdqu16 ymmword ptr [rcx]{k1}, ymm6", func(a *Asm) { a.VK(VMOVDQU16Store, 1, 6, 0, M(At(RCX, 0)), 1) }},
	{"{vex3} vmovd dword ptr [rbp+4], xmm3", func(a *Asm) { a.V(VMOVDStore, 0, 3, 0, M(At(RBP, 4))) }},
	{"vmovq qword ptr [rbp+16], xmm19", func(a *Asm) { a.V(VMOVQStore, 0, 19, 0, M(At(RBP, 16))) }},
	{"vpbroadcastq zmm7, qword ptr [rbp+8]", func(a *Asm) { a.V(VPBROADCASTQ, 2, 7, 0, M(At(RBP, 8))) }},
	{"vpbroadcastb zmm7, byte ptr [rbp+1]", func(a *Asm) { a.V(VPBROADCASTB, 2, 7, 0, M(At(RBP, 1))) }},
	{"vpmovzxdq zmm8, ymmword ptr [rbp+32]", func(a *Asm) { a.V(VPMOVZXDQ, 2, 8, 0, M(At(RBP, 32))) }},
	{"vpmovsxbq zmm8, qword ptr [rbp+8]", func(a *Asm) { a.V(VPMOVSXBQ, 2, 8, 0, M(At(RBP, 8))) }},
	{"vpmovqd ymmword ptr [rbp+32], zmm9", func(a *Asm) { a.V(VPMOVQD, 2, 9, 0, M(At(RBP, 32))) }},
	{"vpmovdb xmm4, zmm9", func(a *Asm) { a.V(VPMOVDB, 2, 9, 0, R(4)) }},
	{"vpmovm2d zmm4, k1", func(a *Asm) { a.V(VPMOVM2D, 2, 4, 0, R(1)) }},
	{"vpermd zmm4, zmm5, zmm6", func(a *Asm) { a.V(VPERMD, 2, 4, 5, R(6)) }},
	{"vpermi2q zmm4, zmm5, zmm6", func(a *Asm) { a.V(VPERMI2Q, 2, 4, 5, R(6)) }},
	{"vpcompressd zmm6{k1}, zmm5", func(a *Asm) { a.VK(VPCOMPRESSD, 2, 5, 0, R(6), 1) }},
	{"vpgatherqd ymm3{k1}, [rax+zmm22]", func(a *Asm) {
		a.Vector(Vec{Op: VPGATHERQD, L: 2, Dst: 3, RM: M(Mem{Base: RAX, Index: 22, Scale: 1, Vector: true}), Mask: 1, Imm: -1})
	}},
	{"vpgatherdd zmm3{k1}, [rcx+zmm7*4]", func(a *Asm) {
		a.Vector(Vec{Op: VPGATHERDD, L: 2, Dst: 3, RM: M(Mem{Base: RCX, Index: 7, Scale: 4, Vector: true}), Mask: 1, Imm: -1})
	}},
	{"vpscatterdd [rcx+zmm7*4]{k1}, zmm3", func(a *Asm) {
		a.Vector(Vec{Op: VPSCATTERDD, L: 2, Dst: 3, RM: M(Mem{Base: RCX, Index: 7, Scale: 4, Vector: true}), Mask: 1, Imm: -1})
	}},
	{"vpscatterqq [rax+zmm9]{k1}, zmm2", func(a *Asm) {
		a.Vector(Vec{Op: VPSCATTERQQ, L: 2, Dst: 2, RM: M(Mem{Base: RAX, Index: 9, Scale: 1, Vector: true}), Mask: 1, Imm: -1})
	}},
	{"vaddpd zmm1, zmm2, zmm3, {rd-sae}", func(a *Asm) {
		a.Vector(Vec{Op: VADDPD, L: 2, Dst: 1, Src: 2, RM: R(3), Round: 2, Imm: -1})
	}},
	{"{vex3} vfmadd213pd ymm1, ymm2, ymm3", func(a *Asm) { a.V(VFMADD213PD, 1, 1, 2, R(3)) }},
	{"vfmadd213ps zmm1, zmm2, zmmword ptr [rbp+0x2000]", func(a *Asm) { a.V(VFMADD213PS, 2, 1, 2, M(At(RBP, 0x2000))) }},
	{"vrndscalepd zmm1, zmm2, 9", func(a *Asm) { a.VI(VROUNDPD, 2, 1, 0, R(2), 9) }},
	{"vcvtph2ps zmm1, ymmword ptr [rbp+32]", func(a *Asm) { a.V(VCVTPH2PS, 2, 1, 0, M(At(RBP, 32))) }},
	{"vcvtps2ph ymmword ptr [rbp+32], zmm1, 4", func(a *Asm) { a.VI(VCVTPS2PH, 2, 1, 0, M(At(RBP, 32)), 4) }},
	{"vcvttpd2uqq zmm1, zmm2", func(a *Asm) { a.V(VCVTTPD2UQQ, 2, 1, 0, R(2)) }},
	{"vcvtudq2pd zmm1, ymmword ptr [rbp+32]", func(a *Asm) { a.V(VCVTUDQ2PD, 2, 1, 0, M(At(RBP, 32))) }},
	{"vpdpbusd zmm1, zmm2, zmm3", func(a *Asm) { a.V(VPDPBUSD, 2, 1, 2, R(3)) }},
	{"{vex3} kmovb k1, byte ptr [rbp+1]", func(a *Asm) { a.V(KMOVB, 0, 1, 0, M(At(RBP, 1))) }},
	{"{vex3} kmovw word ptr [rbp+2], k1", func(a *Asm) { a.V(KMOVWStore, 0, 1, 0, M(At(RBP, 2))) }},
	{"kmovd k1, dword ptr [rbp+4]", func(a *Asm) { a.V(KMOVD, 0, 1, 0, M(At(RBP, 4))) }},
	{"kmovq qword ptr [rbp], k1", func(a *Asm) { a.V(KMOVQStore, 0, 1, 0, M(At(RBP, 0))) }},
	{"{vex3} kmovw eax, k1", func(a *Asm) { a.V(KMOVWTo, 0, RAX, 0, R(1)) }},
	{"{vex3} kmovw k1, eax", func(a *Asm) { a.V(KMOVWFrom, 0, 1, 0, R(RAX)) }},

	{"{vex3} vpcmpeqd ymm1, ymm2, ymm3", func(a *Asm) { a.V(VPCMPEQD, 1, 1, 2, R(3)) }},
	{"{vex3} vpcmpgtq ymm9, ymm2, ymmword ptr [rbp+32]", func(a *Asm) { a.V(VPCMPGTQ, 1, 9, 2, M(At(RBP, 32))) }},
	{"{vex3} vcmpps ymm1, ymm2, ymm3, 13", func(a *Asm) { a.VI(VCMPPS, 1, 1, 2, R(3), 13) }},
	{"{vex3} vcmppd ymm1, ymm2, ymmword ptr [rbp+32], 7", func(a *Asm) { a.VI(VCMPPD, 1, 1, 2, M(At(RBP, 32)), 7) }},
	{"{vex3} vmovmskps eax, ymm11", func(a *Asm) { a.V(VMOVMSKPS, 1, RAX, 0, R(11)) }},
	{"{vex3} vmovmskpd eax, xmm1", func(a *Asm) { a.V(VMOVMSKPD, 0, RAX, 0, R(1)) }},
	{"{vex3} vpmovmskb eax, ymm1", func(a *Asm) { a.V(VPMOVMSKB, 1, RAX, 0, R(1)) }},
	{"{vex3} vpblendvb ymm1, ymm2, ymmword ptr [rbp+32], ymm13", func(a *Asm) { a.VI(VPBLENDVB, 1, 1, 2, M(At(RBP, 32)), 13<<4) }},
	{"{vex3} vpblendd ymm1, ymm2, ymm3, 0xa5", func(a *Asm) { a.VI(VPBLENDD, 1, 1, 2, R(3), 0xa5) }},
	{"{vex3} vpmaskmovd ymm1, ymm2, ymmword ptr [rcx+32]", func(a *Asm) { a.V(VMASKMOVD, 1, 1, 2, M(At(RCX, 32))) }},
	{"{vex3} vpmaskmovq ymmword ptr [rcx], ymm2, ymm1", func(a *Asm) { a.V(VMASKMOVQStore, 1, 1, 2, M(At(RCX, 0))) }},
	{"vextracti32x4 xmm17, ymm20, 1", func(a *Asm) { a.VI(VEXTRACTI128, 1, 20, 0, R(17), 1) }},
	{"vextracti64x4 ymm17, zmm5, 1", func(a *Asm) { a.VI(VEXTRACTI256, 2, 5, 0, R(17), 1) }},
	{"{vex3} vextracti128 xmm3, ymm12, 1", func(a *Asm) { a.VI(VEXTRACTI128, 1, 12, 0, R(3), 1) }},
	{"{vex3} vpermq ymm1, ymm2, 8", func(a *Asm) { a.VI(VPERMQImm, 1, 1, 0, R(2), 8) }},
	{"{vex3} vpermd ymm1, ymm2, ymmword ptr [rbp+32]", func(a *Asm) { a.V(VPERMD, 1, 1, 2, M(At(RBP, 32))) }},
	{"{vex3} vpshufb ymm1, ymm2, ymm3", func(a *Asm) { a.V(VPSHUFB, 1, 1, 2, R(3)) }},
	{"{vex3} vpacksswb ymm1, ymm2, ymm3", func(a *Asm) { a.V(VPACKSSWB, 1, 1, 2, R(3)) }},
	{"{vex3} vpbroadcastb ymm1, byte ptr [rbp+3]", func(a *Asm) { a.V(VPBROADCASTB, 1, 1, 0, M(At(RBP, 3))) }},
	{"{vex3} vpsllw ymm8, ymm9, 15", func(a *Asm) { a.VI(VPSLLW, 1, 8, 0, R(9), 15) }},
	{"{vex3} vpmuludq ymm1, ymm2, ymm3", func(a *Asm) { a.V(VPMULUDQ, 1, 1, 2, R(3)) }},
	{"{vex3} vpsrlvq ymm1, ymm2, ymm3", func(a *Asm) { a.V(VPSRLVQ, 1, 1, 2, R(3)) }},
	{"{vex3} vcvtsi2ss xmm1, xmm1, rax", func(a *Asm) { a.V(VCVTSI2SSQ, 0, 1, 1, R(RAX)) }},
	{"{vex3} vcvttsd2si rax, qword ptr [rbp+8]", func(a *Asm) { a.V(VCVTTSD2SIQ, 0, RAX, 0, M(At(RBP, 8))) }},
	{"{vex3} vcvttss2si rax, xmm1", func(a *Asm) { a.V(VCVTTSS2SIQ, 0, RAX, 0, R(1)) }},
	{"{vex3} vucomiss xmm1, xmm2", func(a *Asm) { a.V(VUCOMISS, 0, 1, 0, R(2)) }},
	{"{vex3} vucomisd xmm1, qword ptr [rbp]", func(a *Asm) { a.V(VUCOMISD, 0, 1, 0, M(At(RBP, 0))) }},
	{"{vex3} vmovsd xmm1, qword ptr [rbp]", func(a *Asm) { a.V(VMOVSD, 0, 1, 0, M(At(RBP, 0))) }},
	{"{vex3} vmaxss xmm1, xmm1, xmm2", func(a *Asm) { a.V(VMAXSS, 0, 1, 1, R(2)) }},
	{"{vex3} vcvttpd2dq xmm1, ymm2", func(a *Asm) { a.V(VCVTTPD2DQ, 1, 1, 0, R(2)) }},
	{"{vex3} vcvtpd2ps xmm1, ymm2", func(a *Asm) { a.V(VCVTPD2PS, 1, 1, 0, R(2)) }},
	{"{vex3} vcvtdq2pd ymm1, xmmword ptr [rbp+16]", func(a *Asm) { a.V(VCVTDQ2PD, 1, 1, 0, M(At(RBP, 16))) }},
	{"{vex3} vcvtph2ps ymm1, xmmword ptr [rbp+16]", func(a *Asm) { a.V(VCVTPH2PS, 1, 1, 0, M(At(RBP, 16))) }},
	{"{vex3} vcvtps2ph xmmword ptr [rbp+16], ymm1, 3", func(a *Asm) { a.VI(VCVTPS2PH, 1, 1, 0, M(At(RBP, 16)), 3) }},
	{"{vex3} vroundpd ymm1, ymm2, 11", func(a *Asm) { a.VI(VROUNDPD, 1, 1, 0, R(2), 11) }},
	{"{vex3} vpgatherqd xmm3, [rax+ymm12], xmm5", func(a *Asm) {
		a.V(VGATHERQD, 1, 3, 5, M(Mem{Base: RAX, Index: 12, Scale: 1, Vector: true}))
	}},
	{"{vex3} vpgatherqq ymm9, [rax+ymm2], ymm10", func(a *Asm) {
		a.V(VGATHERQQ, 1, 9, 10, M(Mem{Base: RAX, Index: 2, Scale: 1, Vector: true}))
	}},
	{"{vex3} vinserti128 ymm1, ymm2, xmm3, 1", func(a *Asm) { a.VI(VINSERTI128, 1, 1, 2, R(3), 1) }},
	{"ldmxcsr dword ptr [rcx]", func(a *Asm) { a.Ldmxcsr(At(RCX, 0)) }},
}

var goldens = filepath.Join("testdata", "encodings.txt")

// TestEncodings compares with what the GNU assembler writes.
func TestEncodings(t *testing.T) {
	if *update {
		assemble(t)
	}
	data, err := os.ReadFile(goldens)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		hex, text, _ := strings.Cut(line, "\t")
		want[text] = hex
	}
	for _, e := range encodings {
		a := &Asm{}
		e.write(a)
		if got := fmt.Sprintf("%x", a.Code); got != want[e.text] {
			t.Errorf("%s: %s, the assembler %s", e.text, got, want[e.text])
		}
	}
}

// assemble writes the goldens: each instruction by itself.
func assemble(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	for _, e := range encodings {
		src, obj, bin := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.bin")
		if err := os.WriteFile(src, []byte(".intel_syntax noprefix\n"+e.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, cmd := range [][]string{{"as", "-o", obj, src}, {"objcopy", "-O", "binary", "-j", ".text", obj, bin}} {
			if msg, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", e.text, err, msg)
			}
		}
		code, err := os.ReadFile(bin)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%x\t%s\n", code, e.text)
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldens, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestJumps: labels before and behind, and constants behind the code.
func TestJumps(t *testing.T) {
	a := &Asm{}
	back, on := a.NewLabel(), a.NewLabel()
	a.Place(back)
	a.Jcc(NE, on)
	a.Jmp(back)
	a.Place(on)
	a.V(VPADDD, 2, 1, 2, M(Constant(64)))
	a.VI(VPCMPD, 2, 1, 2, M(Constant(0)), 1)
	a.Finish(32)
	const want = "0f8505000000" + "e9f5ffffff" + "62f16d48fe0d" + "4b000000" + "62f36d481f0d" + "00000000" + "01"
	if got := fmt.Sprintf("%x", a.Code); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if a.Offset(on) != 11 {
		t.Errorf("label at %d", a.Offset(on))
	}
}

// TestRefuse: what needs AVX-512 is refused where that is asked for, by its prefix or its registers.
func TestRefuse(t *testing.T) {
	refused := false
	a := &Asm{Refuse: func() { refused = true }}
	for _, c := range []struct {
		name  string
		write func()
		want  bool
	}{
		{"32 bytes", func() { a.V(VPADDD, 1, 1, 2, R(15)) }, false},
		{"64 bytes", func() { a.V(VPADDD, 2, 1, 2, R(3)) }, true},
		{"register 16", func() { a.V(VPADDD, 1, 1, 2, R(16)) }, true},
		{"no other form", func() { a.V(VPMULLQ, 1, 1, 2, R(3)) }, true},
		{"a mask's move", func() { a.V(KMOVWTo, 0, RAX, 0, R(1)) }, true},
	} {
		refused = false
		if c.write(); refused != c.want {
			t.Errorf("%s: refused %v", c.name, refused)
		}
	}
}
