package handle

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

type obj struct{ n int }

func TestLifeOfAHandle(t *testing.T) {
	tab := NewTable[obj](3, "things")
	a, b := tab.New(&obj{1}), tab.New(&obj{2})
	if tab.Get(a).n != 1 || tab.Get(b).n != 2 || tab.Len() != 2 {
		t.Fatal("objects mixed up")
	}
	if a.Kind() != 3 || a&15 != 0 || int64(a) < 0 {
		t.Fatalf("shape of %v", a)
	}
	if tab.Delete(a).n != 1 || tab.Delete(a) != nil || tab.Get(a) != nil || !tab.Stale(a) {
		t.Fatal("a deleted handle is still alive")
	}
	c := tab.New(&obj{3}) // takes a's slot
	if c.slot() != a.slot() || c == a || tab.Get(a) != nil || tab.Get(c).n != 3 {
		t.Fatalf("reuse: %v then %v", a, c)
	}
	var sb strings.Builder
	if Leaks(&sb, tab, NewTable[obj](4, "none")) != 2 || sb.String() != "2 things not destroyed\n" {
		t.Fatalf("leak report %q", sb.String())
	}
}

func TestForeignValues(t *testing.T) {
	tab, other := NewTable[obj](1, "one"), NewTable[obj](2, "two")
	v := tab.New(&obj{1})
	for _, x := range []Value{0, 1, 2, ^Value(0), v + 1, v + 16, v ^ 1<<63, v ^ 1<<genShift, other.New(&obj{2}), 0x700000000000, v &^ (maxGen << genShift)} {
		if tab.Get(x) != nil || tab.Delete(x) != nil || tab.Stale(x) && x.gen() == 0 {
			t.Errorf("%v found", x)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		if x := Value(r.Uint64()); x != v && tab.Get(x) != nil {
			t.Fatalf("random %v found", x)
		}
		if x := v ^ Value(1)<<(r.Uint64()%64); tab.Get(x) != nil {
			t.Fatalf("flipped %v found", x)
		}
	}
}

func TestGenerationsEnd(t *testing.T) {
	tab := NewTable[obj](1, "one")
	v := tab.New(&obj{})
	tab.Delete(v)
	tab.free[0].gen = maxGen
	last := tab.New(&obj{})
	tab.Delete(last)
	if next := tab.New(&obj{}); next.slot() == last.slot() {
		t.Fatal("a slot out of generations was reused")
	}
}

func TestConcurrent(t *testing.T) {
	tab := NewTable[obj](1, "one")
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var live []Value
			for i := range 5000 {
				v := tab.New(&obj{g})
				live = append(live, v)
				if o := tab.Get(live[i/2%len(live)]); o != nil && o.n != g {
					t.Error("foreign object")
				}
				if i%3 == 0 {
					if tab.Delete(live[0]).n != g {
						t.Error("lost")
					}
					live = live[1:]
				}
			}
			for _, v := range live {
				tab.Delete(v)
			}
		})
	}
	wg.Wait()
	if tab.Len() != 0 {
		t.Fatal(tab.Len())
	}
	n := 0
	tab.All(func(Value, *obj) bool { n++; return true })
	if n != 0 {
		t.Fatal(n)
	}
}

func BenchmarkGet(b *testing.B) {
	tab := NewTable[obj](1, "one")
	var vs [64]Value
	for i := range vs {
		vs[i] = tab.New(&obj{i})
	}
	for i := 0; b.Loop(); i++ {
		if tab.Get(vs[i%64]) == nil {
			b.Fatal()
		}
	}
}
