package cudnn

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// TestIm2Col: every element of the matrix, with padding, strides and dilation, for both ways to look at a filter.
func TestIm2Col(t *testing.T) {
	d := onDesk(t)
	const n, ch, hi, wi, r, s, ho, wo = 2, 3, 5, 6, 2, 3, 3, 6
	x, xd := d.random(n*ch*hi*wi), d.tensor(n, ch, hi, wi)
	cd, wd := made(t, d.th.CreateConvolutionDescriptor, d.th.DestroyConvolutionDescriptor), made(t, d.th.CreateFilterDescriptor, d.th.DestroyFilterDescriptor)
	d.ok(d.th.SetFilter4dDescriptor(wd, f32, nchw, 4, ch, r, s))
	at := put(d, x)
	for _, mode := range []convMode{dnn.CUDNN_CROSS_CORRELATION, dnn.CUDNN_CONVOLUTION} {
		d.ok(d.th.SetConvolution2dDescriptor(cd, 1, 2, 2, 1, 2, 2, mode, f32))
		to := d.memory(4 * n * ho * wo * ch * r * s)
		d.ok(d.th.Im2Col(d.h, xd, at, wd, cd, to))
		got := read[float32](d, to, n*ho*wo*ch*r*s)
		for i, v := range got {
			j, k, c, q, p, b := i%s, i/s%r, i/(s*r)%ch, i/(s*r*ch)%wo, i/(s*r*ch*wo)%ho, i/(s*r*ch*wo*ho)
			if mode == dnn.CUDNN_CONVOLUTION {
				j, k = s-1-j, r-1-k
			}
			want := float32(0)
			if u, w := p*2+k*2-1, q+j*2-2; u >= 0 && u < hi && w >= 0 && w < wi {
				want = x[((b*ch+c)*hi+u)*wi+w]
			}
			if v != want {
				t.Fatalf("mode %d, sample %d, place %d %d, channel %d, element %d: %g, not %g", mode, b, p, q, c, i%(r*s), v, want)
			}
		}
	}
	wants(t, "no matrix", d.th.Im2Col(d.h, xd, at, wd, cd, hostmem.Nil), bad)
}

// TestCallback: the program's function is told failures, if it wants errors.
func TestCallback(t *testing.T) {
	d := onDesk(t)
	before := out.Load()
	t.Cleanup(func() { out.Store(before); listening.Store(nil) })
	var told []string
	Listen(func(fn, severity, user, about, message uint64) uint64 {
		info := hostmem.Load[dnn.CudnnDebug_t](hostmem.Ptr(about))
		if fn != 0x1234 || user != 0x77 || severity != uint64(dnn.CUDNN_SEV_ERROR) || info.CudnnStatus != bad || info.Time_sec == 0 {
			t.Errorf("function %#x of %#x, severity %d: %+v", fn, user, severity, info)
		}
		told = append(told, hostmem.String(hostmem.Ptr(message)))
		return 0
	})
	wrong := func() { wants(t, "no handle", d.th.SetStream(0, 0), bad) }
	wrong()
	d.ok(d.th.SetCallback(1<<dnn.CUDNN_SEV_INFO, 0x77, 0x1234))
	wrong()
	d.ok(d.th.SetCallback(1<<dnn.CUDNN_SEV_ERROR, 0x77, 0x1234))
	wrong()
	var user, fn uint64
	mask, err := d.th.GetCallback(hostmem.Of(&user), hostmem.Of(&fn))
	if d.ok(err); mask != 1<<dnn.CUDNN_SEV_ERROR || user != 0x77 || fn != 0x1234 {
		t.Errorf("mask %#x, %#x, %#x", mask, user, fn)
	}
	if len(told) != 1 || told[0] != "bad parameter: 0x0 is no handle" {
		t.Errorf("told %q", told)
	}
}
