package cublas

import "testing"

// TestSkinny multiplies big matrices and few vectors, on either side, in all types that have kernels for it and some that have not.
func TestSkinny(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, e := range allKinds() {
			if e.scalar == F16 || e.sum == S32 {
				continue
			}
			for i := range r.times(32) {
				m, n, k := r.pick(20, 100, 192, 257, 500), r.pick(1, 2, 16, 3, 7, 8, 13), r.pick(129, 160, 131, 700)
				if i%2 == 1 {
					m, n = n, m
				}
				r.gemm(e, m, n, k)
			}
			r.gemm(e, 16, 15, 1000)
		}
	})
}

// TestTiny multiplies matrices of few rows and columns: what is not one of many has other kernels.
func TestTiny(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, e := range []Elem{F32, F64, C32, C64} {
			for range r.times(64) {
				r.gemm(single(e), r.pick(8, 16, 5, 1, 9, 15, 17, 40), r.pick(8, 16, 3, 1, 20, 35, 64), r.pick(8, 1, 33, 16, 128))
			}
		}
	})
}

// TestSmall multiplies matrices that whole tiles of each width cover, and such as leave some columns over.
func TestSmall(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, e := range []Elem{F32, F64} {
			for range r.times(48) {
				r.gemm(single(e), r.pick(32, 64, 96, 128, 100), r.pick(32, 64, 20, 28, 8, 18, 22, 30, 50), r.pick(32, 4, 31, 33, 6, 64))
			}
		}
	})
}

// TestShallow multiplies matrices of any size that are few numbers deep: of complex ones neither is packed.
func TestShallow(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, e := range []Elem{C32, C64} {
			for range r.times(12) {
				r.gemm(single(e), r.pick(129, 150, 300), r.pick(20, 131, 145), r.pick(1, 16, 17, 32, 33))
			}
		}
	})
}

// TestDeep multiplies 9 to 16 vectors of a long k with few more: complex ones take a piece of k at a time.
func TestDeep(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, e := range []Elem{C32, C64} {
			for i := range r.times(24) {
				m, n := r.pick(9, 12, 16), r.pick(16, 9, 17, 30, 48, 64, 65)
				if i%2 == 1 {
					m, n = n, m
				}
				r.gemm(single(e), m, n, r.pick(192, 129, 130, 160, 256, 500))
			}
		}
	})
}
