// Text and where it ends: behind it lies a NUL, a page that may not be touched, or anything at all. And code for devices newer
// than the one claimed: it is taken, and said once.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "app.h"

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
	"  .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [p]; mov.u32 %r, 41; st.global.u32 [%a], %r; ret;\n}";

static CUdeviceptr out;

// works runs the kernel of a module and takes it away.
static void works(CUmodule m, int value) {
	CUfunction f = 0;
	int got = 0;
	void *args[] = {&out};
	OK(cuMemsetD32(out, 0, 1));
	OK(cuModuleGetFunction(&f, m, "k"));
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	OK(cuMemcpyDtoH(&got, out, 4));
	if (got != value) printf("the kernel wrote %d, not %d\n", got, value), failures++;
}

// every_way loads an image as a module, as a library, and, with its size, through a linker; code is what each answers.
static void every_way(const char *what, const void *image, size_t size, int code, int value) {
	CUmodule m = 0;
	int e = cuModuleLoadData(&m, image);
	if (e != code) printf("%s: module %d\n", what, e), failures++;
	if (!e) {
		works(m, value);
		OK(cuModuleUnload(m));
	}
	CUlibrary lib = 0;
	OK(cuLibraryLoadData(&lib, image, 0, 0, 0, 0, 0, 0));
	e = cuLibraryGetModule(&m, lib);
	if (e != code) printf("%s: library %d\n", what, e), failures++;
	if (!e) works(m, value);
	OK(cuLibraryUnload(lib));
	if (!size) return;
	CUlinkState s = 0;
	void *cubin = 0;
	size_t n = 0;
	OK(cuLinkCreate(0, 0, 0, &s));
	e = cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)image, size, "text", 0, 0, 0);
	if (!e) e = cuLinkComplete(s, &cubin, &n);
	if (e != code) printf("%s: linker %d\n", what, e), failures++;
	if (!e) {
		OK(cuModuleLoadData(&m, cubin));
		works(m, value);
		OK(cuModuleUnload(m));
	}
	OK(cuLinkDestroy(s));
}

// fatbin writes a container of one text.
static size_t fatbin(unsigned char *to, unsigned sm, const char *ptx, const char *behind, size_t n) {
	size_t len = strlen(ptx) + n, padded = (len + 7) / 8 * 8;
	memset(to, 0, 16 + 64 + padded);
	*(uint32_t *)to = 0xba55ed50;
	*(uint16_t *)(to + 4) = 1;
	*(uint16_t *)(to + 6) = 16;
	*(uint64_t *)(to + 8) = 64 + padded;
	unsigned char *e = to + 16;
	*(uint16_t *)e = 1; // PTX
	*(uint16_t *)(e + 2) = 0x101;
	*(uint32_t *)(e + 4) = 64;
	*(uint64_t *)(e + 8) = padded;
	*(uint32_t *)(e + 28) = sm;
	*(uint64_t *)(e + 40) = 0x11;
	memcpy(e + 64, ptx, strlen(ptx));
	memcpy(e + 64 + strlen(ptx), behind, n);
	return 16 + 64 + padded;
}

int main(void) {
	App a;
	OK(app_start(&a));
	OK(cuMemAlloc(&out, 4));
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = sizeof text - 1;
	char *m = mmap(0, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end = m + page;
	every_way("a NUL", text, n, 0, 41);
	// Ends with its page; the next holds what a heap might, then a NUL.
	memcpy(end - n, text, n);
	strcpy(end, "\x01\xc3\x28 remains }} of\x7f");
	every_way("remnants", end - n, n, 0, 41);
	every_way("remnants, inside the size", end - n, n + 9, 0, 41);
	strcpy(end, "%rd4, %rd5;\n\tret;\n}\n");
	every_way("the end of another text", end - n, n, 0, 41);
	strcpy(end, "\n}\n.visible .entry l() { ret; }\n");
	every_way("a brace too many", end - n, 0, 218, 0);
	// Ends with its page, and nothing may touch the next: without access, and not there at all.
	mprotect(end, page, PROT_NONE);
	every_way("a guard page", end - n, n, 0, 41);
	munmap(end, page);
	every_way("the end of memory", end - n, n, 0, 41);
	memmove(end - n + 1, end - n, n - 1); // without its last brace
	every_way("cut short", end - n + 1, 0, 218, 0);

	static unsigned char image[1 << 16];
	fatbin(image, 70, text, "", 0);
	every_way("an entry", image, 0, 0, 41);
	char pad[8] = "\n\n\n\n\n\n\n\n";
	fatbin(image, 70, text, pad, 8 - n % 8); // fills its room: no NUL
	every_way("an entry without a NUL", image, 0, 0, 41);
	fatbin(image, 70, text, "\0garbage", 8);
	every_way("an entry with more behind its NUL", image, 0, 0, 41);

	// The device claims 7.5.
	char newer[sizeof text + 8];
	memcpy(newer, text, sizeof text);
	memcpy(strstr(newer, "7.0"), "8.7", 3);
	char *target = strstr(newer, "sm_70");
	snprintf(target, sizeof newer - (size_t)(target - newer), "sm_120\n%s", strstr(text, ".address_size"));
	fatbin(image, 120, newer, "", 0);
	every_way("an entry that is newer", image, 0, 0, 41);
	every_way("a text that is newer", newer, strlen(newer), 0, 41);
	return finish();
}
