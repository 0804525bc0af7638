// Loads of bad PTX. Prints a line for each: its name, the code, and the first line of the error log.
#include <sys/resource.h>
#include <time.h>

#include "app.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static char log_text[65536], info_text[4096];

static int load(const char *text) {
	CUmodule m = 0;
	CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
	void *v[] = {log_text, (void *)sizeof log_text, info_text, (void *)sizeof info_text};
	memset(log_text, 'x', sizeof log_text);
	int e = cuModuleLoadDataEx(&m, text, 4, o, v);
	size_t n = (size_t)(uintptr_t)v[1];
	if (n != sizeof log_text || strlen(log_text) != n - 1) // else a text that was cut
		if (n >= sizeof log_text || strlen(log_text) != n) printf("the log has %zu bytes, its size says %zu\n", strnlen(log_text, sizeof log_text), n);
	return e;
}

static void show(const char *name, const char *text) {
	int e = load(text);
	printf("%s %d %s\n", name, e, log_text);
	CUmodule m = 0;
	EXPECT(cuModuleLoadData(&m, text), e); // without a log the same
}

// garbage loads many megabytes: bytes, or something that looks like PTX for a long time.
static void garbage(int megabytes, const char *name, const char *head, const char *piece, int random) {
	size_t n = (size_t)megabytes << 20, at = strlen(head), step = strlen(piece);
	char *big = malloc(n + 1);
	memcpy(big, head, at);
	uint32_t x = 12345;
	for (size_t i = at; i < n; i++) {
		x = x * 1664525 + 1013904223;
		big[i] = random ? (char)((x >> 24) | 1) : piece[(i - at) % step];
	}
	big[n] = 0;
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	int e = load(big);
	clock_gettime(CLOCK_MONOTONIC, &b);
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	double s = (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9;
	printf("%s %d %.*s\n", name, e, (int)strcspn(log_text, "\n"), log_text);
	fprintf(stderr, "%s: %.2f s, %ld MB\n", name, s, u.ru_maxrss >> 10);
	if (s > 20) printf("%s: %.2f s\n", name, s);
	free(big);
}

int main(int argc, char **argv) {
	App a;
	OK(app_start(&a));
	if (argc > 1) {
		garbage(100, "bytes", "", "", 1);
		garbage(10, "after a head", HEAD, "", 1);
		garbage(10, "words", HEAD, "frobnicate.u32 %r1, %r2; ", 0);
		garbage(100, "one kernel", HEAD ".visible .entry k() {\n", "frobnicate.u32 %r1, %r2;\n", 0);
		garbage(100, "a comment", HEAD "/*", "never closed ", 0);
		garbage(10, "a string", HEAD ".file 1 \"", "never closed ", 0);
		garbage(10, "braces", HEAD, "{", 0);
		garbage(10, "registers", HEAD ".visible .entry k() {\n", ".reg .b32 %r<1000000000>;\n", 0);
		garbage(10, "array", HEAD, ".global .b8 x[99999999999] = {1};\n", 0);
		garbage(10, "one word", HEAD, "x", 0);
		garbage(10, "spaces", HEAD, " ", 0);
		garbage(10, "parentheses", HEAD ".global .u32 x = ", "(", 0);
	} else {
		show("unknown instruction", HEAD ".visible .entry k() {\n  frobnicate.u32 %r1;\n  ret;\n}\n");
		show("two mistakes", HEAD ".visible .entry k() {\n  .reg .b32 %r<3>;\n  frobnicate.u32 %r1, %r2;\n  ret;\n  defrobnicate %r1;\n}\n");
		show("truncated in a kernel", HEAD ".visible .entry k() {\n  ret;\n");
		show("truncated in a word", HEAD ".visible .ent");
		show("unterminated comment", HEAD ".visible .entry k() {\n  ret;\n}\n/* and so on");
		show("unterminated string", HEAD ".file 1 \"and so on\n");
		show("no version", ".target sm_70\n.visible .entry k() { ret; }\n");
		show("only a version", ".version 7.0\n");
		show("other target", ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }\n");
		show("unknown target", ".version 8.7\n.target sm_999\n.address_size 64\n.visible .entry k() { ret; }\n");
		show("missing function", HEAD ".extern .func f();\n.visible .entry k() {\n  call.uni f, ();\n  ret;\n}\n");
		show("not text", "\x7f\x45\x4cnothing");
	}
	CUfunction f = 0;
	EXPECT(cuModuleGetFunction(&f, a.mod, "nosuch"), CUDA_ERROR_NOT_FOUND);
	OK(app_works(&a)); // nothing of it hurt
	return finish();
}
