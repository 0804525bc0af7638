package testkit

import "testing"

// TestAppNVVM: a program makes PTX of NVVM IR of the LLVM 7 dialect, as Numba does, and runs it.
func TestAppNVVM(t *testing.T) {
	newApp(t, "cpu", appProgram(t, "app_nvvm", "-lnvvm", "-lcuda")).run().want(t, "compiled 0, a cube not\n"+
		"7 NVVM_ERROR_INVALID_OPTION: libnvvm : error: -arch=sm_80 is an unsupported option\ndestroyed 0 (nil), again 5\n0 wrong\n")
}
