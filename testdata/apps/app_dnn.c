// cuDNN through its shared objects, release 8 or 9 (the argument): each part opens by its own name, versions, codes and texts, a convolution
// and the sizes of a recurrent network. Prints one line a step. The library is opened by name: the codes of 8 are not in the header.
#include "app.h"
#include <dlfcn.h>

static const char *const parts[2][11] = {
	{"libcudnn.so.8", "libcudnn_ops_infer.so.8", "libcudnn_ops_train.so.8", "libcudnn_cnn_infer.so.8", "libcudnn_cnn_train.so.8", "libcudnn_adv_infer.so.8",
	 "libcudnn_adv_train.so.8"},
	{"libcudnn.so.9", "libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9", "libcudnn_adv.so.9", "libcudnn_heuristic.so.9",
	 "libcudnn_engines_precompiled.so.9", "libcudnn_engines_runtime_compiled.so.9", "libcudnn_engines_tensor_ir.so.9", "libcudnn_ext.so.9"},
};

static void *library;

static int (*find(const char *name))() {
	void *p = dlsym(library, name);
	if (!p) {
		printf("no %s\n", name);
		exit(1);
	}
	return (int (*)())p;
}

#define CALL(name, ...) find("cudnn" name)(__VA_ARGS__)
#define RIGHT(name, ...) EXPECT(CALL(name, __VA_ARGS__), 0)

static void *described(int nd, const int *dim, const int *stride) {
	void *d;
	RIGHT("CreateTensorDescriptor", &d);
	RIGHT("SetTensorNdDescriptor", d, 0, nd, dim, stride);
	return d;
}

// convolve is a 2x2 filter on a 3x3 image.
static void convolve(void *h) {
	float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w[4] = {1, 10, 100, 1000}, y[4], one = 1, zero = 0;
	void *xd = described(4, (int[]){1, 1, 3, 3}, (int[]){9, 9, 3, 1}), *yd = described(4, (int[]){1, 1, 2, 2}, (int[]){4, 4, 2, 1}), *wd, *cd;
	RIGHT("CreateFilterDescriptor", &wd);
	RIGHT("SetFilterNdDescriptor", wd, 0, 0, 4, (int[]){1, 1, 2, 2});
	RIGHT("CreateConvolutionDescriptor", &cd);
	RIGHT("SetConvolutionNdDescriptor", cd, 2, (int[]){0, 0}, (int[]){1, 1}, (int[]){1, 1}, 1, 0);
	CUdeviceptr dx, dw, dy;
	OK(cuMemAlloc(&dx, sizeof x));
	OK(cuMemAlloc(&dw, sizeof w));
	OK(cuMemAlloc(&dy, sizeof y));
	OK(cuMemcpyHtoD(dx, x, sizeof x));
	OK(cuMemcpyHtoD(dw, w, sizeof w));
	RIGHT("ConvolutionForward", h, &one, xd, dx, wd, dw, cd, 1, NULL, (size_t)0, &zero, yd, dy);
	OK(cuMemcpyDtoH(y, dy, sizeof y));
	printf("convolution %g %g %g %g\n", y[0], y[1], y[2], y[3]);
	int wrong = CALL("ConvolutionForward", h, &one, xd, dx, wd, dw, cd, 1, NULL, (size_t)0, &zero, xd, dy);
	printf("a result of another shape %d %s\n", wrong, ((const char *(*)(int))find("cudnnGetErrorString"))(wrong));
}

// recur asks for the sizes of a network one by one: a program that only infers has no reserve.
static void recur(void *h) {
	void *drop, *r, *xd;
	RIGHT("CreateDropoutDescriptor", &drop);
	EXPECT(((int (*)(void *, void *, float, void *, size_t, unsigned long long))find("cudnnSetDropoutDescriptor"))(drop, h, 0, NULL, 0, 0), 0);
	RIGHT("CreateRNNDescriptor", &r);
	RIGHT("SetRNNDescriptor_v8", r, 0, 2, 2, 0, 0, 0, 0, 3, 2, 3, 3, 1, drop, 0);
	RIGHT("CreateRNNDataDescriptor", &xd);
	RIGHT("SetRNNDataDescriptor", xd, 0, 0, 4, 2, 2, (int[]){4, 3}, NULL);
	size_t work = 0, reserve = 0, both[2] = {0};
	RIGHT("GetRNNTempSpaceSizes", h, r, 1, xd, &work, NULL);
	RIGHT("GetRNNTempSpaceSizes", h, r, 1, xd, NULL, &reserve);
	RIGHT("GetRNNTempSpaceSizes", h, r, 1, xd, both, both + 1);
	printf("sizes %s\n", work == both[0] && reserve == both[1] && reserve ? "agree" : "differ");
}

// choose passes an algorithm of 8, a structure of one number, by value.
static void choose(void) {
	struct { int number; } in = {2}, out = {0};
	void *a;
	RIGHT("CreateAlgorithmDescriptor", &a);
	RIGHT("SetAlgorithmDescriptor", a, in);
	RIGHT("GetAlgorithmDescriptor", a, &out);
	printf("algorithm %d\n", out.number);
}

int main(int argc, char **argv) {
	int nine = argc > 1 && atoi(argv[1]) == 9;
	for (int i = 0; i < 11 && parts[nine][i]; i++) {
		void *p = dlopen(parts[nine][i], RTLD_NOW);
		if (!p || !dlsym(p, "cudnnCreate")) printf("%s: %s\n", parts[nine][i], p ? "no cudnnCreate" : dlerror());
		if (!i) library = p;
	}
	CUcontext ctx;
	void *h;
	OK(cuInit(0));
	OK(cuCtxCreate(&ctx, 0, 0, 0));
	printf("version %zu\n", ((size_t(*)(void))find("cudnnGetVersion"))());
	RIGHT("Create", &h);
	convolve(h);
	recur(h);
	if (nine) {
		char text[200];
		EXPECT(CALL("SetStream", NULL, NULL), 2000);
		((void (*)(char *, size_t))find("cudnnGetLastErrorString"))(text, sizeof text);
		printf("last error: %s\n", text);
	}
	if (!nine) choose();
	RIGHT("Destroy", h);
	return failures != 0;
}
