package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

const plainBN = dnn.CUDNN_BATCHNORM_OPS_BN

// BatchNormalizationForwardTraining normalizes with the statistics of x.
func (t *Thread) BatchNormalizationForwardTraining(h Handle, mode bnMode, alpha, beta hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, desc tensorDesc, scale, bias hostmem.Ptr, factor float64, mean, variance hostmem.Ptr, eps float64, savedMean, savedDev hostmem.Ptr) error {
	return t.norm(h, mode, plainBN, 0).forward(forward{alpha: alpha, beta: beta, xDesc: xDesc, x: x, yDesc: yDesc, y: y, paramDesc: desc, meanDesc: desc,
		scale: scale, bias: bias, factor: factor, mean: mean, variance: variance, eps: eps, savedMean: savedMean, savedDev: savedDev})
}

// BatchNormalizationForwardTrainingEx adds z and an activation.
func (t *Thread) BatchNormalizationForwardTrainingEx(h Handle, mode bnMode, ops bnOps, alpha, beta hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, zDesc tensorDesc, z hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, desc tensorDesc, scale, bias hostmem.Ptr, factor float64, mean, variance hostmem.Ptr, eps float64, savedMean, savedDev hostmem.Ptr, act activationDesc, work hostmem.Ptr, workSize uint64, reserve hostmem.Ptr, reserveSize uint64) error {
	return t.norm(h, mode, ops, act).forward(forward{alpha: alpha, beta: beta, xDesc: xDesc, x: x, zDesc: zDesc, z: z, yDesc: yDesc, y: y, paramDesc: desc, meanDesc: desc,
		scale: scale, bias: bias, factor: factor, mean: mean, variance: variance, eps: eps, savedMean: savedMean, savedDev: savedDev})
}

// BatchNormalizationForwardInference normalizes with statistics that are given.
func (t *Thread) BatchNormalizationForwardInference(h Handle, mode bnMode, alpha, beta hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, desc tensorDesc, scale, bias, mean, variance hostmem.Ptr, eps float64) error {
	return t.norm(h, mode, plainBN, 0).forward(forward{alpha: alpha, beta: beta, xDesc: xDesc, x: x, yDesc: yDesc, y: y, paramDesc: desc, meanDesc: desc,
		scale: scale, bias: bias, mean: mean, variance: variance, eps: eps, infers: true})
}

// BatchNormalizationBackward makes the gradients of x and of the parameters.
func (t *Thread) BatchNormalizationBackward(h Handle, mode bnMode, alpha, beta, alphaParam, betaParam hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, dxDesc tensorDesc, dx hostmem.Ptr, desc tensorDesc, scale, dscale, dbias hostmem.Ptr, eps float64, savedMean, savedDev hostmem.Ptr) error {
	return t.norm(h, mode, plainBN, 0).backward(backward{alpha: alpha, beta: beta, alphaParam: alphaParam, betaParam: betaParam, xDesc: xDesc, x: x, dyDesc: dyDesc, dy: dy,
		dxDesc: dxDesc, dx: dx, paramDesc: desc, meanDesc: desc, scale: scale, dscale: dscale, dbias: dbias, eps: eps, savedMean: savedMean, savedDev: savedDev})
}

// BatchNormalizationBackwardEx makes the gradient of z, too. What the activation cut off is seen in y.
func (t *Thread) BatchNormalizationBackwardEx(h Handle, mode bnMode, ops bnOps, alpha, beta, alphaParam, betaParam hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, dzDesc tensorDesc, dz hostmem.Ptr, dxDesc tensorDesc, dx hostmem.Ptr, desc tensorDesc, scale, bias, dscale, dbias hostmem.Ptr, eps float64, savedMean, savedDev hostmem.Ptr, act activationDesc, work hostmem.Ptr, workSize uint64, reserve hostmem.Ptr, reserveSize uint64) error {
	return t.norm(h, mode, ops, act).backward(backward{alpha: alpha, beta: beta, alphaParam: alphaParam, betaParam: betaParam, xDesc: xDesc, x: x, yDesc: yDesc, y: y, dyDesc: dyDesc, dy: dy,
		dzDesc: dzDesc, dz: dz, dxDesc: dxDesc, dx: dx, paramDesc: desc, meanDesc: desc, scale: scale, dscale: dscale, dbias: dbias, eps: eps, savedMean: savedMean, savedDev: savedDev})
}

// No memory is needed between the calls, and none during them.

// GetBatchNormalizationForwardTrainingExWorkspaceSize is 0.
func (t *Thread) GetBatchNormalizationForwardTrainingExWorkspaceSize(h Handle, mode bnMode, ops bnOps, x, z, y, desc tensorDesc, act activationDesc) (uint64, error) {
	return 0, t.norm(h, mode, ops, act).err
}

// GetBatchNormalizationBackwardExWorkspaceSize is 0.
func (t *Thread) GetBatchNormalizationBackwardExWorkspaceSize(h Handle, mode bnMode, ops bnOps, x, y, dy, dz, dx, desc tensorDesc, act activationDesc) (uint64, error) {
	return 0, t.norm(h, mode, ops, act).err
}

