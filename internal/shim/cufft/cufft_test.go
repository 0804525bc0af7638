package cufft

import (
	"testing"

	"kudzu/internal/spec/fft"
)

// TestShapes compares transforms of all kinds with the definition.
func TestShapes(t *testing.T) {
	th := thread(t)
	for _, c := range []struct {
		n     []int64
		batch int64
	}{
		{[]int64{1}, 3}, {[]int64{2}, 5}, {[]int64{3}, 1}, {[]int64{8}, 40}, {[]int64{30}, 33}, {[]int64{64}, 1}, {[]int64{128}, 70},
		{[]int64{143}, 2}, {[]int64{343}, 1}, {[]int64{512}, 33}, {[]int64{1000}, 3}, {[]int64{2187}, 1}, {[]int64{4096}, 2}, {[]int64{17}, 34},
		{[]int64{34}, 3}, {[]int64{509}, 2}, {[]int64{1 << 14}, 1}, {[]int64{6006}, 1}, {[]int64{5, 7}, 3}, {[]int64{32, 48}, 2},
		{[]int64{1024, 20}, 1}, {[]int64{19, 40}, 1}, {[]int64{3, 4, 5}, 7}, {[]int64{8, 32, 16}, 1}, {[]int64{4, 3, 17}, 2},
	} {
		for i, kind := range []kind{complexKind, complexKind, fromRealKind, toRealKind} {
			s := shape{storage: 2, kind: kind, n: c.n, batch: c.batch, is: 1, os: 1, sign: fft.CUFFT_FORWARD, by: i % 3}
			if i%2 == 1 {
				s.sign = fft.CUFFT_INVERSE
			}
			for _, s.storage = range []int{2, 3} {
				s.inPlace = (i+int(c.n[0])+s.storage)%3 == 0
				s.size = 0
				s.check(t, th, 0)
			}
		}
	}
}

// TestHalves compares transforms of 16-bit numbers, which have powers of two as lengths.
func TestHalves(t *testing.T) {
	th := thread(t)
	for storage := range 2 {
		for _, n := range [][]int64{{1}, {2}, {64}, {8, 16}, {4, 8, 2}} {
			for k := complexKind; k <= toRealKind; k++ {
				s := shape{storage: storage, kind: k, n: n, batch: 5, is: 1, os: 1, sign: fft.CUFFT_FORWARD, inPlace: n[0] == 64}
				if k == toRealKind {
					s.sign = fft.CUFFT_INVERSE
				}
				s.check(t, th, 0)
			}
		}
	}
}

// TestLayouts compares transforms whose numbers are not side by side, or not where complex numbers can be.
func TestLayouts(t *testing.T) {
	th := thread(t)
	for _, s := range []shape{
		{n: []int64{16}, batch: 5, is: 2, id: 40, os: 3, od: 60, ie: []int64{20}, oe: []int64{20}},
		{n: []int64{12}, batch: 40, is: 40, id: 1, os: 40, od: 1, ie: []int64{12}, oe: []int64{12}},
		{n: []int64{64}, batch: 3, is: 1, id: 101, os: 1, od: 99, ie: []int64{101}, oe: []int64{99}},
		{n: []int64{31}, batch: 4, is: 3, id: 100, os: 2, od: 70, ie: []int64{33}, oe: []int64{33}},
		{n: []int64{1024}, batch: 2, is: 2, id: 2050, os: 1, od: 1030, ie: []int64{1024}, oe: []int64{1024}},
		{n: []int64{8, 6}, batch: 2, is: 2, id: 200, os: 3, od: 300, ie: []int64{9, 9}, oe: []int64{10, 8}},
		{n: []int64{600, 20}, batch: 1, is: 1, id: 20000, os: 1, od: 20000, ie: []int64{600, 24}, oe: []int64{600, 22}},
		{n: []int64{8, 8, 8}, batch: 2, is: 2, id: 1600, os: 1, od: 800, ie: []int64{8, 8, 10}, oe: []int64{8, 9, 10}},
	} {
		for k := complexKind; k <= toRealKind; k++ {
			s.kind, s.advanced, s.sign, s.by, s.size = k, true, fft.CUFFT_FORWARD, int(k), 0
			if k == toRealKind {
				s.sign = fft.CUFFT_INVERSE
			}
			for _, s.storage = range []int{2, 3} {
				s.check(t, th, 0)
			}
		}
	}
	for _, k := range []kind{fromRealKind, toRealKind} {
		s := shape{storage: 2, kind: k, n: []int64{64}, batch: 3, is: 1, os: 1, sign: fft.CUFFT_FORWARD, by: 3}
		s.check(t, th, 1)
	}
}
