package image

// An instruction on textures or surfaces is one call of the runtime for a whole warp:
//
//	uint64_t texture(const struct kz_launch *l, struct kz_worker *w, uint32_t op, uint32_t mask, void *args, void *results);
//
// The lanes of mask act. args holds 32 handles of 64 bits, then for each operand word 32 values of 32 bits, and may be written to;
// results holds 32 values for each result word. op is one of Texture… with the fields below; what the compiler knows of the lanes spares
// the runtime asking. The answer is 0, or a StopXxx code in the low half and the lanes that stopped in the high half.
const (
	TexFetch  = iota // coordinates [lod | gradients] [offsets] [compare] → 4 words
	TexGather        // coordinates [offsets] [compare] → 4 words
	TexQuery         // [level] → 1 word
	SurfLoad         // coordinates → words
	SurfStore        // coordinates, words
	SurfStoreFormatted
	SurfReduce
	TexIsType // → 1 word
)

// Fields of op.
const (
	TexGeomShift  = 4 // TexGeomXxx
	TexIntCoords  = 1 << 8
	TexLodShift   = 9  // TexLodXxx
	TexDtypeShift = 11 // TexDtypeXxx
	TexOffsets    = 1 << 13
	TexCompare    = 1 << 14
	TexSubShift   = 16 // component, query, reduction, type
	TexClampShift = 20 // TexOutXxx
	TexBytesShift = 22 // log2 of a surface access
	TexFormatted  = 1 << 25
	TexSurface    = 1 << 26
	TexOneHandle  = 1 << 27 // all lanes have the first handle, and the others need not be there
	TexOneRow     = 1 << 28 // all lanes have the same second word
	TexOneResult  = 1 << 29 // of a fetch: only the first result word is read
)

// Geometries.
const (
	TexGeom1D = iota
	TexGeom2D
	TexGeom3D
	TexGeomA1D
	TexGeomA2D
	TexGeomCube
	TexGeomACube
	TexGeom2DMS
	TexGeomA2DMS
)

// How a level is chosen.
const (
	TexLodNone = iota
	TexLodLevel
	TexLodGrad
	TexLodBase
)

// What results are.
const (
	TexF32 = iota
	TexU32
	TexS32
	TexF16
)

// What happens outside a surface.
const (
	TexOutTrap = iota
	TexOutClamp
	TexOutZero
)

// Reductions.
const (
	TexRedAdd = iota
	TexRedMinU
	TexRedMaxU
	TexRedMinS
	TexRedMaxS
	TexRedAnd
	TexRedOr
)

// Queries.
const (
	TexQueryWidth = iota
	TexQueryHeight
	TexQueryDepth
	TexQueryType
	TexQueryOrder
	TexQueryNormalized
	TexQueryArray
	TexQueryLevels
	TexQuerySamples
	TexQueryUnnormalized
	TexQueryFilter
	TexQueryAddr0
	TexQueryAddr1
	TexQueryAddr2
	TexQueryLayout
)
