package nn

import (
	"math"
	"slices"
	"testing"
)

func TestStrides(t *testing.T) {
	if s := Packed(2, 3, 4, 5); !slices.Equal(s, []int64{60, 20, 5, 1}) {
		t.Errorf("packed %v", s)
	}
	if s := ChannelsLast(2, 3, 4, 5); !slices.Equal(s, []int64{60, 1, 15, 3}) {
		t.Errorf("channels last %v", s)
	}
	a := Make(64, F16, 2, 3, 4)
	if a.Count() != 24 || a.Span() != 24 || !a.IsPacked() || a.IsChannelsLast() || a.Empty() {
		t.Errorf("%+v", a)
	}
	a.Stride = []int64{20, 5, 1}
	if a.Span() != 34 || a.IsPacked() {
		t.Errorf("span %d", a.Span())
	}
	if b := a.At(1, 2, 1); b.Addr != 64+2*5*2 || !slices.Equal(b.Dim, []int64{2, 1, 4}) || a.Dim[1] != 3 {
		t.Errorf("%+v", b)
	}
	if b := Make(0, F32, 3, 0); !b.Empty() || b.Span() != 0 || b.Count() != 0 {
		t.Errorf("%+v", b)
	}
	for _, b := range []Tensor{{Dim: []int64{1}}, {Dim: []int64{-1}, Stride: []int64{1}}, Make(0, F32, 1, 1, 1, 1, 1, 1, 1, 1, 1), {Type: E8M0 + 1}} {
		if b.Check() == nil {
			t.Errorf("%+v passed", b)
		}
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		e       Elem
		v, want float64
	}{
		{F32, 0.1, float64(float32(0.1))}, {F64, 0.1, 0.1}, {F16, 1 + 0x1p-12, 1}, {BF16, 3, 3}, {E4M3, 1000, 448}, {E4M3, -0.3, -0.3125},
		{E5M2, 1e9, 57344}, {S8, 200, 127}, {S8, -2.5, -2}, {U8, -3, 0}, {U8, 254.6, 255}, {S32, -7, -7}, {S64, 1 << 40, 1 << 40}, {Bool, 5, 1}, {Bool, 0, 0},
	} {
		if got := c.e.Value(c.e.Bytes(c.v)); got != c.want {
			t.Errorf("%v of %v is %v, not %v", c.e, c.v, got, c.want)
		}
	}
}

// TestMove copies every type to every other; f16's whole range goes through eight bits, whose rounding is the kernels' own.
func TestMove(t *testing.T) {
	r := onDevice(t)
	for from := F32; from <= Bool; from++ {
		for to := F32; to <= Bool; to++ {
			dim := []int64{3, r.pick(1, 2, 5), r.pick(1, 7, 33)}
			a := r.random(from, dim...)
			x, y := r.put(from, a, r.strides(dim)), r.empty(to, dim, r.strides(dim))
			r.ok(r.Move(x, y))
			got := r.get(y)
			for i, v := range a.v {
				if want := to.Value(to.Bytes(v)); got.v[i] != want {
					t.Fatalf("%v %v as %v is %v, not %v", from, v, to, got.v[i], want)
				}
			}
		}
	}
	if r.Move(Make(0, F32, 2), Make(0, F32, 3)) == nil {
		t.Error("other sizes passed")
	}
}

func TestEightBits(t *testing.T) {
	r := onDevice(t)
	a := newArray(1 << 16)
	for i := range a.v {
		a.v[i] = F16.Value([]byte{byte(i), byte(i >> 8)})
	}
	x := r.put(F16, a, []int64{1})
	for _, e := range []Elem{E4M3, E5M2} {
		y := r.empty(e, a.dim, []int64{1})
		r.ok(r.Move(x, y))
		got := r.get(y)
		for i, v := range a.v {
			want := e.Value(e.Bytes(v))
			if got.v[i] != want && !(math.IsNaN(want) && math.IsNaN(got.v[i])) {
				t.Fatalf("%v of %v is %v, not %v", e, v, got.v[i], want)
			}
		}
	}
}
