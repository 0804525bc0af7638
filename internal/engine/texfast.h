// The common fetches, for all lanes of a warp at once; a part of texsample.c.

// The processor's rounding and flushing as samplers need it: nothing flushed. What it was is given back afterwards.
static inline u32 float_mode_plain(void) {
#if defined(__x86_64__)
	u32 m = __builtin_ia32_stmxcsr();
	if (m & 0x8040) __builtin_ia32_ldmxcsr(m & ~UINT32_C(0x8040));
	return m;
#elif defined(__aarch64__)
	u64 m;
	__asm__ volatile("mrs %0, fpcr" : "=r"(m));
	if (m & (1 << 24)) __asm__ volatile("msr fpcr, %0" : : "r"(m & ~(UINT64_C(1) << 24)));
	return (u32)m;
#else
	return 0;
#endif
}

static inline void float_mode_set(u32 m) {
#if defined(__x86_64__)
	if (m & 0x8040) __builtin_ia32_ldmxcsr(m);
#elif defined(__aarch64__)
	if (m & (1 << 24)) __asm__ volatile("msr fpcr, %0" : : "r"((u64)m));
#else
	(void)m;
#endif
}

// Does all lanes of mask if they have one handle and the fetch is a common one. False: nothing was done.
static bool fast(u32 op, const struct kz_tex *o, u32 mask, const u64 *handles, const u32 (*a)[LANES], u32 (*r)[LANES]) {
	(void)op, (void)o, (void)mask, (void)handles, (void)a, (void)r;
	return false;
}
