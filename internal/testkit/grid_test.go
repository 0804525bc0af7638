package testkit

import (
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/compiled"
)

// Many blocks wait for each other hundreds of times, on however few threads there are.
func TestGridBarrierManyBlocks(t *testing.T) {
	devs, err := devices.CPU(compiled.Config(t)).Open()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("../../testdata/cases/sync/grid_barrier.txtar")
	if err != nil {
		t.Fatal(err)
	}
	const grid, block, rounds = 64, 64, 100
	r := c.Runs[0]
	n := uint32(grid * block)
	want := make([]uint64, n)
	for i := range want {
		want[i] = uint64(i)
	}
	for round := range uint32(rounds) {
		old := append([]uint64(nil), want...)
		for i := range want {
			want[i] = uint64(uint32(old[(uint32(i)+block)%n])*3 + round)
		}
	}
	r.Grid, r.Block = [3]uint32{grid, 1, 1}, [3]uint32{block, 1, 1}
	r.Args[0].Values, r.Args[1].Values, r.Args[2].Values = make([]uint64, n), make([]uint64, n), []uint64{rounds}
	c.Runs = c.Runs[:1]
	for range 2 { // the second time it is compiled
		start := time.Now()
		out, err := c.Execute(devs[0], func(ptx string) (*backend.Module, error) { return driver.Describe("grid", ptx, 90) })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d grid barriers of %d blocks: %v", 2*rounds, grid, time.Since(start))
		for i, v := range out[0].Results[0] {
			if v != want[i] {
				t.Fatalf("thread %d has %d, not %d", i, v, want[i])
			}
		}
	}
}
