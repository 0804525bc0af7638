// Package cublaslt answers cuBLASLt: descriptors that live in the program's memory, one algorithm, and products with what
// may follow them (bias, relu, gelu). Handles are cuBLAS's, because programs cast one into the other; the product is
// package cublas's.
package cublaslt

import (
	"encoding/binary"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

// Thread is the calling thread; its methods are the functions of cuBLASLt.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// Code is the number C gets for an error: cuBLAS's.
func Code(err error) int32 { return cublas.Code(err) }

const (
	notInitialized = cublas.Status(blas.CUBLAS_STATUS_NOT_INITIALIZED)
	invalidValue   = cublas.Status(blas.CUBLAS_STATUS_INVALID_VALUE)
	allocFailed    = cublas.Status(blas.CUBLAS_STATUS_ALLOC_FAILED)
	notSupported   = cublas.Status(blas.CUBLAS_STATUS_NOT_SUPPORTED)
)

// kind is one sort of descriptor: a structure of the program of fixed size, in which its attributes have places. The first
// eight bytes say which sort it is, so that any other memory is refused.
type kind struct {
	magic  uint64
	size   uint64
	fields []field // by attribute number; size 0: there is none
}

// field is an attribute's place.
type field struct{ at, size uint64 }

// record is a descriptor: the program's memory.
type record struct {
	k *kind
	b []byte
}

// newKind gives every attribute a place.
func newKind[T ~int32](magic, size uint64, sizes map[T]uint64) *kind {
	k := &kind{magic: magic, size: size}
	last := T(0)
	for a := range sizes {
		last = max(last, a)
	}
	k.fields = make([]field, last+1)
	at := uint64(8)
	for _, want := range []uint64{8, 4, 1} { // the widest first: no gaps
		for a := range k.fields {
			if sizes[T(a)] == want {
				k.fields[a] = field{at, want}
				at += want
			}
		}
	}
	if at > size {
		panic("BUG: attributes do not fit a descriptor of cuBLASLt")
	}
	return k
}

var descKind = newKind(0x6b756d756c44455a, 256, map[lt.CublasLtMatmulDescAttributes_t]uint64{
	lt.CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: 4, lt.CUBLASLT_MATMUL_DESC_SCALE_TYPE: 4, lt.CUBLASLT_MATMUL_DESC_POINTER_MODE: 4,
	lt.CUBLASLT_MATMUL_DESC_TRANSA: 4, lt.CUBLASLT_MATMUL_DESC_TRANSB: 4, lt.CUBLASLT_MATMUL_DESC_TRANSC: 4,
	lt.CUBLASLT_MATMUL_DESC_FILL_MODE: 4, lt.CUBLASLT_MATMUL_DESC_EPILOGUE: 4, lt.CUBLASLT_MATMUL_DESC_BIAS_POINTER: 8,
	lt.CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: 8, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: 8, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: 8,
	lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: 8, lt.CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE: 8,
	lt.CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: 4, lt.CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: 8, lt.CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: 8,
	lt.CUBLASLT_MATMUL_DESC_C_SCALE_POINTER: 8, lt.CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: 8, lt.CUBLASLT_MATMUL_DESC_AMAX_D_POINTER: 8,
	lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE: 4, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER: 8,
	lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER: 8, lt.CUBLASLT_MATMUL_DESC_FAST_ACCUM: 1, lt.CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: 4,
	lt.CUBLASLT_MATMUL_DESC_A_SCALE_MODE: 4, lt.CUBLASLT_MATMUL_DESC_B_SCALE_MODE: 4, lt.CUBLASLT_MATMUL_DESC_C_SCALE_MODE: 4,
	lt.CUBLASLT_MATMUL_DESC_D_SCALE_MODE: 4, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE: 4, lt.CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER: 8,
	lt.CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE: 4, lt.CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR: 8, // no effect
})

var layoutKind = newKind(0x6b7574756f79414c, 112, map[lt.CublasLtMatrixLayoutAttribute_t]uint64{
	lt.CUBLASLT_MATRIX_LAYOUT_TYPE: 4, lt.CUBLASLT_MATRIX_LAYOUT_ORDER: 4, lt.CUBLASLT_MATRIX_LAYOUT_ROWS: 8, lt.CUBLASLT_MATRIX_LAYOUT_COLS: 8,
	lt.CUBLASLT_MATRIX_LAYOUT_LD: 8, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: 4, lt.CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: 8,
	lt.CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET: 8, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_MODE: 4,
})

var preferenceKind = newKind(0x6b75666572707a4b, 96, map[lt.CublasLtMatmulPreferenceAttributes_t]uint64{
	lt.CUBLASLT_MATMUL_PREF_SEARCH_MODE: 4, lt.CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: 8, lt.CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: 4,
	lt.CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: 4, lt.CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: 4,
	lt.CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: 4, lt.CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: 4,
	lt.CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT: 4, lt.CUBLASLT_MATMUL_PREF_IMPL_MASK: 8,
})

// make writes an empty descriptor into memory of the program.
func (k *kind) make(p hostmem.Ptr, size uint64) (record, error) {
	if p == hostmem.Nil || size < k.size {
		return record{}, invalidValue
	}
	b := hostmem.Bytes(p, k.size)
	clear(b)
	binary.LittleEndian.PutUint64(b, k.magic)
	return record{k, b}, nil
}

// find is the descriptor at an address.
func (k *kind) find(p hostmem.Ptr) (record, error) {
	if p == hostmem.Nil || p%8 != 0 {
		return record{}, invalidValue
	}
	b := hostmem.Bytes(p, k.size)
	if binary.LittleEndian.Uint64(b) != k.magic {
		return record{}, invalidValue
	}
	return record{k, b}, nil
}

func get[T ~int32](r record, attr T) uint64 {
	f := r.k.fields[attr]
	var v uint64
	for i := f.size; i > 0; i-- {
		v = v<<8 | uint64(r.b[f.at+i-1])
	}
	return v
}

func put[T ~int32](r record, attr T, v uint64) {
	f := r.k.fields[attr]
	for i := range f.size {
		r.b[f.at+i] = byte(v >> (8 * i))
	}
}

// place is an attribute's, if there is one with this number.
func (k *kind) place(attr int32) (field, error) {
	if attr < 0 || int(attr) >= len(k.fields) || k.fields[attr].size == 0 {
		return field{}, invalidValue
	}
	return k.fields[attr], nil
}

func (k *kind) set(p hostmem.Ptr, attr int32, buf hostmem.Ptr, size uint64) error {
	r, err := k.find(p)
	if err != nil {
		return err
	}
	f, err := k.place(attr)
	if err != nil {
		return err
	}
	if buf == hostmem.Nil || size != f.size {
		return invalidValue
	}
	copy(r.b[f.at:f.at+f.size], hostmem.Bytes(buf, f.size))
	return nil
}

// read answers an attribute, or with no room for it only its size.
func (k *kind) read(p hostmem.Ptr, attr int32, buf hostmem.Ptr, size uint64, written hostmem.Ptr) error {
	r, err := k.find(p)
	if err != nil {
		return err
	}
	f, err := k.place(attr)
	if err != nil {
		return err
	}
	if size == 0 && written == hostmem.Nil || size != 0 && (buf == hostmem.Nil || size < f.size) {
		return invalidValue
	}
	if size != 0 {
		copy(hostmem.Bytes(buf, f.size), r.b[f.at:f.at+f.size])
	}
	if written != hostmem.Nil {
		hostmem.Store(written, f.size)
	}
	return nil
}

// Descriptors made by Create lie in memory of ours that is given out again and never back to the system: what a program
// still points to after Destroy stays readable, and is no descriptor any more.
var (
	poolMu lockrank.Mutex[lockrank.LtDescriptors]
	pools  = map[*kind][]hostmem.Ptr{} // guarded by poolMu: free ones
)

const poolBytes = 64 << 10

func (k *kind) create() (record, uint64, error) {
	poolMu.Lock()
	defer poolMu.Unlock()
	if len(pools[k]) == 0 {
		base, err := pages(poolBytes)
		if err != nil {
			return record{}, 0, allocFailed
		}
		for at := uint64(0); at+k.size <= poolBytes; at += k.size {
			pools[k] = append(pools[k], base.Add(at))
		}
	}
	last := len(pools[k]) - 1
	p := pools[k][last]
	pools[k] = pools[k][:last]
	r, err := k.make(p, k.size)
	return r, uint64(p), err
}

func (k *kind) destroy(p hostmem.Ptr) error {
	r, err := k.find(p)
	if err != nil {
		return err
	}
	clear(r.b)
	poolMu.Lock()
	defer poolMu.Unlock()
	pools[k] = append(pools[k], p)
	return nil
}

func (r record) initDesc(compute blas.CublasComputeType_t, scale rt.CudaDataType) {
	put(r, lt.CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, uint64(uint32(compute)))
	put(r, lt.CUBLASLT_MATMUL_DESC_SCALE_TYPE, uint64(uint32(scale)))
	put(r, lt.CUBLASLT_MATMUL_DESC_EPILOGUE, uint64(lt.CUBLASLT_EPILOGUE_DEFAULT))
	put(r, lt.CUBLASLT_MATMUL_DESC_FILL_MODE, uint64(blas.CUBLAS_FILL_MODE_FULL))
	put(r, lt.CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, unset)
	put(r, lt.CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, unset)
}

// unset is the data type that means D's.
const unset = 0xffffffff

func (r record) initLayout(t rt.CudaDataType, rows, cols uint64, ld int64) {
	put(r, lt.CUBLASLT_MATRIX_LAYOUT_TYPE, uint64(uint32(t)))
	put(r, lt.CUBLASLT_MATRIX_LAYOUT_ROWS, rows)
	put(r, lt.CUBLASLT_MATRIX_LAYOUT_COLS, cols)
	put(r, lt.CUBLASLT_MATRIX_LAYOUT_LD, uint64(ld))
	put(r, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1)
}

// MatmulDescInit_internal makes a description of a product in the program's memory.
func (t *Thread) MatmulDescInit_internal(p hostmem.Ptr, size uint64, compute blas.CublasComputeType_t, scale rt.CudaDataType) error {
	r, err := descKind.make(p, size)
	if err == nil {
		r.initDesc(compute, scale)
	}
	return err
}

// MatmulDescCreate makes one in memory of ours.
func (t *Thread) MatmulDescCreate(compute blas.CublasComputeType_t, scale rt.CudaDataType) (uint64, error) {
	r, at, err := descKind.create()
	if err == nil {
		r.initDesc(compute, scale)
	}
	return at, err
}

// MatmulDescDestroy ends one that Create made.
func (t *Thread) MatmulDescDestroy(p hostmem.Ptr) error { return descKind.destroy(p) }

// MatmulDescSetAttribute sets one attribute.
func (t *Thread) MatmulDescSetAttribute(p hostmem.Ptr, attr lt.CublasLtMatmulDescAttributes_t, buf hostmem.Ptr, size uint64) error {
	return descKind.set(p, int32(attr), buf, size)
}

// MatmulDescGetAttribute reads one attribute.
func (t *Thread) MatmulDescGetAttribute(p hostmem.Ptr, attr lt.CublasLtMatmulDescAttributes_t, buf hostmem.Ptr, size uint64, written hostmem.Ptr) error {
	return descKind.read(p, int32(attr), buf, size, written)
}

// MatrixLayoutInit_internal makes a description of a matrix in the program's memory.
func (t *Thread) MatrixLayoutInit_internal(p hostmem.Ptr, size uint64, e rt.CudaDataType, rows, cols uint64, ld int64) error {
	r, err := layoutKind.make(p, size)
	if err == nil {
		r.initLayout(e, rows, cols, ld)
	}
	return err
}

// MatrixLayoutCreate makes one in memory of ours.
func (t *Thread) MatrixLayoutCreate(e rt.CudaDataType, rows, cols uint64, ld int64) (uint64, error) {
	r, at, err := layoutKind.create()
	if err == nil {
		r.initLayout(e, rows, cols, ld)
	}
	return at, err
}

// MatrixLayoutDestroy ends one that Create made.
func (t *Thread) MatrixLayoutDestroy(p hostmem.Ptr) error { return layoutKind.destroy(p) }

// MatrixLayoutSetAttribute sets one attribute.
func (t *Thread) MatrixLayoutSetAttribute(p hostmem.Ptr, attr lt.CublasLtMatrixLayoutAttribute_t, buf hostmem.Ptr, size uint64) error {
	return layoutKind.set(p, int32(attr), buf, size)
}

// MatrixLayoutGetAttribute reads one attribute.
func (t *Thread) MatrixLayoutGetAttribute(p hostmem.Ptr, attr lt.CublasLtMatrixLayoutAttribute_t, buf hostmem.Ptr, size uint64, written hostmem.Ptr) error {
	return layoutKind.read(p, int32(attr), buf, size, written)
}

// MatmulPreferenceInit_internal makes wishes about algorithms in the program's memory.
func (t *Thread) MatmulPreferenceInit_internal(p hostmem.Ptr, size uint64) error {
	_, err := preferenceKind.make(p, size)
	return err
}

// MatmulPreferenceCreate makes them in memory of ours.
func (t *Thread) MatmulPreferenceCreate() (uint64, error) {
	_, at, err := preferenceKind.create()
	return at, err
}

// MatmulPreferenceDestroy ends what Create made.
func (t *Thread) MatmulPreferenceDestroy(p hostmem.Ptr) error { return preferenceKind.destroy(p) }

// MatmulPreferenceSetAttribute is kept and answered: there is one algorithm, which needs no workspace.
func (t *Thread) MatmulPreferenceSetAttribute(p hostmem.Ptr, attr lt.CublasLtMatmulPreferenceAttributes_t, buf hostmem.Ptr, size uint64) error {
	return preferenceKind.set(p, int32(attr), buf, size)
}

// MatmulPreferenceGetAttribute reads one attribute.
func (t *Thread) MatmulPreferenceGetAttribute(p hostmem.Ptr, attr lt.CublasLtMatmulPreferenceAttributes_t, buf hostmem.Ptr, size uint64, written hostmem.Ptr) error {
	return preferenceKind.read(p, int32(attr), buf, size, written)
}
