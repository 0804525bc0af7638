package cudnn

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/dnn"
)

// Provider does calls of cuDNN's classic interface with something other than our kernels: a library of the device's
// vendor.
type Provider interface {
	// Name is the library's.
	Name() string
	// Serves reports whether any call may be this provider's: where it says no, that is all it costs. It is asked at
	// every call.
	Serves(d *driver.Thread) bool
	// Do makes one call, whose arguments were judged before. Not done means that nothing has happened, and our
	// kernels do it.
	Do(d *driver.Thread, w *Work) (done bool, err error)
	// Drop forgets what is kept for a handle, which is ending.
	Drop(owner any)
}

// Work is a call: cuDNN's name without its prefix, and what it takes of these.
type Work struct {
	Name    string
	Owner   any // the handle
	Stream  cu.CUstream
	Tensors []Tensor // of a convolution: the input, the filter and the result, or their gradients; otherwise as the function has them
	Scale   nn.Scale
	Space   hostmem.Ptr // memory of the program's
	Size    uint64

	Pad, Stride, Window, Dilation []int64 // of convolution and pooling
	Groups                        int64
	Pool                          dnn.CudnnPoolingMode_t
	Algorithm                     dnn.CudnnSoftmaxAlgorithm_t
	Mode                          dnn.CudnnSoftmaxMode_t
}

// Tensor is a tensor in memory.
type Tensor struct {
	At          uint64
	Type        dnn.CudnnDataType_t
	Dim, Stride []int64
}

var providers shim.Providers[Provider]

// Use puts a provider behind those there are.
func Use(p Provider) { providers.Add(p) }

// Unuse forgets all providers. For tests: a process has one set of them.
func Unuse() { providers.Clear() }

// Answered is a provider's status, in cuDNN's numbers, as an error.
func Answered(library string, status int64, known bool) error {
	switch {
	case !known:
		return because(internalError, "%s answered %d", library, status)
	case status == 0:
		return nil
	}
	return because(Status(status), "%s could not do it", library)
}

// named are the types as cuDNN numbers them.
var named = func() map[nn.Elem]dataType {
	m := map[nn.Elem]dataType{}
	for k, e := range elems {
		m[e] = k
	}
	return m
}()

func outside(ts ...nn.Tensor) (list []Tensor) {
	for _, t := range ts {
		list = append(list, Tensor{t.Addr, named[t.Type], t.Dim, t.Stride})
	}
	return list
}

// elsewhere does a call by a provider, or by f.
func (c *call) elsewhere(make func() *Work, f func() error) error {
	for _, p := range providers.All() {
		if !p.Serves(c.D) {
			continue
		}
		w := make()
		w.Owner, w.Stream, w.Space, w.Size = c.Spaces, c.Stream, hostmem.Ptr(c.Work), c.WorkSize
		if done, err := p.Do(c.D, w); done {
			return err
		}
	}
	return f()
}

// elsewhere does a convolution by a provider, or by f. A filter that is turned is only ours.
func (v *convolving) elsewhere(name string, s nn.Scale, f func() error) error {
	if v.conv.Flip {
		return f()
	}
	return v.call.elsewhere(func() *Work {
		return &Work{Name: name, Tensors: outside(v.x, v.w, v.y), Scale: s, Pad: v.conv.Pad, Stride: v.conv.Stride, Dilation: v.conv.Dilation, Groups: v.conv.Groups}
	}, f)
}

// pooled does pooling by a provider, or by f. NaN that must show in a maximum is only ours.
func (c *call) pooled(name string, h poolDesc, s nn.Scale, f func() error, ts ...nn.Tensor) error {
	v := take[pooling](c, h)
	if v.mode == dnn.CUDNN_POOLING_MAX_DETERMINISTIC {
		v.mode = dnn.CUDNN_POOLING_MAX
	}
	if v.mode == dnn.CUDNN_POOLING_MAX && v.nan == dnn.CUDNN_PROPAGATE_NAN {
		return f()
	}
	return c.elsewhere(func() *Work {
		return &Work{Name: name, Tensors: outside(ts...), Scale: s, Pool: v.mode, Window: v.window, Pad: v.pad, Stride: v.stride}
	}, f)
}
