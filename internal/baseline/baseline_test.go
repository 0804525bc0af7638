package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const (
	haswell = "+sse4.2,+popcnt,+lzcnt,+bmi,+bmi2,+avx,+avx2,+fma,+f16c,+movbe"
	skylake = haswell + ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
)

// TestTargets: what a machine has decides the code; what needs more than it has is refused.
func TestTargets(t *testing.T) {
	const sum = `define i32 @k(ptr %p) {
  %a = load <32 x i32>, ptr %p, align 4
  %m = icmp ult <32 x i32> %a, splat (i32 7)
  %s = select <32 x i1> %m, <32 x i32> %a, <32 x i32> zeroinitializer
  store <32 x i32> %s, ptr %p, align 4
  ret i32 0
}
`
	const rounded = `define i32 @k(ptr %p) {
  %a = load <16 x float>, ptr %p, align 4
  %s = call <16 x float> @llvm.x86.avx512.add.ps.512(<16 x float> %a, <16 x float> %a, i32 9)
  store <16 x float> %s, ptr %p, align 4
  ret i32 0
}
`
	for _, c := range []struct {
		name, text, features string
		ok                   bool
	}{
		{"AVX-512", sum, skylake, true},
		{"AVX2", sum, haswell, true},
		{"neither", sum, "+sse4.2,+popcnt,+avx", false},
		{"rounding in the instruction", rounded, skylake, true},
		{"rounding in the instruction, AVX2", rounded, haswell, false},
	} {
		code, err := Compile(c.text, "k", TargetOf(c.features))
		var cannot *Unsupported
		switch {
		case c.ok && (err != nil || len(code.Bytes) == 0):
			t.Errorf("%s: %v", c.name, err)
		case !c.ok && !errors.As(err, &cannot):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestRegisters: what a block computes stays in registers, whatever its width, and pointers at known distances are parts of
// the instructions that use them.
func TestRegisters(t *testing.T) {
	const numbers = `define i32 @k(ptr %p) {
  %x = load i32, ptr %p, align 4
  %a = add i32 %x, 7
  %b = mul i32 %a, %x
  %c = icmp slt i32 %b, %a
  %s = select i1 %c, i32 %a, i32 %b
  store i32 %s, ptr %p, align 4
  ret i32 0
}
`
	const pointers = `define i32 @k(ptr %p) {
  %l = alloca i32
  %q = getelementptr i8, ptr %p, i64 8
  %r = getelementptr i32, ptr %q, i64 2
  %x = load i32, ptr %r, align 4
  store i32 %x, ptr %l, align 4
  %y = load i32, ptr %l, align 4
  store i32 %y, ptr %q, align 4
  ret i32 0
}
`
	const parts = `define i32 @k(ptr %p) {
  %a = load <4 x float>, ptr %p, align 4
  %b = shufflevector <4 x float> %a, <4 x float> %a, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 1, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3>
  %c = shufflevector <16 x float> %b, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  store <8 x float> %c, ptr %p, align 4
  ret i32 0
}
`
	for _, c := range []struct {
		name, text string
		frame      int // instructions that write memory relative to rbp
	}{{"numbers", numbers, 2}, {"pointers", pointers, 3}, {"parts of vectors", parts, 2}} {
		code, err := Compile(c.text, "k", TargetOf(skylake))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if n := frameStores(code.Bytes[:code.Text]); n != c.frame {
			t.Errorf("%s: %d instructions write the frame, want %d\n% x", c.name, n, c.frame, code.Bytes[:code.Text])
		}
	}
}

// frameStores counts stores of general (89, c7) and vector registers (7f, 11) whose address is rbp plus a displacement.
func frameStores(code []byte) int {
	n := 0
	for i := range len(code) - 1 {
		rbp := code[i+1]&7 == 5 && code[i+1]>>6 != 3 && code[i+1]>>6 != 0
		if op := code[i]; rbp && (op == 0x89 || op == 0xc7 || op == 0x7f || op == 0x11) {
			n++
		}
	}
	return n
}

// TestSwitch: a case is found in a number of comparisons that grows as the logarithm of the cases.
func TestSwitch(t *testing.T) {
	var cases, blocks strings.Builder
	for i := range 64 {
		fmt.Fprintf(&cases, " i32 %d, label %%b%d", 3*i, i)
		fmt.Fprintf(&blocks, "b%d:\n  ret i32 %d\n", i, i)
	}
	code, err := Compile("define i32 @k(ptr %p) {\n  %x = load i32, ptr %p, align 4\n  switch i32 %x, label %none ["+cases.String()+" ]\nnone:\n  ret i32 -1\n"+
		blocks.String()+"}\n", "k", TargetOf(skylake))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(code.Bytes[:code.Text], []byte{0x0f, 0x87}); n != 15 { // ja
		t.Errorf("%d halvings, want 15", n)
	}
}
