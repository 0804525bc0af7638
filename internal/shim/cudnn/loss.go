package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

type ctcAlgo = dnn.CudnnCTCLossAlgo_t

// ctc is a call of the loss. Both algorithms are the deterministic one.
func (c *call) ctc(algo ctcAlgo, desc ctcDesc, xDesc tensorDesc, x hostmem.Ptr, gradDesc tensorDesc, grad hostmem.Ptr) nn.CTC {
	v := take[ctcLoss](c, desc)
	k := nn.CTC{X: c.tensor(xDesc, x), Softmax: v.normalize == dnn.CUDNN_LOSS_NORMALIZATION_SOFTMAX, Longest: int64(v.longest),
		Skip: v.outside == int32(dnn.CUDNN_CTC_SKIP_OOB_GRADIENTS)}
	c.need(known(algo, dnn.CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC), badParam, "algorithm %d", algo)
	c.need(len(k.X.Dim) == 3, badParam, "probabilities of %d dimensions", len(k.X.Dim))
	if gradDesc != 0 && grad != hostmem.Nil {
		k.Grad = c.tensor(gradDesc, grad)
		c.need(nn.SameShape(k.X, k.Grad) && k.X.Type == k.Grad.Type, badParam, "gradients %v of %v", k.Grad.Dim, k.X.Dim)
	}
	return k
}

// onHost reads labels from the host: those of all samples, their lengths, those of the samples.
func (c *call) onHost(k *nn.CTC, labels, labelLengths, lengths hostmem.Ptr) {
	if c.err != nil {
		return
	}
	n := int32(k.X.Dim[1])
	var err error
	if k.HostLabelLengths, err = ints(labelLengths, n); err == nil {
		k.HostLengths, err = ints(lengths, n)
	}
	if c.fail(err); c.err != nil {
		return
	}
	sum := int64(0)
	for i, l := range k.HostLabelLengths {
		c.need(l >= 0 && k.HostLengths[i] >= 0 && k.HostLengths[i] <= k.X.Dim[0], badParam, "a label of %d in %d", l, k.HostLengths[i])
		sum += l
	}
	if c.err != nil {
		return
	}
	k.Longest = slices.Max(k.HostLabelLengths)
	k.HostLabels, err = ints(labels, int32(sum))
	c.fail(err)
	for _, a := range k.HostLabels {
		c.need(a > 0 && a < k.X.Dim[2], badParam, "label %d of %d", a, k.X.Dim[2])
	}
}

// GetCTCLossWorkspaceSize is the memory for labels of the host.
func (t *Thread) GetCTCLossWorkspaceSize(h Handle, xDesc, gradDesc tensorDesc, labels, labelLengths, lengths hostmem.Ptr, algo ctcAlgo, desc ctcDesc) (uint64, error) {
	c := t.on(h)
	k := c.ctc(algo, desc, xDesc, nowhere, gradDesc, nowhere)
	c.onHost(&k, labels, labelLengths, lengths)
	if c.err != nil {
		return 0, c.err
	}
	return uint64(k.Workspace()), nil
}

// GetCTCLossWorkspaceSizeV8 is the memory for labels of at most the length that the descriptor says.
func (t *Thread) GetCTCLossWorkspaceSizeV8(h Handle, algo ctcAlgo, desc ctcDesc, xDesc, gradDesc tensorDesc) (uint64, error) {
	c := t.on(h)
	k := c.ctc(algo, desc, xDesc, nowhere, gradDesc, nowhere)
	c.need(k.Longest >= 0, badParam, "labels of %d", k.Longest)
	if c.err != nil {
		return 0, c.err
	}
	return uint64(k.Workspace()), nil
}

// CTCLoss is the loss of labels of the host.
func (t *Thread) CTCLoss(h Handle, xDesc tensorDesc, x, labels, labelLengths, lengths, costs hostmem.Ptr, gradDesc tensorDesc, grad hostmem.Ptr, algo ctcAlgo, desc ctcDesc, work hostmem.Ptr, size uint64) error {
	c := t.on(h)
	k := c.ctc(algo, desc, xDesc, x, gradDesc, grad)
	c.onHost(&k, labels, labelLengths, lengths)
	return c.loss(k, costs, work, size)
}

