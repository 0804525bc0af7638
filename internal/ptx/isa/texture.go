package isa

var (
	texGeoms  = set("geom", ".1d", ".2d", ".3d", ".a1d", ".a2d", ".cube", ".acube", ".2dms", ".a2dms")
	texDtypes = dtype(".u32", ".s32", ".f16", ".f32")
	texCtypes = ctype(".s32", ".f32")
	clamps    = set("clamp", ".trap", ".clamp", ".zero")
)

// PTX ISA, "Texture Instructions". The address is [texture, {coordinates}] or [texture, sampler, {coordinates}].
func textureForms() []Form {
	return []Form{
		{Op: Tex, Syntax: "tex.geom.v4.dtype.ctype  d[|p], [a, c]{, e}{, f}", Sets: with(texGeoms, texDtypes, texCtypes), Types: "d=$4dtype e=s32* f=f32", PTX: v(1, 0)},
		{Op: Tex, Syntax: "tex.geom.v2.f16x2.ctype  d[|p], [a, c]{, e}{, f}", Sets: with(texGeoms, texCtypes), Types: "d=$2f16x2 e=s32* f=f32", PTX: v(4, 2), SM: 53},
		{Op: Tex, Syntax: "tex.base.geom.v4.dtype.ctype  d[|p], [a, c]{, e}{, f}", Sets: with(texGeoms, texDtypes, texCtypes), Types: "d=$4dtype e=s32* f=f32", PTX: v(3, 1), SM: 20},
		{Op: Tex, Syntax: "tex.level.geom.v4.dtype.ctype  d[|p], [a, c], lod{, e}{, f}", Sets: with(texGeoms, texDtypes, texCtypes), Types: "d=$4dtype lod=ctype e=s32* f=f32", PTX: v(3, 1), SM: 20},
		{Op: Tex, Syntax: "tex.grad.geom.v4.dtype.ctype  d[|p], [a, c], dPdx, dPdy{, e}{, f}", Sets: with(texGeoms, texDtypes, texCtypes), Types: "d=$4dtype dPdx=f32* dPdy=f32* e=s32* f=f32", PTX: v(3, 1), SM: 20},
		{Op: Tex, Syntax: "tex.base.geom.v2.f16x2.ctype  d[|p], [a, c]{, e}{, f}", Sets: with(texGeoms, texCtypes), Types: "d=$2f16x2 e=s32* f=f32", PTX: v(4, 2), SM: 53},
		{Op: Tex, Syntax: "tex.level.geom.v2.f16x2.ctype  d[|p], [a, c], lod{, e}{, f}", Sets: with(texGeoms, texCtypes), Types: "d=$2f16x2 lod=ctype e=s32* f=f32", PTX: v(4, 2), SM: 53},
		{Op: Tex, Syntax: "tex.grad.geom.v2.f16x2.ctype  d[|p], [a, c], dPdx, dPdy{, e}{, f}", Sets: with(texGeoms, texCtypes), Types: "d=$2f16x2 dPdx=f32* dPdy=f32* e=s32* f=f32", PTX: v(4, 2), SM: 53},
		{Op: Tld4, Syntax: "tld4.comp.geom.v4.dtype.ctype  d[|p], [a, c]{, e}{, f}", Sets: with(set("comp", ".r", ".g", ".b", ".a"), set("geom", ".2d", ".a2d", ".cube", ".acube"), dtype(".u32", ".s32", ".f32"), ctype(".f32")), Types: "d=$4dtype e=s32* f=f32", PTX: v(2, 2), SM: 20},
		{Op: Txq, Syntax: "txq.query.b32  d, [a]", Sets: set("query", ".width", ".height", ".depth", ".channel_data_type", ".channel_order", ".normalized_coords", ".array_size", ".num_mipmap_levels", ".num_samples", ".force_unnormalized_coords", ".filter_mode", ".addr_mode_0", ".addr_mode_1", ".addr_mode_2"), PTX: v(1, 5)},
		{Op: Txq, Syntax: "txq.level.query.b32  d, [a], lod", Sets: set("query", ".width", ".height", ".depth"), Types: "lod=u32", PTX: v(4, 3), SM: 30},
		{Op: Istypep, Syntax: "istypep.type  p, a", Sets: typ([]string{".texref", ".samplerref", ".surfref"}), Types: "a=$b64&", PTX: v(4, 0), SM: 30},
	}
}

// PTX ISA, "Surface Instructions".
func surfaceForms() []Form {
	return []Form{
		{Op: Suld, Syntax: "suld.b.geom{.cop}{.vec}.dtype.clamp  d, [a, b]", Sets: with(set("geom", ".1d", ".2d", ".3d", ".a1d", ".a2d"), set("cop", ".ca", ".cg", ".cs", ".cv"), vec24, dtype(".b8", ".b16", ".b32", ".b64"), clamps), Types: "d=dtype+v", PTX: v(1, 5), SM: 20},
		{Op: Sust, Syntax: "sust.b.geom{.cop}{.vec}.ctype.clamp  [a, b], c", Sets: with(set("geom", ".1d", ".2d", ".3d", ".a1d", ".a2d"), copSt, vec24, ctype(".b8", ".b16", ".b32", ".b64"), clamps), Types: "c=ctype+v", PTX: v(1, 5), SM: 20},
		{Op: Sust, Syntax: "sust.p.geom{.vec}.ctype.clamp  [a, b], c", Sets: with(set("geom", ".1d", ".2d", ".3d"), vec24, ctype(".b32"), clamps), Types: "c=ctypev", PTX: v(2, 0), SM: 20},
		{Op: Sured, Syntax: "sured.b.op.geom.ctype.clamp  [a, b], c", Sets: with(op(".add"), set("geom", ".1d", ".2d", ".3d"), ctype(".u32", ".u64", ".s32"), clamps), Types: "c=ctype", PTX: v(2, 0), SM: 20},
		{Op: Sured, Syntax: "sured.b.op.geom.ctype.clamp  [a, b], c", Sets: with(op(".min", ".max"), set("geom", ".1d", ".2d", ".3d"), ctype(".u32", ".u64", ".s32", ".s64"), clamps), Types: "c=ctype", PTX: v(2, 0), SM: 20},
		{Op: Sured, Syntax: "sured.b.op.geom.ctype.clamp  [a, b], c", Sets: with(op(".and", ".or"), set("geom", ".1d", ".2d", ".3d"), ctype(".b32"), clamps), Types: "c=ctype", PTX: v(2, 0), SM: 20},
		{Op: Sured, Syntax: "sured.p.op.geom.ctype.clamp  [a, b], c", Sets: with(op(".add", ".and", ".or"), set("geom", ".1d", ".2d", ".3d"), ctype(".b32"), clamps), Types: "c=ctype", PTX: v(2, 0), SM: 20},
		{Op: Sured, Syntax: "sured.p.op.geom.ctype.clamp  [a, b], c", Sets: with(op(".min", ".max"), set("geom", ".1d", ".2d", ".3d"), ctype(".b32", ".b64"), clamps), Types: "c=ctype", PTX: v(2, 0), SM: 20},
		{Op: Suq, Syntax: "suq.query.b32  d, [a]", Sets: set("query", ".width", ".height", ".depth", ".channel_data_type", ".channel_order", ".array_size", ".memory_layout"), PTX: v(2, 0), SM: 20},
	}
}
