package interp

import (
	"math"
	"math/bits"

	"kudzu/internal/softfloat"
)

// srgbLinear is what the hardware makes of each sRGB value of 8 bits, in 1/16384: eight significant bits of the curve.
var srgbLinear = [256]uint16{
	0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 66, 72, 78,
	85, 92, 99, 107, 115, 123, 131, 140, 150, 159, 169, 180, 190, 201, 213, 224,
	236, 250, 262, 276, 290, 304, 318, 332, 348, 364, 380, 396, 412, 430, 448, 466,
	484, 504, 524, 544, 564, 584, 604, 624, 648, 672, 692, 716, 740, 764, 788, 816,
	840, 864, 896, 920, 944, 976, 1000, 1032, 1064, 1088, 1120, 1152, 1184, 1216, 1248, 1280,
	1312, 1352, 1384, 1416, 1456, 1488, 1528, 1560, 1600, 1640, 1672, 1712, 1752, 1792, 1832, 1872,
	1920, 1952, 2000, 2048, 2080, 2128, 2176, 2224, 2272, 2320, 2368, 2416, 2464, 2512, 2560, 2608,
	2656, 2704, 2752, 2816, 2864, 2912, 2976, 3024, 3072, 3136, 3184, 3248, 3296, 3360, 3424, 3472,
	3536, 3600, 3664, 3712, 3776, 3840, 3904, 3968, 4032, 4096, 4160, 4224, 4288, 4352, 4416, 4512,
	4576, 4640, 4704, 4768, 4864, 4928, 4992, 5056, 5152, 5216, 5280, 5376, 5440, 5536, 5600, 5696,
	5760, 5824, 5920, 6016, 6080, 6176, 6240, 6336, 6400, 6496, 6592, 6688, 6752, 6848, 6944, 7008,
	7104, 7200, 7296, 7392, 7488, 7584, 7680, 7744, 7872, 7936, 8064, 8128, 8256, 8320, 8448, 8512,
	8640, 8768, 8832, 8960, 9024, 9152, 9280, 9344, 9472, 9600, 9664, 9792, 9920, 9984, 10112, 10240,
	10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712, 11840, 11968, 12096,
	12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760, 13888, 14016, 14144,
	14272, 14400, 14528, 14656, 14848, 14976, 15104, 15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384,
}

// srgbHalf is an sRGB value as a half, which holds all of them exactly.
func srgbHalf(v uint32) uint32 {
	f := math.Float32bits(float32(srgbLinear[v&0xff]) / 16384)
	return uint32(softfloat.F32.Convert(softfloat.F16, uint64(f), softfloat.Env{}))
}

// srgbFilter mixes sRGB values, given as their 8 bits: all keep the bits that lie within eight of the largest one's. One of twenty
// results differs from the hardware's, which keeps a bit less at times.
func srgbFilter(slabs [][]weighed) uint32 {
	top := uint16(0)
	for _, s := range slabs {
		for _, x := range s {
			if x.w != 0 {
				top = max(top, srgbLinear[x.bits&0xff])
			}
		}
	}
	drop := max(bits.Len16(top)-8, 0)
	sum := int64(0)
	for _, s := range slabs {
		for _, x := range s {
			sum += x.w * int64(srgbLinear[x.bits&0xff]>>drop<<drop)
		}
	}
	if sum == 0 {
		return 0
	}
	return filterF16.round(sum, filterF16.mant+filterF16.bias()-22)
}
