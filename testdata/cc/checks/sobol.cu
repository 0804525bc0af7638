// nvcc: -lcurand
// Sobol's sequence on the device, with the directions that the library gives, is the library's.
#include "check.h"
#include <curand.h>
#include <curand_kernel.h>
#include <curand_mrg32k3a.h>

__global__ void sequence(unsigned *out, curandDirectionVectors32_t *v, int n) {
  curandStateSobol32_t s;
  curand_init(v[threadIdx.x], 0, &s);
  for (int i = 0; i < n; i++) out[threadIdx.x * n + i] = curand(&s);
}

int main() {
  curandDirectionVectors32_t *host, *device = shared<curandDirectionVectors32_t>(8);
  curandDirectionVectors64_t *host64;
  CK(curandGetDirectionVectors32(&host, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  CK(curandGetDirectionVectors64(&host64, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
  memcpy(device, host, 8 * sizeof *host);
  unsigned *a = shared<unsigned>(512), *b = shared<unsigned>(512);
  sequence<<<1, 8>>>(a, device, 64);
  curandGenerator_t g;
  CK(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32));
  CK(curandSetQuasiRandomGeneratorDimensions(g, 8));
  CK(curandGenerate(g, b, 512));
  CK(cudaDeviceSynchronize());
  EXPECT(memcmp(a, b, 2048) == 0);
  return 0;
}
