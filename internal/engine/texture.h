// Textures and surfaces as kernels see them. The table is the process's: handles are found by all devices.
#ifndef KZ_TEXTURE_H
#define KZ_TEXTURE_H

#include <stdint.h>

enum { KZ_TEX_LEVELS = 18 };
enum { KZ_TEX_OBJECT = 1, KZ_TEX_SURFACE = 2, KZ_TEX_SAMPLER = 3 };
enum { KZ_TEX_U8, KZ_TEX_U16, KZ_TEX_U32, KZ_TEX_S8, KZ_TEX_S16, KZ_TEX_S32, KZ_TEX_F16, KZ_TEX_F32 };
enum { KZ_TEX_WRAP, KZ_TEX_CLAMP, KZ_TEX_MIRROR, KZ_TEX_BORDER };

// internal/backend/texture.go says what the fields are.
struct kz_tex {
	uint64_t handle;
	uint8_t kind, dims, layered, cube, format, channels, memory, levels;
	uint8_t normalized, linear, mip_linear, integers, srgb, seamless, reference, anisotropy;
	uint8_t address[4];
	float min_level, max_level, bias, border[4];
	uint32_t quick, pad; // quick: kz_texture_quick
	uint64_t base[KZ_TEX_LEVELS], pitch[KZ_TEX_LEVELS], slice[KZ_TEX_LEVELS];
	uint32_t width[KZ_TEX_LEVELS], height[KZ_TEX_LEVELS], depth[KZ_TEX_LEVELS];
};

// A handle is a generation and a slot: any value is looked up after a range check only.
enum { KZ_TEX_SLOT_BITS = 20, KZ_TEX_CHUNK = 256 };

struct kz_tex *kz_tex_slot(uint32_t slot);     // memory of a slot, made if need be; NULL: none left
const struct kz_tex *kz_tex_find(uint64_t handle); // NULL: no such object

// Instructions, as bits of a number; internal/image/texture.go names them for the compiler.
enum {
	KZ_TOP_KIND = 15, KZ_TOP_TEX = 0, KZ_TOP_GATHER = 1, KZ_TOP_QUERY = 2, KZ_TOP_LOAD = 3, KZ_TOP_STORE = 4, KZ_TOP_STOREP = 5, KZ_TOP_RED = 6, KZ_TOP_TYPE = 7,
	KZ_TOP_GEOM_SHIFT = 4, // 4 bits: KZ_GEOM_*
	KZ_TOP_INT = 1 << 8,   // integer coordinates
	KZ_TOP_LOD_SHIFT = 9,  // 2 bits: KZ_LOD_*
	KZ_TOP_DTYPE_SHIFT = 11, // 2 bits: KZ_DTYPE_*
	KZ_TOP_OFFSETS = 1 << 13,
	KZ_TOP_COMPARE = 1 << 14,
	KZ_TOP_SUB_SHIFT = 16, // 4 bits: component, query, reduction, type
	KZ_TOP_CLAMP_SHIFT = 20, // 2 bits: KZ_OUT_*
	KZ_TOP_BYTES_SHIFT = 22, // 3 bits: log2 of the bytes of a surface access
	KZ_TOP_FORMATTED = 1 << 25, // reductions: x counts elements
	KZ_TOP_SURFACE = 1 << 26,   // queries
	KZ_TOP_ONE_HANDLE = 1 << 27, // all lanes have the first handle: kz_texture finds no others
	KZ_TOP_ONE_ROW = 1 << 28,    // all lanes have the same second word
	KZ_TOP_ONE_RESULT = 1 << 29, // of a fetch: only the first result word is read
};
enum { KZ_GEOM_1D, KZ_GEOM_2D, KZ_GEOM_3D, KZ_GEOM_A1D, KZ_GEOM_A2D, KZ_GEOM_CUBE, KZ_GEOM_ACUBE, KZ_GEOM_2DMS, KZ_GEOM_A2DMS };
enum { KZ_LOD_NONE, KZ_LOD_LEVEL, KZ_LOD_GRAD, KZ_LOD_BASE };
enum { KZ_DTYPE_F32, KZ_DTYPE_U32, KZ_DTYPE_S32, KZ_DTYPE_F16 };
enum { KZ_OUT_TRAP, KZ_OUT_CLAMP, KZ_OUT_ZERO };
enum { KZ_RED_ADD, KZ_RED_MINU, KZ_RED_MAXU, KZ_RED_MINS, KZ_RED_MAXS, KZ_RED_AND, KZ_RED_OR };
enum { KZ_Q_WIDTH, KZ_Q_HEIGHT, KZ_Q_DEPTH, KZ_Q_TYPE, KZ_Q_ORDER, KZ_Q_NORMALIZED, KZ_Q_ARRAY, KZ_Q_LEVELS, KZ_Q_SAMPLES, KZ_Q_UNNORMALIZED, KZ_Q_FILTER, KZ_Q_ADDR0, KZ_Q_ADDR1, KZ_Q_ADDR2, KZ_Q_LAYOUT };

struct kz_launch;
struct kz_worker;
// One instruction for the lanes of mask: 0, or a stop code and, above it, the lanes that stopped. It may write to args.
uint64_t kz_texture(const struct kz_launch *l, struct kz_worker *w, uint32_t op, uint32_t mask, void *args, void *results);
// The lanes of mask of a common fetch from one texture, with the arguments and results of kz_texture, in vector instructions up to a
// level: 0 none that not every processor has, 1 AVX2, 2 AVX-512. False: it is no common one, and no result of a lane of mask is there.
_Bool kz_texture_warp(uint32_t level, uint32_t op, const struct kz_tex *o, uint32_t mask, const uint64_t *args, uint32_t (*results)[32]);
// Which of the functions that are written out the fetches from a texture are for, on this processor; 0: none.
uint32_t kz_texture_quick(const struct kz_tex *o);
// One lane of any fetch, on its own: what the others must give.
void kz_texture_lane(uint32_t op, const struct kz_tex *o, const uint32_t (*args)[32], uint32_t (*results)[32], int lane);

#endif
