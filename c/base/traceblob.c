// What lies behind arguments: strings, values, arrays, parameters of kernels, and what calls answer through pointers.
#include "trace.h"

#include <string.h>

enum { STRING = 512, ARRAY = 1024, TEXT = 256, KERNEL = 4096, STRINGS = 16, HEAD = sizeof(struct kz_blob) };

static size_t padded(size_t n) { return (n + 7) & ~(size_t)7; }

// most is how much room a blob may need, without its head; those of kernels are counted when they are known.
static size_t most(char kind, uint32_t bytes) {
	switch (kind) {
	case 's':
	case 'N':
		return STRING;
	case 'c':
		return TEXT;
	case 'a':
		return ARRAY;
	case 't':
		return STRINGS * 8 + STRINGS * (HEAD + STRING / 4);
	case 'p':
	case 'q':
	case 'o':
		return padded(bytes);
	}
	return 0;
}

void kz_blobs_plan(struct kz_plan *p, char kind, uint32_t bytes, int other, uint32_t parameter, uint32_t word) {
	int image = kind == 'm' || kind == 'M' || kind == 'L';
	if (!image && !strchr("spqocatkKxN", kind))
		return;
	if (p->blobs + p->images == KZ_PLAN_BLOBS || word >= KZ_PLAN_WORDS)
		return;
	struct kz_behind b = {kind, (uint8_t)parameter, (uint8_t)word, other < 0 ? 255 : (uint8_t)other, (uint16_t)bytes};
	if (kind == 'N') { // both: its name is in the record
		p->behind[p->blobs + p->images++] = b;
		if (p->blobs + p->images == KZ_PLAN_BLOBS)
			return;
	}
	if (image)
		p->behind[p->blobs + p->images++] = b;
	else { // blobs stand before images
		memmove(p->behind + p->blobs + 1, p->behind + p->blobs, p->images * sizeof b);
		p->behind[p->blobs++] = b;
		p->outs |= kind == 'o' || kind == 'c';
		p->room = (uint16_t)(p->room + HEAD + most(kind, bytes));
	}
}

// A place in a record where blobs are being written.
struct writer {
	char *at, *end;
	struct kz_tracer *t;
	const uint64_t *frame, *args;
};

static struct kz_blob *start(struct writer *w, const struct kz_behind *b, uint8_t what, size_t room) {
	if ((size_t)(w->end - w->at) < HEAD + padded(room))
		return NULL;
	struct kz_blob *blob = (struct kz_blob *)w->at;
	blob->parameter = b->parameter, blob->what = what, blob->flags = 0;
	blob->bytes = (uint32_t)room;
	return blob;
}

static void stop(struct writer *w, const struct kz_blob *blob) { w->at += HEAD + padded(blob->bytes); }

// never: nothing could be read, and the memory is zero again.
static void never(struct kz_blob *blob) { memset(blob, 0, HEAD); }

static void string(struct writer *w, const struct kz_behind *b, uint64_t from, size_t limit) {
	char text[STRING + 1];
	size_t got = kz_copy(w->t, w->frame, text, from, limit + 1), n = strnlen(text, got);
	if (!got)
		return;
	struct kz_blob *blob = start(w, b, KZ_BLOB_STRING, n < limit ? n : limit);
	if (!blob)
		return;
	blob->flags = n > limit || n == got ? KZ_BLOB_CUT : 0;
	memcpy(blob->data, text, blob->bytes);
	stop(w, blob);
}

// value copies so many bytes, or none: half a structure says nothing.
static void value(struct writer *w, const struct kz_behind *b, uint8_t what, uint64_t from, size_t n, int cut) {
	struct kz_blob *blob = start(w, b, what, n);
	if (!blob)
		return;
	size_t got = b->kind == 'q' ? kz_peek(blob->data, (const void *)from, n) : kz_copy(w->t, w->frame, blob->data, from, n);
	if (got < n) {
		memset(blob->data, 0, n);
		never(blob);
		return;
	}
	blob->flags = cut ? KZ_BLOB_CUT : 0;
	stop(w, blob);
}

// count is how many values an array has: a 32-bit number, negative ones are none.
static size_t count(struct writer *w, const struct kz_behind *b) {
	if (b->other == 255)
		return 0;
	int32_t n = (int32_t)w->args[b->other];
	return n > 0 ? (size_t)n : 0;
}

