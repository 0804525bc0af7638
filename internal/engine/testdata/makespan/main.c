// Replays the engine's way of cutting jobs into chunks (chunk.h) with the grids and block times of the bench suite's
// compute-bound rows, for 1 to 128 threads, and fails where the job ends too late. Nothing here depends on the machine.
//
// The model: a thread that is free takes the next chunk; all take from one counter, whose cache line is somebody else's; a chunk
// costs a fixed time beside its blocks'. What a block costs is learnt as the engine learns it.
#include "../../chunk.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_NS = 60, CHUNK_OWN_NS = 300, MAX_THREADS = 128, MAX_BLOCKS = 65536 };

// Times are of one thread in docs/bench/scaling.md, grids of bench/rows.
enum shape { EVEN, ESCAPES, JITTER, RISING, FALLING };
static const struct row { const char *name; uint64_t blocks; double ms; enum shape shape; } rows[] = {
	{"sgemm_naive", 4096, 35.4, EVEN}, {"sgemm_tiled16", 4096, 37.6, EVEN}, {"sgemm_tiled32", 1024, 37.1, EVEN},
	{"sgemm_register", 256, 61.6, EVEN}, {"mandelbrot", 4096, 12.0, ESCAPES}, {"nbody", 32, 53.3, EVEN},
	{"blackscholes", 16384, 15.1, EVEN}, {"sha256", 1024, 4.30, EVEN}, {"divergent", 256, 21.7, JITTER},
	{"convolution", 16384, 24.0, EVEN}, {"attention", 256, 31.6, EVEN}, {"hgemm_mma", 256, 80.7, EVEN},
	{"igemm_mma", 256, 22.2, EVEN}, {"saxpy", 65536, 9.33, EVEN},
	{"dearer and dearer", 4096, 40, RISING}, {"cheaper and cheaper", 4096, 40, FALLING},
};

static double cost[MAX_BLOCKS];

// The steps of the dearest pixel of each warp, as the bench row's kernel walks them.
static double escapes(uint64_t block) {
	double sum = 0;
	for (int warp = 0; warp < 8; warp++) {
		int most = 0;
		for (int lane = 0; lane < 32; lane++) {
			float step = 3.0f / 1024, cx = -2.2f + step * (float)(block % 32 * 32 + (uint64_t)lane), cy = step * ((float)(block / 32 * 8 + (uint64_t)warp) - 512), u = 0, v = 0;
			int i = 0;
			for (; i < 256 && u * u + v * v <= 4; i++) {
				float next = u * u - v * v + cx;
				v = 2 * u * v + cy;
				u = next;
			}
			if (i > most) most = i;
		}
		sum += most + 4;
	}
	return sum;
}

static void fill(const struct row *r) {
	uint32_t x = 1;
	double sum = 0;
	for (uint64_t i = 0; i < r->blocks; i++) {
		x = x * 1664525 + 1013904223;
		cost[i] = r->shape == ESCAPES ? escapes(i) : r->shape == JITTER ? 0.8 + 0.4 * (x >> 8) / 16777216 : r->shape == RISING ? (double)i + 1 : r->shape == FALLING ? (double)(r->blocks - i) : 1;
		sum += cost[i];
	}
	for (uint64_t i = 0; i < r->blocks; i++) cost[i] *= r->ms * 1e6 / sum;
}

static double dearest(const struct row *r) {
	double most = 0;
	for (uint64_t i = 0; i < r->blocks; i++)
		if (cost[i] > most) most = cost[i];
	return most;
}

// No schedule is shorter than this.
static double ideal(const struct row *r, uint64_t threads) {
	double sum = 0, most = dearest(r);
	for (uint64_t i = 0; i < r->blocks; i++) sum += cost[i];
	double even = (double)((r->blocks + threads - 1) / threads) * cost[0]; // whole blocks only
	double best = r->shape == EVEN ? even : sum / (double)threads;
	return best > most ? best : most;
}

// known16 is what the kernel's earlier runs told of a block, in 1/16 ns.
static double makespan(const struct row *r, uint64_t threads, uint64_t known16, uint64_t *chunks) {
	static double at[MAX_THREADS];
	static uint64_t own[MAX_THREADS];
	for (uint64_t i = 0; i < threads; i++) at[i] = 0, own[i] = 0;
	uint64_t avg = known16, next = 0;
	double line = 0, end = 0;
	for (*chunks = 0; next < r->blocks; ++*chunks) {
		uint64_t t = 0;
		for (uint64_t i = 1; i < threads; i++)
			if (at[i] < at[t]) t = i;
		line = (at[t] > line ? at[t] : line) + LINE_NS;
		uint64_t n = kz_chunk(r->blocks, r->blocks - next, threads, own[t] > avg ? own[t] : avg);
		if (n == 0 || n > r->blocks - next) {
			printf("%s, %llu threads: a chunk of %llu of %llu blocks\n", r->name, (unsigned long long)threads, (unsigned long long)n, (unsigned long long)(r->blocks - next));
			exit(1);
		}
		double spent = 0;
		for (uint64_t i = 0; i < n; i++) spent += cost[next + i];
		next += n;
		at[t] = line + CHUNK_OWN_NS + spent;
		if (at[t] > end) end = at[t];
		own[t] = (uint64_t)(spent * 16 / (double)n) + 1;
		avg = avg ? avg - avg / 4 + own[t] / 4 : own[t];
	}
	return end;
}

int main(int argc, char **argv) {
	(void)argv;
	int late = 0;
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		fill(r);
		uint64_t mean16 = (uint64_t)(r->ms * 16e6 / (double)r->blocks) + 1;
		for (uint64_t threads = 1; threads <= MAX_THREADS; threads++)
			for (int first = 0; first < 2; first++) {
				uint64_t chunks;
				double best = ideal(r, threads), is = makespan(r, threads, first ? 0 : mean16, &chunks);
				// A twentieth, the last block where they differ, and for each thread what its chunks cost the counter: that
				// grows with the threads while the job shrinks. The first run of a kernel knows nothing of its blocks.
				double bound = 1.05 * best + (r->shape == EVEN ? 0 : dearest(r)) + 400 * (double)threads * (first ? 2 : 1);
				bool over = is > bound;
				late += over;
				if (over || argc > 1) printf("%-20s %3llu threads%s: %8.1f us, ideal %8.1f, bound %8.1f, %.3f, %llu chunks%s\n", r->name, (unsigned long long)threads, first ? ", first run" : "", is / 1e3, best / 1e3, bound / 1e3, is / best, (unsigned long long)chunks, over ? "  LATE" : "");
			}
	}
	return late > 0;
}
