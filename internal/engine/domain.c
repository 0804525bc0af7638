// Domains: what one fault poisons, and what device code prints.
#include "internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIFO_BYTES = 1 << 20 }; // CUDA's default: cudaLimitPrintfFifoSize

static void to_stderr(const char *text, size_t n) {
	fwrite(text, 1, n, stderr);
	fflush(stderr);
}

static void (*complain)(const char *text, size_t n) = to_stderr;

void kz_complain_to(uint64_t function) { complain = (void (*)(const char *, size_t))function; }

void kz_hold(void *p) { kz_held(p); }

struct kz_domain *kz_domain_new(struct kz_engine *e, struct kz_mem *heap, struct kz_domain *share) {
	struct kz_domain *d = kz_held(calloc(1, sizeof *d));
	if (!d) return NULL;
	kz_lock_init(&d->lock, KZ_RANK_DOMAIN);
	kz_lock_init(&d->fifo.lock, KZ_RANK_FIFO);
	d->refs = 1;
	d->e = e;
	d->heap = share ? kz_heap_ref(share->heap) : heap ? kz_heap_new(heap) : NULL;
	d->fifo_bytes = FIFO_BYTES;
	return d;
}

void kz_domain_unref(struct kz_domain *d) {
	if (atomic_fetch_sub(&d->refs, 1) != 1) return;
	kz_fifo_flush(d);
	kz_fifo_free(&d->fifo);
	kz_heap_unref(d->heap);
	free(d);
}

void kz_domain_poison(struct kz_domain *d, const struct kz_fault *f) {
	kz_acquire(&d->lock);
	if (!d->poisoned) {
		char text[sizeof d->fault.text];
		memcpy(text, d->fault.text, sizeof text); // RtAssert may have left its message here
		d->fault = *f;
		if (!d->fault.text[0]) memcpy(d->fault.text, text, sizeof text);
		atomic_store_explicit(&d->poisoned, 1, memory_order_release);
	}
	kz_release(&d->lock);
}

void kz_domain_poison_task(struct kz_domain *d) {
	struct kz_fault f = {.kind = KZ_FAULT_TASK, .pc_offset = KZ_NO_OFFSET};
	kz_domain_poison(d, &f);
}

int kz_domain_fault(struct kz_domain *d, struct kz_fault *out) {
	if (!kz_domain_bad(d)) return 0;
	*out = d->fault; // never changes again
	return 1;
}

void kz_domain_limits(struct kz_domain *d, uint64_t fifo_bytes, uint64_t heap_bytes) {
	kz_acquire(&d->lock);
	if (fifo_bytes) d->fifo_bytes = fifo_bytes;
	if (heap_bytes && d->heap) kz_heap_limit(d->heap, heap_bytes);
	kz_release(&d->lock);
}

void kz_domain_flush(struct kz_domain *d) { kz_fifo_flush(d); }

// --- the printf FIFO: a ring of records; when it is full the oldest output is lost, as CUDA documents ---

static void ring_write(struct kz_fifo *f, uint64_t at, const void *p, size_t n) {
	uint64_t o = at % f->cap, first = f->cap - o < n ? f->cap - o : n;
	memcpy(f->buf + o, p, first);
	memcpy(f->buf, (const char *)p + first, n - first);
}

static void ring_read(struct kz_fifo *f, uint64_t at, void *p, size_t n) {
	uint64_t o = at % f->cap, first = f->cap - o < n ? f->cap - o : n;
	memcpy(p, f->buf + o, first);
	memcpy((char *)p + first, f->buf, n - first);
}

void kz_fifo_text(struct kz_domain *d, const char *text, size_t n) {
	struct kz_fifo *f = &d->fifo;
	kz_acquire(&f->lock);
	if (!f->buf) {
		f->cap = d->fifo_bytes < 4096 ? 4096 : d->fifo_bytes;
		f->buf = malloc(f->cap);
		if (!f->buf) f->buf = malloc(f->cap = FIFO_BYTES); // a program asked for more than there is
	}
	if (f->buf) {
		if (n > f->cap - 4) n = f->cap - 4;
		while (f->len + n + 4 > f->cap) {
			uint32_t old;
			ring_read(f, f->head, &old, 4);
			f->head += old + 4;
			f->len -= old + 4;
		}
		uint32_t k = (uint32_t)n;
		ring_write(f, f->head + f->len, &k, 4);
		ring_write(f, f->head + f->len + 4, text, n);
		f->len += n + 4;
		atomic_store_explicit(&f->pending, 1, memory_order_release);
	}
	kz_release(&f->lock);
}

void kz_fifo_error(struct kz_domain *d, const char *text, size_t n) {
	struct kz_fifo *f = &d->fifo;
	kz_acquire(&f->lock);
	if (f->errs_len + n < (1 << 20)) { // a grid of failing threads says enough in a megabyte
		if (f->errs_len + n > f->errs_cap) {
			size_t cap = (f->errs_len + n) * 2;
			char *p = realloc(f->errs, cap);
			if (p) {
				f->errs = p;
				f->errs_cap = cap;
			}
		}
		if (f->errs_len + n <= f->errs_cap) {
			memcpy(f->errs + f->errs_len, text, n);
			f->errs_len += n;
			atomic_store_explicit(&f->pending, 1, memory_order_release);
		}
	}
	kz_release(&f->lock);
}

// Output goes through the host's own stdio, so that it keeps its order with what the host prints.
void kz_fifo_flush(struct kz_domain *d) {
	struct kz_fifo *f = &d->fifo;
	if (!atomic_load_explicit(&f->pending, memory_order_acquire)) return;
	kz_acquire(&f->lock);
	atomic_store_explicit(&f->pending, 0, memory_order_relaxed);
	char *out = f->len ? malloc(f->len) : NULL, *errs = f->errs;
	size_t n = 0, nerrs = f->errs_len;
	while (f->len) {
		uint32_t k;
		ring_read(f, f->head, &k, 4);
		if (out) ring_read(f, f->head + 4, out + n, k);
		n += k;
		f->head += k + 4;
		f->len -= k + 4;
	}
	f->errs = NULL;
	f->errs_len = f->errs_cap = 0;
	// A new size takes effect when the buffer is empty.
	if (f->buf && f->cap != d->fifo_bytes && d->fifo_bytes >= 4096) {
		free(f->buf);
		f->buf = NULL;
		f->head = 0;
	}
	kz_release(&f->lock);
	if (out && n) {
		fwrite(out, 1, n, stdout);
		fflush(stdout);
	}
	if (errs && nerrs) complain(errs, nerrs);
	free(out);
	free(errs);
}

void kz_fifo_free(struct kz_fifo *f) {
	free(f->buf);
	free(f->errs);
}
