// A name that programs include; memcpy_async.h has it all.
#include "../memcpy_async.h"
