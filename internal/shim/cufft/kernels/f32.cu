// Steps of transforms in single precision, of powers of two.
#include "pair.h"

KERNEL fft_step(Step a) { step<float, false>(a); }
KERNEL fft_pair(Pair a) { pair<float, false>(a); }
