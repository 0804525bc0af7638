package fuse

import (
	"math"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
)

func gelu(x float64) float64    { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) }
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
func geluTanh(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}
func elu(x, alpha float64) float64 {
	if x < 0 {
		return alpha * math.Expm1(x)
	}
	return x
}
func relu(x, lower, upper, slope float64) float64 {
	if x < lower {
		return lower + slope*(x-lower)
	}
	return math.Min(x, upper)
}
func softplus(x, beta float64) float64 { return math.Log1p(math.Exp(beta*x)) / beta }
func swish(x, beta float64) float64    { return x * sigmoid(beta*x) }

// slope is a derivative, by differences.
func slope(f func(x float64) float64, x float64) float64 {
	const h = 1e-5
	return (f(x+h) - f(x-h)) / (2 * h)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func floorMod(x, y float64) float64 {
	r := math.Mod(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// references are the operations in f64. Arguments are numbers of both signs; limit brings them where the operation is defined.
var references = map[Op]struct {
	f     func(a []float64) float64
	limit func(float64) float64
}{
	Add: {f: func(a []float64) float64 { return a[0] + a[1] }}, Sub: {f: func(a []float64) float64 { return a[0] - a[1] }},
	Mul: {f: func(a []float64) float64 { return a[0] * a[1] }}, Div: {f: func(a []float64) float64 { return a[0] / a[1] }},
	Min: {f: func(a []float64) float64 { return math.Min(a[0], a[1]) }}, Max: {f: func(a []float64) float64 { return math.Max(a[0], a[1]) }},
	MinNaN: {f: func(a []float64) float64 { return math.Min(a[0], a[1]) }}, MaxNaN: {f: func(a []float64) float64 { return math.Max(a[0], a[1]) }},
	Mod: {f: func(a []float64) float64 { return math.Mod(a[0], a[1]) }}, FloorMod: {f: func(a []float64) float64 { return floorMod(a[0], a[1]) }},
	Pow: {func(a []float64) float64 { return math.Pow(a[0], a[1]) }, math.Abs}, Atan2: {f: func(a []float64) float64 { return math.Atan2(a[0], a[1]) }},
	Abs: {f: func(a []float64) float64 { return math.Abs(a[0]) }}, Neg: {f: func(a []float64) float64 { return -a[0] }},
	Ceil: {f: func(a []float64) float64 { return math.Ceil(a[0]) }}, Floor: {f: func(a []float64) float64 { return math.Floor(a[0]) }},
	Exp: {f: func(a []float64) float64 { return math.Exp(a[0]) }}, Log: {func(a []float64) float64 { return math.Log(a[0]) }, math.Abs},
	Sqrt: {func(a []float64) float64 { return math.Sqrt(a[0]) }, math.Abs}, Rsqrt: {func(a []float64) float64 { return 1 / math.Sqrt(a[0]) }, math.Abs},
	Reciprocal: {f: func(a []float64) float64 { return 1 / a[0] }}, Sin: {f: func(a []float64) float64 { return math.Sin(a[0]) }},
	Cos: {f: func(a []float64) float64 { return math.Cos(a[0]) }}, Tan: {f: func(a []float64) float64 { return math.Tan(a[0]) }},
	Erf: {f: func(a []float64) float64 { return math.Erf(a[0]) }}, Tanh: {f: func(a []float64) float64 { return math.Tanh(a[0]) }},
	Relu:    {f: func(a []float64) float64 { return relu(a[0], -0.5, 2, 0.25) }},
	Sigmoid: {f: func(a []float64) float64 { return sigmoid(a[0]) }}, Elu: {f: func(a []float64) float64 { return elu(a[0], 1.5) }},
	Gelu: {f: func(a []float64) float64 { return gelu(a[0]) }}, GeluTanh: {f: func(a []float64) float64 { return geluTanh(a[0]) }},
	Softplus: {f: func(a []float64) float64 { return softplus(a[0], 1.5) }}, Swish: {f: func(a []float64) float64 { return swish(a[0], 1.5) }},
	ReluBwd: {f: func(a []float64) float64 {
		return a[0] * slope(func(x float64) float64 { return relu(x, -0.5, 2, 0.25) }, a[1])
	}},
	TanhBwd: {f: func(a []float64) float64 { return a[0] * slope(math.Tanh, a[1]) }}, SigmoidBwd: {f: func(a []float64) float64 { return a[0] * slope(sigmoid, a[1]) }},
	EluBwd:  {f: func(a []float64) float64 { return a[0] * slope(func(x float64) float64 { return elu(x, 1.5) }, a[1]) }},
	GeluBwd: {f: func(a []float64) float64 { return a[0] * slope(gelu, a[1]) }}, GeluTanhBwd: {f: func(a []float64) float64 { return a[0] * slope(geluTanh, a[1]) }},
	SoftplusBwd: {f: func(a []float64) float64 {
		return a[0] * slope(func(x float64) float64 { return softplus(x, 1.5) }, a[1])
	}},
	SwishBwd: {f: func(a []float64) float64 { return a[0] * slope(func(x float64) float64 { return swish(x, 1.5) }, a[1]) }},
	TanhBwdY: {f: func(a []float64) float64 { return a[0] * (1 - a[1]*a[1]) }}, SigmoidBwdY: {f: func(a []float64) float64 { return a[0] * a[1] * (1 - a[1]) }},
	EluBwdY: {f: func(a []float64) float64 {
		if a[1] < 0 {
			return a[0] * (a[1] + 1.5)
		}
		return a[0]
	}},
	SoftplusBwdY: {f: func(a []float64) float64 { return a[0] * -math.Expm1(-1.5*a[1]) }},
	Equal:        {f: func(a []float64) float64 { return truth(a[0] == a[1]) }}, NotEqual: {f: func(a []float64) float64 { return truth(a[0] != a[1]) }},
	Greater: {f: func(a []float64) float64 { return truth(a[0] > a[1]) }}, GreaterEqual: {f: func(a []float64) float64 { return truth(a[0] >= a[1]) }},
	Less: {f: func(a []float64) float64 { return truth(a[0] < a[1]) }}, LessEqual: {f: func(a []float64) float64 { return truth(a[0] <= a[1]) }},
	And: {f: func(a []float64) float64 { return truth(a[0] != 0 && a[1] != 0) }}, Or: {f: func(a []float64) float64 { return truth(a[0] != 0 || a[1] != 0) }},
	Not: {f: func(a []float64) float64 { return truth(a[0] == 0) }},
	Select: {f: func(a []float64) float64 {
		if a[0] != 0 {
			return a[1]
		}
		return a[2]
	}},
}

// constants follow the tensors' arguments of an operation.
var constants = map[Op][]float64{
	Relu: {-0.5, 2, 0.25}, ReluBwd: {-0.5, 2, 0.25}, Elu: {1.5}, EluBwd: {1.5}, EluBwdY: {1.5}, Softplus: {1.5}, SoftplusBwd: {1.5},
	SoftplusBwdY: {1.5}, Swish: {1.5}, SwishBwd: {1.5},
}

// TestOperations computes every operation in f32 and f64, forward ones against f64, backward ones against differences.
func TestOperations(t *testing.T) {
	r := onDevice(t)
	dim := []int64{3, 5, 41}
	for op := convert + 1; op < Uniform; op++ {
		ref, ok := references[op]
		if !ok {
			t.Errorf("%v has no reference", op)
			continue
		}
		for _, e := range []nn.Elem{nn.F32, nn.F64} {
			pull := func() float64 {
				v := r.normal()
				if ops[op].logical || op == Select && r.rng.IntN(3) == 0 || ops[op].compares {
					v = math.Round(v)
				}
				if ref.limit != nil {
					v = ref.limit(v)
				}
				return v
			}
			p := new(Program)
			var args []*array
			var values []Value
			var list Args
			for range ops[op].args - len(constants[op]) {
				args = append(args, r.array(e, dim, nn.Packed(dim...), pull))
				values = append(values, p.In(e))
				list.Tensors = append(list.Tensors, args[len(args)-1].Tensor)
			}
			for _, c := range constants[op] {
				values = append(values, p.Const(F64, c))
			}
			p.Out(e, p.Do(KindOf(e), op, values...))
			out := r.array(e, dim, nn.Packed(dim...), func() float64 { return 0 })
			list.Tensors = append(list.Tensors, out.Tensor)
			r.ok(p.Run(&r.Run, dim, nil, list))
			r.back(out)
			tolerance := 0.0
			if e == nn.F64 && op >= ReluBwd && op <= GeluTanhBwd {
				tolerance = 1e-8 // of the differences
			}
			bad := 0
			out.each(func(index []int64) {
				given := make([]float64, len(args))
				for i, a := range args {
					given[i] = a.value(index)
				}
				want, got := ref.f(given), out.value(index)
				if !near(e, got, want, 1) && math.Abs(got-want) > tolerance*math.Max(1, math.Abs(want)) {
					if bad++; bad < 4 {
						t.Errorf("%v of %v in %v is %v, not %v", op, given, e, got, want)
					}
				}
			})
		}
	}
}

// TestTypes converts every type to every other one through f32 or f64, with a number added that is given to Run.
func TestTypes(t *testing.T) {
	r := onDevice(t)
	dim := []int64{2, 67}
	for from := nn.F32; from <= nn.Bool; from++ {
		for to := nn.F32; to <= nn.Bool; to++ {
			a := r.array(from, dim, nn.Packed(dim...), func() float64 { return r.normal() * math.Pow(10, float64(r.rng.IntN(4)-1)) })
			out := r.array(to, dim, nn.Packed(dim...), func() float64 { return 0 })
			p := new(Program)
			k := F32
			if from == nn.F64 || from == nn.S64 || to == nn.F64 {
				k = F64
			}
			p.Out(to, p.Do(k, Sub, p.In(from), p.Scalar(k)))
			r.ok(p.Run(&r.Run, dim, nil, Args{Tensors: []nn.Tensor{a.Tensor, out.Tensor}, Numbers: []float64{0.25}}))
			r.back(out)
			out.each(func(index []int64) {
				want, got := a.value(index)-0.25, out.value(index)
				if to == nn.Bool {
					want = truth(want != 0)
				}
				if to == nn.F16 && math.Abs(want) > 65500 {
					return
				}
				if !near(to, got, want, 0) {
					t.Fatalf("%v to %v: %v, not %v", from, to, got, want)
				}
			})
		}
	}
}

// TestLayouts adds tensors of several orders, with gaps, with one element for a whole axis, and in place.
func TestLayouts(t *testing.T) {
	r := onDevice(t)
	p := new(Program)
	p.Out(nn.F32, p.Do(F32, Add, p.Do(F32, Mul, p.In(nn.F32), p.In(nn.F32)), p.In(nn.F32)))
	for _, dim := range [][]int64{{1}, {0, 4}, {33}, {2, 3, 4, 5}, {3, 40, 7, 9}, {2, 70, 1, 3}, {4, 1, 300}, {2, 3, 2, 2, 2, 3}, {65, 129}, {1, 1, 1}} {
		for i, s1 := range layouts(dim) {
			for j, s2 := range layouts(dim) {
				one := make([]int64, len(dim))
				for d := range one {
					one[d] = dim[d]
					if d != 1 && dim[d] != 0 {
						one[d] = 1
					}
				}
				a, b := r.array(nn.F32, dim, s1, r.normal), r.array(nn.F32, dim, s2, r.normal)
				c := r.array(nn.F32, one, nn.Packed(one...), r.normal)
				out := r.array(nn.F32, dim, layouts(dim)[(i+j)%3], r.normal)
				if i == j && j > 0 {
					out = a // in place
				}
				old := *a
				old.bytes = append([]byte(nil), a.bytes...)
				r.ok(p.Run(&r.Run, dim, nil, Args{Tensors: []nn.Tensor{a.Tensor, b.Tensor, c.Tensor, out.Tensor}}))
				r.back(out)
				out.each(func(index []int64) {
					want := old.value(index)*b.value(index) + c.value(index)
					if got := out.value(index); !near(nn.F32, got, want, 1) {
						t.Fatalf("%v, layouts %d and %d, at %v: %v, not %v", dim, i, j, index, got, want)
					}
				})
			}
		}
	}
}

// TestIndex is an index along an axis, as a mask of a matrix's upper part uses it.
func TestIndex(t *testing.T) {
	r := onDevice(t)
	dim := []int64{2, 3, 37}
	p := new(Program)
	row, column := p.Index(), p.Index()
	p.Out(nn.F32, p.Do(F32, Select, p.Do(S64, GreaterEqual, row, column), p.In(nn.F32), p.Const(F32, -7)))
	a := r.array(nn.F32, dim, nn.Packed(dim...), r.normal)
	out := r.array(nn.F32, dim, nn.Packed(dim...), r.normal)
	along := func(axis int) nn.Tensor {
		s := make([]int64, len(dim))
		s[axis] = 1
		return nn.Tensor{Dim: dim, Stride: s}
	}
	r.ok(p.Run(&r.Run, dim, nil, Args{Tensors: []nn.Tensor{along(1), along(2), a.Tensor, out.Tensor}}))
	r.back(out)
	out.each(func(index []int64) {
		want := -7.0
		if index[1] >= index[2] {
			want = a.value(index)
		}
		if got := out.value(index); got != want {
			t.Fatalf("at %v: %v, not %v", index, got, want)
		}
	})
}

// TestNaN: which operations keep one.
func TestNaN(t *testing.T) {
	r := onDevice(t)
	dim := []int64{2}
	for _, c := range []struct {
		op   Op
		want [2]float64
	}{{Max, [2]float64{1, 1}}, {Min, [2]float64{1, 1}}, {MaxNaN, [2]float64{math.NaN(), math.NaN()}}, {MinNaN, [2]float64{math.NaN(), math.NaN()}}} {
		values := []float64{1, math.NaN()}
		a := r.array(nn.F32, dim, []int64{1}, func() float64 { values[0], values[1] = values[1], values[0]; return values[0] })
		b := r.array(nn.F32, dim, []int64{1}, func() float64 { v := values[0]; values[0], values[1] = values[1], values[0]; return v })
		out := r.array(nn.F32, dim, []int64{1}, r.normal)
		p := new(Program)
		p.Out(nn.F32, p.Do(F32, c.op, p.In(nn.F32), p.In(nn.F32)))
		r.ok(p.Run(&r.Run, dim, nil, Args{Tensors: []nn.Tensor{a.Tensor, b.Tensor, out.Tensor}}))
		r.back(out)
		for i := range c.want {
			got := out.value([]int64{int64(i)})
			if x, y := a.value([]int64{int64(i)}), b.value([]int64{int64(i)}); math.IsNaN(x) == math.IsNaN(y) {
				t.Fatalf("%v of %v and %v", c.op, x, y)
			}
			if got != c.want[i] && !(math.IsNaN(got) && math.IsNaN(c.want[i])) {
				t.Errorf("%v: %v, not %v", c.op, got, c.want[i])
			}
		}
	}
}

// TestUniform: the same seed gives the same numbers, of which none is 0; another offset gives others.
func TestUniform(t *testing.T) {
	r := onDevice(t)
	dim := []int64{1000}
	run := func(seed, offset int64) *array {
		p := new(Program)
		p.Out(nn.F32, p.Do(F32, Uniform, p.Scalar(S64), p.Scalar(S64), p.Index()))
		out := r.array(nn.F32, dim, []int64{1}, r.normal)
		r.ok(p.Run(&r.Run, dim, nil, Args{Tensors: []nn.Tensor{{Dim: dim, Stride: []int64{1}}, out.Tensor}, Wholes: []int64{seed, offset}}))
		r.back(out)
		return out
	}
	a, b, c := run(1<<60+5, 3), run(1<<60+5, 3), run(1<<60+5, 4)
	sum, same := 0.0, 0
	a.each(func(index []int64) {
		v := a.value(index)
		if v <= 0 || v > 1 || v != b.value(index) {
			t.Fatalf("%v, then %v", v, b.value(index))
		}
		if v == c.value(index) {
			same++
		}
		sum += v
	})
	if math.Abs(sum/1000-0.5) > 0.03 || same > 2 {
		t.Errorf("mean %v, %d the same with another offset", sum/1000, same)
	}
}
