package nccl

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/ncclapi"
)

// small are the types that are summed in f32.
var small = map[ncclapi.NcclDataType_t]*softfloat.Format{
	ncclapi.NcclFloat16: softfloat.F16, ncclapi.NcclBfloat16: softfloat.BF16,
	ncclapi.NcclFloat8e4m3: softfloat.E4M3, ncclapi.NcclFloat8e5m2: softfloat.E5M2,
}

// readScalar is a factor in memory as bits of the type that is summed in.
func readScalar(at hostmem.Ptr, typ ncclapi.NcclDataType_t) uint64 {
	var bits uint64
	for i, b := range hostmem.Bytes(at, typeSizes[typ]) {
		bits |= uint64(b) << (8 * i)
	}
	if f := small[typ]; f != nil {
		return f.Convert(softfloat.F32, bits, softfloat.Env{})
	}
	return bits
}
