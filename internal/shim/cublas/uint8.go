package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// Uint8gemmBias is C = ((A - a)(B - b) + c) mult >> shift in unsigned bytes, rounded, and held to 0 … 255. tc transposes what is written.
// The vendor documents no formula: this one gives all 180 recorded results of an H200.
func (t *Thread) Uint8gemmBias(h blas.CublasHandle_t, ta, tb, tc Op, m, n, k int64, a hostmem.Ptr, biasA int32, lda int64, b hostmem.Ptr, biasB int32, ldb int64, c hostmem.Ptr, biasC int32, ldc int64, mult, shift int32) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	p := &Product{M: m, N: n, K: k, Batch: 1, A: View{LD: lda, Op: ta}, B: View{LD: ldb, Op: tb}, C: View{LD: max(1, m)}}
	if err := p.Check(); err != nil {
		return err
	}
	rows := m
	if transposes(tc) {
		rows = n
	}
	if !validOp(tc) || ldc < max(1, rows) {
		return invalidValue
	}
	if m == 0 || n == 0 {
		return nil
	}
	var q shim.Params
	q.U64(uint64(a), uint64(b), uint64(c), uint64(lda), uint64(ldb), uint64(ldc)).U32(uint32(m), uint32(n), uint32(k))
	q.U32(flag(transposes(ta)), flag(transposes(tb)), flag(transposes(tc)))
	q.U32(uint32(biasA), uint32(biasB), uint32(biasC), uint32(mult), uint32(min(max(shift, 0), 62)), 0)
	grid := [3]uint32{uint32((m + 31) / 32), uint32(min(n, maxGrid)), 1}
	return byteKernels.Launch(j.d, j.stream, "bytes", grid, [3]uint32{32, 1, 1}, &q)
}
