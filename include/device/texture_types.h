// A name that programs include.
#include "cuda_runtime.h"
