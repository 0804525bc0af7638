package cublaslt

import (
	"encoding/binary"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/lt"
)

// capability is what the algorithm answers of itself: a number of so many bytes.
type capability struct {
	size  uint64
	value uint64
}

// everyEpilogue has the bits of all epilogues that after takes.
const everyEpilogue = lt.CUBLASLT_EPILOGUE_DEFAULT | lt.CUBLASLT_EPILOGUE_RELU_AUX_BIAS | lt.CUBLASLT_EPILOGUE_GELU_AUX_BIAS |
	lt.CUBLASLT_EPILOGUE_DRELU_BGRAD | lt.CUBLASLT_EPILOGUE_DGELU_BGRAD | lt.CUBLASLT_EPILOGUE_BGRADA | lt.CUBLASLT_EPILOGUE_BGRADB

// capabilities are by attribute; where size is 0 there is none. There are no tiles and no stages: those lists have the
// one number that means undefined.
var capabilities = [...]capability{
	lt.CUBLASLT_ALGO_CAP_SPLITK_SUPPORT: {4, 0}, lt.CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK: {4, uint64(lt.CUBLASLT_REDUCTION_SCHEME_NONE)},
	lt.CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT: {4, 0}, lt.CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT: {4, 1},
	lt.CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT: {4, 1}, lt.CUBLASLT_ALGO_CAP_UPLO_SUPPORT: {4, 0},
	lt.CUBLASLT_ALGO_CAP_TILE_IDS: {4, uint64(lt.CUBLASLT_MATMUL_TILE_UNDEFINED)}, lt.CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX: {4, 0},
	lt.CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER: {4, 0}, lt.CUBLASLT_ALGO_CAP_POINTER_MODE_MASK: {4, 31},
	lt.CUBLASLT_ALGO_CAP_EPILOGUE_MASK: {4, uint64(everyEpilogue)}, lt.CUBLASLT_ALGO_CAP_STAGES_IDS: {4, uint64(lt.CUBLASLT_MATMUL_STAGES_UNDEFINED)},
	lt.CUBLASLT_ALGO_CAP_LD_NEGATIVE: {4, 0}, lt.CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS: {8, 0},
	lt.CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES: {4, 1}, lt.CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES: {4, 1},
	lt.CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES: {4, 1}, lt.CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES: {4, 1},
	lt.CUBLASLT_ALGO_CAP_ATOMIC_SYNC: {4, 0}, lt.CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT: {4, 1},
	lt.CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT: {4, 0}, lt.CUBLASLT_ALGO_CAP_POINTER_ARRAY_GROUPED_SUPPORT: {4, 0},
}

// MatmulAlgoCapGetAttribute answers what the algorithm can do, or with no room for it only the size.
func (t *Thread) MatmulAlgoCapGetAttribute(algo hostmem.Ptr, attr lt.CublasLtMatmulAlgoCapAttributes_t, buf hostmem.Ptr, size uint64, written hostmem.Ptr) error {
	if algo == hostmem.Nil || hostmem.Load[uint64](algo) != algoMark || attr < 0 || int(attr) >= len(capabilities) || capabilities[attr].size == 0 {
		return invalidValue
	}
	c := capabilities[attr]
	if size == 0 && written == hostmem.Nil || size != 0 && (buf == hostmem.Nil || size < c.size) {
		return invalidValue
	}
	if size != 0 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], c.value)
		copy(hostmem.Bytes(buf, c.size), b[:c.size])
	}
	if written != hostmem.Nil {
		hostmem.Store(written, c.size)
	}
	return nil
}
