// A name that programs include; what it declares is part of the language here.
#include "cuda_runtime.h"
