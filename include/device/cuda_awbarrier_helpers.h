// A name that programs include; cuda_awbarrier.h has it all.
#include "cuda_awbarrier.h"
