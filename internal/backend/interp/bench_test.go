package interp

import (
	"testing"

	"kudzu/internal/backend"
)

// BenchmarkLoop is instructions of a thread in a second: a loop of fma, loads and a branch.
func BenchmarkLoop(b *testing.B) {
	const rounds = 1000
	k := newBench(b, entry("k", `
	mov.u32 %r1, 0;
	mov.f32 %f1, 0f3F800000;
	mov.f32 %f2, 0f3F7FFFFF;
loop:
	ld.global.f32 %f3, [%out];
	fma.rn.f32 %f1, %f1, %f2, %f3;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, 1000;
	@%p1 bra loop;
	st.global.f32 [%out+4], %f1;
`))
	for b.Loop() {
		if _, err := k.launch("k", backend.Launch{Block: [3]uint32{256}}, 2); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*256*rounds*5/b.Elapsed().Seconds()/1e6, "Minst/s")
}
