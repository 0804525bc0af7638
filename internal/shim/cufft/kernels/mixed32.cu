// Steps of transforms in single precision, of any length with factors up to 13.
#include "pair.h"

KERNEL fft_step(Step a) { step<float, true>(a); }
KERNEL fft_pair(Pair a) { pair<float, true>(a); }
