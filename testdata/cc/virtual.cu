// Virtual functions of objects that the device makes.
#include "cc.h"
struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual int edges() const { return 0; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int a;
  __device__ explicit Square(int a) : a(a) {}
  __device__ int area() const override { return a * a; }
  __device__ int edges() const override { return 4; }
};
struct Box : Square {
  int b;
  __device__ Box(int a, int b) : Square(a), b(b) {}
  __device__ int area() const override { return a * b; }
};
struct Dot : Shape {
  __device__ int area() const override { return 1; }
};
__global__ void make(Shape **s) {
  s[0] = new Square(3);
  s[1] = new Box(4, 5);
  s[2] = new Dot;
}
__global__ void use(Shape **s, int *out) { out[threadIdx.x] = s[threadIdx.x]->area() * 10 + s[threadIdx.x]->edges(); }
__global__ void end(Shape **s) {
  for (int i = 0; i < 3; i++) delete s[i];
}
int main() {
  Shape **s;
  OK(cudaMalloc(&s, 3 * sizeof(Shape *)));
  Array<int> o(3);
  make<<<1, 1>>>(s);
  use<<<1, 3>>>(s, o);
  end<<<1, 1>>>(s);
  for (int v : o.get()) printf("%d ", v);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
