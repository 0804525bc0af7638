/* Runs one kernel image's entry on a block of 64 threads: driver INPUT OUTPUT. The offsets come from internal/image. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern uint32_t kernel(void *launch, void *worker, uint64_t first, uint64_t count);

static void *room(size_t n) {
	void *p = aligned_alloc(256, (n + 511) / 256 * 256);
	if (!p)
		exit(3);
	memset(p, 0, n);
	return p;
}

static void put(char *at, uint64_t v, int n) { memcpy(at, &v, (size_t)n); }

int main(int argc, char **argv) {
	if (argc != 3)
		return 2;
	char *in = room(IN_BYTES), *out = room(OUT_BYTES), *params = room(PARAM_BYTES);
	FILE *f = fopen(argv[1], "rb");
	if (!f || fread(in, 1, IN_BYTES, f) != IN_BYTES || fread(params + 16, 1, PARAM_BYTES - 16, f) != PARAM_BYTES - 16)
		return 2;
	fclose(f);
	put(params, (uint64_t)out, 8);
	put(params + 8, (uint64_t)in, 8);
	char *launch = room(LAUNCH_SIZE), *worker = room(WORKER_SIZE), *shared = room(1 << 16);
	put(launch + LAUNCH_PARAMS, (uint64_t)params, 8);
	put(launch + LAUNCH_VARS, (uint64_t)room(256), 8);
	put(launch + LAUNCH_RT, (uint64_t)room(1024), 8);
	for (int i = 0; i < 3; i++) {
		put(launch + LAUNCH_GRID + 4 * i, 1, 4);
		put(launch + LAUNCH_BLOCK + 4 * i, i ? 1 : 64, 4);
	}
	put(launch + LAUNCH_SHARED_TOTAL, SHARED_STATIC, 4);
	put(launch + LAUNCH_WARPS, 2, 4);
	put(launch + LAUNCH_THREADS, 64, 4);
	put(worker + WORKER_SHARED, (uint64_t)shared, 8);
	put(worker + WORKER_SHARED_WINDOW, (uint64_t)shared, 8);
	put(worker + WORKER_FRAME, (uint64_t)room(FRAME_BYTES), 8);
	put(worker + WORKER_LOCAL, (uint64_t)room(LOCAL_BYTES), 8);
	uint64_t mode = FTZ ? (uint64_t)1 << 24 : 0;
	__asm__ volatile("msr fpcr, %0" : : "r"(mode));
	uint32_t r = kernel(launch, worker, 0, 1);
	f = fopen(argv[2], "wb");
	if (!f || fwrite(out, 1, OUT_BYTES, f) != OUT_BYTES || fclose(f))
		return 4;
	return r ? 10 : 0;
}
