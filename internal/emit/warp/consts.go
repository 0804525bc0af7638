package warp

import "math"

// widen gives the bits of the double that equals an f32, NaN payloads kept.
func widen(b uint32) uint64 {
	if b&0x7f800000 == 0x7f800000 && b&0x7fffff != 0 {
		return uint64(b>>31)<<63 | 0x7ff<<52 | uint64(b&0x7fffff)<<29
	}
	return math.Float64bits(float64(math.Float32frombits(b)))
}
