// sweep N [NAME...]: calls every function, or those, N times on numbers of all sizes, and on the edges. It prints for each
// the largest error in units of the last place and where it was; where an absolute error counts, the largest one in
// units of what is allowed.
// sweep check: reads lines NAME ARGUMENT... RESULT, all bits in hexadecimal, that another machine has computed, and
// prints the two errors of each.
#include "sweep.h"

static uint64_t state = 88172645463325252ull;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static double uniform(double a, double b) { return a + (b - a) * ((draw() >> 11) * 0x1p-53); }

static double from_bits(uint64_t u, int single)
{
	if (single) {
		uint32_t w = (uint32_t)(u >> 32);
		float f;
		memcpy(&f, &w, 4);
		return f;
	}
	double d;
	memcpy(&d, &u, 8);
	return d;
}

static const double edges[] = {0, 0x1p-1074, 0x1p-1022, 0x1p-149, 0x1p-126, 0x1p-60, 0x1p-27, 0x1p-12, 0.25, 0.5, 0.70710678118654752, 1, 1.4142135623730951, 1.5, 1.5707963267948966, 2, 2.5, 3, 3.1415926535897931, 4, 8, 10, 22.5, 88.72283, 100, 103.97, 128, 149, 150, 171.6, 709.78271289338397, 745.13, 1023, 1024, 1075, 50000, 100000, 0x1p24, 0x1p31, 0x1p52, 0x1p53, 0x1p63, 0x1.fffffep127, 0x1.fffffffffffffp1023, INFINITY, NAN};
#define EDGES ((int)(sizeof edges / sizeof *edges))

// sample is the number i of those for an argument.
static double sample(const struct function *f, int i, int which)
{
	double v;
	if (i < 6 * EDGES && which == 0) {
		v = f->single ? (float)edges[i / 6] : edges[i / 6];
		v = i % 3 == 1 ? (f->single ? nextafterf(v, 1e30f) : nextafter(v, 1e300)) : i % 3 == 2 ? (f->single ? nextafterf(v, -1) : nextafter(v, -1)) : v;
		return i % 6 > 2 ? -v : v;
	}
	switch (draw() % 8) {
	case 0:
		return from_bits(draw(), f->single);
	case 1:
		v = ldexp(uniform(1, 2), (int)(draw() % 40) - 20);
		v = draw() & 1 ? -v : v;
		break;
	case 2: // close to an end
		v = f->low + (f->high - f->low) * ldexp(uniform(1, 2), -(int)(draw() % 60) - 1);
		v = draw() & 1 ? f->high - (v - f->low) : v;
		break;
	case 3: // close to an integer or a half
		v = rint(2 * uniform(f->low, f->high)) / 2 + ldexp(uniform(-1, 1), -(int)(draw() % 50));
		break;
	case 4:
		v = edges[draw() % (EDGES - 2)];
		v = draw() & 1 ? -v : v;
		break;
	default:
		v = uniform(f->low, f->high);
	}
	return f->single ? (float)v : v;
}

double call(const struct function *f, const double *x)
{
	void *p = f->fn;
	if (f->single)
		switch (f->arity + 10 * f->integer) {
		case 1: return ((float (*)(float))p)(x[0]);
		case 2: return ((float (*)(float, float))p)(x[0], x[1]);
		case 3: return ((float (*)(float, float, float))p)(x[0], x[1], x[2]);
		case 4: return ((float (*)(float, float, float, float))p)(x[0], x[1], x[2], x[3]);
		default: return ((float (*)(int, float))p)((int)x[0], x[1]);
		}
	switch (f->arity + 10 * f->integer) {
	case 1: return ((double (*)(double))p)(x[0]);
	case 2: return ((double (*)(double, double))p)(x[0], x[1]);
	case 3: return ((double (*)(double, double, double))p)(x[0], x[1], x[2]);
	case 4: return ((double (*)(double, double, double, double))p)(x[0], x[1], x[2], x[3]);
	default: return ((double (*)(int, double))p)((int)x[0], x[1]);
	}
}

