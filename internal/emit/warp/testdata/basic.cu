// Kernels that the tests run and the benchmarks time. Compile with clang 19: -x cuda -nocudainc -nocudalib --cuda-device-only
// --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx70 -O2 -ffp-contract=off -fno-unroll-loops -S
#define G extern "C" __attribute__((global))
#define S __attribute__((shared))
#define tidx __nvvm_read_ptx_sreg_tid_x()
#define tidy __nvvm_read_ptx_sreg_tid_y()
#define bidx __nvvm_read_ptx_sreg_ctaid_x()
#define bidy __nvvm_read_ptx_sreg_ctaid_y()
#define bdx __nvvm_read_ptx_sreg_ntid_x()
#define gdx __nvvm_read_ptx_sreg_nctaid_x()
#define sync __syncthreads
#define shfl_down(v,d) __nvvm_shfl_sync_down_f32(0xffffffff, v, d, 31)

G void saxpy(int n, float a, const float *x, float *y) {
  int i = bidx * bdx + tidx;
  if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]);
}
G void mandel(int w, int h, int maxit, int *out) {
  int px = bidx * bdx + tidx, py = bidy;
  if (px >= w) return;
  float cx = px * (3.0f / w) - 2.0f, cy = py * (2.0f / h) - 1.0f, x = 0, y = 0;
  int i = 0;
  for (; i < maxit; i++) {
    float x2 = x * x, y2 = y * y;
    if (x2 + y2 > 4.0f) break;
    y = 2 * x * y + cy; x = x2 - y2 + cx;
  }
  out[py * w + px] = i;
}
G void matmul32(int n, const float *A, const float *B, float *C) {
  S static float As[32][32], Bs[32][32];
  int tx = tidx, ty = tidy, row = bidy * 32 + ty, col = bidx * 32 + tx;
  float acc = 0;
  for (int t = 0; t < n / 32; t++) {
    As[ty][tx] = A[row * n + t * 32 + tx];
    Bs[ty][tx] = B[(t * 32 + ty) * n + col];
    sync();
    for (int k = 0; k < 32; k++) acc += As[ty][k] * Bs[k][tx];
    sync();
  }
  C[row * n + col] = acc;
}
G void matmul16(int n, const float *A, const float *B, float *C) {
  S static float As[16][16], Bs[16][16];
  int tx = tidx, ty = tidy, row = bidy * 16 + ty, col = bidx * 16 + tx;
  float acc = 0;
  for (int t = 0; t < n / 16; t++) {
    As[ty][tx] = A[row * n + t * 16 + tx];
    Bs[ty][tx] = B[(t * 16 + ty) * n + col];
    sync();
    for (int k = 0; k < 16; k++) acc += As[ty][k] * Bs[k][tx];
    sync();
  }
  C[row * n + col] = acc;
}
G void reduce(int n, const float *x, float *out) {
  S static float part[32];
  float s = 0;
  for (int i = bidx * bdx + tidx; i < n; i += gdx * bdx) s += x[i];
  for (int d = 16; d > 0; d >>= 1) s += shfl_down(s, d);
  if ((tidx & 31) == 0) part[tidx >> 5] = s;
  sync();
  if (tidx < 32) {
    s = tidx < (bdx + 31) / 32 ? part[tidx] : 0;
    for (int d = 16; d > 0; d >>= 1) s += shfl_down(s, d);
    if (tidx == 0) out[bidx] = s;
  }
}
G void tree(int n, const float *x, float *out) {
  S static float part[256];
  int t = tidx, i = bidx * bdx + t;
  part[t] = i < n ? x[i] : 0;
  sync();
  for (int s = bdx / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    sync();
  }
  if (t == 0) out[bidx] = part[0];
}
G void histogram(int n, const unsigned char *x, unsigned *out) {
  S static unsigned h[256];
  h[tidx] = 0;
  sync();
  for (int i = bidx * bdx + tidx; i < n; i += gdx * bdx) __nvvm_atom_add_gen_i((int *)&h[x[i]], 1);
  sync();
  __nvvm_atom_add_gen_i((int *)&out[tidx], h[tidx]);
}
G void stencil(int w, int h, const float *x, float *y) {
  int i = bidx * bdx + tidx, j = bidy;
  if (i >= w) return;
  float c = x[j * w + i];
  float l = i > 0 ? x[j * w + i - 1] : c, r = i < w - 1 ? x[j * w + i + 1] : c;
  float u = j > 0 ? x[(j - 1) * w + i] : c, d = j < h - 1 ? x[(j + 1) * w + i] : c;
  y[j * w + i] = 0.2f * (c + l + r + u + d);
}
struct f4 { float x, y, z, w; } __attribute__((aligned(16)));
G void nbody(int n, const f4 *p, f4 *out) {
  S static f4 tile[256];
  int i = bidx * bdx + tidx;
  f4 me = p[i]; float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n; t += 256) {
    tile[tidx] = p[t + tidx];
    sync();
    for (int j = 0; j < 256; j++) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float d2 = dx * dx + dy * dy + dz * dz + 1e-6f;
      float inv = 1.0f / __builtin_sqrtf(d2), f = tile[j].w * inv * inv * inv;
      ax += dx * f; ay += dy * f; az += dz * f;
    }
    sync();
  }
  f4 r = {ax, ay, az, 0}; out[i] = r;
}
G void spmv(int n, const int *row, const int *col, const float *val, const float *x, float *y) {
  int i = bidx * bdx + tidx;
  if (i >= n) return;
  float s = 0;
  for (int j = row[i]; j < row[i + 1]; j++) s += val[j] * x[col[j]];
  y[i] = s;
}
G void collatz(int n, const int *x, int *y) {
  int i = bidx * bdx + tidx;
  if (i >= n) return;
  int v = x[i], c = 0;
  while (v != 1) {
    if (v & 1) { v = 3 * v + 1; if (v < 0) { c = -1; break; } } else v >>= 1;
    c++;
    if (c > 500) break;
  }
  y[i] = c;
}
G void sw(int n, const int *x, int *y) {
  int i = bidx * bdx + tidx;
  if (i >= n) return;
  int v = x[i], r = 0;
  for (int k = 0; k < 4; k++) {
    switch ((v >> (4 * k)) & 7) {
      case 0: r += 1; break;
      case 1: r ^= v; break;
      case 2: r *= 3;
      case 3: r -= 7; break;
      case 4: if (r & 1) continue; r += 5; break;
      case 5: r = r * r; break;
      default: r ^= 0x55;
    }
    r += k;
  }
  y[i] = r;
}
G void divbar(int n, int *y) { // warps take different numbers of barriers
  S static int acc[32];
  int w = tidx >> 5;
  if (tidx < 32) acc[tidx] = 0;
  sync();
  for (int k = 0; k <= n; k++) {
    if ((tidx & 31) == 0) acc[w] += k;
    sync();
  }
  if (tidx >= 64) { y[tidx] = acc[w]; return; }
  sync();
  y[tidx] = acc[w] + 1000;
}
