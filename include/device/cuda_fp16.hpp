// A name that programs include; cuda_fp16.h has it all.
#include "cuda_fp16.h"
