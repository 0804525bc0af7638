// What a front jumps through: the function itself when calls are not recorded, one thunk for all of a library when they are.
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "abi_check.h"

int main(void) {
	void *base = dlopen("libkudzu-base.so", RTLD_NOW | RTLD_NOLOAD), *image;
	void **table = base ? dlsym(base, "kz_table_cuda") : NULL;
	const char *trace = getenv("KUDZU_TRACE");
	EXPECT(table != NULL, 1);
	EXPECT(cuInit(0), 0);
	image = dlopen("libkudzu.so", RTLD_NOW | RTLD_NOLOAD);
	EXPECT(image != NULL, 1);
	int go = 0, other = 0, same = 0;
	for (int i = 0; i < 700; i++) {
		Dl_info where, home;
		if (!dladdr(table[i], &where) || !dladdr((void *)table, &home))
			return 1;
		if (where.dli_fbase == home.dli_fbase)
			other++;
		else
			go++;
		same += table[i] == table[0];
	}
	if (trace && *trace) {
		EXPECT(same, 700);
		EXPECT(go, 0);
	} else
		EXPECT(go > 400 && same == 1 && other > 0, 1);
	return finish();
}
