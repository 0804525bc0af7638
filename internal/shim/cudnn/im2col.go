package cudnn

import (
	"slices"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// Im2Col writes the matrix whose product with a filter is a convolution: a row for each place of the result, with what the window
// sees there of all channels. What is outside of the input is 0.
func (t *Thread) Im2Col(h Handle, xDesc tensorDesc, x hostmem.Ptr, wDesc filterDesc, desc convDesc, to hostmem.Ptr) error {
	c := t.on(h)
	d, in, f := take[convolution](c, desc), take[tensor](c, xDesc), take[filter](c, wDesc)
	from := c.tensor(xDesc, x)
	c.need(to != hostmem.Nil, badParam, "no memory of the matrix")
	if c.err != nil {
		return c.err
	}
	dim, err := d.result(in, f)
	if err != nil {
		return err
	}
	window, places := f.dim[2:], append([]int64{dim[0]}, dim[2:]...)
	// The matrix by sample and place, then by channel and element of the window.
	all := nn.Make(uint64(to), from.Type, slices.Concat(places, []int64{in.dim[1]}, window)...)
	e := express(all)
	if err := e.put(c, e.number(0), nn.Plain, flat(all)); err != nil {
		return err
	}
	at := make([]int64, len(window))
	for range count(window) {
		if err := c.seen(d, from, all, at); err != nil {
			return err
		}
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < window[i] {
				break
			}
			at[i] = 0
		}
	}
	return nil
}

// flat is a tensor without gaps as one of one dimension.
func flat(v nn.Tensor) nn.Tensor { return nn.Make(v.Addr, v.Type, v.Count()) }

// seen copies what one element of the window sees at all places inside of the input.
func (c *call) seen(d convolution, x, all nn.Tensor, at []int64) error {
	n := len(at)
	window := all.Dim[n+2:]
	from := nn.Tensor{Addr: x.Addr, Type: x.Type, Dim: []int64{x.Dim[0]}, Stride: []int64{x.Stride[0]}}
	to := nn.Tensor{Addr: all.Addr, Type: all.Type, Dim: []int64{x.Dim[0]}, Stride: []int64{all.Stride[0]}}
	skip, put := int64(0), int64(0)
	for i, tap := range at {
		put += tap * all.Stride[n+2+i]
		if d.mode == dnn.CUDNN_CONVOLUTION {
			tap = window[i] - 1 - tap
		}
		shift := tap*d.dilation[i] - d.pad[i] // place p sees p*stride + shift
		first := max(0, ceil(-shift, d.stride[i]))
		last := min(all.Dim[1+i], ceil(x.Dim[2+i]-shift, d.stride[i]))
		if last <= first {
			return nil
		}
		skip += (first*d.stride[i] + shift) * x.Stride[2+i]
		put += first * all.Stride[1+i]
		from.Dim, from.Stride = append(from.Dim, last-first), append(from.Stride, d.stride[i]*x.Stride[2+i])
		to.Dim, to.Stride = append(to.Dim, last-first), append(to.Stride, all.Stride[1+i])
	}
	from.Dim, from.Stride = append(from.Dim, x.Dim[1]), append(from.Stride, x.Stride[1])
	to.Dim, to.Stride = append(to.Dim, x.Dim[1]), append(to.Stride, all.Stride[n+1])
	from.Addr += uint64(skip * x.Type.Size())
	to.Addr += uint64(put * all.Type.Size())
	return c.Move(from, to)
}

// ceil is a / b upwards, for b above 0.
func ceil(a, b int64) int64 {
	if a <= 0 {
		return -(-a / b)
	}
	return (a + b - 1) / b
}
