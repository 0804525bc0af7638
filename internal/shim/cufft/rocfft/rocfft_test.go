package rocfft_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cufft"
	"kudzu/internal/shim/cufft/rocfft"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/fft"
	"kudzu/internal/spec/rt"
	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// bodies: handles are numbers in the order they are made; arrays are written down, number by number.
var bodies = map[string]string{
	"rocfft_plan_description_create":          "static uintptr_t n; *(uintptr_t *)p_description = 0x1000 + n++;",
	"rocfft_plan_create":                      "static uintptr_t n; *(uintptr_t *)p_plan = 0x2000 + n++; note(\"  lengths\", p_dimensions, p_lengths);",
	"rocfft_execution_info_create":            "static uintptr_t n; *(uintptr_t *)p_info = 0x3000 + n++;",
	"rocfft_plan_description_set_data_layout": "note(\"  in\", p_in_strides_size, p_in_strides); note(\"  out\", p_out_strides_size, p_out_strides);",
	"rocfft_plan_get_work_buffer_size":        "*(size_t *)p_size_in_bytes = 0x5000;",
	"rocfft_execute":                          "note(\"  from\", 1, p_in_buffer); note(\"  to\", 1, p_out_buffer);",
	"rocfft_get_version_string":               `snprintf(p_buf, p_len, "1.0.31");`,
}

