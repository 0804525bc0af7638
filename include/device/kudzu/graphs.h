// C++'s functions of graphs and libraries; part of runtime.h, which has the macro.
#ifndef KUDZU_GRAPHS_H
#define KUDZU_GRAPHS_H

#if CUDART_VERSION >= 12000
// The arguments of CUDA 11. Nothing is written to the node and the buffer.
KUDZU_API cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *, size_t) {
  return ::cudaGraphInstantiate(exec, graph, 0ULL);
}
#endif

template <class T>
KUDZU_API cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t nafter,
                                         const T &symbol, const void *from, size_t n, size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, after, nafter, (const void *)&symbol, from, n, offset, kind);
}
template <class T>
KUDZU_API cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t nafter,
                                           void *to, const T &symbol, size_t n, size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, after, nafter, to, (const void *)&symbol, n, offset, kind);
}
template <class T>
KUDZU_API cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T &symbol, const void *from, size_t n, size_t offset,
                                               cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void *)&symbol, from, n, offset, kind);
}
template <class T>
KUDZU_API cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const T &symbol, size_t n, size_t offset,
                                                 cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsFromSymbol(node, to, (const void *)&symbol, n, offset, kind);
}
template <class T>
KUDZU_API cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const T &symbol, const void *from,
                                                   size_t n, size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, (const void *)&symbol, from, n, offset, kind);
}
template <class T>
KUDZU_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const T &symbol,
                                                     size_t n, size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, to, (const void *)&symbol, n, offset, kind);
}

// The object is deleted with the last reference.
template <class T>
KUDZU_API cudaUserObjectCreate(cudaUserObject_t *object, T *p, unsigned int references, unsigned int flags) {
  return ::cudaUserObjectCreate(object, p, [](void *q) { delete (T *)q; }, references, flags);
}
template <class T>
KUDZU_API cudaUserObjectCreate(cudaUserObject_t *object, T *p, unsigned int references, cudaUserObjectFlags flags) {
  return cudaUserObjectCreate(object, p, references, (unsigned int)flags);
}

#if CUDART_VERSION >= 12000
template <class F> KUDZU_API cudaGetKernel(cudaKernel_t *kernel, F *f) { return ::cudaGetKernel(kernel, (const void *)f); }
template <class T> KUDZU_API cudaLibraryGetGlobal(T **p, size_t *n, cudaLibrary_t library, const char *name) {
  return ::cudaLibraryGetGlobal((void **)(void *)p, n, library, name);
}
template <class T> KUDZU_API cudaLibraryGetManaged(T **p, size_t *n, cudaLibrary_t library, const char *name) {
  return ::cudaLibraryGetManaged((void **)(void *)p, n, library, name);
}
template <class T> KUDZU_API cudaLibraryGetUnifiedFunction(T **p, cudaLibrary_t library, const char *name) {
  return ::cudaLibraryGetUnifiedFunction((void **)(void *)p, library, name);
}
#endif

#endif
