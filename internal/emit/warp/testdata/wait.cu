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
// Warps wait for the next one, the first for two stores of it and of the one behind. They come to all barriers together.
G void rounds(const int *in, int *out, int n) {
  S static int a[96];
  S static volatile int f[4];
  int mine = in[tidx], sum = 0, warp = tidx >> 5;
  if (tidx < 4) f[tidx] = 0;
  __syncthreads();
  for (int r = 0; r < n; r++) {
    a[tidx] = mine + r;
    __syncthreads();
    if (warp == 0) {
      int v;
      while ((v = f[1]) != r * 8 + 2) {}
      sum += v;
      while ((v = f[2]) != r * 8 + 3) {}
      sum += v;
    } else if (warp == 1) {
      int v;
      while ((v = f[2]) != r * 8 + 3) {}
      sum += v;
      if (tidx == 32) f[1] = r * 8 + 2;
    } else if (tidx == 64) {
      f[2] = r * 8 + 3;
    }
    sum += a[95 - tidx];
    __syncthreads();
  }
  if (warp == 0) {
    int v;
    while ((v = f[3]) != 7) {}
    sum += v;
  } else if (tidx == 64) {
    f[3] = 7;
  }
  out[tidx] = sum + 10 * mine;
}
