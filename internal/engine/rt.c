// The runtime entry points of kernels. They run inside the kernel's fault capture: memory that the kernel names is read
// before any lock is taken, so that a bad pointer ends the kernel and nothing else.
#include "internal.h"
#include "tensor.h"
#include "texture.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 64 << 10, FIELD_MAX = 4096 };

static struct kz_ctx *ctx_of(struct kz_worker *w) { return w->worker_private; }

static struct kz_domain *domain_of(const struct kz_launch *l) { return ((struct kz_op *)l->launch_private)->q->d; }

// --- vprintf ---

// One conversion: the format's text from '%' to the letter, cut to what snprintf may see.
struct spec {
	char text[48];
	char conv;
	bool wide;   // 8-byte integer
	int stars;
};

static uint64_t take(uint64_t *args, unsigned n) {
	*args = (*args + n - 1) & ~(uint64_t)(n - 1);
	uint64_t v = 0;
	memcpy(&v, (const void *)*args, n);
	*args += n;
	return v;
}

static const char *number(const char *p, int *out, uint64_t *args, bool *given) {
	int64_t v = 0;
	*given = true;
	if (*p == '*') {
		*out = (int)(int32_t)take(args, 4);
		return p + 1;
	}
	for (; *p >= '0' && *p <= '9'; p++)
		if (v < FIELD_MAX) v = v * 10 + (*p - '0');
	*out = (int)v;
	return p;
}

