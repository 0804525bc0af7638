// A name that programs of CUDA 12 and before include.
#include "nvtx3/nvToolsExt.h"
