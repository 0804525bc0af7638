// blas_levels with the functions whose sizes have 64 bits: the lines are the same.
#define WIDE
#include "blas_levels.c"
