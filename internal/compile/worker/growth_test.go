package worker

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/llvm"
)

// graphs are kernels that grow with n, each with a shape of control flow that made some pass superlinear.
var graphs = []struct {
	name string
	n    int
	body func(b *strings.Builder, n int)
}{
	{"branches over an addition", 600, func(b *strings.Builder, n int) {
		for i := range n {
			fmt.Fprintf(b, "setp.eq.u32 %%p, %%r, %d; @%%p bra S%d; add.u32 %%r, %%r, %d; S%d:\n", i, i, i, i)
		}
	}},
	{"branches inside of each other", 300, func(b *strings.Builder, n int) {
		for i := range n {
			fmt.Fprintf(b, "setp.eq.u32 %%p, %%r, %d; @%%p bra S%d; add.u32 %%r, %%r, %d;\n", i, i, i)
		}
		for i := n - 1; i >= 0; i-- {
			fmt.Fprintf(b, "S%d: xor.b32 %%r, %%r, %d;\n", i, i)
		}
	}},
	{"early exits", 300, func(b *strings.Builder, n int) {
		for i := range n {
			fmt.Fprintf(b, "setp.eq.u32 %%p, %%r, %d; @%%p bra S%d; st.global.u32 [%%d + %d], %%r; ret; S%d: add.u32 %%r, %%r, %d;\n", i, i, 4*i, i, i)
		}
	}},
	{"loops in a row", 200, func(b *strings.Builder, n int) {
		for i := range n {
			fmt.Fprintf(b, "mov.u32 %%s, %%tid.x; S%d: add.u32 %%r, %%r, %%s; sub.u32 %%s, %%s, 1; setp.gt.s32 %%p, %%s, 0; @%%p bra S%d;\n", i, i)
		}
	}},
	{"a switch", 400, func(b *strings.Builder, n int) {
		b.WriteString("mov.u32 %s, 0; table: .branchtargets S0")
		for i := 1; i < n; i++ {
			fmt.Fprintf(b, ", S%d", i)
		}
		b.WriteString("; brx.idx %r, table;\n")
		for i := range n {
			fmt.Fprintf(b, "S%d: add.u32 %%s, %%s, %d; bra end;\n", i, 3*i)
		}
		b.WriteString("end: mov.u32 %r, %s;\n")
	}},
	{"barriers between branches", 600, func(b *strings.Builder, n int) {
		for i := range n {
			fmt.Fprintf(b, "setp.eq.u32 %%p, %%r, %d; @%%p bra S%d; st.global.u32 [%%d + %d], %%r; S%d: bar.sync 0;\n", i, i, i, i)
		}
	}},
	{"straight code", 500, func(b *strings.Builder, n int) {
		for i := range n {
			fmt.Fprintf(b, "ld.global.u32 %%s, [%%d + %d]; mad.lo.u32 %%r, %%r, %%s, %d; st.global.u32 [%%d + %d], %%r;\n", 4096*i, i+3, 4096*i+128)
		}
	}},
	{"divided indices", 15, func(b *strings.Builder, n int) {
		b.WriteString(".reg .b32 %t, %u, %x; .reg .b64 %a; mov.u32 %t, %r; cvt.u32.u64 %s, %d; shr.u32 %u, %s, 16; or.b32 %s, %s, 1;\n")
		for i := range n {
			fmt.Fprintf(b, "mov.u32 %%x, 0; setp.eq.u32 %%p, %%u, %d; @%%p bra S%d; add.u32 %%x, %%t, %d; div.u32 %%x, %%x, %%s; S%d:\n", i, i, 256*i, i)
			fmt.Fprintf(b, "mul.wide.u32 %%a, %%x, 4; add.u64 %%a, %%a, %%d; ld.global.u32 %%x, [%%a]; xor.b32 %%r, %%r, %%x;\n")
			fmt.Fprintf(b, "setp.eq.u32 %%p, %%u, %d; @%%p bra T%d; st.global.u32 [%%d + %d], %%r; T%d:\n", i+77, i, 4*i+4, i)
		}
	}},
}

// TestGrowth: a kernel four times as large takes about four times the memory and time from PTX to LLVM text. A quadratic pass shows as up to sixteen times.
func TestGrowth(t *testing.T) {
	const factor, most = 4, 9
	for _, g := range graphs {
		t.Run(g.name, func(t *testing.T) {
			measure(t, g.body, g.n) // what is made once
			var bytes, time float64
			for range 3 { // other tests may be running
				b1, t1 := measure(t, g.body, g.n)
				b2, t2 := measure(t, g.body, factor*g.n)
				bytes, time = b2/b1, t2/t1
				if bytes <= most && time <= most {
					return
				}
			}
			t.Errorf("%d times the code took %.1f times the memory and %.1f times the processor time", factor, bytes, time)
		})
	}
}

// measure gives the bytes allocated and the seconds of processor time from PTX to LLVM text.
func measure(t *testing.T, body func(*strings.Builder, int), n int) (bytes, seconds float64) {
	t.Helper()
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o) {\n")
	b.WriteString(".reg .pred %p; .reg .b32 %r, %s; .reg .b64 %d;\nld.param.u64 %d, [o]; mov.u32 %r, %tid.x;\n")
	body(&b, n)
	b.WriteString("st.global.u32 [%d], %r; ret;\n}\n")
	req := &compile.Request{PTX: b.String(), Kernel: "k", Block: [3]uint32{256, 1, 1}}
	o := llvm.Options{Triple: "x86_64-pc-linux-gnu", CPU: "x86-64-v3", Features: "+avx2,+fma"}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := processorTime(t)
	if _, err := fromPTX(req, o, newClock(), map[string]string{}); err != nil {
		t.Fatal(err)
	}
	seconds = processorTime(t) - start
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc), seconds
}

// processorTime is what this process has used, in seconds.
func processorTime(t *testing.T) float64 {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}
