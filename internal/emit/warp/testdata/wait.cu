// Kernels whose threads wait on each other. Compile as basic.cu.
#define G extern "C" __attribute__((global))
#define S __attribute__((shared))
#define tidx __nvvm_read_ptx_sreg_tid_x()
#define bidx __nvvm_read_ptx_sreg_ctaid_x()

// A spin lock taken by every thread.
G void lock(int *l, int *sum, int *order) {
  while (__nvvm_atom_cas_gen_i(l, 0, 1) != 0) {}
  int n = *(volatile int *)sum;
  order[n] = tidx;
  *(volatile int *)sum = n + 1;
  __nvvm_membar_gl();
  __nvvm_atom_xchg_gen_i(l, 0);
}
// The first warp waits for a flag that the last one sets.
G void flag(int *out) {
  S static volatile int f;
  S static volatile int v;
  if (tidx == 0) f = 0;
  __syncthreads();
  if (tidx >= 32) {
    if (tidx == 96) { v = 42; __nvvm_membar_cta(); f = 1; }
  } else {
    while (f == 0) {}
    out[tidx] = v;
  }
}
// Lanes of one warp wait for another lane of it.
G void lanes(int *out) {
  S static volatile int f;
  if (tidx == 0) f = 0;
  __syncthreads();
  if (tidx == 5) { __nvvm_membar_cta(); f = 7; }
  else { while (f == 0) {} }
  out[tidx] = f;
}
// A maximum by compare-and-swap: no lock, some lane always succeeds.
G void casmax(int n, const int *x, int *out) {
  int i = bidx * 64 + tidx;
  if (i >= n) return;
  int old = *(volatile int *)out;
  while (x[i] > old) {
    int seen = __nvvm_atom_cas_gen_i(out, old, x[i]);
    if (seen == old) break;
    old = seen;
  }
}
