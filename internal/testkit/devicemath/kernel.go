package devicemath

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"kudzu/internal/libdevice"
)

// A thread reads words of eight bytes, one an argument, and writes the result and what pointers are written to.
const (
	inWords, outWords = 4, 3
	threads           = 256 // of a block
)

// signature is a function's type in parts.
type signature struct {
	result string // "" for none
	params []string
}

func signatureOf(f *libdevice.Function) signature {
	result, params, _ := strings.Cut(strings.TrimSuffix(f.Type, ")"), "(")
	if result == "void" {
		result = ""
	}
	return signature{result, strings.Split(params, ", ")}
}

// llvmType is a type of the table in LLVM's words.
var llvmType = map[string]string{"f64": "double", "f32": "float", "s32": "i32", "u32": "i32", "s64": "i64", "u64": "i64", "u16": "i16"}

// kernel is NVVM IR of a kernel that calls f in every thread.
func kernel(f *libdevice.Function) string {
	var b strings.Builder
	s := signatureOf(f)
	fmt.Fprintf(&b, "define void @k_%s(ptr %%in, ptr %%out) {\n"+
		"  %%tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %%block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"+
		"  %%first = mul i32 %%block, %d\n  %%at = add i32 %%first, %%tid\n  %%i = zext i32 %%at to i64\n"+
		"  %%ib = mul i64 %%i, %d\n  %%ip = getelementptr i8, ptr %%in, i64 %%ib\n"+
		"  %%ob = mul i64 %%i, %d\n  %%op = getelementptr i8, ptr %%out, i64 %%ob\n", f.Name, threads, 8*inWords, 8*outWords)
	var args, types []string
	out := 0
	if s.result != "" {
		out = 1
	}
	for i, p := range s.params {
		switch {
		case strings.HasPrefix(p, "*"):
			fmt.Fprintf(&b, "  %%a%d = getelementptr i8, ptr %%op, i64 %d\n", i, 8*out)
			types, args = append(types, "ptr"), append(args, fmt.Sprintf("ptr %%a%d", i))
			out++
		case strings.HasPrefix(p, "[]"):
			fmt.Fprintf(&b, "  %%a%d = getelementptr i8, ptr %%ip, i64 %d\n", i, 8*i)
			types, args = append(types, "ptr"), append(args, fmt.Sprintf("ptr %%a%d", i))
		default:
			t := llvmType[p]
			fmt.Fprintf(&b, "  %%p%d = getelementptr i8, ptr %%ip, i64 %d\n  %%a%[1]d = load %[3]s, ptr %%p%[1]d\n", i, 8*i, t)
			types, args = append(types, t), append(args, fmt.Sprintf("%s %%a%d", t, i))
		}
	}
	result := "void"
	if s.result != "" {
		result = llvmType[s.result]
		fmt.Fprintf(&b, "  %%r = call %s @__nv_%s(%s)\n  store %[1]s %%r, ptr %%op\n", result, f.Name, strings.Join(args, ", "))
	} else {
		fmt.Fprintf(&b, "  call void @__nv_%s(%s)\n", f.Name, strings.Join(args, ", "))
	}
	fmt.Fprintf(&b, "  ret void\n}\ndeclare %s @__nv_%s(%s)\n", result, f.Name, strings.Join(types, ", "))
	return b.String()
}

// module is a program with a kernel for each function.
func module(list []*libdevice.Function) string {
	var b, kinds, names strings.Builder
	b.WriteString("target triple = \"nvptx64-nvidia-cuda\"\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n")
	for i, f := range list {
		b.WriteString(kernel(f))
		fmt.Fprintf(&kinds, "!%d = !{ptr @k_%s, !\"kernel\", i32 1}\n", i+1, f.Name)
		if i > 0 {
			names.WriteString(", ")
		}
		fmt.Fprintf(&names, "!%d", i+1)
	}
	fmt.Fprintf(&b, "!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n!nvvm.annotations = !{%s}\n%s", names.String(), kinds.String())
	return b.String()
}

