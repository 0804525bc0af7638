package nn

import (
	"slices"

	"kudzu/internal/shim"
)

var normKernels = module("norms", "norm")

// Known says what a norm is given instead of computing it.
type Known uint32

// What there is of the statistics.
const (
	KnownNothing   Known = iota // they are computed, and written where they have addresses
	KnownVariance               // Mean and Dev are the mean and the variance
	KnownDeviation              // Dev is one by the deviation, Eps in it
)

// Norm is y = alpha act((x − mean)/√(variance + Eps) × scale + bias + z) + beta y. All tensors have the dimensions of X; sides of 1
// serve all. There is a mean and a variance for every element of Stat, a shape of X's sizes or 1: the batch, layer, instance and group
// norms differ in it alone. A group norm has one more dimension, for its groups.
type Norm struct {
	X, Y, Scale, Bias, Z Tensor
	Stat                 []int64
	Mean, Dev            Tensor // of the type of sums: the mean, and one by the deviation
	Known                Known
	RMS                  bool // the mean counts as 0

	// Statistics that are kept: next = (1 − Factor) before + Factor × these. They may lie in one place.
	RunMean, RunVar, NextMean, NextVar Tensor
	Factor                             float64

	Eps      float64
	ReLU     bool
	Blending Scale // the zero value is Plain
}

// normTypes names the kernels for elements and parameters of some types.
func normTypes(x, param Tensor) (string, error) {
	p := param.Type
	if param.Addr == 0 {
		p = x.Type.Sum()
	}
	if !slices.Contains(floats32and64, x.Type) || p != x.Type && p != x.Type.Sum() {
		return "", ErrUnsupported
	}
	return x.Type.String() + "_" + p.String(), nil
}

var floats32and64 = []Elem{F32, F64, F16, BF16}

// agree checks that tensors which are there have a type.
func agree(e Elem, list ...Tensor) error {
	for _, t := range list {
		if t.Addr != 0 && t.Type != e {
			return ErrUnsupported
		}
	}
	return nil
}

// keeps says which dimensions a statistic has.
func keeps(stat []int64) func(int) bool { return func(d int) bool { return stat[d] != 1 } }

func (s Scale) orPlain() Scale {
	if s == (Scale{}) {
		return Plain
	}
	return s
}

// Norm computes a norm. Without an address of Y only the statistics are.
func (r *Run) Norm(n Norm) error {
	if n.X.Empty() {
		return nil
	}
	param := n.Scale
	if param.Addr == 0 {
		param = n.Bias
	}
	types, err := normTypes(n.X, param)
	if err != nil {
		return err
	}
	if len(n.Stat) != len(n.X.Dim) || n.Known != KnownNothing && n.Dev.Addr == 0 || n.Factor != 1 && (n.NextMean.Addr != 0 && n.RunMean.Addr == 0 || n.NextVar.Addr != 0 && n.RunVar.Addr == 0) {
		return ErrShape
	}
	if err := agree(n.X.Type, n.Y, n.Z); err != nil {
		return err
	}
	if err := agree(param.Type, n.Bias); err != nil {
		return err
	}
	if err := agree(n.X.Type.Sum(), n.Mean, n.Dev, n.RunMean, n.RunVar, n.NextMean, n.NextVar); err != nil {
		return err
	}
	w, err := newWalk(keeps(n.Stat), n.X, n.Y, n.Scale, n.Bias, n.Z, n.Mean, n.Dev, n.RunMean, n.RunVar, n.NextMean, n.NextVar)
	if err != nil {
		return err
	}
	s := n.Blending.orPlain()
	var q shim.Params
	w.put(&q)
	q.F64(n.Eps, n.Factor, s.Alpha, s.Beta).U32(flag(n.RMS), uint32(n.Known), flag(n.ReLU), 0)
	return w.launch(r, normKernels, "norm", types, &q, !w.columns && w.near(0, 1, 2, 3, 4))
}

