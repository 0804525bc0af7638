package interp

import (
	"math"
	"math/bits"

	"kudzu/internal/backend"
	"kudzu/internal/softfloat"
)

// srgbHalf is an sRGB value as a half, which holds all of them exactly.
func srgbHalf(v uint32) uint32 {
	f := math.Float32bits(float32(backend.SRGBLinear[v&0xff]) / 16384)
	return uint32(softfloat.F32.Convert(softfloat.F16, uint64(f), softfloat.Env{}))
}

// srgbFilter mixes sRGB values, given as their 8 bits: all keep the bits that lie within eight of the largest one's. One of twenty
// results differs from the hardware's, which keeps a bit less at times.
func srgbFilter(slabs [][]weighed) uint32 {
	top := uint16(0)
	for _, s := range slabs {
		for _, x := range s {
			if x.w != 0 {
				top = max(top, backend.SRGBLinear[x.bits&0xff])
			}
		}
	}
	drop := max(bits.Len16(top)-8, 0)
	sum := int64(0)
	for _, s := range slabs {
		for _, x := range s {
			sum += x.w * int64(backend.SRGBLinear[x.bits&0xff]>>drop<<drop)
		}
	}
	if sum == 0 {
		return 0
	}
	return filterF16.round(sum, filterF16.mant+filterF16.bias()-22)
}
