// All functions of libdevice, as one module.
#include "basic.h"
#include "basicf.h"
#include "bessel.h"
#include "exp.h"
#include "expf.h"
#include "special.h"
#include "specialf.h"
#include "trig.h"
#include "trigf.h"

#ifdef __NVPTX__
#include "device.h"
#endif
