// Launches: shapes, parameters, attributes, occupancy.
#include "transcript.h"

GROUP(launch) {
	start();
	CUfunction f = kernel("empty"); int max = 0;
	QUIET(cuDeviceGetAttribute(&max, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, dev));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 65535, 65535, 0, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1024, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1025, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 64, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 32, 33, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 0x80000000u, 1, 1, 1, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 65536, 1, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 48 << 10, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, (48 << 10) + 1, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 1 << 24, 0, 0, 0));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, max));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, max, 0, 0, 0));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, max + 1, 0, 0, 0));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 16));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 17, 0, 0, 0));
	T(cuLaunchKernel(kernel("small"), 1, 1, 1, 64, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(kernel("small"), 1, 1, 1, 65, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(kernel("fixed"), 1, 1, 1, 32, 2, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(kernel("fixed"), 1, 1, 1, 64, 1, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(kernel("fixed"), 1, 1, 1, 2, 32, 1, 0, 0, 0, 0));
	T(cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
	T(cuCtxSynchronize());
}

GROUP(launch_parameters) {
	start();
	CUdeviceptr p = new_memory(16); unsigned v = 7; CUfunction f = kernel("set"); unsigned char buf[32]; size_t n = 12;
	void *args[] = {&p, &v};
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
	N(word(p));
	memcpy(buf, &p, 8);
	v = 8;
	memcpy(buf + 8, &v, 4);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buf, CU_LAUNCH_PARAM_BUFFER_SIZE, &n, CU_LAUNCH_PARAM_END};
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, extra));
	N(word(p));
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, extra));
	void *swapped[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &n, CU_LAUNCH_PARAM_BUFFER_POINTER, buf, CU_LAUNCH_PARAM_END};
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, swapped));
	void *bad[] = {(void *)9, buf, CU_LAUNCH_PARAM_END};
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, bad));
	void *half[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buf, CU_LAUNCH_PARAM_END};
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, half));
	n = 8;
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, extra));
	n = 16;
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, extra));
	n = 0;
	T(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, extra));
	T(cuCtxSynchronize());
}

static int exc_(CUfunction f, unsigned grid, unsigned block, CUlaunchAttribute *a, unsigned n) {
	CUlaunchConfig c;
	memset(&c, 0, sizeof c);
	c.gridDimX = grid; c.gridDimY = c.gridDimZ = 1; c.blockDimX = block; c.blockDimY = c.blockDimZ = 1; c.attrs = a; c.numAttrs = n;
	return cuLaunchKernelEx(&c, f, 0, 0);
}

