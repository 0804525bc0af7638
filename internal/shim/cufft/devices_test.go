package cufft

import (
	"fmt"
	"slices"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/fft"
)

// manyPlan makes a plan on devices.
func manyPlan(t *testing.T, th *Thread, devices []int32, n []int, kind fft.CufftType, batch int) fft.CufftHandle {
	t.Helper()
	h, err := th.Create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := th.Destroy(h); err != nil {
			t.Error(err)
		}
	})
	if err := th.XtSetGPUs(h, int32(len(devices)), hostmem.Of(&devices[0])); err != nil {
		t.Fatal(err)
	}
	dims := make([]int32, len(n))
	for i, v := range n {
		dims[i] = int32(v)
	}
	sizes := make([]uint64, len(devices))
	if err := th.MakePlanMany(h, int32(len(n)), hostmem.Of(&dims[0]), 0, 1, 0, 0, 1, 0, kind, int32(batch), hostmem.Of(&sizes[0])); err != nil {
		t.Fatal(n, err)
	}
	return h
}

func (t *Thread) arrayOf(test *testing.T, h fft.CufftHandle, format fft.CufftXtSubFormat) hostmem.Ptr {
	test.Helper()
	var at hostmem.Ptr
	if err := t.XtMalloc(h, hostmem.Of(&at), format); err != nil {
		test.Fatal(err)
	}
	test.Cleanup(func() {
		if err := t.XtFree(at); err != nil {
			test.Error(err)
		}
		if t.XtFree(at) == nil {
			test.Error("freed twice")
		}
	})
	return at
}

// pieces reads what the devices have of an array, one after another.
func pieces(t *testing.T, th *Thread, at hostmem.Ptr, bytes []uint64) []float64 {
	t.Helper()
	parts := hostmem.At[fft.CudaXtDesc](hostmem.Ptr(hostmem.At[fft.CudaLibXtDesc](at).Descriptor))
	var out []float64
	for i, n := range bytes {
		v := make([]float64, n/8)
		if n == 0 {
			continue
		}
		if n > parts.Size[i] {
			t.Fatalf("device %d has %d bytes of %d", i, parts.Size[i], n)
		}
		if err := th.driver().MemcpyDtoH(hostmem.Of(&v[0]), driver.DevPtr(parts.Data[i]), n); err != nil {
			t.Fatal(err)
		}
		out = append(out, v...)
	}
	return out
}

