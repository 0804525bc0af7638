// Steps of transforms in double precision, of any length with factors up to 13.
#include "step.h"

KERNEL fft_step(Step a) { step<double, true>(a); }
