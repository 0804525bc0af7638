// Steps of transforms in double precision, of powers of two.
#include "step.h"

KERNEL fft_step(Step a) { step<double, false>(a); }
