// Complex numbers aligned as CUDA's are, so that both parts are read at once. For kernels that live on them, before device.h.
#pragma once

struct __attribute__((aligned(8))) c32;
struct __attribute__((aligned(16))) c64;
