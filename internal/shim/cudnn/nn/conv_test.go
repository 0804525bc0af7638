package nn

import (
	"fmt"
	"math"
	"testing"
)

// convCase is a convolution of a test, and its result in f64.
type convCase struct {
	Conv
	batch, c, k      int64 // channels of a group
	in, filter, out  []int64
	xDim, wDim, yDim []int64
}

func (r *rig) convCase(dims int) *convCase {
	c := &convCase{batch: r.pick(1, 2, 1, 5), c: r.pick(1, 3, 2, 17, 40), k: r.pick(1, 2, 5, 13, 40)}
	c.Groups, c.Flip = r.pick(1, 1, 2, 3), r.coin()
	for range dims {
		s, l, f, p := r.pick(1, 2, 1, 3), r.pick(1, 1, 2, 3), r.pick(1, 3, 2, 5), r.pick(0, 1, 0, 2, 3)
		in := r.pick(1, 4, 7, 12, 19)
		after := r.pick(0, p, 1, 2) // padding at the end need not be that at the beginning
		in = max(in, (f-1)*l+1-p-after)
		c.Pad, c.Stride, c.Dilation = append(c.Pad, p), append(c.Stride, s), append(c.Dilation, l)
		c.in, c.filter, c.out = append(c.in, in), append(c.filter, f), append(c.out, (in+p+after-(f-1)*l-1)/s+1)
	}
	c.size()
	return c
}

// depthCase has one input channel for each output channel, and images with rows wider than a warp too.
func (r *rig) depthCase(dims int) *convCase {
	c := r.convCase(dims)
	c.c, c.k, c.Groups = 1, r.pick(1, 1, 2), r.pick(2, 5, 33)
	last := dims - 1
	more := r.pick(0, 30, 0, 40)
	c.in[last] += more
	c.out[last] += more / c.Stride[last]
	c.size()
	return c
}

func (c *convCase) size() {
	c.xDim = append([]int64{c.batch, c.c * c.Groups}, c.in...)
	c.wDim = append([]int64{c.k * c.Groups, c.c}, c.filter...)
	c.yDim = append([]int64{c.batch, c.k * c.Groups}, c.out...)
}

func (c *convCase) String() string {
	return fmt.Sprintf("x %v w %v y %v pad %v stride %v dilation %v groups %d flip %v", c.xDim, c.wDim, c.yDim, c.Pad, c.Stride, c.Dilation, c.Groups, c.Flip)
}

// each calls f with every triple of elements that are multiplied: those of x, w and y.
func (c *convCase) each(x, y array, f func(x, w, y int64)) {
	taps, places := newArray(c.filter...), newArray(c.out...)
	at := make([]int64, 0, len(taps.v)*len(places.v)) // of every tap and output the place in an image, or -1
	taps.each(func(tap []int64, _ *float64) {
		places.each(func(o []int64, _ *float64) {
			xi := int64(0)
			for d := range c.in {
				r := tap[d]
				if c.Flip {
					r = c.filter[d] - 1 - r
				}
				i := o[d]*c.Stride[d] - c.Pad[d] + r*c.Dilation[d]
				if i < 0 || i >= c.in[d] || xi < 0 {
					xi = -1
					break
				}
				xi = xi*c.in[d] + i
			}
			at = append(at, xi)
		})
	})
	image, outs := product(c.in), int64(len(places.v))
	for n := range c.batch {
		for k := range c.k * c.Groups {
			for ch := range c.c {
				xi := (n*x.dim[1] + k/c.k*c.c + ch) * image
				wi, yi := (k*c.c+ch)*int64(len(taps.v)), (n*y.dim[1]+k)*outs
				for i, in := range at {
					if in >= 0 {
						f(xi+in, wi+int64(i)/outs, yi+int64(i)%outs)
					}
				}
			}
		}
	}
}

// floats are the types of elements that gradients have.
var floats = []Elem{F32, F64, F16, BF16}

// scales are ways to leave a result.
func (r *rig) scale() Scale {
	return []Scale{Plain, {Alpha: 0.5, Beta: 0}, {Alpha: 1, Beta: 1}, {Alpha: -1.5, Beta: 0.25}}[r.rng.IntN(4)]
}

// blend is what a result becomes, and the size of the numbers it is made of.
func blend(s Scale, sum, size, old array) {
	for i := range sum.v {
		sum.v[i] *= s.Alpha
		size.v[i] *= math.Abs(s.Alpha)
		if s.Beta != 0 {
			sum.v[i] += s.Beta * old.v[i]
			size.v[i] += math.Abs(s.Beta * old.v[i])
		}
	}
}

