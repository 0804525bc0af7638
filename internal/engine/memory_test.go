package engine

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestMemoryStress(t *testing.T) {
	m, err := NewMemory(512 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	type block struct{ addr, size uint64 }
	rng := rand.New(rand.NewPCG(1, 2))
	var live []block
	owned := map[uint64]bool{}
	sum := uint64(0)
	for i := range 15000 {
		if len(live) > 0 && (rng.IntN(100) < 48 || sum > 400<<20) {
			k := rng.IntN(len(live))
			b := live[k]
			p, err := m.Bytes(b.addr, b.size)
			if err != nil || p[0] != byte(b.addr>>8) || p[b.size-1] != byte(b.size) {
				t.Fatalf("turn %d: block %#x of %d changed: %v", i, b.addr, b.size, err)
			}
			if err := m.Free(b.addr); err != nil {
				t.Fatal(err)
			}
			if err := m.Free(b.addr); err != ErrInvalid {
				t.Fatalf("second free: %v", err)
			}
			if _, _, ok := m.Lookup(b.addr); ok {
				t.Fatal("freed block found")
			}
			delete(owned, b.addr)
			sum -= b.size
			live[k] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		n := uint64(1) << rng.IntN(24)
		n += uint64(rng.Int64N(int64(n)))
		align := uint64(1) << rng.IntN(23)
		a, err := m.Alloc(n, align)
		if err == ErrNoMemory {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if a%256 != 0 || a%align != 0 || owned[a] {
			t.Fatalf("alloc(%d, %d) = %#x", n, align, a)
		}
		base, size, ok := m.Lookup(a + n - 1)
		if !ok || base != a || size != n || !m.Owns(a) {
			t.Fatalf("lookup of %#x+%d: %#x %d %v", a, n, base, size, ok)
		}
		if _, _, ok := m.Lookup(a + n); ok && n%256 != 0 {
			t.Fatal("found past the end")
		}
		p, _ := m.Bytes(a, n)
		p[0], p[n-1] = byte(a>>8), byte(n)
		if n == 1 {
			p[0] = byte(n)
			if byte(a>>8) != byte(n) {
				m.Free(a)
				continue
			}
		}
		owned[a] = true
		live = append(live, block{a, n})
		sum += n
	}
	for _, b := range live {
		if err := m.Free(b.addr); err != nil {
			t.Fatal(err)
		}
	}
	if free, total := m.Usage(); free != total || total != 512<<20 {
		t.Errorf("%d of %d free at the end", free, total)
	}
}

func TestMemoryLimit(t *testing.T) {
	m, err := NewMemory(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Alloc(65<<20, 0); err != ErrNoMemory {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := m.Alloc(1<<62, 0); err != ErrNoMemory {
		t.Errorf("absurd: %v", err)
	}
	if _, err := m.Alloc(0, 0); err != ErrInvalid {
		t.Errorf("nothing: %v", err)
	}
	if _, err := m.Alloc(1, 3); err != ErrInvalid {
		t.Errorf("alignment 3: %v", err)
	}
	for range 20 { // whatever was cached in one size must not stand in the way of another
		var all []uint64
		for {
			a, err := m.Alloc(100<<10, 0)
			if err != nil {
				break
			}
			all = append(all, a)
		}
		if n := len(all); n < 550 {
			t.Fatalf("only %d blocks of 100 KiB in 64 MiB", n)
		}
		for _, a := range all {
			m.Free(a)
		}
		a, err := m.Alloc(60<<20, 0)
		if err != nil {
			t.Fatal("60 of 64 MiB:", err)
		}
		m.Free(a)
	}
}

func TestMemoryRandomPointers(t *testing.T) {
	m, err := NewMemory(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	n, _ := NewMemory(64 << 20)
	defer n.Close()
	a, _ := m.Alloc(1000, 0)
	big, _ := m.Alloc(5<<20, 0)
	base, size := m.Range()
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 100000 {
		p := rng.Uint64()
		if i%2 == 0 {
			p = base + p%size
		}
		b, s, ok := m.Lookup(p)
		if ok && (p < b || p >= b+s) {
			t.Fatalf("lookup(%#x) = %#x+%d", p, b, s)
		}
		if p != a && p != big && m.Free(p) == nil {
			t.Fatalf("freed %#x", p)
		}
	}
	for _, p := range []uint64{a + 256, a + 1, big + 256, big + 2<<20, 0, base, base + size} {
		if m.Free(p) != ErrInvalid {
			t.Errorf("freed %#x", p)
		}
	}
	if n.Free(a) != ErrInvalid || n.Owns(a) {
		t.Error("another device's memory")
	}
	if m.Free(a) != nil || m.Free(big) != nil {
		t.Error("own memory")
	}
}

func TestMemoryConcurrent(t *testing.T) {
	m, err := NewMemory(256 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(g), 9))
			for range 3000 {
				n := uint64(1 + rng.IntN(3<<20))
				a, err := m.Alloc(n, 0)
				if err != nil {
					continue
				}
				b, _ := m.Bytes(a, n)
				b[0], b[n-1] = byte(g), byte(g)
				if b[0] != byte(g) || b[n-1] != byte(g) {
					t.Error("shared")
				}
				m.Free(a)
			}
		}()
	}
	wg.Wait()
}

// Closing finds every slab, also behind a gap of one slab that a slab before it is joined with.
func TestMemoryCloseGaps(t *testing.T) {
	var m [3]*Memory
	for i := range m {
		var err error
		if m[i], err = NewMemory(1 << 30); err != nil {
			t.Fatal(err)
		}
	}
	defer m[2].Close()
	var all [2][]uint64
	for i := range 200 {
		for k := range 2 {
			for range 2 { // two slots of 1 MiB are a slab
				a, err := m[k].Alloc(1<<20-uint64(i), 0)
				if err != nil {
					t.Fatal(err)
				}
				all[k] = append(all[k], a)
			}
		}
	}
	for k := range 2 {
		m[k].Close()
		for i, a := range all[k] {
			if _, _, ok := m[2].Lookup(a); ok {
				t.Fatalf("allocation %d of memory %d outlived it", i, k)
			}
		}
	}
}

func rss(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	n, _ := strconv.Atoi(strings.Fields(string(b))[1])
	return n * os.Getpagesize()
}

func TestDefaultThreads(t *testing.T) {
	t.Setenv("KUDZU_THREADS", "7")
	if n, err := DefaultThreads(); n != 7 || err != nil {
		t.Error(n, err)
	}
	for _, bad := range []string{"0", "-1", "x", "99999999"} {
		t.Setenv("KUDZU_THREADS", bad)
		if n, err := DefaultThreads(); err == nil {
			t.Errorf("%s: %d", bad, n)
		}
	}
	t.Setenv("KUDZU_THREADS", "")
	if n, err := DefaultThreads(); n < 1 || err != nil {
		t.Error(n, err)
	}
}

// Allocations lists what is allocated, small and large, and nothing else.
func TestAllocations(t *testing.T) {
	m, err := NewMemory(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	has := func(base, size uint64) bool {
		for _, a := range m.Allocations() {
			if a == [2]uint64{base, size} {
				return true
			}
		}
		return false
	}
	var addrs, sizes []uint64
	for i := range uint64(3000) { // more than a first guess has room for
		n := 1 + i%5000
		if i%1000 == 0 {
			n = 5<<20 + i
		}
		a, err := m.Alloc(n, 0)
		if err != nil {
			t.Fatal(err)
		}
		addrs, sizes = append(addrs, a), append(sizes, n)
	}
	for i, a := range addrs[:2000] {
		if i%500 == 0 && !has(a, sizes[i]) {
			t.Errorf("%d bytes at %#x are missing", sizes[i], a)
		}
		if err := m.Free(a); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 && has(a, sizes[i]) {
			t.Errorf("%d bytes at %#x are listed although they are free", sizes[i], a)
		}
	}
	for i, a := range addrs[2000:] {
		if i%100 == 0 && !has(a, sizes[2000+i]) {
			t.Errorf("%d bytes at %#x are missing after others were freed", sizes[2000+i], a)
		}
	}
	at, err := m.Reserve(2*VirtualUnit, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := m.NewFile(VirtualUnit)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Map(at, VirtualUnit, fd, 0); err != nil {
		t.Fatal(err)
	}
	if has(at, VirtualUnit) {
		t.Error("a mapping is listed that nobody may touch")
	}
	if err := m.SetAccess(at, VirtualUnit, true); err != nil || !has(at, VirtualUnit) {
		t.Errorf("a mapping is missing: %v", err)
	}
	if err := m.Unmap(at, VirtualUnit); err != nil || has(at, VirtualUnit) {
		t.Errorf("a mapping is listed that is gone: %v", err)
	}
	m.CloseFile(fd, VirtualUnit)
	if err := m.Unreserve(at, 2*VirtualUnit); err != nil {
		t.Error(err)
	}
}
