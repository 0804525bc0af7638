package warp_test

import (
	"os"
	"strings"
	"testing"
)

// TestProductsGatherNothing: what all lanes of a product's kernels share is known to be shared, and what they read one after the other is
// known to lie so. Another release of clang lost both in the tiles once, and large products took twice as long.
func TestProductsGatherNothing(t *testing.T) {
	for file, names := range map[string][]string{
		"gemm": {"tile_f32_f32", "tile_f64_f64", "tile_f32_f16", "tile_f32_bf16", "tile_s32_s32"},
		"tiny": {"tiny_8_f32", "tiny_16_f32", "tiny_8_f64", "tiny_16_f64"},
	} {
		text, err := os.ReadFile("../../shim/cublas/kernels/z" + file + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			llvm := emit(t, fromPTX(t, string(text), name), [3]uint32{32, 1, 1}, "").LLVM
			if n := strings.Count(llvm, "gather"); n != 0 {
				t.Errorf("%s: %d gathers", name, n)
			}
		}
	}
}
