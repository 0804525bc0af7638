package cufft

import (
	"kudzu/internal/cudart"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/fft"
	"kudzu/internal/spec/rt"
)

// types are what a plan's numbers are.
type types struct {
	kind    kind
	storage string // as kernels are named
}

func (t types) precision() precision {
	if t.storage == "f64" {
		return double
	}
	return single
}

// named are the types that cufftType has.
var named = map[fft.CufftType]types{
	fft.CUFFT_C2C: {complexKind, "f32"}, fft.CUFFT_R2C: {fromRealKind, "f32"}, fft.CUFFT_C2R: {toRealKind, "f32"},
	fft.CUFFT_Z2Z: {complexKind, "f64"}, fft.CUFFT_D2Z: {fromRealKind, "f64"}, fft.CUFFT_Z2D: {toRealKind, "f64"},
}

// typed are the types of cufftXt: input, output and execution.
var typed = map[[3]rt.CudaDataType]types{
	{rt.CUDA_C_16F, rt.CUDA_C_16F, rt.CUDA_C_16F}:    {complexKind, "f16"},
	{rt.CUDA_R_16F, rt.CUDA_C_16F, rt.CUDA_C_16F}:    {fromRealKind, "f16"},
	{rt.CUDA_C_16F, rt.CUDA_R_16F, rt.CUDA_C_16F}:    {toRealKind, "f16"},
	{rt.CUDA_C_16BF, rt.CUDA_C_16BF, rt.CUDA_C_16BF}: {complexKind, "bf16"},
	{rt.CUDA_R_16BF, rt.CUDA_C_16BF, rt.CUDA_C_16BF}: {fromRealKind, "bf16"},
	{rt.CUDA_C_16BF, rt.CUDA_R_16BF, rt.CUDA_C_16BF}: {toRealKind, "bf16"},
	{rt.CUDA_C_32F, rt.CUDA_C_32F, rt.CUDA_C_32F}:    {complexKind, "f32"},
	{rt.CUDA_R_32F, rt.CUDA_C_32F, rt.CUDA_C_32F}:    {fromRealKind, "f32"},
	{rt.CUDA_C_32F, rt.CUDA_R_32F, rt.CUDA_C_32F}:    {toRealKind, "f32"},
	{rt.CUDA_C_64F, rt.CUDA_C_64F, rt.CUDA_C_64F}:    {complexKind, "f64"},
	{rt.CUDA_R_64F, rt.CUDA_C_64F, rt.CUDA_C_64F}:    {fromRealKind, "f64"},
	{rt.CUDA_C_64F, rt.CUDA_R_64F, rt.CUDA_C_64F}:    {toRealKind, "f64"},
}

// alike is the complex type of a real one's precision.
var alike = map[rt.CudaDataType]rt.CudaDataType{
	rt.CUDA_R_16F: rt.CUDA_C_16F, rt.CUDA_R_16BF: rt.CUDA_C_16BF, rt.CUDA_R_32F: rt.CUDA_C_32F, rt.CUDA_R_64F: rt.CUDA_C_64F,
}

// request is what a program asks to be planned.
type request struct {
	types    types
	known    bool // the types are
	n        []int64
	batch    int64
	advanced bool
	in, out  []int64 // embedded extents
	is, os   int64
	idist    int64
	odist    int64
	badRank  bool // it is not 1 to 3
}

func plain(kind fft.CufftType, batch int64, n ...int64) *request {
	t, ok := named[kind]
	return &request{types: t, known: ok, n: n, batch: batch}
}

// extents reads rank numbers that a program has in memory.
func extents[T int32 | int64](at hostmem.Ptr, rank int32) []int64 {
	if at == hostmem.Nil {
		return nil
	}
	var list []int64
	for _, v := range hostmem.Slice[T](at, int(rank)) {
		list = append(list, int64(v))
	}
	return list
}

// side is one side of the advanced interface.
type side struct {
	embed        hostmem.Ptr
	stride, dist int64
}

func many[T int32 | int64](rank int32, n hostmem.Ptr, in, out side, batch int64) *request {
	r := &request{batch: batch}
	if rank < 1 || rank > 3 {
		r.badRank = true
		return r
	}
	r.n = extents[T](n, rank)
	r.in, r.out = extents[T](in.embed, rank), extents[T](out.embed, rank)
	r.advanced = r.in != nil || r.out != nil
	r.is, r.idist, r.os, r.odist = in.stride, in.dist, out.stride, out.dist
	return r
}

func (r *request) as(kind fft.CufftType) *request {
	r.types, r.known = named[kind]
	return r
}

func (r *request) asTypes(in, out, exec rt.CudaDataType) *request {
	// The type of execution may be the real one of its precision.
	for _, e := range []rt.CudaDataType{exec, alike[exec]} {
		if r.types, r.known = typed[[3]rt.CudaDataType{in, out, e}]; r.known {
			return r
		}
	}
	return r
}

