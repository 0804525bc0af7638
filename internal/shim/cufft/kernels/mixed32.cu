// Steps of transforms in single precision, of any length with factors up to 13.
#include "step.h"

KERNEL fft_step(Step a) { step<float, true>(a); }
