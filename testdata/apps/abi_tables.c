// The export tables NVIDIA's runtime library asks for. Linked with c/base/integrity.c to
// know the right answer to its check.
#include <cuda.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "abi_check.h"
#include "integrity.h"

static const CUuuid runtime = {"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9"};
static const CUuuid integrity = {"\xd4\x08\x20\x55\xbd\xe6\x70\x4b\x8d\x34\xba\x12\x3c\x66\xe1\xf2"};
static const CUuuid storage = {"\xc6\x93\x33\x6e\x11\x21\xdf\x11\xa8\xc3\x68\xf3\x55\xd8\x95\x93"};
static const CUuuid hooks = {"\xa0\x94\x79\x8c\x2e\x74\x2e\x74\x93\xf2\x08\x00\x20\x0c\x0a\x66"};
static const CUuuid late = {"\x21\x31\x8c\x60\x97\x14\x32\x48\x8c\xa6\x41\xff\x73\x24\xc8\xf2"};
static const CUuuid skip = {"\xf8\xcf\xf9\x51\x21\x46\x8b\x4e\xb9\xe2\xfb\x46\x9e\x7c\x0d\xd9"};

typedef int check_fn(uint32_t version, uint64_t seconds, uint64_t out[2]);

static void *const *table(const CUuuid *id) {
	const void *t = NULL;
	EXPECT(cuGetExportTable(&t, id), CUDA_SUCCESS);
	return t;
}

// Each protocol is answered as the runtime expects it, with the devices there are.
static void check_integrity(void) {
	void *const *rt = table(&runtime), *const *in = table(&integrity);
	EXPECT((size_t)rt[0], 13 * 8);
	EXPECT((size_t)in[0], 3 * 8);
	struct kz_integrity_device devices[16];
	int count = 0;
	EXPECT(cuDeviceGetCount(&count), 0);
	for (int i = 0; i < count && i < 16; i++) {
		cuDeviceGetUuid_v2((CUuuid *)devices[i].uuid, i);
		cuDeviceGetAttribute(&devices[i].domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, i);
		cuDeviceGetAttribute(&devices[i].bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i);
		cuDeviceGetAttribute(&devices[i].device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, i);
	}
	int driver = 0;
	EXPECT(cuDriverGetVersion(&driver), 0);
	static const uint32_t versions[] = {12080, 12081, 12082, 13000, 13002};
	for (int v = 0; v < 5; v++) {
		uint64_t got[2] = {0}, want[2];
		struct kz_integrity m = {(uint32_t)driver, versions[v], (uint32_t)getpid(), (uint32_t)pthread_self(),
		                         (uint64_t)rt, (uint64_t)in, (uint64_t)in[1], 1234567};
		kz_integrity_answer(&m, devices, (size_t)count, (uint8_t *)want);
		EXPECT(((check_fn *)in[1])(versions[v], 1234567, got), 0);
		EXPECT(memcmp(got, want, 16), 0);
	}
	EXPECT(((check_fn *)in[1])(12082, 1, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void check_storage(void) {
	void *const *t = table(&storage);
	int (*put)(void *, void *, void *, void *) = (int (*)(void *, void *, void *, void *))t[0];
	int (*del)(void *, void *) = (int (*)(void *, void *))t[1];
	int (*get)(void **, void *, void *) = (int (*)(void **, void *, void *))t[2];
	EXPECT(t[3] == NULL, 1);
	static char contexts[40], key, other;
	void *v = NULL;
	EXPECT(get(&v, &contexts[0], &key) != 0, 1);
	for (int i = 0; i < 40; i++)
		EXPECT(put(&contexts[i], &key, &contexts[39 - i], NULL), 0);
	for (int i = 0; i < 40; i++) {
		EXPECT(get(&v, &contexts[i], &key), 0);
		EXPECT(v == &contexts[39 - i], 1);
	}
	EXPECT(put(&contexts[7], &key, &other, NULL), 0);
	EXPECT(get(&v, &contexts[7], &key), 0);
	EXPECT(v == &other, 1);
	EXPECT(get(&v, &contexts[7], &other) != 0, 1);
	EXPECT(del(&contexts[7], &key), 0);
	EXPECT(get(&v, &contexts[7], &key) != 0, 1);
	EXPECT(get(&v, &contexts[8], &key), 0);
	EXPECT(del(&contexts[7], &key) != 0, 1);
}

static int let_go;
static void on_gone(CUcontext ctx, void *key, void *value) { let_go += ctx && key == value; }

// What hangs on a context is let go when the context ends, and not before.
static void check_ends(void) {
	void *const *t = table(&storage);
	int (*put)(void *, void *, void *, void *) = (int (*)(void *, void *, void *, void *))t[0];
	int (*get)(void **, void *, void *) = (int (*)(void **, void *, void *))t[2];
	CUcontext ctx, primary;
	void *v;
	EXPECT(cuCtxCreate_v2(&ctx, 0, 0), 0);
	EXPECT(put(NULL, &let_go, &let_go, (void *)on_gone), 0); // NULL is the current context
	EXPECT(get(&v, ctx, &let_go), 0);
	EXPECT(cuDevicePrimaryCtxRetain(&primary, 0), 0);
	EXPECT(cuDevicePrimaryCtxRetain(&primary, 0), 0);
	EXPECT(put(primary, &let_go, &let_go, (void *)on_gone), 0);
	EXPECT(cuDevicePrimaryCtxRelease(0), 0);
	EXPECT(let_go, 0);
	EXPECT(cuCtxDestroy(ctx), 0);
	EXPECT(let_go, 1);
	EXPECT(cuDevicePrimaryCtxRelease(0), 0);
	EXPECT(let_go, 2);
	EXPECT(get(&v, primary, &let_go) != 0, 1);
}

int main(void) {
	EXPECT(cuInit(0), 0);
	check_integrity();
	check_storage();
	check_ends();
	void *const *h = table(&hooks);
	for (int i = 1; i < 7; i++)
		EXPECT(h[i] != NULL, 1);
	void *buffer = NULL;
	size_t size = 0;
	((void (*)(void **, size_t *))h[2])(&buffer, &size);
	EXPECT(buffer != NULL && size == 1024, 1);

	void *const *l = table(&late);
	EXPECT((size_t)l[0], 93 * 8);
	for (int i = 1; i < 93; i++)
		EXPECT(l[i] != NULL, 1);

	const void *none = &none;
	EXPECT(cuGetExportTable(&none, &skip), CUDA_ERROR_INVALID_VALUE);
	EXPECT(none == NULL, 1);
	EXPECT(cuGetExportTable(NULL, &skip), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGetExportTable(&none, NULL), CUDA_ERROR_INVALID_VALUE);
	return finish();
}