// geometry checks a request.
func (r *request) geometry() (*geometry, error) {
	if r.badRank || r.n == nil {
		return nil, invalidValue
	}
	if !r.known {
		return nil, invalidType
	}
	g := &geometry{batch: uint64(r.batch), basic: !r.advanced}
	if r.n[0] < 1 || r.batch < 1 {
		return nil, invalidSize
	}
	// Only the first extent is looked at; a plan with another that is none transforms nothing.
	for _, n := range r.n {
		g.n = append(g.n, uint64(max(n, 0)))
		g.empty = g.empty || n < 1
	}
	if _, ok := g.total(); !ok {
		return nil, invalidSize
	}
	half16 := r.types.storage == "f16" || r.types.storage == "bf16"
	for _, n := range g.n {
		if half16 && n&(n-1) != 0 {
			return nil, notSupported
		}
	}
	last := len(g.n) - 1
	inner, outer := g.n[last], g.n[last]
	switch r.types.kind {
	case fromRealKind:
		outer = outer/2 + 1
	case toRealKind:
		inner = inner/2 + 1
	}
	if !r.advanced {
		g.in, g.out = packedLayout(g.n, inner), packedLayout(g.n, outer)
		return g, nil
	}
	if r.is < 1 || r.os < 1 || r.idist < 1 || r.odist < 1 || r.in == nil || r.out == nil {
		return nil, invalidValue
	}
	g.in, g.out = embedded(r.in, r.is, r.idist), embedded(r.out, r.os, r.odist)
	return g, nil
}

// sharedMemory is how much of it a block may have.
func sharedMemory(d *driver.Thread) uint64 {
	bytes := int32(48 << 10)
	if dev, err := d.CtxGetDevice(); err == nil {
		if v, err := d.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, dev); err == nil {
			bytes = max(bytes, v)
		}
	}
	return uint64(bytes)
}

// longest is the most numbers a lane has in one step: more leaves the caches.
const longest = 512

// forms are the forms of calls that a plan foresees.
func forms(g *geometry, k kind) []form {
	if k == complexKind || !g.basic {
		return []form{{aligned: true}}
	}
	return []form{{aligned: true}, {inPlace: true, aligned: true}}
}

// build makes the operations of one form.
func build(g *geometry, ty types, f form, s sides, shared uint64) *builder {
	b := &builder{precision: ty.precision(), shared: shared}
	b.limit = min((shared-scratch(0, b.precision))/(64*uint64(b.precision)), longest)
	if g.empty {
		return b
	}
	if f.inPlace {
		g = g.inPlace(ty.kind == toRealKind)
	}
	if ty.storage == "f16" || ty.storage == "bf16" {
		b.converted(g, ty.kind, ty.storage)
	} else if s != (sides{}) {
		b.callbacks(g, ty.kind, s, f.aligned)
	} else {
		b.add(g, ty.kind, place{input, 0}, place{output, 0}, f.aligned)
	}
	return b
}

// sizes is the work area of a request.
func (t *Thread) sizes(r *request, out hostmem.Ptr) error {
	g, err := r.geometry()
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return invalidValue
	}
	if err := cudart.Ready(t.driver()); err != nil {
		return setupFailed
	}
	size := uint64(0)
	for _, f := range forms(g, r.types.kind) {
		size = max(size, build(g, r.types, f, sides{}, sharedMemory(t.driver())).most)
	}
	hostmem.Store(out, size)
	return nil
}

// make makes a plan.
func (t *Thread) make(h fft.CufftHandle, r *request, out hostmem.Ptr) error {
	return change(h, func(p *plan) error {
		if p.made {
			return invalidPlan
		}
		g, err := r.geometry()
		if err != nil {
			return err
		}
		if out == hostmem.Nil {
			return invalidValue
		}
		d := t.driver()
		if err := cudart.Ready(d); err != nil {
			return setupFailed
		}
		if err := p.linkCallbacks(r.types); err != nil {
			return err
		}
		p.geometry, p.types = *g, r.types
		if p.many != nil {
			if err := p.makeMany(d, p.many, g, r.types, p.auto); err != nil {
				return err
			}
			copy(hostmem.Slice[uint64](out, len(p.many.sizes)), p.many.sizes)
			p.made = true
			return nil
		}
		if err := p.fill(d, g, r.types); err != nil {
			return err
		}
		if p.auto && p.size > 0 {
			if p.own, err = d.TakeMemory(p.size); err != nil {
				p.drop(d)
				return err
			}
			p.area = p.own
		}
		p.made = true
		hostmem.Store(out, p.size)
		return nil
	})
}

// fill makes the operations of the forms that are foreseen, in the current context. Preconditions: p.mu is held, or nobody else has p.
func (p *plan) fill(d *driver.Thread, g *geometry, ty types) (err error) {
	if p.context, err = d.CtxGetCurrent(); err != nil {
		return err
	}
	p.geometry, p.types, p.size = *g, ty, 0
	for _, f := range forms(g, ty.kind) {
		if err := p.prepare(d, f); err != nil {
			p.drop(d)
			return err
		}
		p.size = max(p.size, p.variants[f].work)
	}
	return nil
}