// TestManyDevices transforms on two to four devices, some of them twice the same: results in the program's memory are in natural order, those on the devices lie as the
// manual says: in strings for a row, dealt out along the second axis for planes and volumes, as they were for a batch.
func TestManyDevices(t *testing.T) {
	th := thread(t)
	for _, c := range []struct {
		devices []int32
		n       []int
		batch   int
	}{
		{[]int32{0, 1}, []int{1024}, 1}, {[]int32{1, 0, 2, 3}, []int{64}, 1}, {[]int32{2, 2}, []int{128}, 1},
		{[]int32{0, 1}, []int{32, 34}, 1}, {[]int32{0, 1, 2}, []int{35, 33}, 1}, {[]int32{3, 1, 2}, []int{32, 33, 2}, 1},
		{[]int32{0, 1, 2}, []int{30}, 7}, {[]int32{0, 1, 2, 3}, []int{6, 4}, 3}, {[]int32{3, 3}, []int{9}, 2},
	} {
		t.Run(fmt.Sprint(c.devices, c.n, c.batch), func(t *testing.T) {
			one := 1
			for _, v := range c.n {
				one *= v
			}
			x := noise(2*one*c.batch, 5)
			h := manyPlan(t, th, c.devices, c.n, fft.CUFFT_Z2Z, c.batch)
			a := th.arrayOf(t, h, fft.CUFFT_XT_FORMAT_INPLACE)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(th.XtMemcpy(h, a, hostmem.Of(&x[0]), fft.CUFFT_COPY_HOST_TO_DEVICE))
			must(th.XtExecDescriptorZ2Z(h, a, a, fft.CUFFT_FORWARD))
			var want []float64
			for b := range c.batch {
				z := make([]complex128, one)
				for i := range z {
					z[i] = complex(x[2*(b*one+i)], x[2*(b*one+i)+1])
				}
				want = append(want, flat(transformed(z, c.n, false))...)
			}
			got := make([]float64, len(want))
			must(th.XtMemcpy(h, hostmem.Of(&got[0]), a, fft.CUFFT_COPY_DEVICE_TO_HOST))
			if d := difference(got, want); d > bound(double, one) {
				t.Fatalf("differs by %g", d)
			}
			where, bytes := placed(t, th, h, c.n, c.batch, len(c.devices))
			lying := pieces(t, th, a, bytes)
			for at, i := range where {
				if lying[2*at] != got[2*i] || lying[2*at+1] != got[2*i+1] {
					t.Fatalf("place %d has not number %d", at, i)
				}
			}
			// To another array in natural order, and the permuted one back through the inverse.
			b := th.arrayOf(t, h, fft.CUFFT_XT_FORMAT_INPLACE)
			must(th.XtMemcpy(h, b, a, fft.CUFFT_COPY_DEVICE_TO_DEVICE))
			var natural []uint64
			first := c.n[0]
			if c.batch > 1 {
				first = c.batch
			}
			for i := range c.devices {
				_, n := share(uint64(first), len(c.devices), i)
				natural = append(natural, n*uint64(one*c.batch/first)*16)
			}
			if line := pieces(t, th, b, natural); !slices.Equal(line, got) {
				t.Fatal("the copy is not in natural order")
			}
			if len(c.n) == 1 && c.batch == 1 {
				if err := th.XtExecDescriptor(h, a, a, fft.CUFFT_INVERSE); err != invalidType {
					t.Errorf("a permuted row: %v", err)
				}
				a = b
			}
			must(th.XtExecDescriptor(h, a, a, fft.CUFFT_INVERSE))
			must(th.XtMemcpy(h, hostmem.Of(&got[0]), a, fft.CUFFT_COPY_DEVICE_TO_HOST))
			for i := range got {
				got[i] /= float64(one)
			}
			if d := difference(got, x); d > 2*bound(double, one) {
				t.Fatalf("back differs by %g", d)
			}
		})
	}
}

// placed is which number of the natural order lies at each place, and the bytes of each device.
func placed(t *testing.T, th *Thread, h fft.CufftHandle, n []int, batch, devices int) (where []int, bytes []uint64) {
	t.Helper()
	one := 1
	for _, v := range n {
		one *= v
	}
	switch {
	case batch > 1 || len(n) == 1:
		outer := one
		if batch > 1 {
			outer = batch
		}
		for i := range devices {
			_, k := share(uint64(outer), devices, i)
			bytes = append(bytes, k*uint64(one*batch/outer)*16)
		}
		where = make([]int, one*batch)
		for i := range where {
			where[i] = i
		}
		if batch > 1 {
			return where, bytes
		}
		var f fft.CufftXt1dFactors
		if err := th.XtQueryPlan(h, hostmem.Of(&f), fft.CUFFT_QUERY_1D_FACTORS); err != nil {
			t.Fatal(err)
		}
		if f.Size != int64(one) || f.Factor1*f.Factor2 != f.Size || f.StringCount*f.StringLength != f.Size || f.SubstringLength*f.Factor2 != f.StringLength {
			t.Fatalf("%+v", f)
		}
		if one&(one-1) == 0 && devices > 1 && (f.StringCount < 2 || 1<<f.Factor1Shift != f.Factor1 || f.SubstringMask != f.SubstringLength-1) {
			t.Fatalf("%+v", f)
		}
		for p := range where {
			inside, sub, str := int64(p)%f.SubstringLength, int64(p)/f.SubstringLength%f.Factor2, int64(p)/f.StringLength
			where[p] = int(inside + str*f.SubstringLength + sub*f.Factor1)
		}
		return where, bytes
	}
	rest := one / n[0] / n[1]
	begin := 0
	for i := range devices {
		_, k := share(uint64(n[1]), devices, i)
		bytes = append(bytes, uint64(n[0]*rest)*k*16)
		for x := range n[0] {
			for y := begin; y < begin+int(k); y++ {
				for z := range rest {
					where = append(where, (x*n[1]+y)*rest+z)
				}
			}
		}
		begin += int(k)
	}
	return where, bytes
}

