package cufft

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/fft"
	"kudzu/internal/spec/rt"
)

// recordedCodes are what cuFFT 12.0 answered to testdata/errors.c, by call.
func recordedCodes(t *testing.T) map[string]int32 {
	text, err := os.ReadFile("testdata/errors.want")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]int32{}
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		i := strings.LastIndex(rest, ": ")
		n, err := strconv.ParseInt(rest[i+2:], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := codes[rest[:i]]; !twice {
			codes[rest[:i]] = int32(n)
		}
	}
	return codes
}

// TestErrors compares answers to bad input with those of an H200. Left out is what the recorder asked with a plan that was gone by then,
// and what reaches the device.
func TestErrors(t *testing.T) {
	th := thread(t)
	codes := recordedCodes(t)
	var size uint64
	at := hostmem.Of(&size)
	fresh := func() fft.CufftHandle {
		h, err := th.Create()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = th.Destroy(h) })
		return h
	}
	made := func(kind fft.CufftType) fft.CufftHandle {
		h := fresh()
		if err := th.MakePlan1d(h, 16, kind, 1, at); err != nil {
			t.Fatal(err)
		}
		return h
	}
	ints := func(v ...int32) hostmem.Ptr { return hostmem.Of(&v[0]) }
	longs := func(v ...int64) hostmem.Ptr { return hostmem.Of(&v[0]) }
	n2, n4, zero2, n3 := ints(8, 8), ints(2, 2, 2, 2), ints(8, 0), ints(4, 4, 4)
	l1, l3, huge := longs(16), longs(12), longs(1<<20, 1<<20, 1<<20)
	data, err := th.driver().MemAlloc(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	d := hostmem.Ptr(data)
	bare, c2c, r2c, c2r := fresh(), made(fft.CUFFT_C2C), made(fft.CUFFT_R2C), made(fft.CUFFT_C2R)
	call := func(text string, err error) {
		t.Helper()
		want, ok := codes[text]
		if got := code(err); !ok || got != want {
			t.Errorf("%s: %d, an H200 says %d", text, got, want)
		}
	}
	plan := func(text string, h fft.CufftHandle, err error) {
		t.Helper()
		call(text, err)
		if err == nil {
			_ = th.Destroy(h)
		}
	}
	one := func(text string, n int32, kind fft.CufftType, batch int32) {
		t.Helper()
		h, err := th.Plan1d(n, kind, batch)
		plan(text, h, err)
	}
	one("cufftPlan1d(&p, 0, CUFFT_C2C, 1)", 0, fft.CUFFT_C2C, 1)
	one("cufftPlan1d(&p, -1, CUFFT_C2C, 1)", -1, fft.CUFFT_C2C, 1)
	one("cufftPlan1d(&p, 16, CUFFT_C2C, 0)", 16, fft.CUFFT_C2C, 0)
	one("cufftPlan1d(&p, 16, (cufftType)0, 1)", 16, 0, 1)
	one("cufftPlan1d(&p, 0, (cufftType)0x99, 1)", 0, 0x99, 1)
	one("cufftPlan1d(&p, 1, CUFFT_R2C, 1)", 1, fft.CUFFT_R2C, 1)
	one("cufftPlan1d(&p, 1, CUFFT_C2R, 1)", 1, fft.CUFFT_C2R, 1)
	two := func(text string, x, y int32, kind fft.CufftType) {
		t.Helper()
		h, err := th.Plan2d(x, y, kind)
		plan(text, h, err)
	}
	two("cufftPlan2d(&p, 0, 8, CUFFT_C2C)", 0, 8, fft.CUFFT_C2C)
	two("cufftPlan2d(&p, 8, 0, CUFFT_C2C)", 8, 0, fft.CUFFT_C2C)
	two("cufftPlan2d(&p, 8, 8, (cufftType)1)", 8, 8, 1)
	many := func(text string, rank int32, n, ie hostmem.Ptr, is, id int32, oe hostmem.Ptr, os, od int32, kind fft.CufftType, batch int32) {
		t.Helper()
		h, err := th.PlanMany(rank, n, ie, is, id, oe, os, od, kind, batch)
		plan(text, h, err)
	}
	many("cufftPlanMany(&p, 0, n2, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1)", 0, n2, 0, 1, 0, 0, 1, 0, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 4, n4, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1)", 4, n4, 0, 1, 0, 0, 1, 0, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 2, 0, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1)", 2, 0, 0, 1, 0, 0, 1, 0, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 2, zero2, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1)", 2, zero2, 0, 1, 0, 0, 1, 0, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 2, n2, 0, 0, 0, 0, 0, 0, CUFFT_C2C, 1)", 2, n2, 0, 0, 0, 0, 0, 0, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 2, n2, n2, 0, 64, n2, 1, 64, CUFFT_C2C, 1)", 2, n2, n2, 0, 64, n2, 1, 64, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 2, n2, n2, 1, 64, n2, 0, 64, CUFFT_C2C, 1)", 2, n2, n2, 1, 64, n2, 0, 64, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 2, n2, n2, 1, 0, n2, 1, 0, CUFFT_C2C, 1)", 2, n2, n2, 1, 0, n2, 1, 0, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 2, n2, n2, 1, 8, n2, 1, 8, CUFFT_C2C, 4)", 2, n2, n2, 1, 8, n2, 1, 8, fft.CUFFT_C2C, 4)
	many("cufftPlanMany(&p, 2, n2, zero2, 1, 64, n2, 1, 64, CUFFT_C2C, 1)", 2, n2, zero2, 1, 64, n2, 1, 64, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 2, n2, n2, 1, 64, 0, 1, 64, CUFFT_C2C, 1)", 2, n2, n2, 1, 64, 0, 1, 64, fft.CUFFT_C2C, 1)
	many("cufftPlanMany(&p, 3, n3, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 0)", 3, n3, 0, 1, 0, 0, 1, 0, fft.CUFFT_C2C, 0)
	call("cufftMakePlan1d(-1, 16, CUFFT_C2C, 1, &size)", th.MakePlan1d(-1, 16, fft.CUFFT_C2C, 1, at))
	call("cufftMakePlan1d(c2c, 16, CUFFT_C2C, 1, &size)", th.MakePlan1d(c2c, 16, fft.CUFFT_C2C, 1, at))
	call("cufftMakePlan1d(fresh(), 16, CUFFT_C2C, 1, 0)", th.MakePlan1d(fresh(), 16, fft.CUFFT_C2C, 1, 0))
	call("cufftMakePlan1d(fresh(), 16, (cufftType)5, 1, &size)", th.MakePlan1d(fresh(), 16, 5, 1, at))
	call("cufftMakePlanMany64(fresh(), 3, huge3, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1, &size)", th.MakePlanMany64(fresh(), 3, huge, 0, 1, 0, 0, 1, 0, fft.CUFFT_C2C, 1, at))
	call("cufftMakePlanMany64(fresh(), 1, l1, 0, 1, 0, 0, 1, 0, CUFFT_C2C, -3, &size)", th.MakePlanMany64(fresh(), 1, l1, 0, 1, 0, 0, 1, 0, fft.CUFFT_C2C, -3, at))
	typed := func(n hostmem.Ptr, in, out, exec rt.CudaDataType) error {
		return th.XtMakePlanMany(fresh(), 1, n, 0, 1, 0, in, 0, 1, 0, out, 1, at, exec)
	}
	const begin = "cufftXtMakePlanMany(fresh(), 1, "
	call(begin+"l1, 0, 1, 0, CUDA_C_32F, 0, 1, 0, CUDA_C_64F, 1, &size, CUDA_C_32F)", typed(l1, rt.CUDA_C_32F, rt.CUDA_C_64F, rt.CUDA_C_32F))
	call(begin+"l1, 0, 1, 0, CUDA_C_32F, 0, 1, 0, CUDA_C_32F, 1, &size, CUDA_C_64F)", typed(l1, rt.CUDA_C_32F, rt.CUDA_C_32F, rt.CUDA_C_64F))
	call(begin+"l1, 0, 1, 0, CUDA_R_32F, 0, 1, 0, CUDA_C_32F, 1, &size, CUDA_R_32F)", typed(l1, rt.CUDA_R_32F, rt.CUDA_C_32F, rt.CUDA_R_32F))
	call(begin+"l3, 0, 1, 0, CUDA_C_16F, 0, 1, 0, CUDA_C_16F, 1, &size, CUDA_C_16F)", typed(l3, rt.CUDA_C_16F, rt.CUDA_C_16F, rt.CUDA_C_16F))
	call(begin+"l1, 0, 1, 0, CUDA_C_16F, 0, 1, 0, CUDA_C_16F, 1, &size, CUDA_C_32F)", typed(l1, rt.CUDA_C_16F, rt.CUDA_C_16F, rt.CUDA_C_32F))
	call(begin+"0, 0, 1, 0, CUDA_C_32F, 0, 1, 0, CUDA_C_32F, 1, &size, CUDA_C_32F)", typed(0, rt.CUDA_C_32F, rt.CUDA_C_32F, rt.CUDA_C_32F))
	call("cufftEstimate1d(0, CUFFT_C2C, 1, &size)", th.Estimate1d(0, fft.CUFFT_C2C, 1, at))
	call("cufftEstimate1d(16, CUFFT_C2C, 1, 0)", th.Estimate1d(16, fft.CUFFT_C2C, 1, 0))
	call("cufftEstimate2d(16, -1, CUFFT_C2C, &size)", th.Estimate2d(16, -1, fft.CUFFT_C2C, at))
	call("cufftEstimate3d(16, 1, 0, CUFFT_C2C, &size)", th.Estimate3d(16, 1, 0, fft.CUFFT_C2C, at))
	call("cufftEstimateMany(4, n4, 0, 1, 0, 0, 1, 0, CUFFT_C2C, 1, &size)", th.EstimateMany(4, n4, 0, 1, 0, 0, 1, 0, fft.CUFFT_C2C, 1, at))
	call("cufftGetSize1d(-1, 16, CUFFT_C2C, 1, &size)", th.GetSize1d(-1, 16, fft.CUFFT_C2C, 1, at))
	call("cufftGetSize1d(bare, 0, CUFFT_C2C, 1, &size)", th.GetSize1d(bare, 0, fft.CUFFT_C2C, 1, at))
	call("cufftGetSize(bare, &size)", th.GetSize(bare, at))
	call("cufftGetSize(c2c, &size)", th.GetSize(c2c, at))
	call("cufftGetSize(c2c, 0)", th.GetSize(c2c, 0))
	call("cufftExecC2C(-1, data, data, CUFFT_FORWARD)", th.ExecC2C(-1, d, d, fft.CUFFT_FORWARD))
	call("cufftExecC2C(bare, data, data, CUFFT_FORWARD)", th.ExecC2C(bare, d, d, fft.CUFFT_FORWARD))
	call("cufftExecC2C(c2c, data, data, 0)", th.ExecC2C(c2c, d, d, 0))
	call("cufftExecC2C(r2c, data, data, CUFFT_FORWARD)", th.ExecC2C(r2c, d, d, fft.CUFFT_FORWARD))
	call("cufftExecR2C(c2c, data, data)", th.ExecR2C(c2c, d, d))
	call("cufftExecR2C(c2r, data, data)", th.ExecR2C(c2r, d, d))
	call("cufftExecC2R(r2c, data, data)", th.ExecC2R(r2c, d, d))
	call("cufftExecZ2D(c2r, data, data)", th.ExecZ2D(c2r, d, d))
	call("cufftXtExec(r2c, data, data, CUFFT_INVERSE)", th.XtExec(r2c, d, d, fft.CUFFT_INVERSE))
	call("cufftXtExec(c2r, data, data, CUFFT_FORWARD)", th.XtExec(c2r, d, d, fft.CUFFT_FORWARD))
	call("cufftSetStream(-1, 0)", th.SetStream(-1, 0))
	call("cufftSetAutoAllocation(c2c, 0)", th.SetAutoAllocation(c2c, 0))
	call("cufftSetWorkArea(-1, data)", th.SetWorkArea(-1, d))
	call("cufftSetWorkArea(fresh(), data)", th.SetWorkArea(fresh(), d))
	const patient, hosts = fft.NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, fft.NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS
	call("cufftSetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1)", th.SetPlanPropertyInt64(fresh(), patient, 1))
	call("cufftSetPlanPropertyInt64(fresh(), NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, 2)", th.SetPlanPropertyInt64(fresh(), hosts, 2))
	call("cufftSetPlanPropertyInt64(c2c, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1)", th.SetPlanPropertyInt64(c2c, patient, 1))
	call("cufftResetPlanProperty(fresh(), (cufftProperty)77)", th.ResetPlanProperty(fresh(), 77))
	call("cufftXtSetWorkAreaPolicy(fresh(), CUFFT_WORKAREA_MINIMAL, &size)", th.XtSetWorkAreaPolicy(fresh(), fft.CUFFT_WORKAREA_MINIMAL, at))
	call("cufftXtClearCallback(-1, CUFFT_CB_LD_COMPLEX)", th.XtClearCallback(-1, fft.CUFFT_CB_LD_COMPLEX))
	call("cufftXtSetCallback(r2c, &data, CUFFT_CB_LD_COMPLEX, &data)", th.XtSetCallback(r2c, at, fft.CUFFT_CB_LD_COMPLEX, at))
	call("cufftXtSetCallbackSharedSize(-1, CUFFT_CB_LD_COMPLEX, 64)", th.XtSetCallbackSharedSize(-1, fft.CUFFT_CB_LD_COMPLEX, 64))
	call("cufftDestroy(-1)", th.Destroy(-1))
	call("cufftDestroy(12345)", th.Destroy(12345))
	call("cufftDestroy(bare)", th.Destroy(bare))
}
