// The compute capability that a program is told, after it has loaded the libraries that are named.
#include "app.h"
#include <dlfcn.h>

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW)) {
			fprintf(stderr, "%s\n", dlerror());
			return 2;
		}
	int major = 0, minor = 0;
	CUdevice d;
	OK(cuInit(0));
	OK(cuDeviceGet(&d, 0));
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d));
	OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d));
	printf("%d.%d\n", major, minor);
	return failed;
}
