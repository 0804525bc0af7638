// Links with -lcuda and asks what every program asks first.
#include <cuda.h>
#include <stdio.h>

#define CHECK(call)                                                                  \
	do {                                                                             \
		CUresult rc_ = (call);                                                       \
		if (rc_ != CUDA_SUCCESS) {                                                   \
			const char *name_ = "?";                                                 \
			cuGetErrorName(rc_, &name_);                                             \
			printf("%s: %s\n", #call, name_);                                        \
			return 1;                                                                \
		}                                                                            \
	} while (0)

int main(void) {
	int version, count, major, minor;
	char name[256];
	CUdevice dev;
	CUuuid uuid;
	CHECK(cuDriverGetVersion(&version));
	CHECK(cuInit(0));
	CHECK(cuDeviceGetCount(&count));
	if (count < 1) {
		puts("no device");
		return 1;
	}
	CHECK(cuDeviceGet(&dev, 0));
	CHECK(cuDeviceGetName(name, sizeof name, dev));
	CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
	CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev));
	CHECK(cuDeviceGetUuid(&uuid, dev));
	printf("version %d\nname %s\n", version, name[0] ? "ok" : "empty");
	printf("bad flags %d\nbad device %d\nnull out %d\n", cuInit(7), cuDeviceGet(&dev, 4711), cuDeviceGetCount(NULL));
	return 0;
}
