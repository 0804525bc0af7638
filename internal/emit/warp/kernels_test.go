package warp_test

import (
	"math"
	"os"
	"testing"
)

func bitsOf(f float32) uint32 { return math.Float32bits(f) }

func source(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// shapes are block shapes to compile for; the zero one is the generic variant.
func variants(block [3]uint32) map[string][3]uint32 {
	return map[string][3]uint32{"specialised": block, "generic": {}}
}

var cpus = []string{"", "avx2"}

func each(t *testing.T, file, name string, block [3]uint32, run func(t *testing.T, k *kernel)) {
	for v, b := range variants(block) {
		for _, cpu := range cpus {
			t.Run(v+cpu, func(t *testing.T) { run(t, compile(t, fromPTX(t, source(t, file), name), b, cpu)) })
		}
	}
}

func TestSaxpy(t *testing.T) {
	block := [3]uint32{256, 1, 1}
	each(t, "basic.ptx", "saxpy", block, func(t *testing.T, k *kernel) {
		const n = 1000
		x, y, want := make([]float32, n), make([]float32, n+100), make([]float32, n+100)
		for i := range x {
			x[i], y[i] = float32(i), float32(2*i)
			want[i] = float32(3*float64(x[i]) + float64(y[i]))
		}
		if r := k.launch(t, [3]uint32{4, 1, 1}, block, 0, int32(n), float32(3), x, y); r != 0 {
			t.Fatal("stopped:", r)
		}
		for i := range y {
			if y[i] != want[i] {
				t.Fatalf("y[%d] = %v, not %v", i, y[i], want[i])
			}
		}
	})
}
