package cudart

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// What only arrays of planes, arrays without memory of their own and sparse arrays have. The driver's answers are the
// runtime's; the structures are laid out alike.

// ArrayGetMemoryRequirements is the memory that an array must be given.
func (t *Thread) ArrayGetMemoryRequirements(a rt.CudaArray_t, dev int32) (r rt.CudaArrayMemoryRequirements, err error) {
	d, err := t.ready()
	if err != nil {
		return r, err
	}
	v, err := d.ArrayGetMemoryRequirements(cu.CUarray(a), dev)
	return hostmem.As[rt.CudaArrayMemoryRequirements](v), err
}

// ArrayGetSparseProperties is how a sparse array is divided.
func (t *Thread) ArrayGetSparseProperties(a rt.CudaArray_t) (p rt.CudaArraySparseProperties, err error) {
	d, err := t.ready()
	if err != nil {
		return p, err
	}
	v, err := d.ArrayGetSparseProperties(cu.CUarray(a))
	return hostmem.As[rt.CudaArraySparseProperties](v), err
}

// MipmappedArrayGetMemoryRequirements is ArrayGetMemoryRequirements.
func (t *Thread) MipmappedArrayGetMemoryRequirements(a rt.CudaMipmappedArray_t, dev int32) (r rt.CudaArrayMemoryRequirements, err error) {
	d, err := t.ready()
	if err != nil {
		return r, err
	}
	v, err := d.MipmappedArrayGetMemoryRequirements(cu.CUmipmappedArray(a), dev)
	return hostmem.As[rt.CudaArrayMemoryRequirements](v), err
}

// MipmappedArrayGetSparseProperties is ArrayGetSparseProperties.
func (t *Thread) MipmappedArrayGetSparseProperties(a rt.CudaMipmappedArray_t) (p rt.CudaArraySparseProperties, err error) {
	d, err := t.ready()
	if err != nil {
		return p, err
	}
	v, err := d.MipmappedArrayGetSparseProperties(cu.CUmipmappedArray(a))
	return hostmem.As[rt.CudaArraySparseProperties](v), err
}
