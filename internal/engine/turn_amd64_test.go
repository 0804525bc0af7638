package engine

import "testing"

// p0[block] = w->turn; the first two blocks then wait until both have come to *p1.
const kTurn = "4c 8b 07 49 8b 00 8b 4e 4c 48 89 0c d0 48 83 fa 02 73 10 49 8b 40 08 f0 48 ff 00 f3 90 48 83 38 02 72 f8 31 c0 c3"

// Blocks that may wait for each other are dealt out one by one: a worker's next is as many further on as there are workers. Of other
// blocks it is the next one.
func TestTurn(t *testing.T) {
	r := newRig(t, 2)
	a, turns := r.alloc(65)
	resumable := func(c *KernelConfig) { c.Resumable, c.Spins = true, true }
	r.ok(r.q.Launch(kernel(t, kTurn, resumable), grid(64, a, a+64*8)))
	r.ok(r.q.Sync())
	if turns[2] != 2 { // both workers are there
		t.Errorf("waiting blocks: turn %d", turns[2])
	}
	turns[64] = 2
	r.ok(r.q.Launch(kernel(t, kTurn), grid(4, a, a+64*8)))
	r.ok(r.q.Sync())
	if turns[0] != 1 {
		t.Errorf("other blocks: turn %d", turns[0])
	}
}
