// The reductions of collective operations, once for every type: what several sources hold at the same place becomes one value.
// Included once for each kind of processor, with the name of the function that there is then in COLLECT.

#ifndef __clang__ // whose -O2 makes vectors of loops
#pragma GCC optimize("O3", "no-trapping-math", "wrapv")
#endif

void COLLECT(const struct kz_collection *c, uint64_t count, int type, int op);

#define BLOCK 512 // elements: the accumulators stay in the first cache

enum { SUM, PROD, MAX, MIN, AVG, SCALED };

static inline __attribute__((always_inline)) float of_bits(uint32_t u) {
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static inline __attribute__((always_inline)) uint32_t to_bits(float f) {
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}

// Half precision: 2^112 puts its exponents in their place, its subnormal numbers too.
static inline __attribute__((always_inline)) float of_f16(uint16_t h) {
	uint32_t m = (uint32_t)(h & 0x7fff) << 13;
	float f = of_bits(m) * of_bits(0x77800000u);
	uint32_t u = (h & 0x7c00) == 0x7c00 ? m | 0x7f800000u : to_bits(f);
	return of_bits(u | (uint32_t)(h & 0x8000) << 16);
}

static inline __attribute__((always_inline)) uint16_t to_f16(float f) {
	uint32_t u = to_bits(f), a = u & 0x7fffffffu;
	uint32_t normal = (a - 0x38000000u + 0xfffu + (a >> 13 & 1)) >> 13;
	uint32_t small = to_bits(of_bits(a) + 0.5f) - 0x3f000000u; // adding 0.5 rounds to multiples of 2^-24
	uint32_t h = a < 0x38800000u ? small : a >= 0x477ff000u ? 0x7c00u : normal;
	h = a > 0x7f800000u ? 0x7fffu : h;
	return (uint16_t)(h | (u >> 16 & 0x8000u));
}

static inline __attribute__((always_inline)) float of_bf16(uint16_t h) { return of_bits((uint32_t)h << 16); }

static inline __attribute__((always_inline)) uint16_t to_bf16(float f) {
	uint32_t u = to_bits(f);
	uint32_t r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
	return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r);
}

// e4m3 has no infinity: the largest number is 448, and all ones are NaN. What is larger becomes 448, as CUDA's conversions do.
static inline __attribute__((always_inline)) float of_e4m3(uint8_t b) {
	uint32_t m = (uint32_t)(b & 0x7f) << 20;
	float f = of_bits(m) * of_bits(0x7b800000u);
	uint32_t u = (b & 0x7f) == 0x7f ? 0x7fc00000u : to_bits(f);
	return of_bits(u | (uint32_t)(b & 0x80) << 24);
}

static inline __attribute__((always_inline)) uint8_t to_e4m3(float f) {
	uint32_t u = to_bits(f), a = u & 0x7fffffffu;
	uint32_t normal = (a - 0x3c000000u + 0x7ffffu + (a >> 20 & 1)) >> 20;
	uint32_t small = to_bits(of_bits(a) + 16384.0f) - 0x46800000u; // 2^14: multiples of 2^-9
	uint32_t h = a < 0x3c800000u ? small : normal;
	h = a >= 0x43e00000u ? 0x7eu : h;
	h = a > 0x7f800000u ? 0x7fu : h;
	return (uint8_t)(h | (u >> 24 & 0x80u));
}

// e5m2 is the upper half of half precision; what is too large becomes the largest number, as in CUDA's conversions.
static inline __attribute__((always_inline)) float of_e5m2(uint8_t b) { return of_f16((uint16_t)(b << 8)); }

static inline __attribute__((always_inline)) uint8_t to_e5m2(float f) {
	uint32_t u = to_bits(f), a = u & 0x7fffffffu;
	uint32_t normal = (a - 0x38000000u + 0xfffffu + (a >> 21 & 1)) >> 21;
	uint32_t small = to_bits(of_bits(a) + 128.0f) - 0x43000000u; // 2^7: multiples of 2^-16
	uint32_t h = a < 0x38800000u ? small : normal;
	h = a >= 0x47600000u ? 0x7bu : h;
	h = a > 0x7f800000u ? 0x7fu : h;
	return (uint8_t)(h | (u >> 24 & 0x80u));
}

#define SAME(x) (x)

// The loops below may write where they read, but only at the same place.
#ifdef __clang__
#define EACH _Pragma("clang loop vectorize(assume_safety)")
#else
#define EACH _Pragma("GCC ivdep")
#endif

// PAIR is a reduction of two sources into one or two places.
#define PAIR(T, A, OF, TO, EXPR) \
	if (e) { \
		EACH for (uint64_t i = 0; i < count; i++) { \
			A x = OF(a[i]), y = OF(b[i]); \
			T z = (T)TO((A)(EXPR)); \
			d[i] = z; \
			e[i] = z; \
		} \
	} else { \
		EACH for (uint64_t i = 0; i < count; i++) { \
			A x = OF(a[i]), y = OF(b[i]); \
			d[i] = (T)TO((A)(EXPR)); \
		} \
	}

