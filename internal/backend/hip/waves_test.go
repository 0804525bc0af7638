package hip

import (
	"errors"
	"testing"

	"kudzu/internal/backend"
)

// TestWaves: a kernel that wants a wave for each warp is launched with twice the lanes, or refused.
func TestWaves(t *testing.T) {
	c := &code{name: "k", dev: &device{}}
	c.dev.info.MaxThreads = 1024
	for _, x := range []struct {
		grid, block, want [3]uint32
	}{
		{[3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}, [3]uint32{128, 1, 1}},
		{[3]uint32{9, 8, 7}, [3]uint32{16, 4, 3}, [3]uint32{384, 1, 1}},
		{[3]uint32{1, 1, 1}, [3]uint32{1, 33, 1}, [3]uint32{128, 1, 1}},
		{[3]uint32{1, 1, 1}, [3]uint32{512, 1, 1}, [3]uint32{1024, 1, 1}},
		{[3]uint32{1, 1, 1}, [3]uint32{513, 1, 1}, [3]uint32{}},
		{[3]uint32{1 << 26, 1, 1}, [3]uint32{32, 1, 1}, [3]uint32{}},
	} {
		got, err := c.waves(&backend.Launch{Grid: x.grid, Block: x.block})
		var u *backend.Unsupported
		if x.want == [3]uint32{} {
			if !errors.As(err, &u) {
				t.Errorf("%v of %v: %v", x.grid, x.block, err)
			}
			continue
		}
		if err != nil || got != x.want {
			t.Errorf("%v of %v: %v, %v, not %v", x.grid, x.block, got, err, x.want)
		}
	}
}
