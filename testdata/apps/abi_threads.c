// Many fresh threads call at once; one lives and ends without calling.
#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>

#include "abi_check.h"

enum { THREADS = 64 };

static pthread_barrier_t gate;

static void *caller(void *result) {
	int n = 0, *rc = result;
	pthread_barrier_wait(&gate);
	*rc = cuInit(0); // the first call loads the Go image: all of them race for it
	for (int i = 0; !*rc && i < 100; i++)
		*rc = cuDeviceGetCount(&n);
	if (!*rc && n < 1)
		*rc = -1;
	return NULL;
}

static void *idle(void *unused) { return unused; }

int main(void) {
	pthread_t threads[THREADS], bystander;
	int results[THREADS];
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int round = 0; round < 3; round++) {
		pthread_barrier_init(&gate, NULL, THREADS);
		pthread_create(&bystander, NULL, idle, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], &small, caller, &results[i]);
		for (int i = 0; i < THREADS; i++) {
			pthread_join(threads[i], NULL);
			EXPECT(results[i], 0);
		}
		pthread_join(bystander, NULL);
	}
	return finish();
}