// target is a tensor that a result goes to, and what it has before: NaN where nobody may look.
func (r *rig) target(e Elem, s Scale, dim []int64) (Tensor, array) {
	old := r.random(e, dim...)
	if s.Beta == 0 && e.Float() {
		for i := range old.v {
			old.v[i] = math.NaN()
		}
	}
	return r.put(e, old, r.strides(dim)), old
}

func TestConvForward(t *testing.T) {
	r := onDevice(t)
	for i := range r.times(160) {
		e := floats[i%len(floats)]
		c := r.convCase(1 + i/len(floats)%3)
		s := r.scale()
		x, w := r.random(e, c.xDim...), r.random(e, c.wDim...)
		y, old := r.target(e, s, c.yDim)
		want, size := newArray(c.yDim...), newArray(c.yDim...)
		c.each(x, want, func(a, b, d int64) {
			want.v[d] += x.v[a] * w.v[b]
			size.v[d] += math.Abs(x.v[a] * w.v[b])
		})
		blend(s, want, size, old)
		var end Epilogue
		if i%3 == 1 {
			bias := r.random(e, c.k*c.Groups)
			end = Epilogue{Bias: r.put(e, bias, []int64{1}), Act: Act(i / 3 % 3), Top: 1.5}
			n := int64(0)
			want.each(func(at []int64, v *float64) {
				*v += bias.v[at[1]]
				size.v[n] += math.Abs(bias.v[at[1]])
				n++
				if end.Act != ActNone {
					*v = max(*v, 0)
				}
				if end.Act == ActClipped {
					*v = min(*v, end.Top)
				}
			})
		}
		tx, tw := r.put(e, x, r.strides(c.xDim)), r.put(e, w, r.strides(c.wDim))
		if i%4 == 3 {
			n, err := c.ConvWorkspace(ConvKindForward, tx, tw, y)
			r.ok(err)
			r.own(n)
		}
		r.ok(r.ConvForward(c.Conv, tx, tw, y, s, end))
		r.near(fmt.Sprint(e, " ", c, s, end.Act), y, want, size, int(c.c)*int(product(c.filter)))
		r.Work = 0
	}
}

// own gives the operation memory of the program's, of just the size it asked for.
func (r *rig) own(n int64) {
	t := r.empty(U8, []int64{n}, []int64{1})
	r.Work, r.WorkSize = t.Addr, uint64(n)
	r.t.Cleanup(func() {
		if r.Work == t.Addr {
			r.Work = 0
		}
	})
}

func product(v []int64) int64 {
	n := int64(1)
	for _, x := range v {
		n *= x
	}
	return n
}

func TestConvData(t *testing.T) {
	r := onDevice(t)
	for i := range r.times(160) {
		e := floats[i%len(floats)]
		c := r.convCase(1 + i/len(floats)%3)
		s := r.scale()
		w, dy := r.random(e, c.wDim...), r.random(e, c.yDim...)
		dx, old := r.target(e, s, c.xDim)
		want, size := newArray(c.xDim...), newArray(c.xDim...)
		c.each(want, dy, func(a, b, d int64) {
			want.v[a] += dy.v[d] * w.v[b]
			size.v[a] += math.Abs(dy.v[d] * w.v[b])
		})
		blend(s, want, size, old)
		r.ok(r.ConvData(c.Conv, r.put(e, w, r.strides(c.wDim)), r.put(e, dy, r.strides(c.yDim)), dx, s))
		r.near(fmt.Sprint(e, " ", c, s), dx, want, size, int(c.k)*int(product(c.filter)))
	}
}

func TestConvFilter(t *testing.T) {
	r := onDevice(t)
	for i := range r.times(160) {
		e := floats[i%len(floats)]
		c := r.convCase(1 + i/len(floats)%3)
		if i%4 == 3 { // depthwise
			c = r.depthCase(1 + i/len(floats)%3)
		}
		s := r.scale()
		x, dy := r.random(e, c.xDim...), r.random(e, c.yDim...)
		dw, old := r.target(e, s, c.wDim)
		want, size := newArray(c.wDim...), newArray(c.wDim...)
		c.each(x, dy, func(a, b, d int64) {
			want.v[b] += dy.v[d] * x.v[a]
			size.v[b] += math.Abs(dy.v[d] * x.v[a])
		})
		blend(s, want, size, old)
		r.ok(r.ConvFilter(c.Conv, r.put(e, x, r.strides(c.xDim)), r.put(e, dy, r.strides(c.yDim)), dw, s))
		r.near(fmt.Sprint(e, " ", c, s), dw, want, size, int(c.batch)*int(product(c.out)))
	}
}