static void array(struct writer *w, const struct kz_behind *b, uint64_t from) {
	size_t n = count(w, b), fit = ARRAY / (b->bytes ? b->bytes : 1);
	if (n && fit)
		value(w, b, KZ_BLOB_ARRAY, from, (n < fit ? n : fit) * b->bytes, n > fit);
}

// strings writes the addresses, then each text, shorter than texts of their own.
static void strings(struct writer *w, const struct kz_behind *b, uint64_t from) {
	size_t n = count(w, b), fit = n < STRINGS ? n : STRINGS;
	char *at = w->at;
	if (fit)
		value(w, b, KZ_BLOB_ARRAY, from, fit * 8, n > fit);
	if (w->at == at)
		return;
	const uint64_t *each = (const uint64_t *)((struct kz_blob *)at)->data;
	for (size_t i = 0; i < fit; i++)
		if (each[i])
			string(w, b, each[i], STRING / 4);
}

static size_t kernel_bytes(const struct kz_layout *l) { return l->bytes < KERNEL ? l->bytes : KERNEL; }

// parameters packs what addresses lead to, and reports whether all of it could be read.
static int parameters(const struct kz_tracer *t, const uint64_t *frame, struct kz_blob *blob, uint64_t from, const struct kz_layout *l) {
	uint64_t addresses[128];
	struct kz_piece pieces[128];
	size_t n = l->count < 128 ? l->count : 128, bytes = blob->bytes;
	int asked = 0, whole = kz_copy(t, frame, addresses, from, 8 * n) == 8 * n;
	for (size_t i = 0; whole && i < n; i++) {
		size_t offset = l->parameter[i].offset, size = l->parameter[i].size;
		if (offset + size > bytes)
			break;
		if (kz_on_stack(t, frame, addresses[i], size))
			memcpy(blob->data + offset, (const void *)addresses[i], size);
		else
			pieces[asked++] = (struct kz_piece){blob->data + offset, addresses[i], size};
	}
	if (whole && asked)
		whole = kz_gather(pieces, asked);
	if (!whole) {
		memset(blob->data, 0, bytes);
		return 0;
	}
	__atomic_store_n(&blob->flags, bytes < l->bytes || n < l->count ? KZ_BLOB_CUT : 0, __ATOMIC_RELEASE);
	return 1;
}

// kernel writes a kernel's parameters, or leaves room for them: Kudzu reads them anyway and hands them over (kz_trace_launched), or
// kz_blobs_parameters reads them when the call is over. Calls to NVIDIA's driver, which may end the process, have them before.
static void kernel(struct writer *w, const struct kz_behind *b, uint64_t from, const struct kz_layout *l) {
	size_t bytes = kernel_bytes(l);
	struct kz_blob *blob = bytes ? start(w, b, KZ_BLOB_KERNEL, bytes) : NULL;
	if (!blob)
		return;
	if (!kz_real)
		blob->flags = KZ_BLOB_LATER, w->t->later = blob;
	else if (!parameters(w->t, w->frame, blob, from, l)) {
		never(blob);
		return;
	}
	stop(w, blob);
}

void kz_blobs_parameters(struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, const struct kz_record_call *r, struct kz_blob *blob) {
	for (uint32_t i = 0; i < p->blobs; i++) {
		const struct kz_behind *b = &p->behind[i];
		if ((b->kind != 'k' && b->kind != 'K') || b->parameter != blob->parameter)
			continue;
		const struct kz_layout *l = kz_layout(r->args[b->other], b->kind == 'K' ? (int)r->head.a : -1);
		if (l && kernel_bytes(l) == blob->bytes)
			parameters(t, frame, blob, r->args[b->word], l);
	}
}

enum { PARAM_END, PARAM_BUFFER, PARAM_SIZE }; // CU_LAUNCH_PARAM_*

// packed finds a kernel's parameters in one piece: pairs of a name and a value, up to the end.
static void packed(struct writer *w, const struct kz_behind *b, uint64_t from) {
	uint64_t pairs[8] = {0}, buffer = 0, size = 0;
	size_t got = kz_copy(w->t, w->frame, pairs, from, sizeof pairs) / 16 * 2;
	for (size_t i = 0; i < got && pairs[i] != PARAM_END; i += 2) {
		if (pairs[i] == PARAM_BUFFER)
			buffer = pairs[i + 1];
		if (pairs[i] == PARAM_SIZE)
			size = kz_peek_word(pairs[i + 1]);
	}
	if (buffer && size)
		value(w, b, KZ_BLOB_KERNEL, buffer, size < KERNEL ? size : KERNEL, size > KERNEL);
}

