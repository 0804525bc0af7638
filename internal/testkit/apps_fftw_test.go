package testkit

import (
	"path/filepath"
	"testing"
)

// TestAppFFTW: FFTW's interface, on cuFFT. The program compares every planner with sums in double precision.
func TestAppFFTW(t *testing.T) {
	exe := appProgram(t, "app_fftw", "-I"+filepath.Join(repository, "include/device"), "-l:libcufftw.so.12", "-lm")
	newApp(t, "cpu", exe).run().want(t, "(dft-f32 8x4 *1) 480 320 0, cost 800, wisdom 0\n(dft-f64 8x4 *1) 480 320 0, cost 800, wisdom 0\n0 failures\n")
}