// prepare builds a form and copies its tables to the device. Preconditions: p.mu is held.
func (p *plan) prepare(d *driver.Thread, f form) error {
	b := build(&p.geometry, p.types, f, p.sides, sharedMemory(d))
	v := &variant{ops: b.ops, work: b.most}
	if n := uint64(len(b.tables.bytes)); n > 0 {
		at, err := d.TakeMemory(n)
		if err != nil {
			return err
		}
		v.tables = at
		if err := d.MemcpyHtoD(at, hostmem.Of(&b.tables.bytes[0]), n); err != nil {
			v.drop(d)
			return err
		}
	}
	p.variants[f] = v
	return nil
}

// fresh makes a plan in one call; nothing stays of one that fails.
func (t *Thread) fresh(r *request) (fft.CufftHandle, error) {
	h, err := t.Create()
	if err != nil {
		return 0, err
	}
	var size uint64
	if err := t.make(h, r, hostmem.Of(&size)); err != nil {
		_ = t.Destroy(h)
		return 0, err
	}
	return h, nil
}

// Plan1d makes a plan for rows.
func (t *Thread) Plan1d(n int32, kind fft.CufftType, batch int32) (fft.CufftHandle, error) {
	return t.fresh(plain(kind, int64(batch), int64(n)))
}

// Plan2d makes a plan for a plane.
func (t *Thread) Plan2d(nx, ny int32, kind fft.CufftType) (fft.CufftHandle, error) {
	return t.fresh(plain(kind, 1, int64(nx), int64(ny)))
}

// Plan3d makes a plan for a volume.
func (t *Thread) Plan3d(nx, ny, nz int32, kind fft.CufftType) (fft.CufftHandle, error) {
	return t.fresh(plain(kind, 1, int64(nx), int64(ny), int64(nz)))
}

// PlanMany makes a plan for a batch in any layout.
func (t *Thread) PlanMany(rank int32, n, inembed hostmem.Ptr, istride, idist int32, onembed hostmem.Ptr, ostride, odist int32, kind fft.CufftType, batch int32) (fft.CufftHandle, error) {
	in, out := side{inembed, int64(istride), int64(idist)}, side{onembed, int64(ostride), int64(odist)}
	return t.fresh(many[int32](rank, n, in, out, int64(batch)).as(kind))
}

// MakePlan1d fills a plan for rows.
func (t *Thread) MakePlan1d(h fft.CufftHandle, n int32, kind fft.CufftType, batch int32, size hostmem.Ptr) error {
	return t.make(h, plain(kind, int64(batch), int64(n)), size)
}

// MakePlan2d fills a plan for a plane.
func (t *Thread) MakePlan2d(h fft.CufftHandle, nx, ny int32, kind fft.CufftType, size hostmem.Ptr) error {
	return t.make(h, plain(kind, 1, int64(nx), int64(ny)), size)
}

// MakePlan3d fills a plan for a volume.
func (t *Thread) MakePlan3d(h fft.CufftHandle, nx, ny, nz int32, kind fft.CufftType, size hostmem.Ptr) error {
	return t.make(h, plain(kind, 1, int64(nx), int64(ny), int64(nz)), size)
}

// MakePlanMany fills a plan for a batch in any layout.
func (t *Thread) MakePlanMany(h fft.CufftHandle, rank int32, n, inembed hostmem.Ptr, istride, idist int32, onembed hostmem.Ptr, ostride, odist int32, kind fft.CufftType, batch int32, size hostmem.Ptr) error {
	in, out := side{inembed, int64(istride), int64(idist)}, side{onembed, int64(ostride), int64(odist)}
	return t.make(h, many[int32](rank, n, in, out, int64(batch)).as(kind), size)
}

// MakePlanMany64 is MakePlanMany with 64-bit numbers.
func (t *Thread) MakePlanMany64(h fft.CufftHandle, rank int32, n, inembed hostmem.Ptr, istride, idist int64, onembed hostmem.Ptr, ostride, odist int64, kind fft.CufftType, batch int64, size hostmem.Ptr) error {
	return t.make(h, many[int64](rank, n, side{inembed, istride, idist}, side{onembed, ostride, odist}, batch).as(kind), size)
}

// XtMakePlanMany is MakePlanMany64 with types of input, output and execution.
func (t *Thread) XtMakePlanMany(h fft.CufftHandle, rank int32, n, inembed hostmem.Ptr, istride, idist int64, inType rt.CudaDataType, onembed hostmem.Ptr, ostride, odist int64, outType rt.CudaDataType, batch int64, size hostmem.Ptr, execType rt.CudaDataType) error {
	return t.make(h, many[int64](rank, n, side{inembed, istride, idist}, side{onembed, ostride, odist}, batch).asTypes(inType, outType, execType), size)
}
