package warp_test

import (
	"testing"

	"github.com/ebitengine/purego"

	"kudzu/internal/image"
)

func init() {
	yield = uint64(purego.NewCallback(func(l, w uintptr) uintptr { yields++; return 0 }))
}

var yields int

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
