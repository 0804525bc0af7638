// Finds us as programs do that do not link: dlopen with RTLD_LOCAL, dlsym, dlvsym.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "abi_check.h"

int main(void) {
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *rt12 = dlopen("libcudart.so.12", RTLD_LAZY | RTLD_LOCAL);
	void *rt13 = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
	EXPECT(cuda && rt12 && rt13, 1);
	if (failures) {
		puts(dlerror());
		return 1;
	}
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(cuda, "cuInit");
	int (*version)(int *) = (int (*)(int *))dlsym(cuda, "cuDriverGetVersion");
	EXPECT(init != NULL && version != NULL, 1);

	// A name belongs to its library, and to its version node.
	EXPECT(dlsym(cuda, "cudaMalloc") == NULL, 1);
	EXPECT(dlsym(rt12, "cuInit") == NULL, 1);
	EXPECT(dlvsym(rt12, "cudaMalloc", "libcudart.so.12") != NULL, 1);
	EXPECT(dlvsym(rt13, "cudaMalloc", "libcudart.so.13") != NULL, 1);
	EXPECT(dlvsym(rt13, "cudaMalloc", "libcudart.so.12") == NULL, 1);
	EXPECT(dlsym(rt12, "cudaMalloc") != dlsym(rt13, "cudaMalloc"), 1);

	Dl_info info;
	EXPECT(dladdr((void *)init, &info) != 0, 1);
	EXPECT(strcmp(strrchr(info.dli_fname, '/') + 1, "libcuda.so.1"), 0);

	// Unloading is refused: threads of ours may be running.
	int v = 0;
	EXPECT(init(0), 0);
	dlclose(cuda);
	EXPECT(version(&v), 0);
	EXPECT(v, 13040);
	EXPECT(init(0), 0);
	return finish();
}
