package cufft

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/fft"
	"kudzu/internal/spec/rt"
)

// Estimate1d is the size of the work area of rows.
func (t *Thread) Estimate1d(n int32, kind fft.CufftType, batch int32, size hostmem.Ptr) error {
	return t.sizes(plain(kind, int64(batch), int64(n)), size)
}

// Estimate2d is that of a plane.
func (t *Thread) Estimate2d(nx, ny int32, kind fft.CufftType, size hostmem.Ptr) error {
	return t.sizes(plain(kind, 1, int64(nx), int64(ny)), size)
}

// Estimate3d is that of a volume.
func (t *Thread) Estimate3d(nx, ny, nz int32, kind fft.CufftType, size hostmem.Ptr) error {
	return t.sizes(plain(kind, 1, int64(nx), int64(ny), int64(nz)), size)
}

// EstimateMany is that of a batch in any layout.
func (t *Thread) EstimateMany(rank int32, n, inembed hostmem.Ptr, istride, idist int32, onembed hostmem.Ptr, ostride, odist int32, kind fft.CufftType, batch int32, size hostmem.Ptr) error {
	in, out := side{inembed, int64(istride), int64(idist)}, side{onembed, int64(ostride), int64(odist)}
	return t.sizes(many[int32](rank, n, in, out, int64(batch)).as(kind), size)
}

// of is sizes for a plan that must be there.
func (t *Thread) of(h fft.CufftHandle, r *request, size hostmem.Ptr) error {
	if find(h) == nil {
		return invalidPlan
	}
	return t.sizes(r, size)
}

// GetSize1d is Estimate1d for a plan.
func (t *Thread) GetSize1d(h fft.CufftHandle, n int32, kind fft.CufftType, batch int32, size hostmem.Ptr) error {
	return t.of(h, plain(kind, int64(batch), int64(n)), size)
}

// GetSize2d is Estimate2d for a plan.
func (t *Thread) GetSize2d(h fft.CufftHandle, nx, ny int32, kind fft.CufftType, size hostmem.Ptr) error {
	return t.of(h, plain(kind, 1, int64(nx), int64(ny)), size)
}

// GetSize3d is Estimate3d for a plan.
func (t *Thread) GetSize3d(h fft.CufftHandle, nx, ny, nz int32, kind fft.CufftType, size hostmem.Ptr) error {
	return t.of(h, plain(kind, 1, int64(nx), int64(ny), int64(nz)), size)
}

// GetSizeMany is EstimateMany for a plan.
func (t *Thread) GetSizeMany(h fft.CufftHandle, rank int32, n, inembed hostmem.Ptr, istride, idist int32, onembed hostmem.Ptr, ostride, odist int32, kind fft.CufftType, batch int32, size hostmem.Ptr) error {
	in, out := side{inembed, int64(istride), int64(idist)}, side{onembed, int64(ostride), int64(odist)}
	return t.of(h, many[int32](rank, n, in, out, int64(batch)).as(kind), size)
}

// GetSizeMany64 is GetSizeMany with 64-bit numbers.
func (t *Thread) GetSizeMany64(h fft.CufftHandle, rank int32, n, inembed hostmem.Ptr, istride, idist int64, onembed hostmem.Ptr, ostride, odist int64, kind fft.CufftType, batch int64, size hostmem.Ptr) error {
	return t.of(h, many[int64](rank, n, side{inembed, istride, idist}, side{onembed, ostride, odist}, batch).as(kind), size)
}

// XtGetSizeMany is GetSizeMany64 with types of input, output and execution.
func (t *Thread) XtGetSizeMany(h fft.CufftHandle, rank int32, n, inembed hostmem.Ptr, istride, idist int64, inType rt.CudaDataType, onembed hostmem.Ptr, ostride, odist int64, outType rt.CudaDataType, batch int64, size hostmem.Ptr, execType rt.CudaDataType) error {
	return t.of(h, many[int64](rank, n, side{inembed, istride, idist}, side{onembed, ostride, odist}, batch).asTypes(inType, outType, execType), size)
}
