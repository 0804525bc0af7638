package warp_test

import (
	"math"
	"testing"

	"kudzu/internal/pass"
)

// TestRows runs threads that each walk a row of their own: one by one, several copies of a thread's code interleaved, loops that came in
// two parts as one. Rows have from -3 to 40 elements.
func TestRows(t *testing.T) {
	const rows, cols = 200, 50
	lengths := make([]int32, rows)
	start := make([]int32, rows+1)
	start[0] = 10
	for i := range lengths {
		lengths[i] = int32(i*i%44) - 3
		start[i+1] = start[i] + lengths[i]
	}
	n := int(start[rows]) + 50
	col := ints(n, func(i int) int32 { return int32(i * 7 % cols) })
	val := floats(n, func(i int) float32 { return float32(i%13) - 6.25 })
	x := floats(cols, func(i int) float32 { return 1 / float32(i+3) })
	want := floats(rows+56, func(int) float32 { return -1 })
	for r := range rows {
		s := float32(0)
		for i := start[r]; i < start[r+1]; i++ {
			s = float32(math.FMA(float64(val[i]), float64(x[col[i]]), float64(s)))
		}
		want[r] = s
	}
	block := [3]uint32{64, 1, 1}
	each(t, "rows.ptx", "rows", block, func(t *testing.T, k *kernel) {
		y := floats(rows+56, func(int) float32 { return -1 })
		if r := k.launch(t, [3]uint32{4, 1, 1}, block, 0, start, col, val, x, y, int32(rows)); r != 0 {
			t.Fatal("stopped:", r)
		}
		for i := range y { // an exact product may be rounded twice here
			if d := y[i] - want[i]; d > 1e-4 || d < -1e-4 {
				t.Fatalf("y[%d] = %v, not %v", i, y[i], want[i])
			}
		}
	})

	long := ints(256, func(i int) int32 { return int32(i * i % 41) })
	from := ints(256, func(i int) int32 { return int32(i % 9) })
	v := ints(60, func(i int) int32 { return int32(i*i - 77) })
	sums := ints(256, func(r int) int32 {
		s := int32(1)
		for i := range long[r] {
			s = s*31 + v[from[r]+i]
		}
		return s
	})
	each(t, "rows.ptx", "lengths", block, func(t *testing.T, k *kernel) {
		y := make([]int32, 256)
		if r := k.launch(t, [3]uint32{4, 1, 1}, block, 0, from, long, v, y); r != 0 {
			t.Fatal("stopped:", r)
		}
		compare(t, "y", y, sums)
	})
}

// TestRowsAlone: the row above is what it is about only while such kernels run thread by thread.
func TestRowsAlone(t *testing.T) {
	for _, name := range []string{"rows", "lengths"} {
		m := fromPTX(t, source(t, "rows.ptx"), name)
		if err := pass.Run(m, pass.Config{Block: [3]uint32{64, 1, 1}, Verify: true}); err != nil || m.Width != 1 {
			t.Errorf("%s: width %d, %v", name, m.Width, err)
		}
	}
}

// TestBins counts in shared memory at places that a byte of the data chooses, not at the start of it.
func TestBins(t *testing.T) {
	block := [3]uint32{128, 1, 1}
	in := ints(128, func(i int) int32 { return int32(uint32(i*i*2654435761) ^ 0x80<<8) })
	want := make([]uint64, 257)
	for _, x := range in {
		want[1+uint32(x)>>8&255] += 3
	}
	each(t, "bins.ptx", "bins", block, func(t *testing.T, k *kernel) {
		out := make([]uint64, 257)
		if r := k.launch(t, [3]uint32{1, 1, 1}, block, 0, in, out); r != 0 {
			t.Fatal("stopped:", r)
		}
		compare(t, "bins", out, want)
	})
}
