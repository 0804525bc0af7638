/* cuRAND: the directions of Sobol's sequences as programs have them, arrays of words, which the table has no words for. */
#ifndef KUDZU_CURAND_VECTORS_H
#define KUDZU_CURAND_VECTORS_H

#ifndef KUDZU_CURAND_VECTORS
#define KUDZU_CURAND_VECTORS
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
#endif

#ifdef __cplusplus
static inline curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t *vectors[], curandDirectionVectorSet_t set) {
  return curandGetDirectionVectors32((void **)vectors, set);
}
static inline curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t *vectors[], curandDirectionVectorSet_t set) {
  return curandGetDirectionVectors64((void **)vectors, set);
}
#else
#define curandGetDirectionVectors32(vectors, set) curandGetDirectionVectors32((void **)(vectors), set)
#define curandGetDirectionVectors64(vectors, set) curandGetDirectionVectors64((void **)(vectors), set)
#endif

#endif
