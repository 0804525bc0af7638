// A name that programs include; curand_kernel.h has it all.
#include "curand_kernel.h"
