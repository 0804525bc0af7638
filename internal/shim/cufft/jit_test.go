package cufft

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/hostmem"
	"kudzu/internal/nvvmir"
	"kudzu/internal/shim/lto"
	"kudzu/internal/spec/fft"
)

// linking stands in for the compiler of LTO-IR: its code names the PTX.
type linking map[string]string

func (l linking) PTX(p *compile.NVVM, texts string) (string, error) {
	code, _ := nvvmir.FromLTO(texts)
	if l[code] == "" || len(p.Units) != 1 || p.Units[0].Bytes != len(texts) {
		return "", errors.New("no such code")
	}
	return l[code], nil
}

// double64 is a module with a function that reads: the number at twice the offset's place plus the program's number, and one that writes:
// three times the number, at the offset. real says that the numbers are.
func double64(real bool) string {
	// Clang gives complex results the alignment of a part, and arguments that of the whole.
	ret, arg, load, store := ".param .align 8 .b8 r[16]", ".param .align 16 .b8 v[16]", "v2.f64 {%x, %y}", "v2.f64"
	pack, width, result := "{%x, %y}", 16, "st.param.f64 [r], %x;\nst.param.f64 [r+8], %y;"
	if real {
		ret, arg, load, store, pack, width, result = ".param .b64 r", ".param .b64 v", "f64 %x", "f64", "%x", 8, "st.param.f64 [r], %x;"
	}
	return strings.NewReplacer("RET", ret, "ARG", arg, "LOAD", load, "STORE", store, "PACK", pack, "WIDTH", fmt.Sprint(width), "RESULT", result).Replace(`.version 7.0
.target sm_80
.address_size 64
.visible .func (RET) reads(.param .b64 a, .param .b64 o, .param .b64 f, .param .b64 m)
{
.reg .b64 %a, %o, %f;
.reg .f64 %x, %y, %z;
ld.param.u64 %a, [a];
ld.param.u64 %o, [o];
ld.param.u64 %f, [f];
mad.lo.u64 %a, %o, WIDTH, %a;
ld.LOAD, [%a];
ld.f64 %z, [%f];
add.f64 %x, %x, %z;
RESULT
ret;
}
.visible .func writes(.param .b64 a, .param .b64 o, ARG, .param .b64 f, .param .b64 m)
{
.reg .b64 %a, %o;
.reg .f64 %x, %y;
ld.param.u64 %a, [a];
ld.param.u64 %o, [o];
ld.param.LOAD, [v];
mul.f64 %x, %x, 0d4008000000000000;
mad.lo.u64 %a, %o, WIDTH, %a;
st.STORE [%a], PACK;
ret;
}
`)
}

// cxx gives both functions the names that they have in C++.
var cxx = strings.NewReplacer(" reads(", " _Z5readsPvyS_S_(", " writes(", " _Z6writesPvy7double2S_S_(")

func (t *Thread) setJIT(h fft.CufftHandle, symbol, code string, which fft.CufftXtCallbackType, info *uint64) error {
	name, b := append([]byte(symbol), 0), nvvmir.LTO([]byte(code))
	if code == "foreign" {
		b = []byte(code)
	}
	return t.XtSetJITCallback(h, hostmem.Of(&name[0]), hostmem.Of(&b[0]), uint64(len(b)), which, hostmem.Of(info))
}

