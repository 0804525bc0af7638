package testkit

import (
	"testing"

	"kudzu/internal/compile"
)

// TestAppNVRTC: a program compiles CUDA C++ at run time and runs it; its mistakes are told in NVRTC's words.
func TestAppNVRTC(t *testing.T) {
	if compile.Clang() == "" {
		t.Skip("no clang 19 or newer on this machine")
	}
	const want = "compiled 0 \n_Z3addIfEvPKT_S2_PS0_i _ZN1N5orderE _ZN1N5callsE\nturned by 64, us\n0 wrong, 64 calls\n" +
		"5 NVRTC_ERROR_INVALID_OPTION\nnvrtc: error: invalid value for --gpu-architecture (-arch)\n" +
		"6 NVRTC_ERROR_COMPILATION\napp.cu(2): error: identifier \"q\" is undefined\n    *p = q;\n         ^\n\n1 error detected in the compilation of \"app.cu\".\n" +
		"6 NVRTC_ERROR_COMPILATION\napp.cu(1): catastrophic error: could not open source file \"nowhere.h\" (no directories in search list)\n  #include <nowhere.h>\n" +
		"                      ^\n\n1 catastrophic error detected in the compilation of \"app.cu\".\nCompilation terminated.\n"
	newApp(t, "cpu", appProgram(t, "app_nvrtc", "-l:libnvrtc.so.12", "-lcuda")).run().want(t, "version 12.9\n"+want)
}

// TestAppCallbacks: cuFFT reads and writes by functions that NVRTC compiled for links.
func TestAppCallbacks(t *testing.T) {
	if compile.Clang() == "" {
		t.Skip("no clang 19 or newer on this machine")
	}
	newApp(t, "cpu", appProgram(t, "app_fftcallback", "-l:libnvrtc.so.13", "-l:libcufft.so.12", "-l:libcudart.so.13", "-lm")).run().want(t, "0 wrong\n")
}

// TestAppCallbacksRecorded: callbacks in every kind of transform give what they gave on an H200, and so do wrong calls.
func TestAppCallbacksRecorded(t *testing.T) {
	if compile.Clang() == "" {
		t.Skip("no clang 19 or newer on this machine")
	}
	sameAsRecorded(t, "fft_callbacks", nil, "-l:libnvrtc.so.13", "-l:libcufft.so.12", "-l:libcudart.so.13")
}
