package isa

// nShapes are .m64nNkK for the multiples of 8 up to 256, and those integer and single-bit types have.
func nShapes(k string, ns ...string) Sets {
	var words []string
	for _, n := range ns {
		words = append(words, ".m64n"+n+"k"+k)
	}
	return Sets{{"shape", words}}
}

var (
	allN = []string{"8", "16", "24", "32", "40", "48", "56", "64", "72", "80", "88", "96", "104", "112", "120", "128", "136", "144", "152", "160",
		"168", "176", "184", "192", "200", "208", "216", "224", "232", "240", "248", "256"}
	intN = []string{"8", "16", "24", "32", "48", "64", "80", "96", "112", "128", "144", "160", "176", "192", "208", "224", "240", "256"}
)

// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". They need sm_90a.
func wgmmaForms() []Form {
	return []Form{
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.dtype.f16.f16  d, adesc, bdesc, scaled, scalea, scaleb, transa, transb", Sets: with(nShapes("16", allN...), dtype(".f16", ".f32")), Types: "d=$frag(dtype)* adesc=b64 bdesc=b64 scaled=pred:0..1 scalea=#s32 scaleb=#s32 transa=#u32:0..1 transb=#u32:0..1", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.dtype.f16.f16  d, a, bdesc, scaled, scalea, scaleb, transb", Sets: with(nShapes("16", allN...), dtype(".f16", ".f32")), Types: "d=$frag(dtype)* a=$4f16x2 bdesc=b64 scaled=pred:0..1 scalea=#s32 scaleb=#s32 transb=#u32:0..1", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.dtype.bf16.bf16  d, adesc, bdesc, scaled, scalea, scaleb, transa, transb", Sets: with(nShapes("16", allN...), dtype(".f32")), Types: "d=$frag(dtype)* adesc=b64 bdesc=b64 scaled=pred:0..1 scalea=#s32 scaleb=#s32 transa=#u32:0..1 transb=#u32:0..1", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.dtype.bf16.bf16  d, a, bdesc, scaled, scalea, scaleb, transb", Sets: with(nShapes("16", allN...), dtype(".f32")), Types: "d=$frag(dtype)* a=$4b32 bdesc=b64 scaled=pred:0..1 scalea=#s32 scaleb=#s32 transb=#u32:0..1", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.dtype.tf32.tf32  d, adesc, bdesc, scaled, scalea, scaleb", Sets: with(nShapes("8", allN...), dtype(".f32")), Types: "d=$frag(dtype)* adesc=b64 bdesc=b64 scaled=pred:0..1 scalea=#s32 scaleb=#s32", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.dtype.tf32.tf32  d, a, bdesc, scaled, scalea, scaleb", Sets: with(nShapes("8", allN...), dtype(".f32")), Types: "d=$frag(dtype)* a=$4b32 bdesc=b64 scaled=pred:0..1 scalea=#s32 scaleb=#s32", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d, adesc, bdesc, scaled, scalea, scaleb", Sets: with(nShapes("32", allN...), dtype(".f16", ".f32"), abtypes(f8types)), Types: "d=$frag(dtype)* adesc=b64 bdesc=b64 scaled=pred:0..1 scalea=#s32 scaleb=#s32", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d, a, bdesc, scaled, scalea, scaleb", Sets: with(nShapes("32", allN...), dtype(".f16", ".f32"), abtypes(f8types)), Types: "d=$frag(dtype)* a=$4b32 bdesc=b64 scaled=pred:0..1 scalea=#s32 scaleb=#s32", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype  d, adesc, bdesc, scaled", Sets: with(nShapes("32", intN...), abtypes([]string{".s8", ".u8"})), Types: "d=$s32* adesc=b64 bdesc=b64 scaled=pred:0..1", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype  d, a, bdesc, scaled", Sets: with(nShapes("32", intN...), abtypes([]string{".s8", ".u8"})), Types: "d=$s32* a=$4b32 bdesc=b64 scaled=pred:0..1", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.s32.b1.b1.op.popc  d, adesc, bdesc, scaled", Sets: with(nShapes("256", intN...), op(".and")), Types: "d=$s32* adesc=b64 bdesc=b64 scaled=pred:0..1", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsync, Syntax: "wgmma.mma_async.sync.aligned.shape.s32.b1.b1.op.popc  d, a, bdesc, scaled", Sets: with(nShapes("256", intN...), op(".and")), Types: "d=$s32* a=$4b32 bdesc=b64 scaled=pred:0..1", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape.dtype.f16.f16  d, adesc, bdesc, spmeta, spsel, scaled, scalea, scaleb, transa, transb", Sets: with(nShapes("32", allN...), dtype(".f16", ".f32")), Types: "d=$frag(dtype)* adesc=b64 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1 scalea=#s32 scaleb=#s32 transa=#u32:0..1 transb=#u32:0..1", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape.dtype.f16.f16  d, a, bdesc, spmeta, spsel, scaled, scalea, scaleb, transb", Sets: with(nShapes("32", allN...), dtype(".f16", ".f32")), Types: "d=$frag(dtype)* a=$4f16x2 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1 scalea=#s32 scaleb=#s32 transb=#u32:0..1", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape.dtype.bf16.bf16  d, adesc, bdesc, spmeta, spsel, scaled, scalea, scaleb, transa, transb", Sets: with(nShapes("32", allN...), dtype(".f32")), Types: "d=$frag(dtype)* adesc=b64 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1 scalea=#s32 scaleb=#s32 transa=#u32:0..1 transb=#u32:0..1", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape.dtype.bf16.bf16  d, a, bdesc, spmeta, spsel, scaled, scalea, scaleb, transb", Sets: with(nShapes("32", allN...), dtype(".f32")), Types: "d=$frag(dtype)* a=$4b32 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1 scalea=#s32 scaleb=#s32 transb=#u32:0..1", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape.dtype.tf32.tf32  d, adesc, bdesc, spmeta, spsel, scaled, scalea, scaleb", Sets: with(nShapes("16", allN...), dtype(".f32")), Types: "d=$frag(dtype)* adesc=b64 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1 scalea=#s32 scaleb=#s32", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape.dtype.tf32.tf32  d, a, bdesc, spmeta, spsel, scaled, scalea, scaleb", Sets: with(nShapes("16", allN...), dtype(".f32")), Types: "d=$frag(dtype)* a=$4b32 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1 scalea=#s32 scaleb=#s32", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype  d, adesc, bdesc, spmeta, spsel, scaled, scalea, scaleb", Sets: with(nShapes("64", allN...), dtype(".f16", ".f32"), abtypes(f8types)), Types: "d=$frag(dtype)* adesc=b64 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1 scalea=#s32 scaleb=#s32", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype  d, a, bdesc, spmeta, spsel, scaled, scalea, scaleb", Sets: with(nShapes("64", allN...), dtype(".f16", ".f32"), abtypes(f8types)), Types: "d=$frag(dtype)* a=$4b32 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1 scalea=#s32 scaleb=#s32", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.s32.atype.btype  d, adesc, bdesc, spmeta, spsel, scaled", Sets: with(nShapes("64", intN...), abtypes([]string{".s8", ".u8"})), Types: "d=$s32* adesc=b64 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaMmaAsyncSp, Syntax: "wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.s32.atype.btype  d, a, bdesc, spmeta, spsel, scaled", Sets: with(nShapes("64", intN...), abtypes([]string{".s8", ".u8"})), Types: "d=$s32* a=$4b32 bdesc=b64 spmeta=$b32~ spsel=#u32 scaled=pred:0..1", PTX: v(8, 2), SM: 90, Arch: "a"},
		{Op: WgmmaFence, Syntax: "wgmma.fence.sync.aligned", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaCommitGroup, Syntax: "wgmma.commit_group.sync.aligned", PTX: v(8, 0), SM: 90, Arch: "a"},
		{Op: WgmmaWaitGroup, Syntax: "wgmma.wait_group.sync.aligned  n", Types: "n=#u32", PTX: v(8, 0), SM: 90, Arch: "a"},
	}
}
