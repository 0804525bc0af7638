// Forwarding: what answers the calls is NVIDIA's own library of the same name, and the Go image is never loaded. Every entry begins
// as one that waits for it (kz_lazy_<key>); the first call of a library opens the real one and fills in all its entries.
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int kz_real;

static const char *folders; // KUDZU_TRACE_REAL
static _Atomic int opened[KZ_LIBRARIES];

// Addresses of the real driver's functions, sorted, with their slots: what cuGetProcAddress answers is one of them.
struct address {
	const void *at;
	uint32_t slot;
};
static struct address *addresses;
static _Atomic uint32_t known;

void kz_real_start(void) {
	folders = kz_setting("KUDZU_TRACE_REAL");
	if (!folders)
		return;
	kz_real = 1;
}

// ours reports whether a library is a front: a folder may have links to them, or copies, which need us and lead back here.
static int ours(void *handle) {
	struct link_map *m;
	uintptr_t names = 0;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &m))
		return 1;
	for (const ElfW(Dyn) *d = m->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			names = d->d_un.d_ptr;
	if (names < m->l_addr)
		names += m->l_addr; // a loader may leave the table as it is in the file
	for (const ElfW(Dyn) *d = m->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && !strcmp((const char *)names + d->d_un.d_val, "libkudzu-base.so"))
			return 1;
	return 0;
}

static void *open_in(const char *folder, size_t n, const struct kz_library *lib) {
	char path[PATH_MAX];
	int written = snprintf(path, sizeof path, "%.*s/%s", (int)n, folder, lib->soname);
	if (!n || written < 0 || (size_t)written >= sizeof path || access(path, R_OK))
		return NULL;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (handle && ours(handle)) {
		dlclose(handle);
		handle = NULL;
	}
	return handle;
}

// open_among tries the folders of a list.
static void *open_among(const char *list, const struct kz_library *lib) {
	while (list && *list) {
		size_t n = strcspn(list, ":");
		void *handle = open_in(list, n, lib);
		if (handle)
			return handle;
		list += n + (list[n] == ':');
	}
	return NULL;
}

static const char places[] =
#ifdef __aarch64__
    "/usr/lib/aarch64-linux-gnu:/lib/aarch64-linux-gnu:"
#else
    "/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:"
#endif
    "/usr/lib64:/lib64:/usr/lib:/usr/local/nvidia/lib64:/usr/local/cuda/lib64:/usr/lib/wsl/lib";

// open_real finds NVIDIA's library: in the folders that were named, in those of the loader, and where distributions put it.
static void *open_real(const struct kz_library *lib) {
	void *handle = open_among(folders, lib);
	if (!handle)
		handle = open_among(kz_library_path(), lib);
	return handle ? handle : open_among(places, lib);
}

static int by_address(const void *a, const void *b) {
	const struct address *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at ? 1 : x->slot < y->slot ? -1 : x->slot > y->slot;
}

static void note_addresses(const struct kz_library *lib) {
	struct address *all = mmap(NULL, lib->size * sizeof *all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t n = 0;
	for (uint32_t i = 0; all != MAP_FAILED && i < lib->size; i++)
		if (lib->entry[i] != lib->none)
			all[n++] = (struct address){lib->entry[i], i};
	if (!n)
		return;
	qsort(all, n, sizeof *all, by_address);
	struct address *none = NULL;
	if (__atomic_compare_exchange_n(&addresses, &none, all, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		atomic_store_explicit(&known, n, memory_order_release);
}

static void note_missing(const struct kz_library *lib) {
	static _Atomic int said[KZ_LIBRARIES];
	if (!atomic_exchange(&said[lib - kz_libraries], 1))
		kz_say("kudzu: trace: NVIDIA's %s was not found%s%s\n", lib->soname, *folders ? ", neither in the system's folders nor in " : "", folders);
}

// No lock is held: the loader may run constructors, which may call us. Threads that do it at once do the same.
void *kz_real_resolve(uint32_t library, uint32_t symbol) {
	struct kz_library *lib = &kz_libraries[library];
	if (!atomic_load(&opened[library])) {
		int saved = errno;
		void *handle = open_real(lib);
		if (!handle)
			note_missing(lib);
		for (uint32_t i = 0; i < lib->size; i++) {
			void *fn = handle ? dlsym(handle, lib->names + lib->offset[i]) : NULL;
			__atomic_store_n(&lib->entry[i], fn ? fn : lib->none, __ATOMIC_RELEASE);
		}
		if (library == KZ_LIB_cuda)
			note_addresses(lib);
		atomic_store(&opened[library], 1);
		errno = saved;
	}
	return __atomic_load_n(&lib->entry[symbol], __ATOMIC_ACQUIRE);
}

// named reports whether a slot is a version or variant of a name: cuMemAlloc, cuMemAlloc_v2, cuMemAlloc_v2_ptds.
static int named(uint32_t slot, const char *name) {
	const struct kz_library *lib = &kz_libraries[KZ_LIB_cuda];
	const char *full = lib->names + lib->offset[slot];
	size_t n = strlen(name);
	return !strncmp(full, name, n) && (!full[n] || full[n] == '_');
}

void kz_real_found(const char *name, void **address) {
	uint32_t n = atomic_load_explicit(&known, memory_order_acquire), low = 0, high = n;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (addresses[middle].at < *address)
			low = middle + 1;
		else
			high = middle;
	}
	uint32_t slot = UINT32_MAX;
	for (; low < n && addresses[low].at == *address; low++)
		if (slot == UINT32_MAX || (!named(slot, name) && named(addresses[low].slot, name)))
			slot = addresses[low].slot;
	int saved = errno;
	void *front = slot == UINT32_MAX ? NULL : kz_front(KZ_LIB_cuda, slot);
	if (front)
		*address = front;
	errno = saved;
}