// Reads a conversion after '%'; NULL if it is none we know.
static const char *parse_spec(const char *p, struct spec *s, uint64_t *args) {
	char *o = s->text;
	int width = 0, prec = 0, lng = 0;
	bool has_width = false, has_prec = false, left = false;
	*o++ = '%';
	for (int n = 0; *p && strchr("-+ #0", *p); p++) {
		if (*p == '-') left = true;
		else if (n++ < 8) *o++ = *p;
	}
	if (*p == '*' || (*p >= '1' && *p <= '9')) p = number(p, &width, args, &has_width);
	if (*p == '.') p = number(p + 1, &prec, args, &has_prec);
	for (; *p == 'l' || *p == 'h' || *p == 'z' || *p == 'j' || *p == 't' || *p == 'L'; p++)
		if (*p != 'h') lng++;
	if (!*p || !strchr("diouxXeEfFgGaAcsp", *p)) return NULL;
	s->conv = *p;
	s->wide = lng > 0;
	if (width < 0) {
		left = true;
		width = -width;
	}
	if (width > FIELD_MAX || width < 0) width = FIELD_MAX;
	if (prec > FIELD_MAX) prec = FIELD_MAX;
	if (left) *o++ = '-';
	if (has_width && width) o += sprintf(o, "%d", width);
	if (has_prec && prec >= 0) o += sprintf(o, ".%d", prec);
	if (strchr("diouxX", s->conv)) {
		*o++ = 'l';
		*o++ = 'l';
	}
	*o++ = s->conv;
	*o = 0;
	return p + 1;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static size_t convert(const struct spec *s, uint64_t *args, char *out, size_t cap) {
	int n = 0;
	switch (s->conv) {
	case 'd':
	case 'i':
		n = snprintf(out, cap, s->text, s->wide ? (long long)take(args, 8) : (long long)(int32_t)take(args, 4));
		break;
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		n = snprintf(out, cap, s->text, (unsigned long long)take(args, s->wide ? 8 : 4));
		break;
	case 'c':
		n = snprintf(out, cap, s->text, (int)take(args, 4));
		break;
	case 'p':
		n = snprintf(out, cap, s->text, (void *)take(args, 8));
		break;
	case 's': {
		const char *str = (const char *)take(args, 8);
		n = snprintf(out, cap, s->text, str ? str : "(null)");
		break;
	}
	default: { // the floating conversions, as parse_spec lets nothing else through
		uint64_t bits = take(args, 8);
		double v;
		memcpy(&v, &bits, 8);
		n = snprintf(out, cap, s->text, v);
	}
	}
	if (n < 0) return 0;
	return (size_t)n < cap ? (size_t)n : cap - 1;
}
#pragma GCC diagnostic pop

static int32_t rt_vprintf(const struct kz_launch *l, struct kz_worker *w, uint64_t fmt, uint64_t args) {
	struct kz_ctx *c = ctx_of(w);
	if (!fmt) return -1;
	if (!c->scratch && !(c->scratch = malloc(SCRATCH))) return -2;
	size_t n = 0;
	int32_t count = 0;
	const char *p = (const char *)fmt;
	while (*p && n < SCRATCH - 1) {
		if (*p != '%') {
			c->scratch[n++] = *p++;
			continue;
		}
		if (p[1] == '%') {
			c->scratch[n++] = '%';
			p += 2;
			continue;
		}
		struct spec s;
		const char *end = parse_spec(p + 1, &s, &args);
		if (!end) { // an unknown conversion is printed as it stands
			c->scratch[n++] = *p++;
			continue;
		}
		n += convert(&s, &args, c->scratch + n, SCRATCH - n);
		count++;
		p = end;
	}
	kz_fifo_text(domain_of(l), c->scratch, n);
	return count;
}

// --- the rest ---

static uint64_t rt_malloc(const struct kz_launch *l, struct kz_worker *w, uint64_t n) {
	(void)w;
	return kz_heap_alloc(domain_of(l)->heap, n);
}

static void rt_free(const struct kz_launch *l, struct kz_worker *w, uint64_t p) {
	(void)w;
	if (p) kz_heap_release(domain_of(l)->heap, p);
}

static size_t bounded(uint64_t p, char *out, size_t cap) {
	size_t n = 0;
	if (p)
		for (const char *s = (const char *)p; n < cap - 1 && s[n]; n++) out[n] = s[n];
	out[n] = 0;
	return n;
}

static void rt_assert(const struct kz_launch *l, struct kz_worker *w, uint64_t message, uint64_t file, uint32_t line, uint64_t function) {
	char m[256], f[256], fn[256], text[1024];
	bounded(message, m, sizeof m);
	bounded(file, f, sizeof f);
	bounded(function, fn, sizeof fn);
	uint64_t b = w->block;
	uint32_t bx = (uint32_t)(b % l->grid[0]), by = (uint32_t)(b / l->grid[0] % l->grid[1]), bz = (uint32_t)(b / l->grid[0] / l->grid[1]);
	uint32_t lanes = w->stop_lanes ? w->stop_lanes : 1;
	struct kz_domain *d = domain_of(l);
	for (uint32_t i = 0; i < 32; i++) {
		if (!(lanes >> i & 1)) continue;
		uint32_t t = w->warp * 32 + i, x = l->block[0], y = l->block[1];
		int n = snprintf(text, sizeof text, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", f, line, fn,
		                 bx, by, bz, t % x, t / x % y, t / x / y, m);
		kz_fifo_error(d, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
	}
	kz_acquire(&d->lock);
	if (!d->poisoned && !d->fault.text[0]) snprintf(d->fault.text, sizeof d->fault.text, "%.128s:%u: %.120s: %.240s", f, line, fn, m);
	kz_release(&d->lock);
}

static uint64_t rt_clock(void) {
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#endif
}

static uint64_t rt_timer(void) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint32_t rt_yield(const struct kz_launch *l, struct kz_worker *w) {
	(void)l;
	struct kz_ctx *c = ctx_of(w);
	kz_yield(c);
	return kz_may_park(c);
}

enum {
	NAP_NS = 10000, // a sleep that is shorter
	NAPS = 1024,    // is no sign that its block waits for another, so many times
};

// PTX ISA, "nanosleep": at most a millisecond, and any time from 0 to twice what is asked. Scans with look-back (CUB's) sleep
// for some hundred nanoseconds before the first look at a flag, which is up as a rule, each lane by itself. Were these sleeps
// taken for waiting, other threads would start on later blocks, which then do wait.
static void rt_nanosleep(const struct kz_launch *l, struct kz_worker *w, uint32_t ns) {
	(void)l;
	struct kz_ctx *c = ctx_of(w);
	if (c->naps_of != w->block) {
		c->naps_of = w->block;
		c->naps = 0;
	}
	if (ns < NAP_NS && c->naps < NAPS) {
		c->naps++;
		kz_relax();
		return;
	}
	int64_t end = kz_nanos() + (ns > 1000000 ? 1000000 : ns);
	do kz_yield(c);
	while (kz_nanos() < end);
}

// In the order of the RtXxx constants of internal/image.
const void *const kz_rt[KZ_NUM_RT] = {
	(const void *)rt_vprintf, (const void *)rt_malloc, (const void *)rt_free,  (const void *)rt_assert,
	(const void *)rt_clock,   (const void *)rt_timer,  (const void *)rt_yield, (const void *)rt_nanosleep,
	(const void *)kz_texture, (const void *)kz_cluster, (const void *)kz_tensor, (const void *)kz_device_call, (const void *)kz_device_launch,
	(const void *)kz_come, (const void *)kz_called,
};