// room_out leaves room for what the call answers. Memory of a record is zero.
static void room_out(struct writer *w, const struct kz_behind *b) {
	struct kz_blob *blob = start(w, b, KZ_BLOB_OUT, b->kind == 'c' ? TEXT : b->bytes);
	if (blob)
		stop(w, blob);
}

size_t kz_blobs_write(struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, const uint64_t *args, char *to, size_t room) {
	struct writer w = {to, to + room, t, frame, args};
	t->later = NULL;
	for (uint32_t i = 0; i < p->blobs; i++) {
		const struct kz_behind *b = &p->behind[i];
		uint64_t from = args[b->word];
		if (!from)
			continue;
		switch (b->kind) {
		case 'o':
		case 'c':
			room_out(&w, b);
			break;
		case 's':
		case 'N':
			string(&w, b, from, STRING);
			break;
		case 'p':
		case 'q':
			value(&w, b, KZ_BLOB_STRUCT, from, b->bytes, b->bytes == ARRAY);
			break;
		case 'a':
			array(&w, b, from);
			break;
		case 't':
			strings(&w, b, from);
			break;
		case 'x':
			packed(&w, b, from);
			break;
		case 'k':
		case 'K':
			if (t->layout)
				kernel(&w, b, from, t->layout);
			break;
		}
	}
	return (size_t)(w.at - to);
}

size_t kz_blobs_room(struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, uint32_t library) {
	size_t room = p->room;
	t->layout = NULL;
	for (uint32_t i = 0; i < p->blobs; i++) {
		const struct kz_behind *b = &p->behind[i];
		if (b->kind < 'k' && b->kind != 'K')
			continue;
		uint64_t pointer = frame[p->from[b->word]];
		if (b->kind == 'x' && pointer)
			room += KERNEL;
		if ((b->kind != 'k' && b->kind != 'K') || !pointer || b->other == 255)
			continue;
		t->layout = kz_layout(frame[p->from[b->other]], b->kind == 'K' ? (int)library : -1);
		if (t->layout)
			room += padded(kernel_bytes(t->layout));
	}
	return room;
}

// filled reads what a call has answered. That it succeeded does not mean that it wrote, or that there is memory: of no values the
// address may be any.
static int filled(const struct kz_tracer *t, const uint64_t *frame, const struct kz_behind *b, uint64_t from, struct kz_blob *blob) {
	if (b->kind != 'c') {
		size_t got = kz_copy(t, frame, blob->data, from, blob->bytes);
		if (got == blob->bytes)
			return 1;
		memset(blob->data, 0, got);
		return 0;
	}
	char text[TEXT - 1];
	size_t got = kz_copy(t, frame, text, from, sizeof text), n = strnlen(text, got);
	if (n == got && got < sizeof text)
		return 0;
	memcpy(blob->data, text, n);
	return 1;
}

// A pointer may have been NULL, or the record short of room: then there is no blob of a parameter, and those of later ones follow.
void kz_blobs_fill(const struct kz_tracer *t, const struct kz_plan *p, const uint64_t *frame, struct kz_record_call *r) {
	char *at = (char *)(r->args + r->words), *end = at + r->blob_bytes;
	for (uint32_t i = 0; i < p->blobs; i++) {
		const struct kz_behind *b = &p->behind[i];
		if (b->kind != 'o' && b->kind != 'c')
			continue;
		char *one = at;
		while (one < end && ((struct kz_blob *)one)->parameter != b->parameter)
			one += HEAD + padded(((struct kz_blob *)one)->bytes);
		if (one >= end)
			continue;
		struct kz_blob *blob = (struct kz_blob *)one;
		at = one + HEAD + padded(blob->bytes);
		if (filled(t, frame, b, r->args[b->word], blob))
			blob->flags = KZ_BLOB_FILLED | (blob->bytes == ARRAY ? KZ_BLOB_CUT : 0);
	}
}
