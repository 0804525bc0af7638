// Records what a real card answers to the tensor copies of cases.txt:
//   cc -o record record.c -ldl && ./record cases.txt kernels.ptx kernels90a.ptx >answers.txt
// Each answer is a label, the code of the encoding, the code of the launch, and the bytes that changed from 0xa5, trailing
// ones left out. A fault ends all work of a process, so cases run in a child, and the next child begins behind the guilty one.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long u64;
typedef unsigned int u32;
enum { COLUMNS = 45, TENSOR = 1 << 20, SHOWN = 16384 };
static int (*cuInit)(u32), (*cuDeviceGet)(int *, int), (*cuCtxCreate)(void **, u32, int), (*cuModuleLoadData)(void **, const void *);
static int (*cuModuleGetFunction)(void **, void *, const char *), (*cuMemAlloc)(u64 *, size_t), (*cuMemcpyHtoD)(u64, const void *, size_t);
static int (*cuMemcpyDtoH)(void *, u64, size_t), (*cuCtxSynchronize)(void), (*cuMemsetD8)(u64, unsigned char, size_t);
static int (*cuLaunchKernel)(void *, u32, u32, u32, u32, u32, u32, u32, void *, void **, void **);
static int (*encodeTiled)(void *, int, u32, void *, const u64 *, const u64 *, const u32 *, const u32 *, int, int, int, int);
static int (*encodeIm2col)(void *, int, u32, void *, const u64 *, const u64 *, const int *, const int *, u32, u32, const u32 *, int, int, int, int);

static void find(void *lib, void *to, const char *name) {
	*(void **)to = dlsym(lib, name);
	if (!*(void **)to) { fprintf(stderr, "no %s\n", name); exit(1); }
}

// The contents of memory: random bytes, or numbers of a type.
static void content(unsigned char *p, int n, int kind, u32 seed) {
	for (int i = 0; i < n; i++) {
		u32 x = (u32)(i + seed) * 2654435761u;
		p[i] = x >> 24 ^ x >> 13;
	}
	for (int i = 0; kind && i < n / 8 * 8; i++) {
		u32 v = ((u32)i * 7 + seed * 3) % 23;
		if (kind == 1 && i < n / 4) { float f = (float)v - 11; memcpy(p + 4 * i, &f, 4); }
		if (kind == 2 && i < n / 2) { unsigned short h = v ? 0x3c00 + v * 16 : 0; memcpy(p + 2 * i, &h, 2); }
		if (kind == 3 && i < n / 2) { unsigned short h = v ? 0x3f80 + v : 0; memcpy(p + 2 * i, &h, 2); }
		if (kind == 4 && i < n / 8) { double d = (double)v - 11; memcpy(p + 8 * i, &d, 8); }
		if (kind == 5 && i < n / 4) memcpy(p + 4 * i, &v, 4);
	}
}

static char *text(const char *file) {
	FILE *f = fopen(file, "r");
	if (!f) { perror(file); exit(1); }
	char *s = calloc(1, 1 << 20);
	fread(s, 1, (1 << 20) - 1, f);
	fclose(f);
	return s;
}

static void *mods[2];
static u64 tensor, out, scratch;

static void start(char **modules) {
	void *ctx;
	int dev;
	if (cuInit(0) || cuDeviceGet(&dev, 0) || cuCtxCreate(&ctx, 0, dev) || cuMemAlloc(&tensor, TENSOR) || cuMemAlloc(&out, 1 << 16) || cuMemAlloc(&scratch, 1 << 16)) exit(1);
	for (int i = 0; i < 2; i++) {
		int rc = cuModuleLoadData(mods + i, modules[i]);
		if (rc) fprintf(stderr, "module %d: %d\n", i, rc);
	}
}

