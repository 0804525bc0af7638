package testkit

import (
	"path/filepath"
	"testing"
)

// TestAppCuFile: reads and writes between files and device memory, at once, in streams and in batches.
func TestAppCuFile(t *testing.T) {
	exe := appProgram(t, "app_cufile", "-I"+filepath.Join(repository, "include/device"), "-l:libcufile.so.0", "-lcuda", "-lpthread")
	for _, backend := range []string{"cpu", "interp"} {
		newApp(t, backend, exe, filepath.Join(t.TempDir(), "data")).run().want(t, "0 failures\n")
	}
}