GROUP(launch_ex) {
	start();
	CUfunction f = kernel("empty"); CUlaunchAttribute a[2]; CUevent e = new_event(CU_EVENT_DISABLE_TIMING);
	memset(a, 0, sizeof a);
	T(exc_(f, 1, 1, 0, 0));
	T(exc_(f, 1, 1, 0, 1));
	T(cuLaunchKernelEx(0, f, 0, 0));
	a[0].id = CU_LAUNCH_ATTRIBUTE_IGNORE;
	T(exc_(f, 1, 1, a, 1));
	a[0].id = (CUlaunchAttributeID)77;
	T(exc_(f, 1, 1, a, 1));
	NOTE("clusters");
	a[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
	a[0].value.clusterDim.x = 2; a[0].value.clusterDim.y = 1; a[0].value.clusterDim.z = 1;
	T(exc_(f, 4, 32, a, 1));
	T(exc_(f, 3, 32, a, 1));
	a[0].value.clusterDim.x = 8;
	T(exc_(f, 8, 32, a, 1));
	a[0].value.clusterDim.x = 16;
	T(exc_(f, 16, 32, a, 1));
	a[0].value.clusterDim.x = 0;
	T(exc_(f, 16, 32, a, 1));
	a[0].value.clusterDim.x = 32;
	T(exc_(f, 32, 32, a, 1));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
	a[0].value.clusterDim.x = 16;
	T(exc_(f, 16, 32, a, 1));
	NOTE("others");
	memset(a, 0, sizeof a);
	a[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
	a[0].value.cooperative = 1;
	T(exc_(f, 1, 32, a, 1));
	T(exc_(f, 1 << 20, 32, a, 1));
	memset(a, 0, sizeof a);
	a[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
	a[0].value.priority = -3;
	T(exc_(f, 1, 32, a, 1));
	memset(a, 0, sizeof a);
	a[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
	a[0].value.programmaticStreamSerializationAllowed = 1;
	T(exc_(f, 1, 32, a, 1));
	memset(a, 0, sizeof a);
	a[0].id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
	a[0].value.launchCompletionEvent.event = e;
	T(exc_(f, 1, 32, a, 1));
	T(cuEventSynchronize(e));
	memset(a, 0, sizeof a);
	a[0].id = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
	a[0].value.sharedMemCarveout = 50;
	T(exc_(f, 1, 32, a, 1));
	T(cuCtxSynchronize());
}

GROUP(cooperative) {
	start();
	CUfunction f = kernel("empty"); int n = 0, sms = 0;
	QUIET(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev));
	QUIET(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 0));
	T(cuLaunchCooperativeKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, 0));
	T(cuLaunchCooperativeKernel(f, (unsigned)(n * sms), 1, 1, 256, 1, 1, 0, 0, 0));
	T(cuLaunchCooperativeKernel(f, (unsigned)(n * sms + 1), 1, 1, 256, 1, 1, 0, 0, 0));
	T(cuLaunchCooperativeKernel(f, 0, 1, 1, 256, 1, 1, 0, 0, 0));
	T(cuLaunchCooperativeKernel(f, 1, 1, 1, 2000, 1, 1, 0, 0, 0));
	T(cuLaunchCooperativeKernel(0, 1, 1, 1, 32, 1, 1, 0, 0, 0));
	T(cuCtxSynchronize());
}

static size_t CUDA_CB shared_of_(int block) { return (size_t)block * 4; }

GROUP(occupancy) {
	start();
	CUfunction f = kernel("empty"), s = kernel("small"); int n = -1, grid = -1, block = -1; size_t b = 0;
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 32, 0));
	N(n);
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 0));
	N(n);
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 1024, 0));
	N(n);
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 40 << 10));
	N(n);
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 100 << 10));
	N(n);
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 1025, 0));
	N(n);
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0));
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, -1, 0));
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, s, 128, 0));
	N(n);
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(0, f, 32, 0));
	T(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, 0, 32, 0));
	T(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 256, 0, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
	N(n);
	T(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 256, 0, 8));
	T(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 0, 0));
	N(block);
	B(grid > 0);
	T(cuOccupancyMaxPotentialBlockSize(&grid, &block, s, 0, 0, 0));
	N(block);
	T(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 0, 100));
	N(block);
	T(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, shared_of_, 0, 0));
	N(block);
	T(cuOccupancyMaxPotentialBlockSize(0, &block, f, 0, 0, 0));
	T(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, f, 0, 0, 0, 0));
	T(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, f, 0, 0, 0, 8));
	T(cuOccupancyAvailableDynamicSMemPerBlock(&b, f, 2, 256));
	N(b);
	T(cuOccupancyAvailableDynamicSMemPerBlock(&b, f, 0, 256));
	T(cuOccupancyAvailableDynamicSMemPerBlock(&b, f, 2, 2000));
	T(cuOccupancyAvailableDynamicSMemPerBlock(&b, f, 100, 256));
}

GROUP(clusters) {
	start();
	CUfunction f = kernel("empty"); CUlaunchConfig c; CUlaunchAttribute a; int n = -1;
	memset(&c, 0, sizeof c);
	memset(&a, 0, sizeof a);
	c.gridDimX = 16; c.gridDimY = c.gridDimZ = 1; c.blockDimX = 256; c.blockDimY = c.blockDimZ = 1;
	T(cuOccupancyMaxPotentialClusterSize(&n, f, &c));
	N(n);
	a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
	a.value.clusterDim.x = 2; a.value.clusterDim.y = a.value.clusterDim.z = 1;
	c.attrs = &a; c.numAttrs = 1;
	T(cuOccupancyMaxActiveClusters(&n, f, &c));
	B(n > 0);
	c.numAttrs = 0;
	T(cuOccupancyMaxActiveClusters(&n, f, &c));
	T(cuOccupancyMaxActiveClusters(0, f, &c));
	T(cuOccupancyMaxActiveClusters(&n, 0, &c));
	T(cuOccupancyMaxActiveClusters(&n, f, 0));
	T(cuOccupancyMaxPotentialClusterSize(&n, f, 0));
	T(cuOccupancyMaxPotentialClusterSize(0, f, &c));
	T(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
	T(cuOccupancyMaxPotentialClusterSize(&n, f, &c));
	N(n);
}
