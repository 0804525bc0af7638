// A name that programs include; cuda_pipeline.h has it all.
#include "cuda_pipeline.h"
