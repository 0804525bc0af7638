package warp_test

import (
	"testing"

	"github.com/ebitengine/purego"

	"kudzu/internal/image"
)

func init() {
	yield = uint64(purego.NewCallback(func(l, w uintptr) uintptr {
		if yields++; leave && yields%2 == 0 {
			left++
			return 1
		}
		return 0
	}))
}

var (
	yields int
	leave  bool // every second yield asks the code to leave its block
	left   int
)

// TestYieldNumber: the passes write the runtime's number of yield without knowing images.
func TestYieldNumber(t *testing.T) {
	if image.RtYield != 6 || image.RtAssert != 3 {
		t.Error("pass/width.go has another number for RtYield or RtAssert")
	}
}

func TestLock(t *testing.T) {
	block := [3]uint32{64, 1, 1}
	each(t, "wait.ptx", "lock", block, func(t *testing.T, k *kernel) {
		l, sum, order := make([]int32, 1), make([]int32, 1), make([]int32, 128)
		ok(t, k.launch(t, [3]uint32{2, 1, 1}, block, 0, l, sum, order))
		if sum[0] != 128 || l[0] != 0 {
			t.Errorf("sum %d, lock %d", sum[0], l[0])
		}
		seen := map[int32]int{}
		for _, v := range order {
			seen[v]++
		}
		if len(seen) != 64 {
			t.Errorf("%d threads had the lock", len(seen))
		}
		if !k.meta.Spins {
			t.Error("the image does not say that it waits")
		}
	})
}

func TestFlag(t *testing.T) {
	block := [3]uint32{128, 1, 1}
	each(t, "wait.ptx", "flag", block, func(t *testing.T, k *kernel) {
		out := make([]int32, 32)
		ok(t, k.launch(t, [3]uint32{1, 1, 1}, block, 0, out))
		for i, v := range out {
			if v != 42 {
				t.Fatalf("out[%d] = %d", i, v)
			}
		}
	})
	each(t, "wait.ptx", "lanes", [3]uint32{32, 1, 1}, func(t *testing.T, k *kernel) {
		out := make([]int32, 32)
		ok(t, k.launch(t, [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, out))
		for i, v := range out {
			if v != 7 {
				t.Fatalf("out[%d] = %d", i, v)
			}
		}
	})
}

// TestWaitsInRegions: where all warps meet at all barriers, those that wait on memory in between are left and tried again, also when the whole
// block was left meanwhile. Each region keeps its own loop over the warps.
func TestWaitsInRegions(t *testing.T) {
	defer func() { leave = false }()
	for _, leave = range []bool{false, true} {
		each(t, "wait.ptx", "rounds", [3]uint32{96, 1, 1}, func(t *testing.T, k *kernel) {
			in, out, left0 := ints(96, func(i int) int32 { return int32(i*i%101 + 1) }), make([]int32, 96), left
			ok(t, k.launch(t, [3]uint32{1, 1, 1}, [3]uint32{96, 1, 1}, 0, in, out, int32(3)))
			for i, v := range out {
				// In each round the first warp waits for the second, and this for the third.
				want := 10*in[i] + []int32{7, 0, 0}[i/32]
				for r := range int32(3) {
					want += []int32{r*8 + 2 + r*8 + 3, r*8 + 3, 0}[i/32] + in[95-i] + r
				}
				if v != want {
					t.Fatalf("out[%d] = %d, not %d", i, v, want)
				}
			}
			if k.meta.Block != [3]uint32{} && k.meta.FrameBlock != 64 || !k.meta.Resumable || !k.meta.Spins { // of any shape they have a program counter each
				t.Errorf("%d bytes of state, resumable: %v, spins: %v", k.meta.FrameBlock, k.meta.Resumable, k.meta.Spins)
			}
			if leave != (left > left0) {
				t.Errorf("the block was left %d times", left-left0)
			}
		})
	}
}

func TestCasMax(t *testing.T) {
	block := [3]uint32{64, 1, 1}
	each(t, "wait.ptx", "casmax", block, func(t *testing.T, k *kernel) {
		x := ints(200, func(i int) int32 { return int32(i * 7919 % 1009) })
		out := make([]int32, 1)
		ok(t, k.launch(t, [3]uint32{4, 1, 1}, block, 0, int32(200), x, out))
		want := int32(0)
		for _, v := range x {
			want = max(want, v)
		}
		if out[0] != want {
			t.Errorf("%d, not %d", out[0], want)
		}
	})
}
