// Steps of transforms in double precision, of any length with factors up to 13.
#include "pair.h"

KERNEL fft_step(Step a) { step<double, true>(a); }
KERNEL fft_pair(Pair a) { pair<double, true>(a); }
