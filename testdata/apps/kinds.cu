// Kernels of kinds.c, each of another kind. kinds.ptx is made of this with clang 22: -x cuda -nocudainc -nocudalib
// --cuda-device-only --cuda-gpu-arch=sm_90 -Xclang -target-feature -Xclang +ptx80 -O2 -S.
#define G extern "C" __attribute__((global))
#define D extern "C" __attribute__((device))
#define C extern "C" __attribute__((constant))
#define S __attribute__((shared))
#define tid __nvvm_read_ptx_sreg_tid_x()
#define bid __nvvm_read_ptx_sreg_ctaid_x()
#define size __nvvm_read_ptx_sreg_ntid_x()
#define at (bid * size + tid)
typedef unsigned u32;
typedef unsigned long long u64;

G void add(const float *a, const float *b, float *c, int n) {
	int i = at;
	if (i < n)
		c[i] = a[i] + b[i];
}

G void managed(float *p, float k) { p[at] = p[at] * k + 1.0f; }

extern S u32 room[];
G void dynamic_shared(const u32 *in, u32 *out) {
	room[tid] = in[at];
	__syncthreads();
	out[at] = room[size - 1 - tid] * 3;
}

G void static_shared(const float *in, float *out) {
	S float part[256];
	part[tid] = in[at];
	__syncthreads();
	for (int half = size / 2; half > 0; half /= 2) {
		if (tid < half)
			part[tid] += part[tid + half];
		__syncthreads();
	}
	if (tid == 0)
		out[bid] = part[0];
}

C float weights[16] = {0};
G void constants(const float *in, float *out) {
	float s = 0;
	for (int k = 0; k < 16; k++)
		s = __builtin_fmaf(in[at + k], weights[k], s);
	out[at] = s;
}

D u32 left[64] = {1, 2, 3};
D u32 right[64] = {100, 200, 300};
D u32 *sides[2] = {left, right};
G void addresses(u32 *out) {
	u32 *side = sides[tid & 1];
	side[tid] += tid;
	out[tid] = side[tid];
}

D u32 counts[64] = {0};
G void atomics(const u32 *in, u32 *total) {
	__nvvm_atom_add_gen_i((int *)&counts[in[at] & 63], 1);
	asm volatile("red.global.max.u32 [%0], %1;" ::"l"(total), "r"(in[at]) : "memory");
	asm volatile("red.global.add.u64 [%0], %1;" ::"l"(total + 2), "l"((u64)in[at]) : "memory");
}

G void local_array(const u32 *in, u32 *out) {
	u32 a[32];
	for (int k = 0; k < 32; k++)
		a[k] = in[(at + k * 7) & 255] + k;
	for (int k = 0; k < 64; k++) {
		u32 x = a[k & 31] & 31;
		a[(x + k) & 31] ^= a[x] * 5 + k;
	}
	u32 s = 0;
	for (int k = 0; k < 32; k++)
		s = s * 31 + a[k];
	out[at] = s;
}

G void half(const u32 *a, const u32 *b, u32 *c) {
	u32 r = 0;
	asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a[at]), "r"(b[at]), "r"(a[at] ^ 0x80008000u));
	asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(r), "r"(b[at]));
	c[at] = r;
}

G void matrix(const u32 *a, const u32 *b, float *c) {
	u32 x[4] = {a[tid], a[tid + 32], a[tid + 64], a[tid + 96]}, y[2] = {b[tid], b[tid + 32]};
	float d[4] = {0, 0, 0, 0};
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
				 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
				 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
	for (int k = 0; k < 4; k++)
		c[tid * 4 + k] = d[k];
}

D u32 arrived = 0;
G void cooperative(const u32 *in, u32 *out, u32 *next, int blocks) {
	out[at] = in[at] + 1;
	__syncthreads();
	if (tid == 0) {
		asm volatile("fence.acq_rel.gpu;" ::: "memory");
		u32 seen;
		asm volatile("atom.add.release.gpu.global.u32 %0, [%1], 1;" : "=r"(seen) : "l"(&arrived) : "memory");
		do
			asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(&arrived) : "memory");
		while (seen < blocks);
	}
	__syncthreads();
	next[at] = out[(at + size) % (size * blocks)] * 2;
}

extern "C" __attribute__((device)) int vprintf(const char *, const char *);
G void prints(u32 *out) {
	if (tid == 3) {
		u32 v[2] = {(u32)tid, out[0]};
		vprintf("kinds: thread %u has %u\n", (const char *)v);
	}
	out[at] += tid;
}

