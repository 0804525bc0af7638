// Compiles some programs with NVRTC and prints all that it says of them; last whether the Go image was needed for it. "odd" as the
// argument also does what a program seldom does, with a program that is compiled.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvrtc.h"

static void text(const char *what, nvrtcProgram p, nvrtcResult (*size)(nvrtcProgram, size_t *), nvrtcResult (*get)(nvrtcProgram, char *)) {
	size_t n = 0;
	int rc = size(p, &n);
	char *b = calloc(1, n + 1);
	uint64_t sum = 14695981039346656037u;
	printf("  %s %d %d %zu", what, rc, get(p, b), n);
	for (size_t i = 0; i < n; i++) sum = (sum ^ (uint8_t)b[i]) * 1099511628211u;
	printf(" %016llx%s%s\n", (unsigned long long)sum, *what == 'l' ? " " : "", *what == 'l' ? b : "");
	free(b);
}

static void all(nvrtcProgram p) {
	text("log", p, nvrtcGetProgramLogSize, nvrtcGetProgramLog);
	text("ptx", p, nvrtcGetPTXSize, nvrtcGetPTX);
	text("cubin", p, nvrtcGetCUBINSize, nvrtcGetCUBIN);
	size_t n = 0; // bitcode has the name of a folder in it: two compilations differ
	printf("  for links %d", nvrtcGetLTOIRSize(p, &n));
	char *b = calloc(1, n + 8);
	printf(" %d %d %02x\n", nvrtcGetLTOIR(p, b), n > 1000, (uint8_t)*b);
	free(b);
}

static void name(nvrtcProgram p, const char *expr) {
	const char *is = NULL;
	int rc = nvrtcGetLoweredName(p, expr, &is);
	printf("  %s: %d %s\n", expr, rc, rc ? "" : is);
}

static void odd(nvrtcProgram p) {
	const char *bad[] = {"-arch=sm_1"}, *other[] = {"-arch=compute_90", "-DK=8"};
	size_t n = 1;
	printf(" odd\n  %d", nvrtcAddNameExpression(p, "&late"));
	printf(" %d", nvrtcGetPCHCreateStatus(p));
	printf(" %d %zu", nvrtcGetPCHHeapSizeRequired(p, &n), n);
	printf(" %d %d\n", nvrtcGetPTXSize(p, NULL), nvrtcGetProgramLog(p, NULL));
	name(p, "nobody");
	name(p, "twice<float>");
	all(p);
	printf("  %d\n", nvrtcCompileProgram(p, 1, bad));
	all(p);
	printf("  %d\n", nvrtcCompileProgram(p, 2, other));
	all(p);
	printf("  %d\n", nvrtcCompileProgram(p, 1, NULL));
}

static const char source[] = "#include \"k.h\"\n"
			     "template <class T> __global__ void twice(T *p) { int unused; p[threadIdx.x] *= K; }\n"
			     "__constant__ int seven = 7;\n"
			     "extern \"C\" __global__ void plain(int *p) { *p = seven; }\n";
static const char *const headers[] = {"#ifndef K\n#define K 2\n#endif\n"}, *const headers3[] = {"#ifndef K\n#define K 3\n#endif\n"}, *const names[] = {"k.h"};

// Requests, each different from the one before it in one thing.
static const struct request {
	const char *name, *source;
	const char *const *headers;
	int headers_count;
	const char *exprs[3], *options[5];
} requests[] = {
    {"a.cu", source, headers, 1, {"twice<float>", "&seven"}, {"-arch=compute_80"}},
    {"b.cu", source, headers, 1, {"twice<float>", "&seven"}, {"-arch=compute_80"}},
    {NULL, source, headers, 1, {"twice<float>", "&seven"}, {"-arch=compute_80"}},
    {"a.cu", source, headers3, 1, {"twice<float>", "&seven"}, {"-arch=compute_80"}},
    {"a.cu", source + 15, headers, 1, {"twice<float>", "&seven"}, {"-arch=compute_80", "-DK=4"}},
    {"a.cu", source, headers, 1, {"twice<double>", "&seven"}, {"-arch=compute_80"}},
    {"a.cu", source, headers, 1, {"twice<float>"}, {"-arch=compute_80"}},
    {"a.cu", source, headers, 1, {0}, {"-arch=compute_80"}},
    {"a.cu", source, headers, 1, {"twice<float>", "&seven"}, {"-arch=sm_80"}},
    {"a.cu", source, headers, 1, {"twice<float>", "&seven"}, {"-arch=compute_80", "-dlto"}},
    {"a.cu", source, headers, 1, {"twice<float>", "&seven"}, {"-arch", "compute_80", "--use_fast_math"}},
    {"a.cu", source, NULL, 0, {"twice<float>", "&seven"}, {"-arch=compute_80", "-Iinclude"}},
    {"a.cu", "extern \"C\" __global__ void none() {}", NULL, 0, {0}, {0}},
    {"a.cu", "int unused;\n#include \"k.h\"\n#include <nowhere.h>\n__global__ void none() {}", NULL, 0, {0}, {"-arch=compute_80", "-Iinclude"}},
    {"a.cu", "#include <nowhere.h>\n__global__ void none() {}", NULL, 0, {0}, {"-arch=compute_80", "-Iinclude"}}, // the one before was not compiled
};

int main(int argc, char **argv) {
	int major, minor, answer = nvrtcVersion(&major, &minor); // by itself: C does not say in which order arguments are evaluated
	printf("%d %d.%d\n", answer, major, minor);
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		const struct request *r = &requests[i];
		nvrtcProgram p;
		int n = 0;
		printf("%zu: %d\n", i, nvrtcCreateProgram(&p, r->source, r->name, r->headers_count, (const char **)r->headers, (const char **)names));
		for (int k = 0; k < 3 && r->exprs[k]; k++) printf("  %d\n", nvrtcAddNameExpression(p, r->exprs[k]));
		while (n < 5 && r->options[n]) n++;
		int rc = nvrtcCompileProgram(p, n, (const char **)r->options);
		printf("  %d\n", rc);
		if (rc)
			text("log", p, nvrtcGetProgramLogSize, nvrtcGetProgramLog);
		else
			all(p);
		for (int k = 0; k < 3 && r->exprs[k]; k++) name(p, r->exprs[k]);
		nvrtcProgram was = p;
		if (argc > 1 && (i % 9 == 0 || rc)) odd(p);
		printf("  %d\n", nvrtcDestroyProgram(&p));
		if (argc > 1) printf("  %p %d", (void *)p, nvrtcDestroyProgram(&p)), printf(" %d\n", nvrtcDestroyProgram(&was));
	}
	char line[4096];
	int image = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps)) image |= strstr(line, "/libkudzu.so") != NULL;
	printf("Go %d\n", image);
	return 0;
}
