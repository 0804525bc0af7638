// Records cufftXtSetJITCallback: a line is what was called | statuses | numbers of the result. On NVIDIA's cuFFT the callbacks come from
// nvcc, as a file that CALLBACKS names: fft_callbacks -source > cb.cu; nvcc -dc -fatbin -gencode arch=compute_90,code=lto_90 cb.cu.
#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <nvrtc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A load multiplies by one to five and adds; a store multiplies and adds. half is for spectra of real numbers, which must stay such.
#define FUNCTIONS(T, T2, s)                                                                                                                \
    "__device__ " T2 " load" s "(void *in, unsigned long long i, void *info, void *) {\n"                                    \
    "  " T2 " v = ((" T2 " *)in)[i]; v.x = v.x * (" T ")(1 + i % 5) + ((" T " *)info)[0]; v.y = v.y - ((" T " *)info)[1] * (" T ")(i % 3);\n"    \
    "  return v;\n}\n"                                                                                                                    \
    "__device__ " T2 " half" s "(void *in, unsigned long long i, void *info, void *) {\n"                                    \
    "  " T2 " v = ((" T2 " *)in)[i]; v.x *= ((" T " *)info)[0]; v.y *= ((" T " *)info)[0]; return v;\n}\n"                                 \
    "__device__ " T " read" s "(void *in, unsigned long long i, void *info, void *) {\n"                                     \
    "  return ((" T " *)in)[i] * (" T ")(1 + i % 5) + ((" T " *)info)[0];\n}\n"                                                           \
    "__device__ void store" s "(void *out, unsigned long long i, " T2 " v, void *info, void *) {\n"                          \
    "  v.x = v.x * ((" T " *)info)[0]; v.y = v.y + (" T ")(i % 7); ((" T2 " *)out)[i] = v;\n}\n"                                          \
    "__device__ void write" s "(void *out, unsigned long long i, " T " v, void *info, void *) {\n"                           \
    "  ((" T " *)out)[i] = v * ((" T " *)info)[0] + (" T ")(i % 7);\n}\n"
static const char source[] = FUNCTIONS("float", "float2", "f") FUNCTIONS("double", "double2", "d");

static uint64_t state;
static double noise(void) { // 20 bits, exact in every type
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 44) / 524288.0 - 1;
}

static void *code;
static size_t size;
static char arch[32];

static int compile(void) {
    const char *path = getenv("CALLBACKS"), *options[] = {arch, "-dlto", "-rdc=true"};
    if (path) {
        FILE *f = fopen(path, "rb");
        code = malloc(1 << 20);
        size = f ? fread(code, 1, 1 << 20, f) : 0;
        if (f) fclose(f);
        return size == 0;
    }
    nvrtcProgram p;
    nvrtcCreateProgram(&p, source, "callbacks.cu", 0, 0, 0);
    int s = nvrtcCompileProgram(p, 3, options);
    if (!s) {
        nvrtcGetLTOIRSize(p, &size);
        code = malloc(size);
        nvrtcGetLTOIR(p, code);
    }
    nvrtcDestroyProgram(&p);
    return s;
}

