package cublaslt

import (
	"sync/atomic"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

// Create makes a handle on the current device.
func (t *Thread) Create() (uint64, error) { return cublas.Open(t.driver()) }

// Destroy ends a handle, after the work that uses its memory.
func (t *Thread) Destroy(h lt.CublasLtHandle_t) error { return cublas.Close(t.driver(), uint64(h)) }

// capacity is that of a cache of heuristics, which one algorithm does not need. It is kept to be answered.
var capacity atomic.Uint64

// HeuristicsCacheSetCapacity keeps the number.
func (t *Thread) HeuristicsCacheSetCapacity(n uint64) error {
	capacity.Store(n)
	return nil
}

// HeuristicsCacheGetCapacity answers the number set last.
func (t *Thread) HeuristicsCacheGetCapacity(to hostmem.Ptr) error {
	if to == hostmem.Nil {
		return invalidValue
	}
	hostmem.Store(to, capacity.Load())
	return nil
}

// Logging is taken and has no effect: KUDZU_LOG says what Kudzu writes.

// LoggerSetCallback is taken.
func (t *Thread) LoggerSetCallback(f hostmem.Ptr) error { return nil }

// LoggerSetFile is taken.
func (t *Thread) LoggerSetFile(file hostmem.Ptr) error { return nil }

// LoggerOpenFile is taken.
func (t *Thread) LoggerOpenFile(name hostmem.Ptr) error { return nil }

// LoggerSetLevel is taken if it is a level.
func (t *Thread) LoggerSetLevel(level int32) error {
	if level < 0 || level > 6 { // an H200 takes 6 too
		return invalidValue
	}
	return nil
}

// LoggerSetMask is taken.
func (t *Thread) LoggerSetMask(mask int32) error { return nil }

// LoggerForceDisable is taken.
func (t *Thread) LoggerForceDisable() error { return nil }

// There is one algorithm, with number 0. Programs copy its 64 bytes, so all of it is in them: a mark, and what they set.
const (
	algoMark = 0x6b757a646f676c41
	algoID   = 0
)

var algoSizes = [...]uint64{
	lt.CUBLASLT_ALGO_CONFIG_ID: 4, lt.CUBLASLT_ALGO_CONFIG_TILE_ID: 4, lt.CUBLASLT_ALGO_CONFIG_SPLITK_NUM: 4, lt.CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME: 4,
	lt.CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING: 4, lt.CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION: 4, lt.CUBLASLT_ALGO_CONFIG_STAGES_ID: 4,
	lt.CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID: 2, lt.CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID: 2,
}

// algoAt is where an attribute lies in an algorithm.
func algoAt(attr int) uint64 { return 8 + 4*uint64(attr) }

func theAlgo() (a lt.CublasLtMatmulAlgo_t) {
	a.Data[0] = algoMark
	return a
}

// MatmulAlgoGetHeuristic answers the one algorithm if it can do what the descriptors say.
func (t *Thread) MatmulAlgoGetHeuristic(h lt.CublasLtHandle_t, desc, a, b, c, d, preference hostmem.Ptr, wanted int32, results hostmem.Ptr) (int32, error) {
	if cublas.Find(uint64(h)) == nil {
		return 0, notInitialized
	}
	if wanted < 1 || results == hostmem.Nil {
		return 0, invalidValue
	}
	if _, err := preferenceKind.find(preference); err != nil {
		return 0, err
	}
	if _, err := planOf(desc, a, b, c, d); err != nil {
		return 0, err
	}
	hostmem.Store(results, lt.CublasLtMatmulHeuristicResult_t{Algo: theAlgo(), WavesCount: 1})
	return 1, nil
}

// MatmulAlgoGetHeuristicForStream is the same: no stream has less than the device.
func (t *Thread) MatmulAlgoGetHeuristicForStream(h lt.CublasLtHandle_t, desc, a, b, c, d, preference hostmem.Ptr, wanted int32, results hostmem.Ptr, _ rt.CudaStream_t) (int32, error) {
	return t.MatmulAlgoGetHeuristic(h, desc, a, b, c, d, preference, wanted, results)
}

// MatmulAlgoGetIds lists the one algorithm.
func (t *Thread) MatmulAlgoGetIds(h lt.CublasLtHandle_t, compute blas.CublasComputeType_t, scale, at, bt, ct, dt rt.CudaDataType, wanted int32, ids hostmem.Ptr) (int32, error) {
	if cublas.Find(uint64(h)) == nil {
		return 0, notInitialized
	}
	if wanted < 1 || ids == hostmem.Nil {
		return 0, invalidValue
	}
	if err := typesFit(compute, scale, at, bt, ct, dt); err != nil {
		return 0, err
	}
	hostmem.Store(ids, int32(algoID))
	return 1, nil
}

// typesFit asks whether there are kernels for these types.
func typesFit(compute blas.CublasComputeType_t, scale, at, bt, ct, dt rt.CudaDataType) error {
	memory := make([]byte, descKind.size)
	x := record{descKind, memory}
	x.initDesc(compute, scale)
	var ls [4]record
	for i, e := range [...]rt.CudaDataType{at, bt, ct, dt} {
		ls[i] = record{layoutKind, make([]byte, layoutKind.size)}
		ls[i].initLayout(e, 1, 1, 1)
	}
	return new(plan).types(x, ls)
}

// MatmulAlgoInit writes the one algorithm.
func (t *Thread) MatmulAlgoInit(h lt.CublasLtHandle_t, compute blas.CublasComputeType_t, scale, at, bt, ct, dt rt.CudaDataType, id int32, algo hostmem.Ptr) error {
	if cublas.Find(uint64(h)) == nil {
		return notInitialized
	}
	if algo == hostmem.Nil || id != algoID {
		return invalidValue
	}
	if err := typesFit(compute, scale, at, bt, ct, dt); err != nil {
		return err
	}
	hostmem.Store(algo, theAlgo())
	return nil
}

// MatmulAlgoCheck says whether the algorithm can do what the descriptors say.
func (t *Thread) MatmulAlgoCheck(h lt.CublasLtHandle_t, desc, a, b, c, d, algo, result hostmem.Ptr) error {
	if cublas.Find(uint64(h)) == nil {
		return notInitialized
	}
	if algo == hostmem.Nil || result == hostmem.Nil || hostmem.Load[uint64](algo) != algoMark {
		return invalidValue
	}
	if _, err := planOf(desc, a, b, c, d); err != nil {
		return err
	}
	hostmem.Store(result, lt.CublasLtMatmulHeuristicResult_t{Algo: hostmem.Load[lt.CublasLtMatmulAlgo_t](algo), WavesCount: 1})
	return nil
}

// MatmulAlgoCheckForStream is the same for every stream.
func (t *Thread) MatmulAlgoCheckForStream(h lt.CublasLtHandle_t, desc, a, b, c, d, algo, result hostmem.Ptr, _ rt.CudaStream_t) error {
	return t.MatmulAlgoCheck(h, desc, a, b, c, d, algo, result)
}

// MatmulAlgoConfigSetAttribute is kept and answered; the algorithm has nothing to configure.
func (t *Thread) MatmulAlgoConfigSetAttribute(algo hostmem.Ptr, attr lt.CublasLtMatmulAlgoConfigAttributes_t, buf hostmem.Ptr, size uint64) error {
	if err := checkAlgo(algo, attr, buf, size); err != nil {
		return err
	}
	n := algoSizes[attr]
	copy(hostmem.Bytes(algo.Add(algoAt(int(attr))), n), hostmem.Bytes(buf, n))
	return nil
}

// MatmulAlgoConfigGetAttribute reads one attribute.
func (t *Thread) MatmulAlgoConfigGetAttribute(algo hostmem.Ptr, attr lt.CublasLtMatmulAlgoConfigAttributes_t, buf hostmem.Ptr, size uint64, written hostmem.Ptr) error {
	if size == 0 && written != hostmem.Nil && attr >= 0 && int(attr) < len(algoSizes) {
		hostmem.Store(written, algoSizes[attr])
		return nil
	}
	if err := checkAlgo(algo, attr, buf, size); err != nil {
		return err
	}
	n := algoSizes[attr]
	copy(hostmem.Bytes(buf, n), hostmem.Bytes(algo.Add(algoAt(int(attr))), n))
	if written != hostmem.Nil {
		hostmem.Store(written, n)
	}
	return nil
}

func checkAlgo(algo hostmem.Ptr, attr lt.CublasLtMatmulAlgoConfigAttributes_t, buf hostmem.Ptr, size uint64) error {
	if algo == hostmem.Nil || hostmem.Load[uint64](algo) != algoMark || attr < 0 || int(attr) >= len(algoSizes) || buf == hostmem.Nil || size < algoSizes[attr] {
		return invalidValue
	}
	return nil
}

// SetEnvironmentMode keeps 0 or 1, as cublasSetEnvironmentMode does.
func (t *Thread) SetEnvironmentMode(h lt.CublasLtHandle_t, mode int32) error {
	x := cublas.Find(uint64(h))
	switch {
	case x == nil:
		return notInitialized
	case mode != 0 && mode != 1:
		return invalidValue
	}
	x.SetMode(mode)
	return nil
}

// GetEnvironmentMode is the one set last.
func (t *Thread) GetEnvironmentMode(h lt.CublasLtHandle_t) (int32, error) {
	x := cublas.Find(uint64(h))
	if x == nil {
		return 0, notInitialized
	}
	return x.Mode(), nil
}
