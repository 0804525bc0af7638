// Threads look for layouts of kernels while others learn more of them (c/base/tracekernel.c).
#include "tracekernel.c"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, KERNELS = 200000 };

pthread_mutex_t kz_trace_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct kz_thread self;
struct kz_thread *kz_thread(void) { return &self; }

static uint16_t size_for(uint64_t kernel) { return (uint16_t)(kernel * 0x9e3779b97f4a7c15u >> 50); }

// A driver that knows every kernel: it has one parameter.
static int info(uint64_t kernel, size_t i, size_t *offset, size_t *size) {
	*offset = 0, *size = size_for(kernel);
	return i ? KZ_CUDA_ERROR_INVALID_VALUE : 0;
}

static int symbol(uint64_t *function, uint64_t host) { return *function = host, 0; }

void *kz_entry(int library, uint32_t slot) {
	if (library == KZ_LIB_cuda)
		return (void *)info;
	return slot == KZ_cudart_cudaGetFuncBySymbol ? (void *)symbol : NULL;
}

static _Atomic int wrong;

// Kernels that begin at the first place of the smallest table, as 0 does, so that what is looked for and what is learned meet.
static uint64_t nth(uint64_t n) { return (n << 32) * 0xf1de83e19937733du; }

static void look(uint64_t kernel) {
	const struct kz_layout *l = kz_layout(kernel, -1);
	if (l && (l->of != kernel || l->count != 1 || l->parameter[0].size != size_for(kernel)))
		wrong++;
}

static _Atomic int done;

static void *learns(void *none) {
	for (uint64_t n = 1; n < KERNELS; n++) {
		if (n % 64 == 0) // void: the next table is no larger
			kz_layouts_drop();
		look(nth(n));
	}
	done = 1;
	return none;
}

static void *looks(void *none) {
	while (!done)
		look(0); // which is no kernel, and nobody learns
	return none;
}

int main(void) {
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, i ? learns : looks, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	// Kernels of the runtime: unknown until they are registered, however many there are.
	for (uint64_t host = 16; host < 16 * 20000; host += 16) {
		if (kz_layout(host, KZ_LIB_cuda + 1))
			wrong++;
		kz_layouts_register(host);
		const struct kz_layout *l = kz_layout(host, KZ_LIB_cuda + 1);
		if (!l || l->parameter[0].size != size_for(host))
			wrong++;
	}
	for (uint64_t host = 16; host < 16 * 20000; host += 16) {
		const struct kz_layout *l = kz_layout(host, KZ_LIB_cuda + 1);
		if (!l || l->parameter[0].size != size_for(host))
			wrong++;
	}
	if (kz_layout(0, -1) || kz_layout(0, KZ_LIB_cuda + 1) || kz_layout((uint64_t)1 << 63, KZ_LIB_cuda + 1))
		wrong++;
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
