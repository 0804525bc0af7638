package nn

import (
	"errors"
	"math"
	"testing"
)

// plain is a convolution in two dimensions with the same numbers for both.
func plain(batch, c, k, in, filter, pad, stride, groups int64) *convCase {
	v := &convCase{batch: batch, c: c, k: k, in: []int64{in, in}, filter: []int64{filter, filter}}
	v.Pad, v.Stride, v.Dilation, v.Groups = []int64{pad, pad}, []int64{stride, stride}, []int64{1, 1}, groups
	out := (in+2*pad-filter)/stride + 1
	v.out = []int64{out, out}
	v.size()
	return v
}

// forms are convolutions that take each way there is: as a product, in place and by planes, one piece of the sums and several, all images at once and
// in parts, a channel a group.
var forms = []*convCase{
	plain(1, 5, 13, 9, 1, 0, 1, 1), plain(2, 33, 14, 17, 1, 0, 1, 1), plain(1, 70, 30, 7, 3, 0, 1, 1), plain(1, 60, 13, 8, 3, 1, 1, 1),
	plain(3, 9, 8, 6, 3, 1, 2, 1), plain(1, 1, 1, 12, 3, 1, 1, 6), plain(2, 1, 2, 11, 5, 2, 2, 4), plain(2, 40, 40, 6, 1, 0, 2, 1),
	plain(1, 3, 20, 20, 7, 3, 2, 1), plain(2, 550, 3, 4, 1, 0, 1, 1), plain(7, 4, 4, 5, 3, 1, 1, 2),
	plain(4, 6, 5, 1, 1, 0, 1, 1), plain(2, 3, 7, 70, 3, 1, 2, 1),
}

// TestConvForms: the three operations are adjoint: ⟨conv(x, w), y⟩ = ⟨x, data(w, y)⟩ = ⟨w, filter(x, y)⟩; and the first is right.
func TestConvForms(t *testing.T) {
	r := onDevice(t)
	defer func(n int64) { partBytes = n }(partBytes)
	for i, c := range forms {
		if r.tiny && c.c > 20 {
			continue
		}
		for _, parts := range []int64{1, 16 << 20} {
			partBytes = parts
			x, w, y := r.random(F32, c.xDim...), r.random(F32, c.wDim...), r.random(F32, c.yDim...)
			lies := Packed
			if i%3 == 2 {
				lies = ChannelsLast
			}
			tx, tw, ty := r.put(F32, x, lies(c.xDim...)), r.put(F32, w, lies(c.wDim...)), r.put(F32, y, lies(c.yDim...))
			gy, gx, gw := r.empty(F32, c.yDim, lies(c.yDim...)), r.empty(F32, c.xDim, lies(c.xDim...)), r.empty(F32, c.wDim, lies(c.wDim...))
			r.ok(r.ConvForward(c.Conv, tx, tw, gy, Plain, Epilogue{}))
			r.ok(r.ConvData(c.Conv, tw, ty, gx, Plain))
			r.ok(r.ConvFilter(c.Conv, tx, ty, gw, Plain))
			want, size := newArray(c.yDim...), newArray(c.yDim...)
			c.each(x, want, func(a, b, d int64) {
				want.v[d] += x.v[a] * w.v[b]
				size.v[d] += math.Abs(x.v[a] * w.v[b])
			})
			r.near(c.String(), gy, want, size, int(c.c*product(c.filter)))
			if s, err := c.shape(tx, tw, gy); err != nil {
				t.Fatal(err)
			} else if _, is := s.product(); is {
				again := r.empty(F32, c.yDim, lies(c.yDim...))
				s.y = again
				r.ok(r.convolve(forwardPlan(s), Plain, Epilogue{}))
				r.near(c.String()+" by kernels of convolutions", again, want, size, int(c.c))
			} else if product(c.filter) == 1 && c.Groups == 1 && c.Stride[0] == 1 {
				t.Errorf("%v is a product", c)
			}
			one, two, three := dot(r.get(gy), y), dot(r.get(gx), x), dot(r.get(gw), w)
			if limit := 1e-5 * norm(r.get(gy)) * norm(y); math.Abs(one-two) > limit || math.Abs(one-three) > limit {
				t.Errorf("%v: %v, %v and %v should be one number", c, one, two, three)
			}
		}
	}
}

func dot(a, b array) (sum float64) {
	for i := range a.v {
		sum += a.v[i] * b.v[i]
	}
	return sum
}

func norm(a array) float64 { return math.Sqrt(dot(a, a)) }

// TestConvWhole: sums of whole numbers are exact, and what does not fit eight bits becomes the largest that does.
func TestConvWhole(t *testing.T) {
	r := onDevice(t)
	c := plain(2, 9, 14, 8, 3, 1, 1, 1)
	for _, e := range []Elem{S32, F32, S8} {
		x, w := r.random(S8, c.xDim...), r.random(S8, c.wDim...)
		y := r.empty(e, c.yDim, ChannelsLast(c.yDim...))
		want := newArray(c.yDim...)
		c.each(x, want, func(a, b, d int64) { want.v[d] += x.v[a] * w.v[b] })
		r.ok(r.ConvForward(c.Conv, r.put(S8, x, ChannelsLast(c.xDim...)), r.put(S8, w, ChannelsLast(c.wDim...)), y, Plain, Epilogue{}))
		got := r.get(y)
		for i, v := range want.v {
			if v = e.Value(e.Bytes(v)); got.v[i] != v {
				t.Fatalf("%v: element %d is %v, not %v", e, i, got.v[i], v)
			}
		}
	}
}

func TestConvEmptyAndWrong(t *testing.T) {
	r := onDevice(t)
	c := plain(0, 3, 4, 5, 3, 1, 1, 1)
	x, w, y := r.empty(F32, c.xDim, Packed(c.xDim...)), r.empty(F32, c.wDim, Packed(c.wDim...)), r.empty(F32, c.yDim, Packed(c.yDim...))
	r.ok(r.ConvForward(c.Conv, x, w, y, Plain, Epilogue{}))
	r.ok(r.ConvData(c.Conv, w, y, x, Plain))
	r.ok(r.ConvFilter(c.Conv, x, y, w, Plain))
	for i, v := range r.get(w).v {
		if v != 0 {
			t.Fatalf("the gradient of no images is %v at %d", v, i)
		}
	}
	c = plain(1, 3, 4, 5, 3, 1, 1, 1)
	x, w, y = Make(0, F32, c.xDim...), Make(0, F32, c.wDim...), Make(0, F32, c.yDim...)
	wrong := c.Conv
	wrong.Groups = 2
	if err := r.ConvForward(wrong, x, w, y, Plain, Epilogue{}); !errors.Is(err, ErrShape) {
		t.Errorf("two groups: %v", err)
	}
	y.Type = S64
	if err := r.ConvForward(c.Conv, x, w, y, Plain, Epilogue{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("s64: %v", err)
	}
}
