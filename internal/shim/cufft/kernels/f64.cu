// Steps of transforms in double precision, of powers of two.
#include "pair.h"

KERNEL fft_step(Step a) { step<double, false>(a); }
KERNEL fft_pair(Pair a) { pair<double, false>(a); }
