// The functions of libdevice, built for the machine, against references in quadruple precision.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __aarch64__
typedef long double quad;
#define Q(name) name##l
#else
#include <quadmath.h>
typedef __float128 quad;
#define Q(name) name##q
#endif

#define PI ((quad)3.14159265358979323846264338327950288Q)
#ifdef __aarch64__
#undef PI
#define PI 3.14159265358979323846264338327950288L
#endif

// A function of the library: what it takes and how close it must be.
struct function {
	const char *name;
	int single;             // its numbers are floats
	int arity;              // numbers it takes
	int integer;            // takes an integer first
	void *fn;
	quad (*exact)(const quad *x);
	double low, high;       // where samples are dense
	int (*apart)(const quad *x); // where an absolute error is told instead of one in units
	double absolute;        // the largest absolute error there: it counts as one unit
};

extern const struct function functions[];
extern const int function_count;

// The results of a call, as doubles.
double call(const struct function *f, const double *x);
