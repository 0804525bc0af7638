// Templates: kernels over types, values and packs; functors; specialisations; virtual functions made on the device.
#include "app.cuh"
#include <type_traits>
#include <vector>

template <class T> struct Name;
template <> struct Name<int> { static constexpr const char *is = "int"; };
template <> struct Name<float> { static constexpr const char *is = "float"; };
template <> struct Name<double> { static constexpr const char *is = "double"; };
template <> struct Name<short> { static constexpr const char *is = "short"; };
template <> struct Name<unsigned char> { static constexpr const char *is = "byte"; };
template <> struct Name<long long> { static constexpr const char *is = "long"; };

struct Plus {
	template <class T> __device__ T operator()(T a, T b) const { return a + b; }
	template <class T> static T start() { return 0; }
};
struct Most {
	template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; }
	template <class T> static T start() { return -100; }
};

template <class T, class Op, int N> __global__ void reduce(const T *in, T *out, int n, T from, Op op) {
	__shared__ T s[N];
	T v = from;
	for (int i = threadIdx.x; i < n; i += N)
		v = op(v, in[i]);
	s[threadIdx.x] = v;
	__syncthreads();
#pragma unroll
	for (int h = N / 2; h > 0; h /= 2) {
		if (threadIdx.x < h)
			s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + h]);
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*out = s[0];
}

template <class T> static void one() {
	const int n = 777;
	std::vector<T> h(n);
	for (int i = 0; i < n; i++)
		h[i] = (T)((i * 5) % 11);
	T *d, plus, most;
	OK(cudaMalloc(&d, (n + 1) * sizeof(T)));
	OK(cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
	reduce<T, Plus, 128><<<1, 128>>>(d, d + n, n, Plus::start<T>(), Plus());
	OK(cudaMemcpy(&plus, d + n, sizeof(T), cudaMemcpyDeviceToHost));
	reduce<T, Most, 64><<<1, 64>>>(d, d + n, n, std::is_unsigned<T>::value ? (T)0 : Most::start<T>(), Most());
	OK(cudaMemcpy(&most, d + n, sizeof(T), cudaMemcpyDeviceToHost));
	printf("%s: %g %g\n", Name<T>::is, (double)plus, (double)most);
	OK(cudaFree(d));
}

template <class... A> __global__ void pack(double *out, A... a) { *out = (0.0 + ... + (double)a); }

template <int N, class T> struct Vec {
	T v[N];
	__host__ __device__ T dot(const Vec &o) const {
		T t = 0;
		for (int i = 0; i < N; i++)
			t += v[i] * o.v[i];
		return t;
	}
};
template <int N, class T> __global__ void dots(Vec<N, T> a, const Vec<N, T> *b, T *out) { out[threadIdx.x] = a.dot(b[threadIdx.x]); }

struct Shape {
	__device__ virtual float area() const = 0;
	__device__ virtual ~Shape() {}
};
struct Square : Shape {
	float a;
	__device__ Square(float a) : a(a) {}
	__device__ float area() const override { return a * a; }
};
struct Box : Square {
	float b;
	__device__ Box(float a, float b) : Square(a), b(b) {}
	__device__ float area() const override { return a * b; }
};
__global__ void shapes(float *out) {
	Shape *s[2];
	int i = threadIdx.x;
	s[0] = new Square(i);
	s[1] = new Box(i, i + 1.0f);
	out[i] = s[i % 2]->area() * 100 + s[(i + 1) % 2]->area();
	delete s[0];
	delete s[1];
}
template <int N> __device__ constexpr int fib() {
	if constexpr (N < 2)
		return N;
	else
		return fib<N - 1>() + fib<N - 2>();
}
__global__ void constants(int *out) { out[0] = fib<20>(), out[1] = sizeof(Vec<7, short>); }

int main() {
	one<int>(), one<float>(), one<double>(), one<short>(), one<unsigned char>(), one<long long>();
	double *d, h;
	OK(cudaMalloc(&d, 1024));
	pack<<<1, 1>>>(d, 1, 2.5f, (short)3, 4ull, (signed char)-5, 6.25);
	OK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("pack: %g\n", h);
	Vec<5, int> a = {{1, 2, 3, 4, 5}}, b[4], *db;
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 5; k++)
			b[i].v[k] = i * 10 + k;
	OK(cudaMalloc(&db, sizeof b));
	OK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	dots<<<1, 4>>>(a, db, (int *)d);
	int o[4];
	OK(cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost));
	printf("dots: %d %d %d %d\n", o[0], o[1], o[2], o[3]);
	shapes<<<1, 32>>>((float *)d);
	float f[32];
	OK(cudaMemcpy(f, d, sizeof f, cudaMemcpyDeviceToHost));
	printf("shapes: %g %g %g, %llx\n", f[0], f[7], f[31], sum(f, 32));
	constants<<<1, 1>>>((int *)d);
	OK(cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost));
	printf("constants: %d %d\n", o[0], o[1]);
	return 0;
}