// loss computes it in memory of the program.
func (c *call) loss(k nn.CTC, costs, work hostmem.Ptr, size uint64) error {
	c.need(costs != hostmem.Nil && work != hostmem.Nil, badParam, "no memory")
	c.need(c.err != nil || size >= uint64(k.Workspace()), badParam, "%d bytes of workspace", size)
	k.Costs = uint64(costs)
	c.with(work, size)
	return c.run(func() error { return c.CTC(k) })
}

// CTCLossV8 is the loss of labels on the device.
func (t *Thread) CTCLossV8(h Handle, algo ctcAlgo, desc ctcDesc, xDesc tensorDesc, x, labels, labelLengths, lengths, costs hostmem.Ptr, gradDesc tensorDesc, grad hostmem.Ptr, size uint64, work hostmem.Ptr) error {
	c := t.on(h)
	k := c.ctc(algo, desc, xDesc, x, gradDesc, grad)
	c.need(labels != hostmem.Nil && labelLengths != hostmem.Nil && lengths != hostmem.Nil && k.Longest >= 0, badParam, "no labels")
	k.Labels, k.LabelLengths, k.Lengths = uint64(labels), uint64(labelLengths), uint64(lengths)
	return c.loss(k, costs, work, size)
}

func (c *call) spatial(h spatialDesc) nn.Spatial {
	v := take[spatialTransformer](c, h)
	c.need(v.dim != nil, badParam, "a transformer that was never described")
	return nn.Spatial{Type: elems[v.kind], Dim: v.dim}
}

// SpatialTfGridGeneratorForward makes a grid of maps.
func (t *Thread) SpatialTfGridGeneratorForward(h Handle, desc spatialDesc, theta, grid hostmem.Ptr) error {
	c := t.on(h)
	s := c.spatial(desc)
	c.need(theta != hostmem.Nil && grid != hostmem.Nil, badParam, "no memory")
	return c.run(func() error { return c.SpatialGrid(s, uint64(theta), uint64(grid)) })
}

// SpatialTfGridGeneratorBackward makes the gradient of the maps.
func (t *Thread) SpatialTfGridGeneratorBackward(h Handle, desc spatialDesc, dgrid, dtheta hostmem.Ptr) error {
	c := t.on(h)
	s := c.spatial(desc)
	c.need(dtheta != hostmem.Nil && dgrid != hostmem.Nil, badParam, "no memory")
	return c.run(func() error { return c.SpatialGridBackward(s, uint64(dgrid), uint64(dtheta)) })
}

// SpatialTfSamplerForward reads x at the places of a grid.
func (t *Thread) SpatialTfSamplerForward(h Handle, desc spatialDesc, alpha hostmem.Ptr, xDesc tensorDesc, x, grid, beta hostmem.Ptr, yDesc tensorDesc, y hostmem.Ptr) error {
	c := t.on(h)
	s, in, out := c.spatial(desc), c.tensor(xDesc, x), c.tensor(yDesc, y)
	b := c.scale(in.Type, alpha, beta)
	c.need(grid != hostmem.Nil, badParam, "no grid")
	return c.run(func() error { return c.SpatialSample(s, b, in, uint64(grid), out) })
}

// SpatialTfSamplerBackward makes the gradients of the image and of the grid.
func (t *Thread) SpatialTfSamplerBackward(h Handle, desc spatialDesc, alpha hostmem.Ptr, xDesc tensorDesc, x, beta hostmem.Ptr, dxDesc tensorDesc, dx, alphaGrid hostmem.Ptr, dyDesc tensorDesc, dy, grid, betaGrid, dgrid hostmem.Ptr) error {
	c := t.on(h)
	s, in, out, g := c.spatial(desc), c.tensor(xDesc, x), c.tensor(dxDesc, dx), c.tensor(dyDesc, dy)
	b, bGrid := c.scale(in.Type, alpha, beta), c.scale(in.Type, alphaGrid, betaGrid)
	c.need(grid != hostmem.Nil && dgrid != hostmem.Nil, badParam, "no grid")
	return c.run(func() error { return c.SpatialSampleBackward(s, b, in, out, bGrid, g, uint64(grid), uint64(dgrid)) })
}