// TestManyDevicesReal transforms real numbers, which lie in padded rows, to half a spectrum and back.
func TestManyDevicesReal(t *testing.T) {
	th := thread(t)
	for _, n := range [][]int{{33, 36}, {32, 33, 7}} {
		one, last := 1, n[len(n)-1]
		for _, v := range n {
			one *= v
		}
		rows, half := one/last, last/2+1
		padded := make([]float64, rows*half*2)
		values := noise(one, 3)
		z := make([]complex128, one)
		for i, v := range values {
			padded[i/last*half*2+i%last] = v
			z[i] = complex(v, 0)
		}
		full := transformed(z, n, false)
		var want []float64
		for r := range rows {
			want = append(want, flat(full[r*last:][:half])...)
		}
		devices := []int32{0, 1, 2}
		to, back := manyPlan(t, th, devices, n, fft.CUFFT_D2Z, 1), manyPlan(t, th, devices, n, fft.CUFFT_Z2D, 1)
		a := th.arrayOf(t, to, fft.CUFFT_XT_FORMAT_INPLACE)
		got := make([]float64, len(padded))
		for _, err := range []error{
			th.XtMemcpy(to, a, hostmem.Of(&padded[0]), fft.CUFFT_COPY_HOST_TO_DEVICE), th.XtExecDescriptorD2Z(to, a, a),
			th.XtMemcpy(to, hostmem.Of(&got[0]), a, fft.CUFFT_COPY_DEVICE_TO_HOST),
		} {
			if err != nil {
				t.Fatal(n, err)
			}
		}
		if d := difference(got, want); d > bound(double, one) {
			t.Fatalf("%v: differs by %g", n, d)
		}
		for _, err := range []error{th.XtExecDescriptorZ2D(back, a, a), th.XtMemcpy(back, hostmem.Of(&got[0]), a, fft.CUFFT_COPY_DEVICE_TO_HOST)} {
			if err != nil {
				t.Fatal(n, err)
			}
		}
		for i, v := range values {
			if w := got[i/last*half*2+i%last] / float64(one); w-v > 1e-14 || v-w > 1e-14 {
				t.Fatalf("%v: number %d is %g, not %g", n, i, w, v)
			}
		}
	}
}