enum { C2C, INVERSE, R2C, C2R, Z2Z, ZINVERSE, D2Z, Z2D };
static const char *names[] = {"c2c f32", "c2c inverse f32", "r2c f32", "c2r f32", "z2z f64", "z2z inverse f64", "d2z f64", "z2d f64"};
static const cufftType types[] = {CUFFT_C2C, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
static int st(int s) {
    printf(" %d", s);
    return s == 0;
}
static int exec(cufftHandle p, int kind, void *in, void *out) {
    switch (kind) {
    case C2C: return cufftExecC2C(p, in, out, CUFFT_FORWARD);
    case INVERSE: return cufftExecC2C(p, in, out, CUFFT_INVERSE);
    case R2C: return cufftExecR2C(p, in, out);
    case C2R: return cufftExecC2R(p, in, out);
    case Z2Z: return cufftExecZ2Z(p, in, out, CUFFT_FORWARD);
    case ZINVERSE: return cufftExecZ2Z(p, in, out, CUFFT_INVERSE);
    case D2Z: return cufftExecD2Z(p, in, out);
    default: return cufftExecZ2D(p, in, out);
    }
}
static void show(const void *device, int wide, long n) {
    void *h = malloc((size_t)n * 8);
    cudaMemcpy(h, device, (size_t)n * (wide ? 8 : 4), cudaMemcpyDeviceToHost);
    for (long k = 0; k < 24 && k < n; k++) {
        long i = n <= 24 || k < 8 ? k : (long)((uint64_t)k * 2654435761u % (uint64_t)n);
        if (wide) printf(" %.15g", ((double *)h)[i]);
        else printf(" %.9g", ((float *)h)[i]);
    }
    free(h);
}
static void end(void) {
    int e = cudaDeviceSynchronize();
    if (e) printf(" cuda %d", e);
    printf("\n");
    fflush(stdout);
}

struct shape {
    int rank, n[3], batch, stride, place;
};

static void *info_of(int wide) {
    static void *device[2];
    float f[2] = {0.5f, 0.25f};
    double d[2] = {0.5, 0.25};
    if (!device[wide]) cudaMalloc(&device[wide], 16), cudaMemcpy(device[wide], wide ? (void *)d : f, wide ? 16 : 8, cudaMemcpyHostToDevice);
    return device[wide];
}

// One transform with callbacks: which has 1 for a load and 2 for a store.
static void one(int kind, const struct shape *s, int which) {
    int wide = kind >= Z2Z, real_in = kind == R2C || kind == D2Z, real_out = kind == C2R || kind == Z2D, last = s->n[s->rank - 1];
    int in_n[3], out_n[3], dims[3];
    long ins = s->stride, outs = s->stride;
    for (int i = 0; i < s->rank; i++) {
        dims[i] = in_n[i] = out_n[i] = s->n[i];
        if (i == s->rank - 1) {
            if (real_out || (real_in && s->place)) in_n[i] = real_in ? 2 * (last / 2 + 1) : last / 2 + 1;
            if (real_in || (real_out && s->place)) out_n[i] = real_out ? 2 * (last / 2 + 1) : last / 2 + 1;
        }
        ins *= in_n[i], outs *= out_n[i];
    }
    printf("callback %s n", names[kind]);
    for (int i = 0; i < s->rank; i++) printf(" %d", s->n[i]);
    printf(" batch %d stride %d place %d which %d |", s->batch, s->stride, s->place, which);
    long in = ins * s->batch * (real_in ? 1 : 2), out = outs * s->batch * (real_out ? 1 : 2), most = in > out ? in : out;
    void *a, *b, *h = calloc((size_t)most, 8);
    cudaMalloc(&a, (size_t)most * 8), cudaMalloc(&b, (size_t)most * 8);
    cudaMemset(b, 0, (size_t)most * 8);
    state = 7;
    for (long i = 0; i < most; i++) {
        double v = noise();
        if (wide) ((double *)h)[i] = v;
        else ((float *)h)[i] = (float)v;
    }
    cudaMemcpy(real_out ? b : a, h, (size_t)most * 8, cudaMemcpyHostToDevice);
    if (real_out) { // the input is the spectrum of real numbers
        cufftHandle q;
        int packed[3] = {s->n[0], s->n[1], s->n[2]};
        cufftPlanMany(&q, s->rank, dims, packed, 1, (int)(ins / s->stride * 2), in_n, s->stride, (int)ins, wide ? CUFFT_D2Z : CUFFT_R2C, s->batch);
        exec(q, wide ? D2Z : R2C, b, a);
        cufftDestroy(q);
        cudaMemset(b, 0, (size_t)most * 8);
    }
    void *info = info_of(wide);
    cufftHandle p;
    size_t work;
    char name[16];
    cufftCreate(&p);
    if (which & 1) {
        snprintf(name, sizeof name, "%s%s", real_in ? "read" : real_out ? "half" : "load", wide ? "d" : "f");
        st(cufftXtSetJITCallback(p, name, code, size, real_in ? (wide ? CUFFT_CB_LD_REAL_DOUBLE : CUFFT_CB_LD_REAL) : wide ? CUFFT_CB_LD_COMPLEX_DOUBLE : CUFFT_CB_LD_COMPLEX, &info));
    }
    if (which & 2) {
        snprintf(name, sizeof name, "%s%s", real_out ? "write" : "store", wide ? "d" : "f");
        st(cufftXtSetJITCallback(p, name, code, size, real_out ? (wide ? CUFFT_CB_ST_REAL_DOUBLE : CUFFT_CB_ST_REAL) : wide ? CUFFT_CB_ST_COMPLEX_DOUBLE : CUFFT_CB_ST_COMPLEX, &info));
    }
    if (st(cufftMakePlanMany(p, s->rank, dims, in_n, s->stride, (int)ins, out_n, s->stride, (int)outs, types[kind], s->batch, &work)) && st(exec(p, kind, a, s->place ? a : b))) {
        printf(" |");
        show(s->place ? a : b, wide, out);
    }
    end();
    cufftDestroy(p), cudaFree(a), cudaFree(b), free(h);
}

// Wrong calls, each with a plan of its own.
#define TRY(make, ...)                                                                                                                     \
    {                                                                                                                                      \
        cufftHandle p;                                                                                                                     \
        cufftCreate(&p);                                                                                                                   \
        printf("misuse %s %s |", #__VA_ARGS__, #make);                                                                                     \
        st(__VA_ARGS__), st(make);                                                                                                         \
        end();                                                                                                                             \
        cufftDestroy(p);                                                                                                                   \
    }
#define SET(name, type) cufftXtSetJITCallback(p, name, code, size, type, &info)
#define C1 cufftMakePlan1d(p, 16, CUFFT_C2C, 1, &w)
#define R1 cufftMakePlan1d(p, 16, CUFFT_R2C, 1, &w)
#define Z1 cufftMakePlan1d(p, 16, CUFFT_Z2Z, 1, &w)
static int set_after(cufftHandle p, void **info) {
    size_t w;
    cufftMakePlan1d(p, 16, CUFFT_C2C, 1, &w);
    return cufftXtSetJITCallback(p, "loadf", code, size, CUFFT_CB_LD_COMPLEX, info);
}
static int set_twice(cufftHandle p, void **info) {
    cufftXtSetJITCallback(p, "nothing", code, size, CUFFT_CB_LD_COMPLEX, info);
    return cufftXtSetJITCallback(p, "loadf", code, size, CUFFT_CB_LD_COMPLEX, info);
}
static void misuse(void) {
    void *info = info_of(0);
    size_t w;
    char garbage[64] = "no LTO-IR";
    TRY(C1, SET("loadf", CUFFT_CB_LD_COMPLEX));
    TRY(C1, SET("nothing", CUFFT_CB_LD_COMPLEX));
    TRY(C1, SET("", CUFFT_CB_LD_COMPLEX));
    TRY(C1, cufftXtSetJITCallback(p, "loadf", 0, size, CUFFT_CB_LD_COMPLEX, &info));
    TRY(C1, cufftXtSetJITCallback(p, "loadf", code, 0, CUFFT_CB_LD_COMPLEX, &info));
    TRY(C1, cufftXtSetJITCallback(p, "loadf", garbage, sizeof garbage, CUFFT_CB_LD_COMPLEX, &info));
    TRY(C1, cufftXtSetJITCallback(p, "loadf", code, size, CUFFT_CB_LD_COMPLEX, 0));
    TRY(C1, SET("loadf", CUFFT_CB_UNDEFINED));
    TRY(C1, SET("loadf", (cufftXtCallbackType)9));
    TRY(C1, SET("loadf", (cufftXtCallbackType)-1));
    TRY(R1, SET("readf", CUFFT_CB_LD_REAL));
    TRY(R1, SET("storef", CUFFT_CB_ST_COMPLEX));
    TRY(Z1, SET("loadd", CUFFT_CB_LD_COMPLEX_DOUBLE));
    TRY(C1, set_after(p, &info));
    TRY(C1, set_twice(p, &info));
    TRY(C1, cufftXtSetJITCallback(p + 77, "loadf", code, size, CUFFT_CB_LD_COMPLEX, &info));
}

int main(int argc, char **argv) {
    int major = 8, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    snprintf(arch, sizeof arch, "-arch=sm_%d%d", major, minor);
    if (argc > 1 && !strcmp(argv[1], "-source")) return fputs(source, stdout) < 0;
    if (compile()) return 1;
    // Not 4099 numbers, and not both callbacks from one file: NVIDIA's library refuses them, ours does them.
    static const struct shape shapes[] = {{1, {8}, 1, 1}, {1, {12}, 3, 1}, {1, {31}, 2, 1}, {1, {64}, 3, 1, 1}, {1, {100}, 4, 2}, {1, {257}, 1, 1}, {1, {1024}, 2, 1},
                                          {1, {4096}, 1, 1}, {2, {8, 6}, 1, 1}, {2, {16, 16}, 2, 1, 1}, {2, {20, 17}, 2, 3}, {3, {4, 3, 5}, 1, 1}, {3, {8, 8, 8}, 2, 1}};
    for (int kind = C2C; kind <= Z2D; kind++)
        for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            if ((kind == C2R || kind == Z2D) && shapes[i].place && shapes[i].rank > 1) continue; // the rows' ends have no defined content
            for (int which = 1; which <= 2; which++) one(kind, &shapes[i], which);
        }
    misuse();
    return 0;
}
