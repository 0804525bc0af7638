// Texture objects: arrays of one to three dimensions and layers, filters, address modes, formats, linear and pitched memory.
#include "app.cuh"
#include <vector>

template <class T> __global__ void one(cudaTextureObject_t t, const float *x, T *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = tex1D<T>(t, x[i]);
}
template <class T> __global__ void two(cudaTextureObject_t t, const float *x, const float *y, T *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = tex2D<T>(t, x[i], y[i]);
}
__global__ void three(cudaTextureObject_t t, const float *x, const float *y, float *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = tex3D<float>(t, x[i], y[i], x[i] * 0.5f + 0.25f);
}
__global__ void fetch(cudaTextureObject_t t, int4 *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = tex1Dfetch<int4>(t, i);
}
__global__ void layer(cudaTextureObject_t t, float *out, int w, int layers) {
	int i = threadIdx.x;
	for (int l = 0; l < layers; l++)
		out[l * w + i] = tex2DLayered<float>(t, i + 0.5f, 0.5f, l);
}
__global__ void gather(cudaTextureObject_t t, float4 *out) {
	int i = threadIdx.x;
	out[i] = tex2Dgather<float4>(t, i + 1.0f, 1.0f, 0);
}

template <class T> static cudaArray_t array2d(const std::vector<T> &v, int w, int h) {
	cudaArray_t a;
	cudaChannelFormatDesc f = cudaCreateChannelDesc<T>();
	OK(cudaMallocArray(&a, &f, w, h));
	OK(cudaMemcpy2DToArray(a, 0, 0, v.data(), w * sizeof(T), w * sizeof(T), h ? h : 1, cudaMemcpyHostToDevice));
	return a;
}

static cudaTextureObject_t object(cudaArray_t a, cudaTextureAddressMode mode, cudaTextureFilterMode filter, cudaTextureReadMode read, bool normal) {
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	cudaTextureDesc d = {};
	d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
	d.filterMode = filter;
	d.readMode = read;
	d.normalizedCoords = normal;
	cudaTextureObject_t t;
	OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	return t;
}