// TestManyDevicesMisuse has calls that are refused, and single precision with work areas of the program's.
func TestManyDevicesMisuse(t *testing.T) {
	th := thread(t)
	h, err := th.Create()
	if err != nil {
		t.Fatal(err)
	}
	ids, far := []int32{0, 1}, []int32{0, testDevices}
	sizes := make([]uint64, 2)
	var f fft.CufftXt1dFactors
	var at hostmem.Ptr
	want := func(what string, got error, code Status) {
		t.Helper()
		if Code(got) != int32(code) || got == nil {
			t.Errorf("%s: %v, not %v", what, got, code)
		}
	}
	want("no plan", th.XtSetGPUs(999, 2, hostmem.Of(&ids[0])), invalidPlan)
	want("no devices", th.XtSetGPUs(h, 0, hostmem.Of(&ids[0])), invalidValue)
	want("no list", th.XtSetGPUs(h, 2, 0), invalidValue)
	want("one device", th.XtSetGPUs(h, 1, hostmem.Of(&ids[0])), invalidValue)
	want("not there", th.XtSetGPUs(h, 2, hostmem.Of(&far[0])), invalidDevice)
	if err := th.XtSetGPUs(h, 2, hostmem.Of(&ids[0])); err != nil {
		t.Fatal(err)
	}
	want("not made", th.XtMalloc(h, hostmem.Of(&at), fft.CUFFT_XT_FORMAT_INPLACE), invalidPlan)
	want("a row of real numbers", th.MakePlan1d(h, 64, fft.CUFFT_R2C, 1, hostmem.Of(&sizes[0])), invalidSize)
	want("a length that is no power of two", th.MakePlan1d(h, 96, fft.CUFFT_C2C, 1, hostmem.Of(&sizes[0])), invalidSize)
	want("a short axis", th.MakePlan2d(h, 64, 31, fft.CUFFT_C2C, hostmem.Of(&sizes[0])), invalidSize)
	if err := th.SetAutoAllocation(h, 0); err != nil {
		t.Fatal(err)
	}
	if err := th.MakePlan1d(h, 4096, fft.CUFFT_C2C, 1, hostmem.Of(&sizes[0])); err != nil {
		t.Fatal(err)
	}
	want("after making", th.XtSetGPUs(h, 2, hostmem.Of(&ids[0])), invalidPlan)
	want("one device's call", th.ExecC2C(h, 0, 0, fft.CUFFT_FORWARD), invalidType)
	want("no such query", th.XtQueryPlan(h, hostmem.Of(&f), 1), invalidValue)
	want("no array", th.XtExecDescriptorC2C(h, 0, 0, fft.CUFFT_FORWARD), invalidPlan)
	a := th.arrayOf(t, h, fft.CUFFT_XT_FORMAT_INPLACE)
	want("no area", th.XtExecDescriptorC2C(h, a, a, fft.CUFFT_FORWARD), noWorkspace)
	areas := make([]uint64, 2)
	for i, n := range sizes {
		p, err := th.driver().MemAlloc(max(n, 1))
		if err != nil {
			t.Fatal(err)
		}
		areas[i] = uint64(p)
	}
	if err := th.XtSetWorkArea(h, hostmem.Of(&areas[0])); err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 2*4096)
	x[2*5] = 1
	got := make([]float32, len(x))
	for _, err := range []error{
		th.XtMemcpy(h, a, hostmem.Of(&x[0]), fft.CUFFT_COPY_HOST_TO_DEVICE), th.XtExecDescriptorC2C(h, a, a, fft.CUFFT_FORWARD),
		th.XtMemcpy(h, hostmem.Of(&got[0]), a, fft.CUFFT_COPY_DEVICE_TO_HOST), th.Destroy(h),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for k := range 4096 {
		w := root(uint64(5*k)%4096, 4096)
		if d := complex(float64(got[2*k]), float64(got[2*k+1])) - w; real(d)*real(d)+imag(d)*imag(d) > 1e-12 {
			t.Fatalf("number %d is off by %v", k, d)
		}
	}
}

// TestOneDeviceDescriptor: a plan that was not told any devices takes descriptors of the current one.
func TestOneDeviceDescriptor(t *testing.T) {
	th := thread(t)
	h, err := th.Create()
	if err != nil {
		t.Fatal(err)
	}
	var size uint64
	x := noise(2*48, 5)
	got := make([]float64, len(x))
	if err := th.MakePlan1d(h, 48, fft.CUFFT_Z2Z, 1, hostmem.Of(&size)); err != nil {
		t.Fatal(err)
	}
	a := th.arrayOf(t, h, fft.CUFFT_XT_FORMAT_INPLACE)
	for _, err := range []error{
		th.XtMemcpy(h, a, hostmem.Of(&x[0]), fft.CUFFT_COPY_HOST_TO_DEVICE), th.XtExecDescriptorZ2Z(h, a, a, fft.CUFFT_FORWARD),
		th.XtMemcpy(h, hostmem.Of(&got[0]), a, fft.CUFFT_COPY_DEVICE_TO_HOST), th.Destroy(h),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	z := make([]complex128, 48)
	for i := range z {
		z[i] = complex(x[2*i], x[2*i+1])
	}
	if d := difference(got, flat(transformed(z, []int{48}, false))); d > bound(double, 48) {
		t.Errorf("differs by %g", d)
	}
}
