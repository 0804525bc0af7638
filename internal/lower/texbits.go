package lower

import (
	"kudzu/internal/image"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// An instruction on textures or surfaces as the number that executors take (internal/image/texture.go).

var texGeoms = map[isa.Mod]uint32{
	isa.Mod1d: image.TexGeom1D, isa.Mod2d: image.TexGeom2D, isa.Mod3d: image.TexGeom3D, isa.ModA1d: image.TexGeomA1D, isa.ModA2d: image.TexGeomA2D,
	isa.ModCube: image.TexGeomCube, isa.ModAcube: image.TexGeomACube,
}

var texLods = map[isa.Mod]uint32{isa.ModLevel: image.TexLodLevel, isa.ModGrad: image.TexLodGrad, isa.ModBase: image.TexLodBase}

var texQueries = map[isa.Mod]uint32{
	isa.ModWidth: image.TexQueryWidth, isa.ModHeight: image.TexQueryHeight, isa.ModDepth: image.TexQueryDepth, isa.ModChannelDataType: image.TexQueryType,
	isa.ModChannelOrder: image.TexQueryOrder, isa.ModNormalizedCoords: image.TexQueryNormalized, isa.ModArraySize: image.TexQueryArray,
	isa.ModNumMipmapLevels: image.TexQueryLevels, isa.ModNumSamples: image.TexQuerySamples, isa.ModForceUnnormalizedCoords: image.TexQueryUnnormalized,
	isa.ModFilterMode: image.TexQueryFilter, isa.ModAddrMode0: image.TexQueryAddr0, isa.ModAddrMode1: image.TexQueryAddr1, isa.ModAddrMode2: image.TexQueryAddr2,
	isa.ModMemoryLayout: image.TexQueryLayout,
}

var texClamps = map[isa.Mod]uint32{isa.ModTrap: image.TexOutTrap, isa.ModClamp: image.TexOutClamp, isa.ModZero: image.TexOutZero}

// texBits is the number. Preconditions: the geometry and the query, if there is one, are known.
func texBits(in *ptx.Inst) uint32 {
	switch in.Op() {
	case isa.Txq, isa.Suq:
		op := image.TexQuery | texQueries[in.Mod("query")]<<image.TexSubShift
		if in.Op() == isa.Suq {
			op |= image.TexSurface
		}
		if texOperand(in, "lod") != nil {
			op |= image.TexLodLevel << image.TexLodShift
		}
		return op
	case isa.Istypep: // backend.TextureObject, SurfaceObject, SamplerObject are 1, 2, 3
		return image.TexIsType | map[isa.Mod]uint32{isa.ModTexref: 1, isa.ModSurfref: 2, isa.ModSamplerref: 3}[in.Mod("type")]<<image.TexSubShift
	case isa.Tex, isa.Tld4:
		return fetchBits(in)
	}
	return surfaceBits(in)
}

// texOperand is the operand called name, nil if it was not written.
func texOperand(in *ptx.Inst, name string) *ptx.Operand {
	for i, o := range in.Form.Operands() {
		if o.Name == name && i < len(in.Args) && in.Args[i].Kind != ptx.None {
			return &in.Args[i]
		}
	}
	return nil
}

func fetchBits(in *ptx.Inst) uint32 {
	op := texGeoms[in.Mod("geom")] << image.TexGeomShift
	if in.Op() == isa.Tld4 {
		op |= image.TexGather | map[isa.Mod]uint32{isa.ModR: 0, isa.ModG: 1, isa.ModB: 2, isa.ModA: 3}[in.Mod("comp")]<<image.TexSubShift
	}
	if in.Mod("ctype") == isa.ModS32 {
		op |= image.TexIntCoords
	}
	for w, code := range texLods {
		if in.Has(w) || in.Form.Prefix() == "tex"+w.String() {
			op |= code << image.TexLodShift
		}
	}
	if texOperand(in, "e") != nil {
		op |= image.TexOffsets
	}
	switch in.Type("dtype") {
	case isa.F16, isa.F16x2:
		op |= image.TexF16 << image.TexDtypeShift
	case isa.U32:
		op |= image.TexU32 << image.TexDtypeShift
	case isa.S32:
		op |= image.TexS32 << image.TexDtypeShift
	}
	return op
}

// formatted reports sust.p and sured.p.
func formatted(in *ptx.Inst) bool {
	return in.Has(isa.ModP) || in.Form.Prefix() == "sust.p" || in.Form.Prefix() == "sured.p"
}

func surfaceBits(in *ptx.Inst) uint32 {
	t := in.OptType("ctype")
	kind := uint32(image.SurfStore)
	switch {
	case in.Op() == isa.Suld:
		kind, t = image.SurfLoad, in.Type("dtype")
	case in.Op() == isa.Sured:
		kind = image.SurfReduce | reductionOf(in.Mod("op"), t)<<image.TexSubShift
		if formatted(in) {
			kind |= image.TexFormatted
		}
	case formatted(in):
		kind = image.SurfStoreFormatted
	}
	return kind | texGeoms[in.Mod("geom")]<<image.TexGeomShift | texClamps[in.Mod("clamp")]<<image.TexClampShift | log2Bytes(t.Bytes()*max(vecSizes[in.OptMod("vec")], 1))<<image.TexBytesShift
}

// log2Bytes is log2 of the bytes that an access moves.
func log2Bytes(n int) uint32 {
	l := uint32(0)
	for 1<<l < n {
		l++
	}
	return l
}

func reductionOf(w isa.Mod, t isa.Type) uint32 {
	switch {
	case w == isa.ModAdd:
		return image.TexRedAdd
	case w == isa.ModAnd:
		return image.TexRedAnd
	case w == isa.ModOr:
		return image.TexRedOr
	case w == isa.ModMin && t.IsSigned():
		return image.TexRedMinS
	case w == isa.ModMin:
		return image.TexRedMinU
	case t.IsSigned():
		return image.TexRedMaxS
	}
	return image.TexRedMaxU
}
