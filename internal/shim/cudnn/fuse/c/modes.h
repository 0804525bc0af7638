// The modes of one type T.

T NAME(exp)(T x) { return LIB(exp)(x); }
T NAME(log)(T x) { return LIB(log)(x); }
T NAME(sin)(T x) { return LIB(sin)(x); }
T NAME(cos)(T x) { return LIB(cos)(x); }
T NAME(tan)(T x) { return LIB(tan)(x); }
T NAME(erf)(T x) { return LIB(erf)(x); }
T NAME(pow)(T x, T y) { return LIB(pow)(x, y); }
T NAME(atan2)(T x, T y) { return LIB(atan2)(x, y); }
T NAME(mod)(T x, T y) { return LIB(fmod)(x, y); }

// floor_mod has the sign of the divisor.
T NAME(floor_mod)(T x, T y)
{
	T r = LIB(fmod)(x, y);
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

// A NaN wins.
T NAME(min_nan)(T x, T y)
{
	T r = x < y ? x : y;
	return x != x ? x : r;
}

T NAME(max_nan)(T x, T y)
{
	T r = x > y ? x : y;
	return x != x ? x : r;
}

T NAME(rsqrt)(T x) { return 1 / ROOT(x); }
T NAME(tanh)(T x) { return LIB(tanh)(x); }

T NAME(sigmoid)(T x)
{
	T e = LIB(exp)(-FABS(x)), s = 1 / (1 + e);
	return x < 0 ? e * s : s;
}

// A rectifier: a line of slope below the lower bound, never above the upper one. A NaN stays one.
T NAME(relu)(T x, T lower, T upper, T slope)
{
	T low = lower + slope * (x - lower);
	T y = x < lower ? low : x;
	return x > upper ? upper : y;
}

T NAME(relu_bwd)(T dy, T x, T lower, T upper, T slope)
{
	T d = x <= lower ? dy * slope : dy;
	return x > upper ? 0 : d;
}

T NAME(tanh_bwd)(T dy, T x)
{
	T y = LIB(tanh)(x);
	return dy * (1 - y * y);
}

T NAME(sigmoid_bwd)(T dy, T x)
{
	T e = LIB(exp)(-FABS(x)), s = 1 / (1 + e);
	return dy * e * s * s;
}

T NAME(elu)(T x, T alpha)
{
	T e = alpha * LIB(expm1)(x < 0 ? x : 0);
	return x < 0 ? e : x;
}

T NAME(elu_bwd)(T dy, T x, T alpha)
{
	T e = alpha * LIB(exp)(x < 0 ? x : 0);
	return dy * (x < 0 ? e : 1);
}

#define ROOT_HALF (T)0.70710678118654752440
#define ROOT_2_BY_PI (T)0.79788456080286535588
#define INV_ROOT_2PI (T)0.39894228040143267794

T NAME(gelu)(T x) { return (T)0.5 * x * (1 + LIB(erf)(x * ROOT_HALF)); }

T NAME(gelu_bwd)(T dy, T x)
{
	T cdf = (T)0.5 * (1 + LIB(erf)(x * ROOT_HALF)), pdf = INV_ROOT_2PI * LIB(exp)((T)-0.5 * x * x);
	return dy * (cdf + x * pdf);
}

T NAME(gelu_tanh)(T x)
{
	T in = ROOT_2_BY_PI * (x + (T)0.044715 * x * x * x);
	return (T)0.5 * x * (1 + LIB(tanh)(in));
}

T NAME(gelu_tanh_bwd)(T dy, T x)
{
	T square = x * x, in = ROOT_2_BY_PI * (x + (T)0.044715 * x * square);
	T t = LIB(tanh)(in), slope = ROOT_2_BY_PI * (1 + 3 * (T)0.044715 * square);
	return dy * ((T)0.5 * (1 + t) + (T)0.5 * x * (1 - t * t) * slope);
}

// log(1 + e^(beta x)) / beta, of which the exponential never overflows.
T NAME(softplus)(T x, T beta)
{
	T z = beta * x, l = LIB(log1p)(LIB(exp)(-FABS(z)));
	return ((z > 0 ? z : 0) + l + (z != z ? z : 0)) / beta;
}

T NAME(softplus_bwd)(T dy, T x, T beta) { return dy * NAME(sigmoid)(beta * x); }

T NAME(swish)(T x, T beta) { return x * NAME(sigmoid)(beta * x); }

T NAME(swish_bwd)(T dy, T x, T beta)
{
	T s = NAME(sigmoid)(beta * x);
	return dy * (s + beta * x * s * (1 - s));
}

// From what the forward operation gave, where that says enough.
T NAME(tanh_bwd_y)(T dy, T y) { return dy * (1 - y * y); }
T NAME(sigmoid_bwd_y)(T dy, T y) { return dy * y * (1 - y); }
T NAME(elu_bwd_y)(T dy, T y, T alpha) { return dy * (y < 0 ? y + alpha : 1); }
T NAME(softplus_bwd_y)(T dy, T y, T beta) { return dy * -LIB(expm1)(-beta * y); }
#undef ROOT_HALF
#undef ROOT_2_BY_PI
#undef INV_ROOT_2PI