// TestCallbacks reads and writes by functions of the program's: 1 to 3 axes, strides, both kinds of numbers, in place and not.
func TestCallbacks(t *testing.T) {
	th := thread(t)
	lto.Use(linking{"complex": cxx.Replace(double64(false)), "real": double64(true)})
	added := upload(t, th, []float64{0.25, 0}, double)
	info := uint64(added)
	for _, c := range []struct {
		kind        fft.CufftType
		n           []int
		batch       int
		stride      int
		load, store bool
	}{
		{fft.CUFFT_Z2Z, []int{12}, 3, 1, true, true}, {fft.CUFFT_Z2Z, []int{8, 6}, 2, 2, true, false}, {fft.CUFFT_Z2Z, []int{4, 3, 5}, 1, 1, false, true},
		{fft.CUFFT_D2Z, []int{10}, 2, 1, true, true}, {fft.CUFFT_Z2D, []int{6, 8}, 2, 1, true, true},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			h, err := th.Create()
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := th.Destroy(h); err != nil {
					t.Error(err)
				}
			}()
			in, out := "complex", "complex"
			loads, stores := fft.CUFFT_CB_LD_COMPLEX_DOUBLE, fft.CUFFT_CB_ST_COMPLEX_DOUBLE
			if c.kind == fft.CUFFT_D2Z {
				in, loads = "real", fft.CUFFT_CB_LD_REAL_DOUBLE
			}
			if c.kind == fft.CUFFT_Z2D {
				out, stores = "real", fft.CUFFT_CB_ST_REAL_DOUBLE
			}
			if c.load {
				if err := th.setJIT(h, "reads", in, loads, &info); err != nil {
					t.Fatal(err)
				}
			}
			if c.store {
				if err := th.setJIT(h, "writes", out, stores, &info); err != nil {
					t.Fatal(err)
				}
			}
			one, last := 1, c.n[len(c.n)-1]
			dims, inEmbed, outEmbed := make([]int32, len(c.n)), make([]int32, len(c.n)), make([]int32, len(c.n))
			for i, v := range c.n {
				one *= v
				dims[i], inEmbed[i], outEmbed[i] = int32(v), int32(v), int32(v)
			}
			rows, wideIn, wideOut := one/last, last, last
			if in == "complex" && out == "real" {
				wideIn = last/2 + 1
			}
			if in == "real" {
				wideOut = last/2 + 1
			}
			inEmbed[len(dims)-1], outEmbed[len(dims)-1] = int32(wideIn), int32(wideOut)
			var size uint64
			if err := th.MakePlanMany(h, int32(len(dims)), hostmem.Of(&dims[0]), hostmem.Of(&inEmbed[0]), int32(c.stride), int32(rows*wideIn*c.stride),
				hostmem.Of(&outEmbed[0]), int32(c.stride), int32(rows*wideOut*c.stride), c.kind, int32(c.batch), hostmem.Of(&size)); err != nil {
				t.Fatal(err)
			}
			sizes := map[string]int{"complex": 2, "real": 1}
			x := noise(rows*wideIn*c.stride*c.batch*sizes[in], 9)
			spectra := make([][]complex128, c.batch)
			if out == "real" { // the spectrum of real numbers, less what the callback adds
				for b := range spectra {
					z := make([]complex128, one)
					for i := range z {
						z[i] = complex(noise(one, uint64(b+3))[i], 0)
					}
					spectra[b] = transformed(z, c.n, false)
					for r := range rows {
						for i := range wideIn {
							at := 2 * ((b*rows+r)*wideIn + i)
							x[at], x[at+1] = real(spectra[b][r*last+i]), imag(spectra[b][r*last+i])
							if c.load {
								x[at] -= 0.25
							}
						}
					}
				}
			}
			from := upload(t, th, x, double)
			to := upload(t, th, make([]float64, rows*wideOut*c.stride*c.batch*sizes[out]+1), double)
			if err := th.XtExec(h, hostmem.Ptr(from), hostmem.Ptr(to), map[bool]int32{true: fft.CUFFT_INVERSE, false: fft.CUFFT_FORWARD}[out == "real"]); err != nil {
				t.Fatal(err)
			}
			got := download(t, th, to, rows*wideOut*c.stride*c.batch*sizes[out], double)
			for b := range c.batch {
				z := spectra[b]
				if z == nil {
					z = make([]complex128, one)
					for i := range z {
						at := (b*one + i) * c.stride * sizes[in]
						z[i] = complex(x[at], 0)
						if in == "complex" {
							z[i] = complex(x[at], x[at+1])
						}
						if c.load {
							z[i] += 0.25
						}
					}
				}
				want := transformed(z, c.n, out == "real")
				for r := range rows {
					for i := range wideOut {
						v, at := want[r*last+i], ((b*rows+r)*wideOut+i)*c.stride*sizes[out]
						if c.store {
							v = complex(3*real(v), imag(v))
						}
						g := complex(got[at], 0)
						if out == "complex" {
							g = complex(got[at], got[at+1])
						} else {
							v = complex(real(v), 0)
						}
						if d := g - v; real(d)*real(d)+imag(d)*imag(d) > 1e-20 {
							t.Fatalf("number %d of row %d of %d is %v, not %v", i, r, b, g, v)
						}
					}
				}
			}
		})
	}
	h, err := th.Create()
	if err != nil {
		t.Fatal(err)
	}
	var size uint64
	for _, c := range []struct {
		code  string
		which fft.CufftXtCallbackType
		set   Status
		made  Status
	}{{"complex", fft.CUFFT_CB_UNDEFINED, invalidType, 0}, {"foreign", fft.CUFFT_CB_LD_COMPLEX, 0, internalError}, {"broken", fft.CUFFT_CB_LD_COMPLEX, 0, internalError},
		{"complex", fft.CUFFT_CB_LD_REAL, 0, invalidType}} {
		if err := th.setJIT(h, "reads", c.code, c.which, &info); err != nil && Code(err) != int32(c.set) || err == nil && c.set != 0 {
			t.Errorf("%v: %v", c, err)
		}
		if err := th.MakePlan1d(h, 8, fft.CUFFT_C2C, 1, hostmem.Of(&size)); (err == nil) != (c.made == 0) || err != nil && Code(err) != int32(c.made) {
			t.Errorf("%v: made: %v", c, err)
		}
		if err := th.Destroy(h); err != nil {
			t.Fatal(err)
		}
		h, _ = th.Create()
	}
	if err := th.Destroy(h); err != nil {
		t.Fatal(err)
	}
}
