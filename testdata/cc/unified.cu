// Memory for both sides.
#include "cc.h"
struct Node { int value; Node *next; };
__global__ void walk(Node *n, int *sum) {
  for (; n; n = n->next) *sum += n->value;
}
int main() {
  Node *nodes;
  int *total;
  OK(cudaMallocManaged(&nodes, 10 * sizeof(Node)));
  OK(cudaMallocManaged(&total, sizeof(int)));
  *total = 0;
  for (int i = 0; i < 10; i++) nodes[i] = Node{i * i, i < 9 ? &nodes[i + 1] : nullptr};
  walk<<<1, 1>>>(nodes, total);
  OK(cudaDeviceSynchronize());
  printf("%d\n", *total);
  cudaPointerAttributes a;
  OK(cudaPointerGetAttributes(&a, total));
  printf("%d %d\n", a.type == cudaMemoryTypeManaged, a.devicePointer == total);
}
