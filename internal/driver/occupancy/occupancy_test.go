package occupancy

import (
	"testing"

	"kudzu/internal/backend"
)

// The limit that binds decides: blocks, threads, shared memory, registers. The numbers are of compute capability 9.0.
func TestResident(t *testing.T) {
	var in backend.Info
	in.Claim(backend.Capability{Major: 9})
	for _, c := range []struct {
		what string
		b    Block
		want int
	}{
		{"blocks", Block{Threads: 32, Registers: 16}, 32},
		{"threads", Block{Threads: 1024, Registers: 16}, 2},
		{"threads in whole warps", Block{Threads: 33, Registers: 16}, 32},
		{"shared memory", Block{Threads: 128, Shared: 48 << 10}, 4},
		{"all shared memory", Block{Threads: 128, Shared: 227 << 10}, 1},
		{"registers", Block{Threads: 256, Registers: 128}, 2},
		{"registers in pieces", Block{Threads: 256, Registers: 33}, 6},
		{"too many registers", Block{Threads: 1024, Registers: 255}, 0},
	} {
		if got := Resident(&in, c.b); got != c.want {
			t.Errorf("%s: %d blocks, want %d", c.what, got, c.want)
		}
	}
}
