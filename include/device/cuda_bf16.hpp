// A name that programs include; cuda_bf16.h has it all.
#include "cuda_bf16.h"