// error is the distance of got from want in units of the last place of want, a large number if it is of another kind.
static double error(const struct function *f, double got, quad want)
{
	const double wrong = 1e18;
	int digits = f->single ? 24 : 53, least = f->single ? -126 : -1022, most = f->single ? 127 : 1023;
	if (Q(isnan)(want))
		return isnan(got) ? 0 : wrong;
	if (isnan(got))
		return wrong;
	quad top = Q(ldexp)(2, most), a = Q(fabs)(want);
	if (Q(isinf)(want) || a >= top - Q(ldexp)(1, most - digits))
		return isinf(got) && (got < 0) == (want < 0) ? 0 : fabs(got) == (f->single ? 0x1.fffffep127 : 0x1.fffffffffffffp1023) ? 1 : wrong;
	if (want != 0 && got == 0 && signbit(got) != (want < 0))
		return wrong;
	quad g = isinf(got) ? (got < 0 ? -top : top) : (quad)got;
	if (want == 0 && got == 0)
		return signbit(got) == (Q(signbit)(want) != 0) ? 0 : wrong;
	int e = least;
	if (want != 0)
		Q(frexp)(want, &e);
	e = e - 1 < least ? least : e - 1;
	return (double)(Q(fabs)(g - want) / Q(ldexp)(1, e - digits + 1));
}

// distance is that of got from want as a part of what is allowed, a large number if it is of another kind.
static double distance(const struct function *f, double got, quad want)
{
	return isnan(got) ? 1e18 : (double)(Q(fabs)((quad)got - want)) / f->absolute;
}

static void sweep(const struct function *f, int n)
{
	double worst = 0, apart = 0, at[4] = {0}, at_apart[4] = {0}, got = 0;
	for (int i = 0; i < n; i++) {
		double x[4] = {0};
		quad q[4];
		for (int k = 0; k < f->arity; k++) {
			x[k] = sample(f, i, k);
			if (f->integer && k == 0)
				x[k] = f->apart ? (double)(draw() % 130) : (double)((int)(draw() % 300) - 150);
			q[k] = x[k];
		}
		if (f->integer && i < 6 * EDGES)
			x[1] = sample(f, i, 0), q[1] = x[1];
		double g = call(f, x);
		quad want = f->exact(q);
		if (f->apart && f->apart(q) && isfinite((double)want)) {
			double d = distance(f, g, want);
			if (d > apart)
				apart = d, memcpy(at_apart, x, sizeof at);
			continue;
		}
		double e = error(f, g, want);
		if (e > worst)
			worst = e, memcpy(at, x, sizeof at), got = g;
	}
	printf("%s %.3f %.3f", f->name, worst, apart);
	for (int k = 0; k < f->arity; k++)
		printf(" %a", at[k]);
	printf(" -> %a", got);
	if (apart > 0)
		for (int k = 0; k < f->arity; k++)
			printf(" | %a", at_apart[k]);
	printf("\n");
}

static double number(const struct function *f, uint64_t u) { return from_bits(f->single ? u << 32 : u, f->single); }

static void check(const struct function *f, const uint64_t *words)
{
	double x[4] = {0};
	quad q[4];
	for (int k = 0; k < f->arity; k++)
		q[k] = x[k] = f->integer && k == 0 ? (double)(int32_t)words[k] : number(f, words[k]);
	double got = number(f, words[f->arity]);
	quad want = f->exact(q);
	int apart = f->apart && f->apart(q) && isfinite((double)want);
	double far = apart ? distance(f, got, want) : 0;
	printf("%g %g\n", apart ? 0 : error(f, got, want), far);
}

static void check_lines(void)
{
	char line[400], name[64];
	while (fgets(line, sizeof line, stdin)) {
		uint64_t w[5] = {0};
		sscanf(line, "%63s %lx %lx %lx %lx %lx", name, &w[0], &w[1], &w[2], &w[3], &w[4]);
		for (int i = 0; i < function_count; i++)
			if (!strcmp(functions[i].name, name))
				check(&functions[i], w);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "check")) {
		check_lines();
		return 0;
	}
	int n = argc > 1 ? atoi(argv[1]) : 1000;
	for (int i = 0; i < function_count; i++) {
		int wanted = argc < 3;
		for (int k = 2; k < argc; k++)
			wanted |= !strcmp(argv[k], functions[i].name);
		if (wanted)
			sweep(&functions[i], n);
	}
	return 0;
}
