package rangemap

import (
	"math/rand/v2"
	"testing"
)

type block struct{ base, size uint64 }

func TestMap(t *testing.T) {
	var m Map[*block]
	r := rand.New(rand.NewPCG(1, 2))
	live := map[uint64]*block{}
	const slots = 4000
	for range 40000 {
		base := (r.Uint64N(slots) + 1) * 64
		if a := live[base]; a != nil && r.IntN(2) == 0 {
			if got, ok := m.Take(base, func(*block) bool { return true }); !ok || got != a {
				t.Fatal("lost a range")
			}
			delete(live, base)
			continue
		}
		a := &block{base, 1 + r.Uint64N(64)}
		if ok := m.Add(Range[*block]{a.base, a.size, a}); ok != (live[base] == nil) {
			t.Fatalf("add at %d: %v", base, ok)
		} else if ok {
			live[base] = a
		}
	}
	for range 20000 {
		addr := r.Uint64N((slots + 2) * 64)
		a := live[addr/64*64]
		if a != nil && addr-a.base >= a.size {
			a = nil
		}
		if got := m.Find(addr); got != a {
			t.Fatalf("find %d: %v, want %v", addr, got, a)
		}
	}
	if got := len(m.TakeAll(func(a *block) bool { return a.size > 32 })); got == 0 || m.Find(^uint64(0)) != nil {
		t.Fatal(got)
	}
}

func BenchmarkFind(b *testing.B) {
	var m Map[*block]
	for i := range uint64(100000) {
		m.Add(Range[*block]{(i + 1) * 4096, 4096, nil})
	}
	for i := uint64(0); b.Loop(); i++ {
		m.Find(4096 + i*7919%(100000*4096))
	}
}
