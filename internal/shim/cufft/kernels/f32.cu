// Steps of transforms in single precision, of powers of two.
#include "step.h"

KERNEL fft_step(Step a) { step<float, false>(a); }
