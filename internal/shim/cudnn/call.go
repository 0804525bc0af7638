package cudnn

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// call is what a call that computes is made of. Its first mistake stays; what is asked for after it does not count.
type call struct {
	nn.Run
	err error
}

// on begins a call on the stream of a handle.
func (t *Thread) on(h Handle) *call {
	r, err := t.work(h)
	if err != nil {
		return &call{err: err}
	}
	return &call{Run: *r}
}

// with gives the call memory of the program.
func (c *call) with(work hostmem.Ptr, size uint64) *call {
	c.Work, c.WorkSize = uint64(work), size
	return c
}

// fail keeps the first mistake.
func (c *call) fail(err error) {
	if c.err == nil {
		c.err = err // which may be none
	}
}

// need notes a mistake unless something is so.
func (c *call) need(so bool, s Status, format string, args ...any) {
	if !so {
		c.fail(because(s, format, args...))
	}
}

// run does the work, if nothing was wrong.
func (c *call) run(f func() error) error {
	if c.err != nil {
		return c.err
	}
	return f()
}

// take is the value of a descriptor.
func take[T any, H ~uint64](c *call, h H) T {
	v, err := look[T](h)
	c.fail(err)
	return v
}

// elems are the types of elements.
var elems = map[dataType]nn.Elem{
	dnn.CUDNN_DATA_FLOAT: nn.F32, dnn.CUDNN_DATA_DOUBLE: nn.F64, dnn.CUDNN_DATA_HALF: nn.F16, dnn.CUDNN_DATA_BFLOAT16: nn.BF16,
	dnn.CUDNN_DATA_INT8: nn.S8, dnn.CUDNN_DATA_UINT8: nn.U8, dnn.CUDNN_DATA_INT32: nn.S32, dnn.CUDNN_DATA_INT64: nn.S64,
	dnn.CUDNN_DATA_FP8_E4M3: nn.E4M3, dnn.CUDNN_DATA_FP8_E5M2: nn.E5M2, dnn.CUDNN_DATA_BOOLEAN: nn.Bool,
}

// at is a tensor in memory.
func (c *call) at(v tensor, p hostmem.Ptr) nn.Tensor {
	e, ok := elems[v.kind]
	c.need(v.dim != nil, badParam, "a tensor that was never described")
	c.need(p != hostmem.Nil, badParam, "a tensor without memory")
	c.need(ok && !v.vector, notSupported, "elements of type %d", v.kind)
	return nn.Tensor{Addr: uint64(p), Type: e, Dim: v.dim, Stride: v.stride}
}

// tensor is the one that a descriptor says, in memory.
func (c *call) tensor(h tensorDesc, p hostmem.Ptr) nn.Tensor { return c.at(take[tensor](c, h), p) }

// filter is the one that a descriptor says, in memory.
func (c *call) filter(h filterDesc, p hostmem.Ptr) nn.Tensor {
	return c.at(take[filter](c, h).tensor(), p)
}

// number is a factor of a call: f64 for tensors of f64, f32 for all others.
func (c *call) number(e nn.Elem, p hostmem.Ptr) float64 {
	switch {
	case p == hostmem.Nil:
		c.fail(because(badParam, "no factor"))
		return 0
	case c.err != nil:
		return 0
	case e == nn.F64:
		return hostmem.Load[float64](p)
	}
	return float64(hostmem.Load[float32](p))
}

// scale are the factors of a result of a type.
func (c *call) scale(e nn.Elem, alpha, beta hostmem.Ptr) nn.Scale {
	return nn.Scale{Alpha: c.number(e, alpha), Beta: c.number(e, beta)}
}
