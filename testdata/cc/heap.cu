// The device's heap: malloc, free, new, delete, placement.
#include "cc.h"
#include <new>
struct Node {
  int v;
  Node *next;
  __device__ Node(int v, Node *n) : v(v), next(n) {}
};
__global__ void list(int *out, int n) {
  Node *head = nullptr;
  for (int i = 0; i < n; i++) head = new Node(i * (threadIdx.x + 1), head);
  int s = 0;
  while (head) {
    s = s * 3 + head->v;
    Node *next = head->next;
    delete head;
    head = next;
  }
  char *raw = (char *)malloc(64);
  Node *p = new (raw + 16) Node(5, nullptr);
  s += p->v;
  free(raw);
  int *many = new int[n];
  for (int i = 0; i < n; i++) many[i] = i;
  for (int i = 0; i < n; i++) s += many[i];
  delete[] many;
  out[threadIdx.x] = s;
}
int main() {
  Array<int> o(8);
  list<<<1, 8>>>(o, 10);
  for (int v : o.get()) printf("%d ", v);
  printf("\n");
}