var edges = []float64{0, 1, 0.5, 0.25, 1.5, 2, 2.5, 3, 4, 10, 100, 1e-3, 1e-10, 1e10, 0x1p-149, 0x1p-126, 0x1p-1022, 0x1p-1074, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 0x1p-24, 0x1p53, 3.4e38, 1.7e308, math.Pi / 2, 1e5 + 0.5, math.Inf(1), math.NaN()}

// word is the bits of an argument of type t.
func word(rng *rand.Rand, t string, i int) uint64 {
	var v float64
	switch {
	case i < 2*len(edges):
		v = edges[i/2]
		if i%2 == 1 {
			v = -v
		}
	case i%8 == 0: // any number
		if t == "f64" {
			return rng.Uint64()
		}
		v = float64(math.Float32frombits(rng.Uint32()))
	case i%4 == 0:
		v = rng.Float64()*20 - 10
	case i%4 == 1:
		v = rng.Float64()
	case i%4 == 2:
		v = math.Ldexp(1+rng.Float64(), rng.IntN(60)-30)
	default:
		v = rng.Float64()*200 - 100
	}
	switch t {
	case "f64":
		return math.Float64bits(v)
	case "f32":
		return uint64(math.Float32bits(float32(v)))
	case "u16":
		return rng.Uint64() & 0xffff
	}
	w := rng.Uint64()
	switch i % 4 {
	case 0:
		w = []uint64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1, 0x80000001, 0xfffffffe, 0xff, 0x10000}[i/4%13]
	case 1:
		w &= 0xffff
	case 2:
		w = -(w & 0xff)
	}
	if strings.HasSuffix(t, "32") {
		w &= 1<<32 - 1
	}
	return w
}

// inputs are the words of n threads.
func inputs(f *libdevice.Function, n int) []uint64 {
	rng := rand.New(rand.NewPCG(uint64(len(f.Name)), uint64(f.Name[0])))
	s := signatureOf(f)
	in := make([]uint64, inWords*n)
	for i := range n {
		w := in[inWords*i:]
		for k, p := range s.params {
			at := i
			switch {
			case i%16 == 7 && i > threads: // edges meet edges
				at = rng.IntN(2 * len(edges))
			case k > 0:
				at = i + rng.IntN(threads) // and others
			}
			switch {
			case p == "[]f64":
				for j := k; j < inWords; j++ {
					w[j] = word(rng, "f64", rng.IntN(threads))
				}
			case p == "[]f32":
				for j := k; j < inWords; j++ {
					w[j] = word(rng, "f32", rng.IntN(threads)) | word(rng, "f32", rng.IntN(threads))<<32
				}
			case p == "[]u8":
				w[k] = binary.LittleEndian.Uint64(append([]byte([]string{"", "1", "077", "0x7f", "12x", "0XAb"}[i%6]), make([]byte, 8)...))
			case p[0] != '*':
				w[k] = word(rng, p, at)
			}
		}
		bound(f.Name, w, i)
	}
	return in
}

// bound makes integers small where they are counts or powers, and quotients a little longer than a number's digits.
func bound(name string, w []uint64, i int) {
	switch name {
	case "jn", "jnf", "yn", "ynf":
		w[0] = uint64(i % 20)
	case "norm", "rnorm":
		w[0] = uint64(i % 4)
	case "normf", "rnormf":
		w[0] = uint64(i % 5)
	case "remquo":
		if i%4 == 1 {
			w[1] = math.Float64bits(math.Float64frombits(w[0]) * 0x1.3p-53)
		}
	case "remquof":
		if i%4 == 1 {
			w[1] = single32(single(w[0]) * 0x1.3p-24)
		}
	case "powi", "powif", "ldexp", "ldexpf", "scalbn", "scalbnf":
		w[1] = uint64(uint32(i%threads - threads/2))
	}
}