// one runs a case; false if the process is of no use any more.
static int one(const char *label, const char *kernel, long long *v) {
	static const int size[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
	static unsigned char host[TENSOR], shown[SHOWN], maps[512];
	void *fn;
	int type = v[0], rank = v[1], reduces = kernel[0] == 'r' && kernel[1] == 'd', stores = kernel[0] == 's' || kernel[1] == 's' || reduces;
	u64 dim[5], stride[4];
	u32 box[5], step[5];
	int lo[3], up[3];
	for (int i = 0; i < 5; i++) dim[i] = v[2 + i], box[i] = v[11 + i], step[i] = v[16 + i];
	for (int i = 0; i < 4; i++) stride[i] = v[7 + i];
	for (int i = 0; i < 3; i++) lo[i] = v[26 + i], up[i] = v[29 + i];
	void *map = (void *)(((size_t)maps + 127) / 128 * 128 + v[34]);
	void *at = (void *)(tensor + v[35]);
	int rc = v[25] ? encodeIm2col(map, type, rank, at, dim, stride, lo, up, v[32], v[33], step, v[21], v[22], v[23], v[24])
	               : encodeTiled(map, type, rank, at, dim, stride, box, step, v[21], v[22], v[23], v[24]);
	printf("%s %d", label, rc);
	if (!strcmp(kernel, "-") || rc) { printf(" 0 -\n"); return 1; }
	u32 bytes = size[type];
	u32 slice = v[21] ? 16 * v[21] : 0;
	if (slice) bytes = slice;
	for (int i = 0; i < rank && !v[25]; i++) bytes *= slice && i == rank - 2 ? 1 : i || slice ? (box[i] + step[i] - 1) / step[i] : box[0];
	if (v[25]) bytes *= v[32] * v[33];
	if (!strncmp(kernel, "rpbox0", 6)) bytes = bytes / box[0] * v[41];
	if (!strncmp(kernel, "rpbox1", 6)) bytes = bytes / box[1] * v[41];
	static const int numbered[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4}; // as tensormap.replace counts types
	if (!strncmp(kernel, "rpelemtype", 10)) bytes = bytes / size[type] * numbered[atoi(kernel + 10)];
	content(host, TENSOR, stores && !reduces ? 0 : v[44], 1);
	if (stores && !reduces) memset(host, 0xa5, TENSOR);
	cuMemcpyHtoD(tensor, host, TENSOR);
	content(host, 8192, v[44], 77);
	cuMemcpyHtoD(scratch, host, 8192);
	cuMemsetD8(out, 0xa5, 1 << 16);
	int a = kernel[0] == 'r' && kernel[1] == 'p';
	if ((rc = cuModuleGetFunction(&fn, mods[a], kernel))) { printf(" %d -\n", rc); return 1; }
	u32 c[5], o[3];
	for (int i = 0; i < 5; i++) c[i] = v[36 + i];
	for (int i = 0; i < 3; i++) o[i] = v[41 + i];
	void *args[] = {map, &tensor, &out, &scratch, c, c + 1, c + 2, c + 3, c + 4, o, o + 1, o + 2, &bytes};
	rc = cuLaunchKernel(fn, !strcmp(kernel, "mc2") ? 2 : 1, 1, 1, 32, 1, 1, 0, 0, args, 0);
	if (!rc) rc = cuCtxSynchronize();
	printf(" %d ", rc);
	if (rc) { printf("-\n"); return 0; }
	cuMemcpyDtoH(shown, stores ? tensor : out, SHOWN);
	int n = SHOWN;
	while (n > 0 && shown[n - 1] == 0xa5) n--;
	if (reduces) n = 4096;
	for (int i = 0; i < n; i++) printf("%02x", shown[i]);
	printf(n ? "\n" : "-\n");
	return 1;
}

int main(int argc, char **argv) {
	char line[4096], label[64], kernel[64];
	char *modules[2] = {text(argv[2]), text(argv[3])};
	FILE *f = fopen(argv[1], "r");
	if (!f || argc != 4) return 1;
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	find(lib, &cuInit, "cuInit"); find(lib, &cuDeviceGet, "cuDeviceGet"); find(lib, &cuCtxCreate, "cuCtxCreate_v2"); find(lib, &cuModuleLoadData, "cuModuleLoadData");
	find(lib, &cuModuleGetFunction, "cuModuleGetFunction"); find(lib, &cuMemAlloc, "cuMemAlloc_v2"); find(lib, &cuMemcpyHtoD, "cuMemcpyHtoD_v2");
	find(lib, &cuMemcpyDtoH, "cuMemcpyDtoH_v2"); find(lib, &cuCtxSynchronize, "cuCtxSynchronize"); find(lib, &cuMemsetD8, "cuMemsetD8_v2");
	find(lib, &cuLaunchKernel, "cuLaunchKernel"); find(lib, &encodeTiled, "cuTensorMapEncodeTiled"); find(lib, &encodeIm2col, "cuTensorMapEncodeIm2col");
	int *done = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), lines = 0;
	while (fgets(line, sizeof line, f)) lines++;
	for (int tries = 0; *done < lines && tries < 200; tries++) {
		fflush(stdout);
		if (fork()) { wait(0); continue; }
		start(modules);
		rewind(f);
		for (int n = 0; fgets(line, sizeof line, f); n++) {
			long long v[COLUMNS] = {0};
			int at = 0, used = 0;
			if (n < *done) continue;
			*done = n + 1;
			if (line[0] == '#' || sscanf(line, "%63s %63s%n", label, kernel, &at) < 2) continue;
			for (int i = 0; i < COLUMNS && sscanf(line + at, "%lld%n", v + i, &used) == 1; i++) at += used;
			alarm(10);
			int alive = one(label, kernel, v);
			fflush(stdout);
			if (!alive) break;
		}
		_exit(0);
	}
	return 0;
}
