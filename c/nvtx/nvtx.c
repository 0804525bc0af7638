// NVTX: what a program says about itself, ranges, marks and names, becomes events of the trace. The same functions are
// libnvToolsExt.so.1, which programs of version 2 link, and libkudzu-nvtx.so, which the headers of version 3 load where
// NVTX_INJECTION64_PATH names it, and ask to fill in their tables (inject.c). Where nobody records they answer as NVIDIA's do
// without a tool: no domain, no registered string, no tracking of ranges.
#define _GNU_SOURCE
#include "nvtx.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

enum { TEXT = 512, DOMAINS = 16, NO_TRACKING = -2 };
enum { EVENT_QUEUE = 7, EVENT_BEGIN = 9, EVENT_END = 10, EVENT_MARK = 11, EVENT_THREAD = 12, EVENT_DOMAIN = 14 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3, COLOR_ARGB = 1 };

// kz_trace_attach is libkudzu-base.so's: the recorder, or NULL.
extern const struct kz_trace_host *kz_trace_attach(void);

typedef const struct kz_trace_host *host;

static host door; // written once, by ask
static void ask(void) { door = kz_trace_attach(); }

static host recorder(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, ask);
	return door;
}

int kz_nvtx_on(void) { return recorder() != NULL; }

struct domain { uint64_t id; };
struct string { char text[TEXT]; };

static void event(host r, uint16_t type, uint64_t stream, uint64_t domain, uint64_t color, uint64_t range, uint64_t category, const char *text) {
	uint64_t values[4] = {domain, color, range, category}, now = r->now();
	r->event(type, r->current(), now, now, 0, stream, values, text ? text : "");
}

// --- text

// Writes UTF-8, cut off where there is no more room.
static const char *narrow(char out[TEXT], const wchar_t *w) {
	size_t n = 0;
	for (; w && *w && n + 5 < TEXT; w++) {
		uint32_t c = (uint32_t)*w;
		if (c < 0x80) out[n++] = (char)c;
		else if (c < 0x800) {
			out[n++] = (char)(0xc0 | c >> 6);
			out[n++] = (char)(0x80 | (c & 63));
		} else if (c < 0x10000) {
			out[n++] = (char)(0xe0 | c >> 12);
			out[n++] = (char)(0x80 | (c >> 6 & 63));
			out[n++] = (char)(0x80 | (c & 63));
		} else if (c < 0x110000) {
			out[n++] = (char)(0xf0 | c >> 18);
			out[n++] = (char)(0x80 | (c >> 12 & 63));
			out[n++] = (char)(0x80 | (c >> 6 & 63));
			out[n++] = (char)(0x80 | (c & 63));
		}
	}
	out[n] = 0;
	return out;
}

static const char *message(const nvtxEventAttributes_t *a, char room[TEXT]) {
	switch (a->messageType) {
	case MESSAGE_ASCII: return a->message.ascii;
	case MESSAGE_WIDE: return narrow(room, a->message.unicode);
	case MESSAGE_REGISTERED: return a->message.registered ? ((const struct string *)a->message.registered)->text : "";
	}
	return "";
}

// What attributes say, in a structure that another version of the header made too: one that is too short says nothing.
static void with(host r, uint16_t type, nvtxDomainHandle_t d, uint64_t range, const nvtxEventAttributes_t *a) {
	char room[TEXT];
	uint64_t id = d ? ((const struct domain *)d)->id : 0;
	if (!a || a->size < sizeof *a) event(r, type, 0, id, 0, range, 0, "");
	else event(r, type, 0, id, a->colorType == COLOR_ARGB ? a->color : 0, range, a->category, message(a, room));
}

// --- ranges

static __thread struct { nvtxDomainHandle_t domain; int depth; } levels[DOMAINS];
static __thread int nlevels;

// How deep the thread is in ranges of a domain; NULL where it has more domains than are counted.
static int *depth(nvtxDomainHandle_t d) {
	for (int i = 0; i < nlevels; i++)
		if (levels[i].domain == d) return &levels[i].depth;
	if (nlevels == DOMAINS) return NULL;
	levels[nlevels].domain = d;
	levels[nlevels].depth = 0;
	return &levels[nlevels++].depth;
}

static int pushed(nvtxDomainHandle_t d) {
	int *n = depth(d);
	return n ? (*n)++ : 0;
}

static uint64_t range(void) {
	static _Atomic uint64_t last;
	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

void nvtxDomainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) {
	host r = recorder();
	if (r) with(r, EVENT_MARK, d, 0, a);
}
void nvtxMarkEx(const nvtxEventAttributes_t *a) { nvtxDomainMarkEx(NULL, a); }
void nvtxMarkA(const char *text) {
	host r = recorder();
	if (r) event(r, EVENT_MARK, 0, 0, 0, 0, 0, text);
}
void nvtxMarkW(const wchar_t *text) {
	char room[TEXT];
	if (recorder()) nvtxMarkA(narrow(room, text));
}

int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) {
	host r = recorder();
	if (!r) return NO_TRACKING;
	with(r, EVENT_BEGIN, d, 0, a);
	return pushed(d);
}
int nvtxRangePushEx(const nvtxEventAttributes_t *a) { return nvtxDomainRangePushEx(NULL, a); }
int nvtxRangePushA(const char *text) {
	host r = recorder();
	if (!r) return NO_TRACKING;
	event(r, EVENT_BEGIN, 0, 0, 0, 0, 0, text);
	return pushed(NULL);
}
int nvtxRangePushW(const wchar_t *text) {
	char room[TEXT];
	return recorder() ? nvtxRangePushA(narrow(room, text)) : NO_TRACKING;
}
int nvtxDomainRangePop(nvtxDomainHandle_t d) {
	host r = recorder();
	if (!r) return NO_TRACKING;
	int *n = depth(d);
	if (n && *n == 0) return -1; // there is none
	with(r, EVENT_END, d, 0, NULL);
	return n ? --*n : 0;
}
int nvtxRangePop(void) { return nvtxDomainRangePop(NULL); }

nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) {
	host r = recorder();
	if (!r) return 0;
	uint64_t id = range();
	with(r, EVENT_BEGIN, d, id, a);
	return id;
}
nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *a) { return nvtxDomainRangeStartEx(NULL, a); }
nvtxRangeId_t nvtxRangeStartA(const char *text) {
	host r = recorder();
	if (!r) return 0;
	uint64_t id = range();
	event(r, EVENT_BEGIN, 0, 0, 0, id, 0, text);
	return id;
}
nvtxRangeId_t nvtxRangeStartW(const wchar_t *text) {
	char room[TEXT];
	return recorder() ? nvtxRangeStartA(narrow(room, text)) : 0;
}
void nvtxDomainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id) {
	host r = recorder();
	if (r && id) with(r, EVENT_END, d, id, NULL);
}
void nvtxRangeEnd(nvtxRangeId_t id) { nvtxDomainRangeEnd(NULL, id); }

// --- domains and registered strings: they live as long as the process, since events may name them at any time

nvtxDomainHandle_t nvtxDomainCreateA(const char *name) {
	static _Atomic uint64_t last;
	host r = recorder();
	struct domain *d = r ? malloc(sizeof *d) : NULL;
	if (!d) return NULL;
	d->id = atomic_fetch_add(&last, 1) + 1;
	event(r, EVENT_DOMAIN, 0, d->id, 0, 0, 0, name);
	return (nvtxDomainHandle_t)d;
}
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name) {
	char room[TEXT];
	return nvtxDomainCreateA(narrow(room, name));
}
void nvtxDomainDestroy(nvtxDomainHandle_t d) { (void)d; }

nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t d, const char *text) {
	(void)d;
	struct string *s = recorder() ? malloc(sizeof *s) : NULL;
	if (s) snprintf(s->text, sizeof s->text, "%s", text ? text : "");
	return (nvtxStringHandle_t)s;
}
nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t d, const wchar_t *text) {
	char room[TEXT];
	return nvtxDomainRegisterStringA(d, narrow(room, text));
}

// --- names

void nvtxNameOsThreadA(uint32_t tid, const char *name) {
	host r = recorder();
	if (r) event(r, EVENT_THREAD, 0, tid, 0, 0, 0, name);
}
void nvtxNameOsThreadW(uint32_t tid, const wchar_t *name) {
	char room[TEXT];
	nvtxNameOsThreadA(tid, narrow(room, name));
}
static void name_stream(void *stream, const char *name) {
	host r = recorder();
	if (r) event(r, EVENT_QUEUE, (uint64_t)stream, 1, 1, 0, 0, name); // 1, 1: it is there, and the program named it
}
void nvtxNameCuStreamA(void *stream, const char *name) { name_stream(stream, name); }
void nvtxNameCuStreamW(void *stream, const wchar_t *name) {
	char room[TEXT];
	name_stream(stream, narrow(room, name));
}
void nvtxNameCudaStreamA(void *stream, const char *name) { name_stream(stream, name); }
void nvtxNameCudaStreamW(void *stream, const wchar_t *name) { nvtxNameCuStreamW(stream, name); }

// --- what the trace has no place for

#define NOTHING(name, type)               \
	void name##A(type of, const char *n); \
	void name##A(type of, const char *n) { (void)of, (void)n; } \
	void name##W(type of, const wchar_t *n); \
	void name##W(type of, const wchar_t *n) { (void)of, (void)n; }
NOTHING(nvtxNameCategory, uint32_t)
NOTHING(nvtxNameCuDevice, int)
NOTHING(nvtxNameCuContext, void *)
NOTHING(nvtxNameCuEvent, void *)
NOTHING(nvtxNameCudaDevice, int)
NOTHING(nvtxNameCudaEvent, void *)
NOTHING(nvtxNameClDevice, void *)
NOTHING(nvtxNameClContext, void *)
NOTHING(nvtxNameClCommandQueue, void *)
NOTHING(nvtxNameClMemObject, void *)
NOTHING(nvtxNameClSampler, void *)
NOTHING(nvtxNameClProgram, void *)
NOTHING(nvtxNameClEvent, void *)
void nvtxDomainNameCategoryA(nvtxDomainHandle_t d, uint32_t c, const char *n) { (void)d, (void)c, (void)n; }
void nvtxDomainNameCategoryW(nvtxDomainHandle_t d, uint32_t c, const wchar_t *n) { (void)d, (void)c, (void)n; }
void *nvtxDomainResourceCreate(nvtxDomainHandle_t d, void *attributes) { return (void)d, (void)attributes, NULL; }
void nvtxDomainResourceDestroy(void *resource) { (void)resource; }
void nvtxInitialize(const void *reserved) { (void)reserved; }
void *nvtxDomainSyncUserCreate(nvtxDomainHandle_t d, const void *attributes) { return (void)d, (void)attributes, NULL; }
void nvtxDomainSyncUserDestroy(void *handle) { (void)handle; }
void nvtxDomainSyncUserAcquireStart(void *handle) { (void)handle; }
void nvtxDomainSyncUserAcquireFailed(void *handle) { (void)handle; }
void nvtxDomainSyncUserAcquireSuccess(void *handle) { (void)handle; }
void nvtxDomainSyncUserReleasing(void *handle) { (void)handle; }
