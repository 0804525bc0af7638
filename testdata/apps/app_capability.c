// The compute capability that a program is told.
#include "app.h"

int main(void) {
	int major = 0, minor = 0;
	CUdevice d;
	OK(cuInit(0));
	OK(cuDeviceGet(&d, 0));
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d));
	OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d));
	printf("%d.%d\n", major, minor);
	return failures != 0;
}