type rig struct {
	t   *testing.T
	lib *libdouble.Double
	hip *hipdouble.Interpreted
	th  *cufft.Thread
	d   *driver.Thread
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

var ran atomic.Bool

// TestProvider runs all tests in one process: a process has one driver.
func TestProvider(t *testing.T) {
	if ran.Swap(true) {
		t.Skip("once a process: -count starts no second driver")
	}
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100")
	t.Setenv("KUDZU_BACKEND", "hip")
	lib := hipdouble.Build(t)
	c := hipdouble.NewInterpreted(t, lib)
	driver.Start([]backend.Backend{hip.New(hip.Config{Compiler: c, Library: lib})})
	th := new(cufft.Thread)
	for _, test := range []struct {
		name string
		run  func(*rig)
	}{{"calls", calls}, {"plans", plans}, {"refusals", refusals}} {
		t.Run(test.name, func(t *testing.T) {
			r := &rig{t: t, lib: libdouble.Build(t, "rocfft", "librocfft.so.0", bodies), hip: c, th: th, d: (*driver.Thread)(th)}
			r.use(r.lib.Path)
			defer cufft.Unuse()
			test.run(r)
		})
	}
}

func (r *rig) use(path string) {
	cufft.Unuse()
	cufft.Use(rocfft.New(rocfft.Config{Library: path}))
}

// many makes a plan of the advanced interface, or of the simple one where there are no embedded extents.
func (r *rig) many(kind fft.CufftType, n, in, out []int32, is, id, os, od, batch int32) fft.CufftHandle {
	r.t.Helper()
	h, err := r.th.Create()
	r.ok(err)
	var pin runtime.Pinner
	defer pin.Unpin()
	at := func(v []int32) hostmem.Ptr {
		if v == nil {
			return hostmem.Nil
		}
		pin.Pin(&v[0])
		return hostmem.Of(&v[0])
	}
	var size uint64
	r.ok(r.th.MakePlanMany(h, int32(len(n)), at(n), at(in), is, id, at(out), os, od, kind, batch, hostmem.Of(&size)))
	return h
}

// calls: what the library is told for plans of all types and layouts.
func calls(r *rig) {
	t := r.t
	const from, to = 0x7000_0000_1000, 0x7000_0000_2000
	for i, c := range []struct {
		kind         fft.CufftType
		n, in, out   []int32
		is, id       int32
		os, od       int32
		batch        int32
		sign         int32
		inPlace      bool
		layout, make string // what follows the description, and the placement, type and precision
		lengths      string
		ins, outs    string
	}{
		{kind: fft.CUFFT_C2C, n: []int32{24}, batch: 5, sign: fft.CUFFT_FORWARD,
			layout: "0 0 0 0 1 in 18 1 out 18", make: "1 0 0 1 lengths 5", lengths: "18", ins: "1", outs: "1"},
		{kind: fft.CUFFT_C2C, n: []int32{4, 6, 10}, batch: 1, sign: fft.CUFFT_INVERSE, inPlace: true,
			layout: "0 0 0 0 3 in f0 3 out f0", make: "0 1 0 3 lengths 1", lengths: "a 6 4", ins: "1 a 3c", outs: "1 a 3c"},
		{kind: fft.CUFFT_Z2Z, n: []int32{4, 6}, in: []int32{5, 7}, out: []int32{8, 9}, is: 2, id: 100, os: 3, od: 300, batch: 2, sign: fft.CUFFT_FORWARD,
			layout: "0 0 0 0 2 in 64 2 out 12c", make: "1 0 1 2 lengths 2", lengths: "6 4", ins: "2 e", outs: "3 1b"},
		{kind: fft.CUFFT_R2C, n: []int32{4, 6}, batch: 3, sign: fft.CUFFT_FORWARD,
			layout: "2 3 0 0 2 in 18 2 out 10", make: "1 2 0 2 lengths 3", lengths: "6 4", ins: "1 6", outs: "1 4"},
		{kind: fft.CUFFT_R2C, n: []int32{4, 6}, batch: 3, sign: fft.CUFFT_FORWARD, inPlace: true, // rows of real numbers are padded
			layout: "2 3 0 0 2 in 20 2 out 10", make: "0 2 0 2 lengths 3", lengths: "6 4", ins: "1 8", outs: "1 4"},
		{kind: fft.CUFFT_C2R, n: []int32{10}, batch: 2, sign: fft.CUFFT_INVERSE,
			layout: "3 2 0 0 1 in 6 1 out a", make: "1 3 0 1 lengths 2", lengths: "a", ins: "1", outs: "1"},
		{kind: fft.CUFFT_D2Z, n: []int32{10}, batch: 2, sign: fft.CUFFT_FORWARD,
			layout: "2 3 0 0 1 in a 1 out 6", make: "1 2 1 1 lengths 2", lengths: "a", ins: "1", outs: "1"},
		{kind: fft.CUFFT_Z2D, n: []int32{10}, batch: 2, sign: fft.CUFFT_INVERSE,
			layout: "3 2 0 0 1 in 6 1 out a", make: "1 3 1 1 lengths 2", lengths: "a", ins: "1", outs: "1"},
	} {
		r.lib.Calls(t)
		h := r.many(c.kind, c.n, c.in, c.out, c.is, c.id, c.os, c.od, c.batch)
		dst := uint64(to)
		if c.inPlace {
			dst = from
		}
		if got := r.lib.Calls(t); len(got) != 0 {
			t.Errorf("%d: making a plan called %q", i, got)
		}
		r.ok(r.th.XtExec(h, from, hostmem.Ptr(dst), c.sign))
		want := []string{
			"rocfft_plan_description_create out", fmt.Sprintf("rocfft_plan_description_set_data_layout %x %s", 0x1000+i, c.layout), "  in " + c.ins, "  out " + c.outs,
			fmt.Sprintf("rocfft_plan_create out %s %x", c.make, 0x1000+i), "  lengths " + c.lengths,
			fmt.Sprintf("rocfft_plan_get_work_buffer_size %x out", 0x2000+i), "rocfft_execution_info_create out", fmt.Sprintf("rocfft_plan_description_destroy %x", 0x1000+i),
			fmt.Sprintf("rocfft_execution_info_set_stream %x stream", 0x3000+i), fmt.Sprintf("rocfft_execution_info_set_work_buffer %x area 5000", 0x3000+i),
			fmt.Sprintf("rocfft_execute %x lists lists %x", 0x2000+i, 0x3000+i), fmt.Sprintf("  from %x", uint64(from)), fmt.Sprintf("  to %x", dst),
		}
		if i == 0 {
			want = append([]string{"rocfft_setup"}, want...)
		}
		if got := r.named(r.lib.Calls(t)); !slices.Equal(got, want) {
			t.Errorf("%d: got\n%s\nwant\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		r.ok(r.th.Destroy(h))
		if got := r.lib.Calls(t); !slices.Equal(got, []string{fmt.Sprintf("rocfft_execution_info_destroy %x", 0x3000+i), fmt.Sprintf("rocfft_plan_destroy %x", 0x2000+i)}) {
			t.Errorf("%d: the end made %q", i, got)
		}
	}
	// f16 is rocFFT's precision half; bf16 it does not have.
	for _, c := range []struct {
		ty   rt.CudaDataType
		want bool
	}{{rt.CUDA_C_16F, true}, {rt.CUDA_C_16BF, false}} {
		h, err := r.th.Create()
		r.ok(err)
		n, size := int64(16), uint64(0)
		r.ok(r.th.XtMakePlanMany(h, 1, hostmem.Of(&n), 0, 1, 0, c.ty, 0, 1, 0, c.ty, 3, hostmem.Of(&size), c.ty))
		memory, err := r.d.MemAlloc(16 * 3 * 4)
		r.ok(err)
		r.lib.Calls(t)
		r.ok(r.th.XtExec(h, hostmem.Ptr(memory), hostmem.Ptr(memory), fft.CUFFT_INVERSE))
		made := slices.ContainsFunc(r.named(r.lib.Calls(t)), func(s string) bool { return strings.HasPrefix(s, "rocfft_plan_create out 0 1 2 1 lengths 3") })
		if made != c.want {
			t.Errorf("type %d: a plan of rocFFT's: %t", c.ty, made)
		}
		r.ok(r.th.Destroy(h))
		r.lib.Calls(t)
	}
	about, err := rocfft.New(rocfft.Config{Library: r.lib.Path}).Library()
	if err != nil || !strings.Contains(about, "1.0.31, 13 of 13 functions") {
		t.Errorf("%q, %v", about, err)
	}
}

// named puts words for addresses that are the provider's own.
func (r *rig) named(lines []string) []string {
	for i, line := range lines {
		w := strings.Split(line, " ")
		put := func(at int, what string) {
			if w[at] != "0" {
				w[at] = what
			}
		}
		switch w[0] {
		case "rocfft_plan_description_create", "rocfft_execution_info_create":
			put(1, "out")
		case "rocfft_plan_description_set_data_layout":
			put(7, "in")
			put(10, "out")
		case "rocfft_plan_create":
			put(1, "out")
			put(6, "lengths")
		case "rocfft_plan_get_work_buffer_size":
			put(2, "out")
		case "rocfft_execution_info_set_stream":
			put(2, "stream")
		case "rocfft_execution_info_set_work_buffer":
			put(2, "area")
		case "rocfft_execute":
			put(2, "lists")
			put(3, "lists")
		}
		lines[i] = strings.Join(w, " ")
	}
	return lines
}

// plans: one for each direction and placement; the program's work area is used if it is large enough.
func plans(r *rig) {
	t := r.t
	const from, to = 0x7000_0000_1000, 0x7000_0000_2000
	h := r.many(fft.CUFFT_C2C, []int32{16}, nil, nil, 0, 0, 0, 0, 1)
	made := func() (n int, stream, area string) {
		for _, c := range r.lib.Calls(t) {
			w := strings.Fields(c)
			switch w[0] {
			case "rocfft_plan_create":
				n++
			case "rocfft_execution_info_set_stream":
				stream = w[2]
			case "rocfft_execution_info_set_work_buffer":
				area = w[2]
			}
		}
		return n, stream, area
	}
	var streams []string
	for i, c := range []struct {
		to   hostmem.Ptr
		sign int32
		made int
	}{{to, -1, 1}, {to, -1, 0}, {to, 1, 1}, {from, -1, 1}, {from, 1, 1}, {from, -1, 0}} {
		r.ok(r.th.ExecC2C(h, from, c.to, c.sign))
		n, stream, _ := made()
		if n != c.made {
			t.Errorf("call %d made %d plans", i, n)
		}
		streams = append(streams, stream)
	}
	s, err := r.d.StreamCreate(0)
	r.ok(err)
	r.ok(r.th.SetStream(h, rt.CudaStream_t(s)))
	r.ok(r.th.ExecC2C(h, from, to, -1))
	if _, stream, _ := made(); slices.Contains(streams, stream) {
		t.Errorf("another stream is %s as well", stream)
	}
	r.ok(r.th.Destroy(h))
	ends := 0
	for _, c := range r.lib.Calls(t) {
		if strings.HasPrefix(c, "rocfft_plan_destroy") {
			ends++
		}
	}
	if ends != 4 {
		t.Errorf("%d plans ended", ends)
	}
	// A large plan has an area of its own that is large enough for rocFFT's.
	h = r.many(fft.CUFFT_C2C, []int32{1 << 16}, nil, nil, 0, 0, 0, 0, 1)
	area, err := r.d.MemAlloc(1 << 20)
	r.ok(err)
	r.ok(r.th.SetWorkArea(h, hostmem.Ptr(area)))
	r.ok(r.th.ExecC2C(h, from, to, -1))
	if _, _, got := made(); got != fmt.Sprintf("%x", uint64(area)) {
		t.Errorf("the work area is %s, want %x", got, area)
	}
	r.ok(r.th.Destroy(h))
}

// refusals: what rocFFT makes no plan for, or does not have, our kernels transform; a failed transform is cuFFT's.
func refusals(r *rig) {
	t := r.t
	buf, err := r.d.MemAlloc(8 * 16)
	r.ok(err)
	own := func(what string, h fft.CufftHandle, count int) {
		t.Helper()
		r.ok(r.d.MemsetD32(buf, 0x3f800000, 32)) // 1 + i everywhere
		r.lib.Calls(t)
		_, before := r.hip.Counts()
		r.ok(r.th.ExecC2C(h, hostmem.Ptr(buf), hostmem.Ptr(buf), -1))
		r.ok(r.d.CtxSynchronize())
		_, after := r.hip.Counts()
		var got [4]float32
		r.ok(r.d.MemcpyDtoH(hostmem.Of(&got[0]), buf, 16))
		if after == before || got != [4]float32{16, 16, 0, 0} {
			t.Errorf("%s: %d launches of ours, %v", what, after-before, got)
		}
		if n := len(slices.DeleteFunc(r.lib.Calls(t), func(s string) bool { return !strings.HasPrefix(s, "rocfft_execute ") })); n != count {
			t.Errorf("%s: %d transforms of rocFFT's", what, n)
		}
	}
	for _, f := range []string{"rocfft_plan_description_create", "rocfft_plan_description_set_data_layout", "rocfft_plan_create", "rocfft_plan_get_work_buffer_size", "rocfft_execution_info_create"} {
		r.lib.Answer(t, f, 1)
		h := r.many(fft.CUFFT_C2C, []int32{16}, nil, nil, 0, 0, 0, 0, 1)
		own(f, h, 0)
		r.lib.Answer(t, f, 0)
		own(f+" before", h, 0) // the plan stays ours
		r.ok(r.th.Destroy(h))
	}
	h := r.many(fft.CUFFT_C2C, []int32{16}, nil, nil, 0, 0, 0, 0, 1)
	for roc, want := range map[int]int32{1: 6, 2: 4, 8: 13, 77: 5} {
		r.lib.Answer(t, "rocfft_execute", roc)
		if rc := cufft.Code(r.th.ExecC2C(h, hostmem.Ptr(buf), hostmem.Ptr(buf), -1)); rc != want {
			t.Errorf("rocFFT's %d became %d, want %d", roc, rc, want)
		}
	}
	r.lib.Answer(t, "rocfft_execute", 0)
	// A stream that is captured takes our kernels.
	s, err := r.d.StreamCreate(0)
	r.ok(err)
	r.ok(r.th.SetStream(h, rt.CudaStream_t(s)))
	r.ok(r.d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
	r.lib.Calls(t)
	r.ok(r.th.ExecC2C(h, hostmem.Ptr(buf), hostmem.Ptr(buf), -1))
	if got := r.lib.Calls(t); len(got) != 0 {
		t.Errorf("while capturing: %q", got)
	}
	var g cu.CUgraph
	r.ok(r.d.StreamEndCapture(s, hostmem.Of(&g)))
	r.ok(r.th.Destroy(h))
	for _, path := range []string{"/nonexistent/librocfft.so.0", "libc.so.6", "none"} {
		r.use(path)
		h := r.many(fft.CUFFT_C2C, []int32{16}, nil, nil, 0, 0, 0, 0, 1)
		own(path, h, 0)
		r.ok(r.th.Destroy(h))
	}
}