G void sampled(u64 t, float *out, int w) {
	float x = (tid + 0.25f) * 0.75f, y = (bid + 0.5f) * 0.5f, r, g, b, a;
	asm volatile("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "f"(x), "f"(y));
	out[bid * w + tid] = r + 2 * g;
}

G void fetched(u64 t, u32 *out) {
	u32 r, g, b, a;
	asm volatile("tex.1d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5}];" : "=r"(r), "=r"(g), "=r"(b), "=r"(a) : "l"(t), "r"(255 - at));
	out[at] = r * 5;
}

G void layers(u64 t, float *out) {
	float r, g, b, a;
	asm volatile("tex.a2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "r"(bid), "f"(tid + 0.5f), "f"(1.5f));
	out[at] = r;
}

G void surface(u64 s, u64 t, u32 *out) {
	u32 v;
	asm volatile("suld.b.2d.b32.trap %0, [%1, {%2,%3}];" : "=r"(v) : "l"(t), "r"(tid * 4), "r"(bid));
	asm volatile("sust.b.2d.b32.trap [%0, {%1,%2}], %3;" ::"l"(s), "r"((size - 1 - tid) * 4), "r"(bid), "r"(v * 3 + 1) : "memory");
	out[at] = v;
}

G void cluster(const u32 *in, u32 *out) {
	S u32 own[64];
	own[tid] = in[at];
	asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
	u32 rank, count, there, v;
	asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(count));
	u32 here = (u32)(u64)(__attribute__((address_space(3))) u32 *)(own + tid);
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"((rank + 1) % count));
	asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
	asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
	out[at] = v + rank;
}

G void doubles(const double *in, double *out) {
	double x = in[at];
	out[at] = __builtin_fma(x, x, 1.0) / (x + 0.5) + __nvvm_sqrt_rn_d(x);
}

G void shuffles(const u32 *in, u32 *out) {
	u32 v = in[at];
	for (int k = 16; k > 0; k /= 2)
		v += __nvvm_shfl_sync_bfly_i32(-1, v, k, 31);
	out[at] = v ^ __nvvm_shfl_sync_up_i32(-1, in[at], 1, 0);
}

struct link {
	link *next;
	u64 value;
};
G void chain(link *first, u64 *out) {
	link *l = first;
	for (int k = 0; k <= tid && l->next; k++)
		l = l->next;
	l->value += 1000;
	out[tid] = l->value;
}

G void pinned(const u32 *host, u32 *out) { out[at] = host[at] * host[at]; }

G void wide(const u64 *a, u64 *out) {
	u64 h;
	asm("mul.hi.u64 %0, %1, %2;" : "=l"(h) : "l"(a[at]), "l"(a[(at + 1) & 127]));
	out[at] = h ^ (a[at] * 3);
}

struct packed {
	u32 n;
	u32 *out;
	u32 add[3];
};
G void by_value(packed p) {
	if (at < p.n)
		p.out[at] = p.add[at % 3] + at;
}

D u32 twice(u32 x) { return 2 * x; }
D u32 square(u32 x) { return x * x; }
D u32 (*calls[2])(u32) = {twice, square};
G void pointers(u32 *out) { out[tid] = calls[tid & 1](tid); }

G void votes(const u32 *in, u32 *out) {
	u32 v = in[at], m, b;
	asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(m) : "r"(v & 7));
	asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 100; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(b) : "r"(v));
	out[at] = m ^ b;
}

struct __attribute__((aligned(64))) tensor {
	u64 words[16];
};
G void tensors(const __attribute__((grid_constant)) tensor map, float *out) {
	S __attribute__((aligned(128))) float box[8 * 32];
	S u64 bar;
	u32 b = (u32)(u64)(__attribute__((address_space(3))) u64 *)&bar, d = (u32)(u64)(__attribute__((address_space(3))) float *)box;
	if (tid == 0) {
		asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;" ::"r"(b) : "memory");
		asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(b), "r"(8 * 32 * 4) : "memory");
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(d), "l"(&map), "r"(16), "r"(4), "r"(b)
					 : "memory");
	}
	__syncthreads();
	asm volatile("{ .reg .pred p; again%=: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again%=; }" ::"r"(b) : "memory");
	for (int k = tid; k < 8 * 32; k += size)
		out[k] = box[k] * 2;
}

G void long_running(const float *in, float *out, int n) {
	float s = 0;
	for (int k = 0; k < n; k++)
		s = __builtin_fmaf(in[(at + k) & 1023], 0.5f, s * 0.25f);
	out[at] = s;
}

G void bytes(const unsigned char *in, signed char *out, short *wide16) {
	int v = (signed char)in[at];
	out[at] = (signed char)(v >> 1);
	wide16[at] = (short)(v * -3);
}