// NormBackward has the gradients of a norm, for the gradient Dy of y: of x, of what was added (Dz, without address if there was
// nothing), and of scale and bias.
type NormBackward struct {
	X, Dy, Dx, Dz, Scale Tensor
	Y                    Tensor // with ReLU: what the norm gave
	Stat                 []int64
	Mean, Dev            Tensor // those of the forward norm; without address of Dev they are computed again, with Eps
	DScale, DBias        Tensor
	RMS, ReLU            bool
	Eps                  float64
	Data, Params         Scale // how Dx, and DScale and DBias are left; the zero value is Plain
}

// NormBackward computes the gradients of a norm.
func (r *Run) NormBackward(n NormBackward) error {
	if n.X.Empty() {
		return nil
	}
	if !n.ReLU {
		n.Y = Tensor{}
	} else if n.Y.Addr == 0 {
		return ErrShape
	}
	if len(n.Stat) != len(n.X.Dim) || n.Dx.Addr == 0 {
		return ErrShape
	}
	param := n.Scale
	if param.Addr == 0 {
		param = n.DScale
	}
	types, err := normTypes(n.X, param)
	if err != nil {
		return err
	}
	if err := agree(n.X.Type, n.Dy, n.Dx, n.Dz, n.Y); err != nil {
		return err
	}
	if err := agree(n.X.Type.Sum(), n.Mean, n.Dev); err != nil {
		return err
	}
	if n.Dev.Addr == 0 {
		done, err := r.statistics(&n)
		if err != nil {
			return err
		}
		defer done()
	}
	if n.RMS {
		n.Mean = Tensor{}
	}
	if err := r.normParams(&n); err != nil { // first: Dx may be Dy
		return err
	}
	w, err := newWalk(keeps(n.Stat), n.X, n.Dy, n.Dx, n.Dz, n.Scale, n.Mean, n.Dev, n.Y)
	if err != nil {
		return err
	}
	s := n.Data.orPlain()
	var q shim.Params
	w.put(&q)
	q.F64(s.Alpha, s.Beta).U32(flag(n.RMS), 0)
	return w.launch(r, normKernels, "normBack", types, &q, !w.columns && w.near(0, 1, 2, 3, 4, 7))
}

// statistics computes those of x into scratch.
func (r *Run) statistics(n *NormBackward) (func(), error) {
	e := n.X.Type.Sum()
	size := round256(product64(n.Stat) * e.Size())
	at, done, err := r.scratch(2 * size)
	if err != nil {
		return nil, err
	}
	n.Mean, n.Dev = Make(at, e, n.Stat...), Make(at+uint64(size), e, n.Stat...)
	if err := r.Norm(Norm{X: n.X, Stat: n.Stat, Mean: n.Mean, Dev: n.Dev, RMS: n.RMS, Eps: n.Eps}); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

func product64(v []int64) int64 {
	n := int64(1)
	for _, x := range v {
		n *= x
	}
	return n
}

// normParams computes the gradients of scale and bias. Both have one shape.
func (r *Run) normParams(n *NormBackward) error {
	one := n.DScale
	if one.Addr == 0 {
		one = n.DBias
	}
	if one.Addr == 0 {
		return nil
	}
	if len(one.Dim) != len(n.X.Dim) || n.DBias.Addr != 0 && !SameShape(one, n.DBias) {
		return ErrShape
	}
	types, err := normTypes(n.X, one)
	if err != nil {
		return err
	}
	if err := agree(one.Type, n.DBias); err != nil {
		return err
	}
	w, err := newWalk(keeps(one.Dim), n.X, n.Dy, n.Mean, n.Dev, n.Y, n.DScale, n.DBias)
	if err != nil {
		return err
	}
	s := n.Params.orPlain()
	var q shim.Params
	w.put(&q)
	q.F64(s.Alpha, s.Beta)
	return w.launch(r, normKernels, "normParams", types, &q, w.columns && w.near(0, 1, 4, 5, 6))
}