// FAMILY makes the reduction of one type. T is the type in memory, A of the accumulators, S of the factor's bits, OF and TO the conversions.
// A NaN loses against a number in MAX and MIN, as in fmax.
#define FAMILY(NAME, T, A, S, OF, TO, IS_NAN) \
	static inline __attribute__((always_inline)) void first_##NAME(A *restrict acc, const T *restrict p, uint64_t n, int op, A scale) { \
		if (op == SCALED) \
			for (uint64_t i = 0; i < n; i++) acc[i] = (A)(OF(p[i]) * scale); \
		else \
			for (uint64_t i = 0; i < n; i++) acc[i] = OF(p[i]); \
	} \
	static inline __attribute__((always_inline)) void more_##NAME(A *restrict acc, const T *restrict p, uint64_t n, int op, A scale) { \
		switch (op) { \
		case PROD: \
			for (uint64_t i = 0; i < n; i++) acc[i] = (A)(acc[i] * OF(p[i])); \
			break; \
		case MAX: \
			for (uint64_t i = 0; i < n; i++) { \
				A x = OF(p[i]); \
				acc[i] = x > acc[i] || IS_NAN(acc[i]) ? x : acc[i]; \
			} \
			break; \
		case MIN: \
			for (uint64_t i = 0; i < n; i++) { \
				A x = OF(p[i]); \
				acc[i] = x < acc[i] || IS_NAN(acc[i]) ? x : acc[i]; \
			} \
			break; \
		case SCALED: \
			for (uint64_t i = 0; i < n; i++) acc[i] = (A)(acc[i] + (A)(OF(p[i]) * scale)); \
			break; \
		default: \
			for (uint64_t i = 0; i < n; i++) acc[i] = (A)(acc[i] + OF(p[i])); \
		} \
	} \
	static void pair_##NAME(const struct kz_collection *c, uint64_t count, int op) { \
		const T *a = c->src[0], *b = c->src[1]; \
		T *d = c->dst, *e = c->outs ? c->more[0] : NULL; \
		switch (op) { \
		case SUM: PAIR(T, A, OF, TO, x + y) break; \
		case PROD: PAIR(T, A, OF, TO, x * y) break; \
		case MAX: PAIR(T, A, OF, TO, y > x || IS_NAN(x) ? y : x) break; \
		case MIN: PAIR(T, A, OF, TO, y < x || IS_NAN(x) ? y : x) break; \
		} \
	} \
	static void collect_##NAME(const struct kz_collection *c, uint64_t count, int op) { \
		const void *const *src = c->src; \
		if (c->sources == 2 && c->outs < 2 && !c->from && !c->open && op <= MIN) { \
			pair_##NAME(c, count, op); \
			return; \
		} \
		A acc[BLOCK]; \
		for (uint64_t at = 0; at < count; at += BLOCK) { \
			uint64_t n = count - at < BLOCK ? count - at : BLOCK; \
			if (c->from) memcpy(acc, (const A *)c->from + at, n * sizeof(A)); \
			for (uint32_t s = 0; s < c->sources; s++) { \
				A f; \
				S bits = (S)c->scale[s]; \
				memcpy(&f, &bits, sizeof f); \
				if (s == 0 && !c->from) first_##NAME(acc, (const T *)src[0] + at, n, op, f); \
				else more_##NAME(acc, (const T *)src[s] + at, n, op, f); \
			} \
			if (c->open) { \
				memcpy((A *)c->dst + at, acc, n * sizeof(A)); \
				continue; \
			} \
			T *restrict out = (T *)c->dst + at; \
			if (op == AVG) \
				for (uint64_t i = 0; i < n; i++) out[i] = (T)TO((A)(acc[i] / (A)c->total)); \
			else \
				for (uint64_t i = 0; i < n; i++) out[i] = (T)TO(acc[i]); \
			for (uint32_t k = 0; k < c->outs; k++) memcpy((T *)c->more[k] + at, out, n * sizeof(T)); \
		} \
	}

#define NUMBER(x) 0
#define NOT_NUMBER(x) ((x) != (x))

// Sums of signed integers wrap around, so they are those of unsigned ones; only comparing and dividing know the sign.
FAMILY(i8, int8_t, int8_t, uint8_t, SAME, SAME, NUMBER)
FAMILY(u8, uint8_t, uint8_t, uint8_t, SAME, SAME, NUMBER)
FAMILY(i32, int32_t, int32_t, uint32_t, SAME, SAME, NUMBER)
FAMILY(u32, uint32_t, uint32_t, uint32_t, SAME, SAME, NUMBER)
FAMILY(i64, int64_t, int64_t, uint64_t, SAME, SAME, NUMBER)
FAMILY(u64, uint64_t, uint64_t, uint64_t, SAME, SAME, NUMBER)
FAMILY(f16, uint16_t, float, uint32_t, of_f16, to_f16, NOT_NUMBER)
FAMILY(f32, float, float, uint32_t, SAME, SAME, NOT_NUMBER)
FAMILY(f64, double, double, uint64_t, SAME, SAME, NOT_NUMBER)
FAMILY(bf16, uint16_t, float, uint32_t, of_bf16, to_bf16, NOT_NUMBER)
FAMILY(e4m3, uint8_t, float, uint32_t, of_e4m3, to_e4m3, NOT_NUMBER)
FAMILY(e5m2, uint8_t, float, uint32_t, of_e5m2, to_e5m2, NOT_NUMBER)

void COLLECT(const struct kz_collection *c, uint64_t count, int type, int op) {
	switch (type) {
	case 0: collect_i8(c, count, op); break;
	case 1: collect_u8(c, count, op); break;
	case 2: collect_i32(c, count, op); break;
	case 3: collect_u32(c, count, op); break;
	case 4: collect_i64(c, count, op); break;
	case 5: collect_u64(c, count, op); break;
	case 6: collect_f16(c, count, op); break;
	case 7: collect_f32(c, count, op); break;
	case 8: collect_f64(c, count, op); break;
	case 9: collect_bf16(c, count, op); break;
	case 10: collect_e4m3(c, count, op); break;
	case 11: collect_e5m2(c, count, op); break;
	}
}
