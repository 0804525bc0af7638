// A name that programs include; cuda_fp8.h has it all.
#include "cuda_fp8.h"
