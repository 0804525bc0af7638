// A name that programs include; mma.h has it all.
#include "../mma.h"
