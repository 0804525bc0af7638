package graph

import (
	"kudzu/internal/shim/cudnn/fuse"
	"kudzu/internal/spec/dnn"
)

// checkFinalize makes of sums and sums of squares what a batch norm scales and shifts by, and what it remembers.
func checkFinalize(o *operation) error {
	g := o.g
	training := dnn.CudnnBnFinalizeStatsMode_t(g.whole(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE, 0)) == dnn.CUDNN_BN_FINALIZE_STATISTICS_TRAINING
	scale, bias := g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC)
	sum, squares := g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC)
	count, eps := g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC)
	oldMean, oldVar := g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC)
	if eps == nil || training && (sum == nil || squares == nil || count == nil) || !training && (oldMean == nil || oldVar == nil) {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "statistics of a batch norm without what they are made of")
	}
	if err := fits(scale, bias, sum, squares, count, eps, oldMean, oldVar); err != nil {
		return err
	}
	w := o.part(scale, nil)
	p := &w.program
	do := func(op fuse.Op, args ...fuse.Value) fuse.Value { return p.Do(fuse.F64, op, args...) }
	store := func(a Attr, v fuse.Value) {
		if t := g.tensor(a); t != nil {
			w.out(t, v)
		}
	}
	var mean, variance fuse.Value
	if training {
		n := w.in(count)
		mean = do(fuse.Div, w.in(sum), n)
		variance = do(fuse.Max, do(fuse.Sub, do(fuse.Div, w.in(squares), n), do(fuse.Mul, mean, mean)), p.Const(fuse.F64, 0))
		if factor := g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC); factor != nil && oldMean != nil && oldVar != nil {
			towards := func(old *tensor, now fuse.Value) fuse.Value {
				return do(fuse.Add, w.in(old), do(fuse.Mul, w.in(factor), do(fuse.Sub, now, w.in(old))))
			}
			unbiased := do(fuse.Mul, variance, do(fuse.Div, n, do(fuse.Max, do(fuse.Sub, n, p.Const(fuse.F64, 1)), p.Const(fuse.F64, 1))))
			store(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC, towards(oldMean, mean))
			store(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC, towards(oldVar, unbiased))
		}
	} else {
		mean, variance = w.in(oldMean), w.in(oldVar)
	}
	inv := do(fuse.Rsqrt, do(fuse.Add, variance, w.in(eps)))
	by := do(fuse.Mul, w.in(scale), inv)
	store(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC, mean)
	store(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC, inv)
	store(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC, by)
	store(dnn.CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC, do(fuse.Sub, w.in(bias), do(fuse.Mul, mean, by)))
	return nil
}

// checkWeights computes the gradients of scale and bias of a batch norm, and dx as a sum: EQ_DY_SCALE × dy + EQ_X_SCALE × x + EQ_BIAS.
func checkWeights(o *operation) error {
	g := o.g
	mean, inv := g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC)
	scale, x, dy := g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC), g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC)
	dscale := g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC)
	if err := fits(x, mean, inv, scale, dy, dscale); err != nil {
		return err
	}
	k := wide(x)
	w := o.part(x, dscale)
	p := &w.program
	hat := p.Do(k, fuse.Mul, p.Do(k, fuse.Sub, w.in(x), w.in(mean)), w.in(inv))
	d := p.As(k, w.in(dy))
	n := w.number(fuse.F64, perGroup(x, dscale))
	a, b := p.Reduce(fuse.Add, p.Do(k, fuse.Mul, d, hat)), p.Reduce(fuse.Add, d)
	w.after = true
	w.known = map[int64]fuse.Value{} // what was read before cannot be used now
	do := func(op fuse.Op, args ...fuse.Value) fuse.Value { return p.Do(fuse.F64, op, args...) }
	m, i := w.in(mean), w.in(inv)
	by := do(fuse.Mul, w.in(scale), i)
	slope := do(fuse.Neg, do(fuse.Mul, by, do(fuse.Div, do(fuse.Mul, a, i), n)))
	w.out(dscale, a)
	w.out(g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC), b)
	w.out(g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC), by)
	w.out(g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC), slope)
	w.out(g.tensor(dnn.CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS), do(fuse.Neg, do(fuse.Add, do(fuse.Mul, by, do(fuse.Div, b, n)), do(fuse.Mul, slope, m))))
	return nil
}
