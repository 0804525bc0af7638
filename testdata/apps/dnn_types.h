// Elements of cuDNN's types in the memory of a program.
#ifndef DNN_TYPES_H
#define DNN_TYPES_H
#include <cudnn.h>
#include <math.h>
#include <stdint.h>

static inline int width(int type) {
	switch (type) {
	case CUDNN_DATA_DOUBLE: case CUDNN_DATA_INT64: return 8;
	case CUDNN_DATA_HALF: case CUDNN_DATA_BFLOAT16: return 2;
	case CUDNN_DATA_INT8: case CUDNN_DATA_UINT8: return 1;
	default: return 4;
	}
}
static inline const char *name(int type) {
	switch (type) {
	case CUDNN_DATA_DOUBLE: return "f64";
	case CUDNN_DATA_HALF: return "f16";
	case CUDNN_DATA_BFLOAT16: return "bf16";
	case CUDNN_DATA_FLOAT: return "f32";
	case CUDNN_DATA_INT8: return "s8";
	case CUDNN_DATA_UINT8: return "u8";
	case CUDNN_DATA_INT32: return "s32";
	default: return "?";
	}
}
// put writes a multiple of 1/64 between -1 and 1, which every type of floating point has exactly.
static inline void put(int type, void *p, size_t i, double v) {
	union { float f; uint32_t u; } x = {.f = (float)v};
	switch (type) {
	case CUDNN_DATA_DOUBLE: ((double *)p)[i] = v; return;
	case CUDNN_DATA_FLOAT: ((float *)p)[i] = (float)v; return;
	case CUDNN_DATA_BFLOAT16: ((uint16_t *)p)[i] = x.u >> 16; return;
	case CUDNN_DATA_HALF: // exact, normal or zero
		((uint16_t *)p)[i] = v == 0 ? 0 : (x.u >> 16 & 0x8000) | (((x.u >> 23 & 255) - 112) << 10) | (x.u >> 13 & 1023);
		return;
	case CUDNN_DATA_INT32: ((int *)p)[i] = (int)(v * 64); return;
	default: ((int8_t *)p)[i] = (int8_t)(v * 64); return;
	}
}
static inline double get(int type, const void *p, size_t i) {
	union { float f; uint32_t u; } x;
	uint16_t h;
	switch (type) {
	case CUDNN_DATA_DOUBLE: return ((double *)p)[i];
	case CUDNN_DATA_FLOAT: return ((float *)p)[i];
	case CUDNN_DATA_BFLOAT16: x.u = (uint32_t)((uint16_t *)p)[i] << 16; return x.f;
	case CUDNN_DATA_HALF:
		h = ((uint16_t *)p)[i];
		if ((h >> 10 & 31) == 0) return (h & 0x8000 ? -1 : 1) * ldexp(h & 1023, -24);
		if ((h >> 10 & 31) == 31) return h & 1023 ? NAN : h & 0x8000 ? -INFINITY : INFINITY;
		return (h & 0x8000 ? -1 : 1) * ldexp((h & 1023) + 1024, (h >> 10 & 31) - 25);
	case CUDNN_DATA_INT32: return ((int *)p)[i];
	case CUDNN_DATA_UINT8: return ((uint8_t *)p)[i];
	default: return ((int8_t *)p)[i];
	}
}
#endif