int main() {
	const int n = 64;
	std::vector<float> x(n), y(n), o(n * 4);
	for (int i = 0; i < n; i++)
		x[i] = i * 0.25f - 3, y[i] = (i * 7 % n) * 0.125f - 1;
	float *dx, *dy, *out;
	OK(cudaMalloc(&dx, n * 4));
	OK(cudaMalloc(&dy, n * 4));
	OK(cudaMalloc(&out, n * 16));
	OK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(dy, y.data(), n * 4, cudaMemcpyHostToDevice));
	auto show = [&](const char *what) {
		OK(cudaMemcpy(o.data(), out, n * 4, cudaMemcpyDeviceToHost));
		printf("%s: %g %g %g %g, %llx\n", what, o[0], o[13], o[21], o[n - 1], sum(o.data(), n));
	};
	// One dimension: values whose filtered results are exact.
	std::vector<float> line(8);
	for (int i = 0; i < 8; i++)
		line[i] = i * 4;
	cudaArray_t a1 = array2d(line, 8, 0);
	for (int filter = 0; filter < 2; filter++) {
		cudaTextureObject_t t = object(a1, cudaAddressModeClamp, filter ? cudaFilterModeLinear : cudaFilterModePoint, cudaReadModeElementType, false);
		one<float><<<1, n>>>(t, dx, out, n);
		show(filter ? "1d linear clamp" : "1d point clamp");
		OK(cudaDestroyTextureObject(t));
		t = object(a1, cudaAddressModeBorder, filter ? cudaFilterModeLinear : cudaFilterModePoint, cudaReadModeElementType, false);
		one<float><<<1, n>>>(t, dx, out, n);
		show(filter ? "1d linear border" : "1d point border");
		OK(cudaDestroyTextureObject(t));
	}
	for (int mode : {cudaAddressModeWrap, cudaAddressModeMirror}) {
		cudaTextureObject_t t = object(a1, (cudaTextureAddressMode)mode, cudaFilterModePoint, cudaReadModeElementType, true);
		one<float><<<1, n>>>(t, dx, out, n);
		show(mode == cudaAddressModeWrap ? "1d wrap" : "1d mirror");
		OK(cudaDestroyTextureObject(t));
	}
	// Two dimensions.
	std::vector<float> plane(8 * 4);
	for (int i = 0; i < 32; i++)
		plane[i] = (i % 8) * 16 + (i / 8) * 256;
	cudaArray_t a2 = array2d(plane, 8, 4);
	cudaTextureObject_t t2 = object(a2, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
	two<float><<<1, n>>>(t2, dx, dy, out, n);
	show("2d linear");
	cudaTextureObject_t t3 = object(a2, cudaAddressModeWrap, cudaFilterModePoint, cudaReadModeElementType, true);
	two<float><<<1, n>>>(t3, dx, dy, out, n);
	show("2d wrap");
	// Bytes as fractions, and four of them.
	std::vector<uchar4> bytes(8 * 4);
	for (int i = 0; i < 32; i++)
		bytes[i] = make_uchar4(i * 8, 255 - i, i, 255);
	cudaArray_t a4 = array2d(bytes, 8, 4);
	cudaTextureObject_t t4 = object(a4, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeNormalizedFloat, false);
	two<float4><<<1, n>>>(t4, dx, dy, (float4 *)out, n);
	OK(cudaMemcpy(o.data(), out, n * 16, cudaMemcpyDeviceToHost));
	printf("bytes: %.6f %.6f %.6f %.6f, %llx\n", o[40], o[41], o[42], o[43], sum(o.data(), n * 4));
	cudaTextureObject_t t5 = object(a4, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
	two<uchar4><<<1, n>>>(t5, dx, dy, (uchar4 *)out, n);
	OK(cudaMemcpy(o.data(), out, n * 4, cudaMemcpyDeviceToHost));
	uchar4 *u = (uchar4 *)o.data();
	printf("raw: %d %d %d %d, %llx\n", u[10].x, u[10].y, u[10].z, u[10].w, sum(u, n));
	// Three dimensions.
	cudaExtent e = make_cudaExtent(8, 4, 2);
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	cudaArray_t a3;
	OK(cudaMalloc3DArray(&a3, &f, e, 0));
	std::vector<float> cube(64);
	for (int i = 0; i < 64; i++)
		cube[i] = i * 64;
	cudaMemcpy3DParms c3 = {};
	c3.srcPtr = make_cudaPitchedPtr(cube.data(), 8 * 4, 8, 4);
	c3.dstArray = a3;
	c3.extent = e;
	c3.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&c3));
	cudaTextureObject_t t6 = object(a3, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
	three<<<1, n>>>(t6, dx, dy, out, n);
	show("3d linear");
	// Linear and pitched memory.
	std::vector<int4> four(n);
	for (int i = 0; i < n; i++)
		four[i] = make_int4(i, -i, i * i, 7);
	int4 *lin, *lout;
	OK(cudaMalloc(&lin, n * 16));
	OK(cudaMalloc(&lout, n * 16));
	OK(cudaMemcpy(lin, four.data(), n * 16, cudaMemcpyHostToDevice));
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = lin;
	r.res.linear.desc = cudaCreateChannelDesc<int4>();
	r.res.linear.sizeInBytes = n * 16;
	cudaTextureDesc td = {};
	cudaTextureObject_t t7;
	OK(cudaCreateTextureObject(&t7, &r, &td, nullptr));
	fetch<<<1, n>>>(t7, lout, n);
	OK(cudaMemcpy(four.data(), lout, n * 16, cudaMemcpyDeviceToHost));
	printf("fetched: %d %d %d, %llx\n", four[9].x, four[9].y, four[9].z, sum(four.data(), n));
	float *pitched;
	size_t pitch;
	OK(cudaMallocPitch(&pitched, &pitch, 8 * 4, 4));
	OK(cudaMemcpy2D(pitched, pitch, plane.data(), 32, 32, 4, cudaMemcpyHostToDevice));
	cudaResourceDesc pr = {};
	pr.resType = cudaResourceTypePitch2D;
	pr.res.pitch2D.devPtr = pitched;
	pr.res.pitch2D.desc = f;
	pr.res.pitch2D.width = 8;
	pr.res.pitch2D.height = 4;
	pr.res.pitch2D.pitchInBytes = pitch;
	td.filterMode = cudaFilterModeLinear;
	td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
	cudaTextureObject_t t8;
	OK(cudaCreateTextureObject(&t8, &pr, &td, nullptr));
	two<float><<<1, n>>>(t8, dx, dy, out, n);
	show("pitched");
	// Layers.
	cudaArray_t al;
	OK(cudaMalloc3DArray(&al, &f, make_cudaExtent(8, 4, 2), cudaArrayLayered));
	c3.dstArray = al;
	OK(cudaMemcpy3D(&c3));
	cudaTextureObject_t t9 = object(al, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
	OK(cudaMemset(out, 0, n * 4));
	layer<<<1, 8>>>(t9, out, 8, 2);
	show("layers");
	// Gather.
	cudaArray_t ag;
	OK(cudaMallocArray(&ag, &f, 8, 4, cudaArrayTextureGather));
	OK(cudaMemcpy2DToArray(ag, 0, 0, plane.data(), 32, 32, 4, cudaMemcpyHostToDevice));
	cudaTextureObject_t t10 = object(ag, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
	gather<<<1, 6>>>(t10, (float4 *)out);
	OK(cudaMemcpy(o.data(), out, 6 * 16, cudaMemcpyDeviceToHost));
	printf("gathered: %g %g %g %g\n", o[8], o[9], o[10], o[11]);
	// What an object says of itself.
	cudaResourceDesc back;
	cudaTextureDesc tback;
	OK(cudaGetTextureObjectResourceDesc(&back, t2));
	OK(cudaGetTextureObjectTextureDesc(&tback, t2));
	printf("said: %d %d %d %d\n", back.resType == cudaResourceTypeArray, back.res.array.array == a2, tback.filterMode, tback.normalizedCoords);
	cudaExtent ext;
	unsigned flags;
	OK(cudaArrayGetInfo(&f, &ext, &flags, al));
	printf("array: %d bits, %zu x %zu x %zu, flags %u\n", f.x, ext.width, ext.height, ext.depth, flags);
	for (auto t : {t2, t3, t4, t5, t6, t7, t8, t9, t10})
		OK(cudaDestroyTextureObject(t));
	for (auto a : {a1, a2, a3, a4, al, ag})
		OK(cudaFreeArray(a));
	return 0;
}
