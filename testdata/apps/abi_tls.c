// A program with megabytes of thread-local variables, which every thread of ours gets too, and one that looks at errno
// later than it should.
#include <cuda.h>
#include <errno.h>

#include "abi_check.h"

static __thread volatile char large[3 << 20];

int main(void) {
	CUdevice device;
	CUcontext context;
	CUdeviceptr p;
	char back[100] = {0};
	large[sizeof large - 1] = 1;
	errno = 77;
	EXPECT(cuInit(0), 0);
	EXPECT(cuDeviceGet(&device, 0), 0);
	EXPECT(cuCtxCreate_v2(&context, 0, device), 0);
	EXPECT(cuMemAlloc_v2(&p, sizeof back), 0);
	EXPECT(cuMemsetD8_v2(p, 5, sizeof back), 0);
	EXPECT(cuMemcpyDtoH_v2(back, p, sizeof back), 0);
	EXPECT(back[99], 5);
	EXPECT(cuModuleLoad(&(CUmodule){0}, "/nonexistent"), CUDA_ERROR_FILE_NOT_FOUND);
	EXPECT(errno, 77);
	return finish();
}
