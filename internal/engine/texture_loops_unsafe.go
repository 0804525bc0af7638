package engine

/*
#include "texture.h"

static void kz_texture_loop(uint64_t handle, uint32_t op, uint64_t n) {
	_Alignas(64) uint64_t args[32 + 2 * 16];
	_Alignas(64) uint32_t out[4 * 32];
	float *c = (float *)(args + 32);
	for (int i = 0; i < 32; i++) {
		args[i] = handle;
		c[i] = 0.1f + 0.003f * (float)i;
		c[32 + i] = 0.2f + 0.001f * (float)i;
	}
	for (uint64_t k = 0; k < n; k++) kz_texture(0, 0, op, ~0u, args, out);
}

static int kz_texture_compare(uint64_t handle, uint32_t level, uint32_t op, uint32_t mask, const uint32_t *coord, uint32_t *got, uint32_t *want) {
	const struct kz_tex *o = kz_tex_find(handle);
	_Alignas(64) uint64_t args[32 + 2 * 16];
	const uint32_t (*a)[32] = (const void *)(args + 32);
	for (int i = 0; i < 32; i++) args[i] = mask >> i & 1 ? handle : handle + (uint64_t)i;
	__builtin_memcpy(args + 32, coord, 2 * 32 * 4);
	for (int i = 0; i < 32; i++) kz_texture_lane(op, o, a, (void *)want, i);
	return kz_texture_warp(level, op, o, mask, args, (void *)got);
}

// The same through kz_texture, told by op what is known of the lanes.
static uint64_t kz_texture_told(uint64_t handle, uint32_t op, uint32_t mask, const uint32_t *coord, uint32_t *got) {
	_Alignas(64) uint64_t args[32 + 2 * 16];
	_Alignas(64) uint32_t out[4 * 32];
	for (int i = 0; i < 32; i++) args[i] = op & KZ_TOP_ONE_HANDLE && i > 0 ? 0 : handle;
	__builtin_memcpy(args + 32, coord, 2 * 32 * 4);
	uint64_t stop = kz_texture(0, 0, op, mask, args, out);
	__builtin_memcpy(got, out, sizeof out);
	return stop;
}
*/
import "C"

import "unsafe"

// sampleLoop fetches n times with a whole warp, for benchmarks: the loop is C's, as compiled kernels are.
func sampleLoop(handle uint64, op uint32, n int) {
	C.kz_texture_loop(C.uint64_t(handle), C.uint32_t(op), C.uint64_t(n))
}

func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// warpFetch is a warp's fetch in vector instructions of a level, and lane by lane. False: there are none for it.
func warpFetch(handle uint64, level, op, mask uint32, args *[2][32]uint32) (got, want [4][32]uint32, done bool) {
	a, g, w := (*C.uint32_t)(&args[0][0]), (*C.uint32_t)(&got[0][0]), (*C.uint32_t)(&want[0][0])
	done = C.kz_texture_compare(C.uint64_t(handle), C.uint32_t(level), C.uint32_t(op), C.uint32_t(mask), a, g, w) != 0
	return got, want, done
}

// toldFetch is a warp's fetch as kernels ask for it, with what op says of the lanes.
func toldFetch(handle uint64, op, mask uint32, args *[2][32]uint32) (got [4][32]uint32, stop uint64) {
	stop = uint64(C.kz_texture_told(C.uint64_t(handle), C.uint32_t(op), C.uint32_t(mask), (*C.uint32_t)(&args[0][0]), (*C.uint32_t)(&got[0][0])))
	return got, stop
}
