// C++'s functions of many copies at once; part of runtime.h, which has the macro.
#ifndef KUDZU_BATCHES_H
#define KUDZU_BATCHES_H

#if CUDART_VERSION >= 13000
template <class T, class U>
KUDZU_API cudaMemcpyBatchAsync(T *const *to, U *const *from, const size_t *sizes, size_t count, cudaMemcpyAttributes *attrs,
                               size_t *indices, size_t nattrs, cudaStream_t s) {
  return ::cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes, count, attrs, indices, nattrs, s);
}
// One set of attributes for all copies.
template <class T, class U>
KUDZU_API cudaMemcpyBatchAsync(T *const *to, U *const *from, const size_t *sizes, size_t count, cudaMemcpyAttributes attr,
                               cudaStream_t s) {
  size_t index = 0;
  return ::cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes, count, &attr, &index, 1, s);
}
template <class T, class U>
KUDZU_API cudaMemcpyAsync(T to, U from, size_t n, cudaMemcpyAttributes *attr, cudaStream_t s) {
  return ::cudaMemcpyWithAttributesAsync((void *)to, (const void *)from, n, attr, s);
}

// Each with a list of places, and with one place for all ranges.
#define KUDZU_PREFETCH(f)                                                                                             \
  template <class T>                                                                                                  \
  KUDZU_API f(T **p, size_t *sizes, size_t count, cudaMemLocation *places, size_t *indices, size_t nplaces,           \
              unsigned long long flags, cudaStream_t s) {                                                             \
    return ::f((void **)(void *)p, sizes, count, places, indices, nplaces, flags, s);                                 \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  KUDZU_API f(T **p, size_t *sizes, size_t count, cudaMemLocation place, unsigned long long flags, cudaStream_t s) {  \
    size_t index = 0;                                                                                                 \
    return ::f((void **)(void *)p, sizes, count, &place, &index, 1, flags, s);                                        \
  }
KUDZU_PREFETCH(cudaMemPrefetchBatchAsync)
KUDZU_PREFETCH(cudaMemDiscardAndPrefetchBatchAsync)
#undef KUDZU_PREFETCH
#endif

#endif
