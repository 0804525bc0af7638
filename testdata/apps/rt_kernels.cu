// Kernels of the rt_ programs. rt_kernels.ptx is made of this with clang 19: -x cuda -nocudainc -nocudalib
// --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx70 -O2 -S, and the variable "both"
// marked .attribute(.managed) by hand: clang has managed variables for other targets only.
#define G extern "C" __attribute__((global))
#define D extern "C" __attribute__((device))
#define C extern "C" __attribute__((constant))
#define S __attribute__((shared))
#define at (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())

D int counter = 5;
D int table[16] = {0};
C float weights[4] = {1, 2, 3, 4};
D int both = 7;

// out[i] = a * x[i] + y[i]
G void axpy(int n, float a, const float *x, const float *y, float *out) {
	int i = at;
	if (i < n)
		out[i] = a * x[i] + y[i];
}

// The sum of a block's numbers, in dynamic shared memory.
extern S int room[];
G void sum(const int *in, int *out) {
	int t = __nvvm_read_ptx_sreg_tid_x(), n = __nvvm_read_ptx_sreg_ntid_x();
	room[t] = in[at];
	__syncthreads();
	for (int half = n / 2; half > 0; half /= 2) {
		if (t < half)
			room[t] += room[t + half];
		__syncthreads();
	}
	if (t == 0)
		out[__nvvm_read_ptx_sreg_ctaid_x()] = room[0];
}

struct big {
	long long a;
	char b;
	int c[10];
};

// Parameters of all sizes, and every variable.
G void mix(char c, struct big s, double d, int *out) {
	out[0] = c + s.a + s.b + s.c[9] + (int)d;
	out[1] = counter++;
	out[2] = (int)(weights[0] + 10 * weights[3]);
	out[3] = table[3];
	table[4] = 44;
	out[4] = both;
	both = both + 1;
}

// Adds one to every number, again and again: long enough for an event to find it running.
G void spin(int *out, int times) {
	for (int i = 0; i < times; i++)
		out[at] = out[at] + 1;
}

G void trap(void) { __builtin_trap(); }
G void wild(int *p) { *p = 1; }

G void __attribute__((launch_bounds(64))) narrow(int *out) { out[at] = 1; }
