package testkit

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/compile"
)

// unitRows are kernels of the matrix cases and the instructions that compute them on each processor; "" is none of the matrix units.
var unitRows = []struct {
	file, kernel string
	want         map[string]string
}{
	{"mma_f16", "k16", map[string]string{"gfx1100": "v_wmma_f32_16x16x16_f16", "gfx1151": "v_wmma_f32_16x16x16_f16", "gfx1201": "v_wmma_f32_16x16x16_f16",
		"gfx908": "v_mfma_f32_16x16x16f16", "gfx90a": "v_mfma_f32_16x16x4f32", "gfx942": "v_mfma_f32_16x16x16_f16", "gfx906": "", "gfx1030": ""}},
	{"mma_f16", "k8h", map[string]string{"gfx1100": "v_wmma_f32_16x16x16_f16", "gfx942": "v_mfma_f32_16x16x16_f16"}},
	{"mma_bf16", "k16", map[string]string{"gfx1100": "v_wmma_f32_16x16x16_bf16", "gfx1200": "v_wmma_f32_16x16x16_bf16",
		"gfx908": "v_mfma_f32_16x16x8bf16", "gfx90a": "v_mfma_f32_16x16x16bf16_1k", "gfx942": "v_mfma_f32_16x16x16_bf16"}},
	{"mma_tf32", "k8", map[string]string{"gfx1100": "", "gfx908": "v_mfma_f32_16x16x4f32", "gfx942": "v_mfma_f32_16x16x4_f32"}},
	{"mma_s8", "us32", map[string]string{"gfx1102": "v_wmma_i32_16x16x16_iu8", "gfx1201": "v_wmma_i32_16x16x16_iu8",
		"gfx908": "v_mfma_i32_16x16x16i8", "gfx90a": "v_mfma_i32_16x16x16i8", "gfx942": "v_mfma_i32_16x16x32_i8"}},
	{"mma_s4", "ss64", map[string]string{"gfx1103": "v_wmma_i32_16x16x16_iu4", "gfx1201": "v_wmma_i32_16x16x32_iu4", "gfx942": ""}},
	{"../warp/mma_many", "k", map[string]string{"gfx1100": "v_wmma_f32_16x16x16_f16", "gfx942": "v_mfma_f32_16x16x16_f16"}}, // in a function
	{"mma_fp8", "mixed", map[string]string{"gfx1100": "", "gfx1201": "v_wmma_f32_16x16x16_bf8_fp8", "gfx942": ""}},
}

var unitName = regexp.MustCompile(`v_(?:wmma|mfma)\w+`)

// TestMatrixUnits: products are on the matrix units where there are any, with the instruction that the table says, and without them where
// the option asks for that.
func TestMatrixUnits(t *testing.T) {
	p, err := pipeline()
	if err != nil {
		t.Skip(err)
	}
	for _, row := range unitRows {
		c, err := Parse(filepath.Join(*casesDir, "matrix", row.file+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		units := func(target string, off bool) []string {
			tg, _ := compile.GPUTarget(target)
			r, err := p.Run(&compile.Request{PTX: c.PTX, Kernel: row.kernel, Target: tg, Emit: []string{"asm"}, Options: compile.Options{NoMatrix: off}})
			if err != nil {
				t.Fatalf("%s %s for %s: %v", row.file, row.kernel, target, err)
			}
			names := unitName.FindAllString(r.Emitted["asm"], -1)
			slices.Sort(names)
			return slices.Compact(names)
		}
		for target, want := range row.want {
			if got := strings.Join(units(target, false), " "); got != want {
				t.Errorf("%s %s for %s: %q, want %q", row.file, row.kernel, target, got, want)
			}
		}
		if got := units("gfx942", true); len(got) > 0 {
			t.Errorf("%s %s without matrix units: %q", row.file, row.kernel, got)
		}
	}
}
