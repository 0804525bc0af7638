// Opens libraries that do no work here and calls some of their functions: what each answers.
#include <dlfcn.h>
#include <stdio.h>

static char room[16384]; // for what is written before it is refused

static void ask(void *lib, const char *name) {
	long (*fn)(void *, void *, void *) = lib ? (long (*)(void *, void *, void *))dlsym(lib, name) : 0;
	if (!fn)
		printf("%s is not there: %s\n", name, dlerror());
	else
		printf("%s %d\n", name, (int)fn(room, 0, 0));
}

// ask_real calls a function that returns a float or a double, whose register holds something else before.
static void ask_real(void *lib, const char *name, int is_float) {
	void *fn = lib ? dlsym(lib, name) : 0;
	if (!fn)
		printf("%s is not there: %s\n", name, dlerror());
	else if (is_float)
		printf("%s %g\n", name, ((float (*)(void *, int, float))fn)(room, 0, 1.5f));
	else
		printf("%s %g\n", name, ((double (*)(void *, int, double))fn)(room, 0, 2.5));
}

int main(void) {
	void *shmem = dlopen("libnvshmem_host.so.3", RTLD_NOW);
	ask(shmem, "nvshmemx_hostlib_init_attr");
	ask(shmem, "nvshmem_malloc");
	ask(shmem, "nvshmemx_float_sum_reduce_on_stream");
	ask_real(shmem, "nvshmem_float_g", 1);
	ask_real(shmem, "nvshmem_double_atomic_fetch", 0);
	ask(dlopen("libcupti.so.12", RTLD_NOW), "cuptiSubscribe");
	ask(dlopen("libcupti.so.13", RTLD_NOW), "cuptiSubscribe");
	return 0;
}
