package c

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestFFTWExports: libcufftw has the functions of its header in both precisions, under its version node, and nothing else.
func TestFFTWExports(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "include/device/cufftw.h"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\bp##_([a-z0-9_]+)\(`).FindAllStringSubmatch(string(text), -1)
	if len(names) != 35 {
		t.Fatalf("%d functions in the header, NVIDIA's library has 35 in each precision", len(names))
	}
	for _, soname := range []string{"libcufftw.so.11", "libcufftw.so.12"} {
		have := exports(t, filepath.Join(dist(t), soname))
		delete(have, soname)
		for _, n := range names {
			for _, prefix := range []string{"fftw_", "fftwf_"} {
				if node := have[prefix+n[1]]; node != soname {
					t.Errorf("%s: %s%s has the node %q", soname, prefix, n[1], node)
				}
				delete(have, prefix+n[1])
			}
		}
		if len(have) != 0 {
			t.Errorf("%s exports %v as well", soname, have)
		}
	}
}
