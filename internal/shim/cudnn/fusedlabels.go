package cudnn

import (
	"slices"

	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// placeholders say of an address whether there will be one, and how it is aligned.
var placeholders = map[constLabel]variantLabel{
	dnn.CUDNN_PARAM_XDATA_PLACEHOLDER: dnn.CUDNN_PTR_XDATA, dnn.CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER: dnn.CUDNN_PTR_BN_EQSCALE, dnn.CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER: dnn.CUDNN_PTR_BN_EQBIAS,
	dnn.CUDNN_PARAM_WDATA_PLACEHOLDER: dnn.CUDNN_PTR_WDATA, dnn.CUDNN_PARAM_DWDATA_PLACEHOLDER: dnn.CUDNN_PTR_DWDATA, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER: dnn.CUDNN_PTR_YDATA,
	dnn.CUDNN_PARAM_DYDATA_PLACEHOLDER: dnn.CUDNN_PTR_DYDATA, dnn.CUDNN_PARAM_YSUM_PLACEHOLDER: dnn.CUDNN_PTR_YSUM, dnn.CUDNN_PARAM_YSQSUM_PLACEHOLDER: dnn.CUDNN_PTR_YSQSUM,
	dnn.CUDNN_PARAM_BN_SCALE_PLACEHOLDER: dnn.CUDNN_PTR_BN_SCALE, dnn.CUDNN_PARAM_BN_BIAS_PLACEHOLDER: dnn.CUDNN_PTR_BN_BIAS, dnn.CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER: dnn.CUDNN_PTR_BN_SAVED_MEAN,
	dnn.CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER: dnn.CUDNN_PTR_BN_SAVED_INVSTD, dnn.CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER: dnn.CUDNN_PTR_BN_RUNNING_MEAN,
	dnn.CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER: dnn.CUDNN_PTR_BN_RUNNING_VAR, dnn.CUDNN_PARAM_ZDATA_PLACEHOLDER: dnn.CUDNN_PTR_ZDATA, dnn.CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER: dnn.CUDNN_PTR_BN_Z_EQSCALE,
	dnn.CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER: dnn.CUDNN_PTR_BN_Z_EQBIAS, dnn.CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER: dnn.CUDNN_PTR_ACTIVATION_BITMASK, dnn.CUDNN_PARAM_DXDATA_PLACEHOLDER: dnn.CUDNN_PTR_DXDATA,
	dnn.CUDNN_PARAM_DZDATA_PLACEHOLDER: dnn.CUDNN_PTR_DZDATA, dnn.CUDNN_PARAM_BN_DSCALE_PLACEHOLDER: dnn.CUDNN_PTR_BN_DSCALE, dnn.CUDNN_PARAM_BN_DBIAS_PLACEHOLDER: dnn.CUDNN_PTR_BN_DBIAS,
}

// Labels that several operations have.
var (
	fusedX       = []constLabel{dnn.CUDNN_PARAM_XDESC, dnn.CUDNN_PARAM_XDATA_PLACEHOLDER}
	fusedScale   = []constLabel{dnn.CUDNN_PARAM_BN_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, dnn.CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER}
	fusedConv    = []constLabel{dnn.CUDNN_PARAM_CONV_DESC, dnn.CUDNN_PARAM_WDESC, dnn.CUDNN_PARAM_WDATA_PLACEHOLDER}
	fusedY       = []constLabel{dnn.CUDNN_PARAM_YDESC, dnn.CUDNN_PARAM_YDATA_PLACEHOLDER}
	fusedAct     = []constLabel{dnn.CUDNN_PARAM_BN_MODE, dnn.CUDNN_PARAM_ACTIVATION_DESC}
	fusedSums    = []constLabel{dnn.CUDNN_PARAM_YSTATS_DESC, dnn.CUDNN_PARAM_YSUM_PLACEHOLDER, dnn.CUDNN_PARAM_YSQSUM_PLACEHOLDER}
	fusedZ       = []constLabel{dnn.CUDNN_PARAM_ZDESC, dnn.CUDNN_PARAM_ZDATA_PLACEHOLDER, dnn.CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC, dnn.CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER, dnn.CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER}
	fusedNorm    = []constLabel{dnn.CUDNN_PARAM_BN_MODE, dnn.CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, dnn.CUDNN_PARAM_BN_SCALE_PLACEHOLDER, dnn.CUDNN_PARAM_BN_BIAS_PLACEHOLDER}
	fusedSaved   = []constLabel{dnn.CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER, dnn.CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER}
	fusedRunning = []constLabel{dnn.CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER, dnn.CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER}
	fusedBits    = []constLabel{dnn.CUDNN_PARAM_ACTIVATION_BITMASK_DESC, dnn.CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER}
	fusedDy      = []constLabel{dnn.CUDNN_PARAM_DYDESC, dnn.CUDNN_PARAM_DYDATA_PLACEHOLDER}
)

// fusedRow is an operation: its constants, its numbers, and what it does.
type fusedRow struct {
	constants []constLabel
	numbers   []variantLabel
	plan      func(*fusing)
}

var fusedRows = [...]fusedRow{
	dnn.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS: {constants: slices.Concat(fusedX, fusedScale, fusedAct, fusedConv, fusedY, fusedSums), plan: (*fusing).convolveAndSum},
	dnn.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD: {constants: slices.Concat(fusedX, fusedScale, fusedAct, fusedDy,
		[]constLabel{dnn.CUDNN_PARAM_CONV_DESC, dnn.CUDNN_PARAM_DWDESC, dnn.CUDNN_PARAM_DWDATA_PLACEHOLDER}), plan: (*fusing).filterGradient},
	dnn.CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING: {constants: slices.Concat(fusedSums, fusedNorm, fusedSaved, fusedRunning, fusedScale), plan: (*fusing).finishTraining,
		numbers: []variantLabel{dnn.CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT, dnn.CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR, dnn.CUDNN_SCALAR_DOUBLE_BN_EPSILON}},
	dnn.CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE: {constants: slices.Concat(fusedNorm, fusedRunning, fusedScale), plan: (*fusing).finishInference,
		numbers: []variantLabel{dnn.CUDNN_SCALAR_DOUBLE_BN_EPSILON}},
	dnn.CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION:        {constants: slices.Concat(fusedX, fusedConv, fusedScale, fusedAct, fusedZ, fusedY), plan: (*fusing).convolveAndAdd},
	dnn.CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK: {constants: slices.Concat(fusedX, fusedScale, fusedAct, fusedZ, fusedY, fusedBits), plan: (*fusing).addAndMark},
	dnn.CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM: {constants: slices.Concat(fusedX, fusedDy, fusedAct, fusedBits, fusedNorm, fusedSaved, []constLabel{dnn.CUDNN_PARAM_DXDESC, dnn.CUDNN_PARAM_DXDATA_PLACEHOLDER,
		dnn.CUDNN_PARAM_DZDESC, dnn.CUDNN_PARAM_DZDATA_PLACEHOLDER, dnn.CUDNN_PARAM_BN_DSCALE_PLACEHOLDER, dnn.CUDNN_PARAM_BN_DBIAS_PLACEHOLDER}), plan: (*fusing).unmarkAndNorm},
}

// hasConstant reports a label of an operation.
func hasConstant(op fusedOp, l constLabel) bool { return slices.Contains(fusedRows[op].constants, l) }

// hasVariant reports one of what an execution is given. Every operation may have a workspace.
func hasVariant(op fusedOp, l variantLabel) bool {
	if l == dnn.CUDNN_PTR_WORKSPACE || l == dnn.CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES || slices.Contains(fusedRows[op].numbers, l) {
		return true
	}
	return slices.ContainsFunc(fusedRows[op].constants, func(c constLabel) bool {
		p, ok := placeholders[c]
		return ok && p == l
	})
}

// constantOf reads what a program gives for a label: the value of a descriptor, of which programs pass the descriptor itself, or a number.
func constantOf(l constLabel, p hostmem.Ptr) (any, error) {
	if _, ok := placeholders[l]; ok || l == dnn.CUDNN_PARAM_BN_MODE {
		v := hostmem.Load[int32](p)
		if ok && !known(dnn.CudnnFusedOpsPointerPlaceHolder_t(v), dnn.CUDNN_PTR_16B_ALIGNED) || !ok && !known(bnMode(v), dnn.CUDNN_BATCHNORM_SPATIAL_PERSISTENT) {
			return nil, because(badParam, "%d for parameter %d", v, l)
		}
		return v, nil
	}
	d := descriptors.Get(handle.Value(p))
	if d == nil {
		return nil, because(badParam, "%#x is no descriptor", uint64(p))
	}
	v, fits := d.now.Load(), false
	switch l {
	case dnn.CUDNN_PARAM_ACTIVATION_DESC:
		_, fits = v.(activation)
	case dnn.CUDNN_PARAM_CONV_DESC:
		_, fits = v.(convolution)
	case dnn.CUDNN_PARAM_WDESC, dnn.CUDNN_PARAM_DWDESC:
		_, fits = v.(filter)
	default:
		_, fits = v.(tensor)
	}
	if !fits {
		return nil, because(badParam, "the descriptor of a %T for parameter %d", v, l)
	}
	return v, nil
}