// GetBatchNormalizationTrainingExReserveSpaceSize is 0.
func (t *Thread) GetBatchNormalizationTrainingExReserveSpaceSize(h Handle, mode bnMode, ops bnOps, act activationDesc, x tensorDesc) (uint64, error) {
	return 0, t.norm(h, mode, ops, act).err
}

// grouped is norm with the arguments of the normalization calls.
func (t *Thread) grouped(h Handle, mode normMode, ops normOps, algo normAlgo, act activationDesc, groups int32) *norming {
	c := t.norm(h, bnMode(mode), bnOps(ops), act)
	c.need(known(mode, dnn.CUDNN_NORM_PER_CHANNEL) && known(algo, dnn.CUDNN_NORM_ALGO_PERSIST) && groups == 1, badParam, "mode %d, algorithm %d, %d groups", mode, algo, groups)
	return c
}

// NormalizationForwardTraining normalizes with the statistics of x.
func (t *Thread) NormalizationForwardTraining(h Handle, mode normMode, ops normOps, algo normAlgo, alpha, beta hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, desc tensorDesc, scale, bias hostmem.Ptr, factor float64, meanDesc tensorDesc, mean, variance hostmem.Ptr, eps float64, savedMean, savedDev hostmem.Ptr, act activationDesc, zDesc tensorDesc, z hostmem.Ptr, yDesc tensorDesc, y, work hostmem.Ptr, workSize uint64, reserve hostmem.Ptr, reserveSize uint64, groups int32) error {
	return t.grouped(h, mode, ops, algo, act, groups).forward(forward{alpha: alpha, beta: beta, xDesc: xDesc, x: x, zDesc: zDesc, z: z, yDesc: yDesc, y: y, paramDesc: desc, meanDesc: meanDesc,
		scale: scale, bias: bias, factor: factor, mean: mean, variance: variance, eps: eps, savedMean: savedMean, savedDev: savedDev})
}

// NormalizationForwardInference normalizes with statistics that are given.
func (t *Thread) NormalizationForwardInference(h Handle, mode normMode, ops normOps, algo normAlgo, alpha, beta hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, desc tensorDesc, scale, bias hostmem.Ptr, meanDesc tensorDesc, mean, variance hostmem.Ptr, zDesc tensorDesc, z hostmem.Ptr, act activationDesc, yDesc tensorDesc, y hostmem.Ptr, eps float64, groups int32) error {
	return t.grouped(h, mode, ops, algo, act, groups).forward(forward{alpha: alpha, beta: beta, xDesc: xDesc, x: x, zDesc: zDesc, z: z, yDesc: yDesc, y: y, paramDesc: desc, meanDesc: meanDesc,
		scale: scale, bias: bias, mean: mean, variance: variance, eps: eps, infers: true})
}

// NormalizationBackward makes the gradients of x, z and the parameters.
func (t *Thread) NormalizationBackward(h Handle, mode normMode, ops normOps, algo normAlgo, alpha, beta, alphaParam, betaParam hostmem.Ptr, xDesc tensorDesc, x hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr, dyDesc tensorDesc, dy hostmem.Ptr, dzDesc tensorDesc, dz hostmem.Ptr, dxDesc tensorDesc, dx hostmem.Ptr, desc tensorDesc, scale, bias, dscale, dbias hostmem.Ptr, eps float64, meanDesc tensorDesc, savedMean, savedDev hostmem.Ptr, act activationDesc, work hostmem.Ptr, workSize uint64, reserve hostmem.Ptr, reserveSize uint64, groups int32) error {
	return t.grouped(h, mode, ops, algo, act, groups).backward(backward{alpha: alpha, beta: beta, alphaParam: alphaParam, betaParam: betaParam, xDesc: xDesc, x: x, yDesc: yDesc, y: y, dyDesc: dyDesc, dy: dy,
		dzDesc: dzDesc, dz: dz, dxDesc: dxDesc, dx: dx, paramDesc: desc, meanDesc: meanDesc, scale: scale, dscale: dscale, dbias: dbias, eps: eps, savedMean: savedMean, savedDev: savedDev})
}

// GetNormalizationForwardTrainingWorkspaceSize is 0.
func (t *Thread) GetNormalizationForwardTrainingWorkspaceSize(h Handle, mode normMode, ops normOps, algo normAlgo, x, z, y, desc tensorDesc, act activationDesc, mean tensorDesc, groups int32) (uint64, error) {
	return 0, t.grouped(h, mode, ops, algo, act, groups).err
}

// GetNormalizationBackwardWorkspaceSize is 0.
func (t *Thread) GetNormalizationBackwardWorkspaceSize(h Handle, mode normMode, ops normOps, algo normAlgo, x, y, dy, dz, dx, desc tensorDesc, act activationDesc, mean tensorDesc, groups int32) (uint64, error) {
	return 0, t.grouped(h, mode, ops, algo, act, groups).err
}

// GetNormalizationTrainingReserveSpaceSize is 0.
func (t *Thread) GetNormalizationTrainingReserveSpaceSize(h Handle, mode normMode, ops normOps, algo normAlgo, act activationDesc, x tensorDesc, groups int32) (uint64, error) {
	return 0, t.grouped(h, mode, ops, algo, act, groups).err
}
