package cufft

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/fft"
)

const notImplemented = Status(fft.CUFFT_NOT_IMPLEMENTED)

// XtSetCallback refuses: callbacks that are addresses of device functions work with cuFFT's static library only, and the shared one
// answers so for every plan.
func (t *Thread) XtSetCallback(fft.CufftHandle, hostmem.Ptr, fft.CufftXtCallbackType, hostmem.Ptr) error {
	return notImplemented
}

// XtClearCallback refuses too.
func (t *Thread) XtClearCallback(fft.CufftHandle, fft.CufftXtCallbackType) error {
	return notImplemented
}

// XtSetCallbackSharedSize refuses too, for a plan that is there.
func (t *Thread) XtSetCallbackSharedSize(h fft.CufftHandle, _ fft.CufftXtCallbackType, _ uint64) error {
	return change(h, func(*plan) error { return invalidPlan })
}
