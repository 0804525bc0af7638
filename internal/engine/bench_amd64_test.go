package engine

import "testing"

func benchRig(b *testing.B) (*Engine, *Queue, func()) {
	e, err := Start(2)
	if err != nil {
		b.Fatal(err)
	}
	d, _ := e.NewDomain(nil)
	q, _ := d.NewQueue(0)
	return e, q, func() { q.Close(); d.Close(); e.Stop() }
}

func BenchmarkLaunchSync(b *testing.B) {
	e, q, done := benchRig(b)
	defer done()
	k := kernel(b, kEmpty)
	l := grid(1)
	b.ReportAllocs()
	for b.Loop() {
		q.Launch(k, l)
		q.Sync()
	}
	b.Logf("%+v", e.Stats())
}

func BenchmarkLaunchSync64Blocks(b *testing.B) {
	_, q, done := benchRig(b)
	defer done()
	k := kernel(b, kEmpty)
	l := grid(64)
	for b.Loop() {
		q.Launch(k, l)
		q.Sync()
	}
}

// The cost of a launch while a burst of them runs.
func BenchmarkEnqueueBurst(b *testing.B) {
	_, q, done := benchRig(b)
	defer done()
	k := kernel(b, kEmpty)
	l := grid(1)
	i := 0
	for b.Loop() {
		q.Launch(k, l)
		if i++; i%1000 == 0 {
			b.StopTimer()
			q.Sync()
			b.StartTimer()
		}
	}
}

func BenchmarkDependent1000(b *testing.B) {
	_, q, done := benchRig(b)
	defer done()
	k := kernel(b, kEmpty)
	l := grid(1)
	for b.Loop() {
		for range 1000 {
			q.Launch(k, l)
		}
		q.Sync()
	}
}

func BenchmarkMarkSync(b *testing.B) {
	_, q, done := benchRig(b)
	defer done()
	for b.Loop() {
		f, _ := q.Mark()
		f.Sync()
		f.Release()
	}
}

func BenchmarkTaskInlineSync(b *testing.B) {
	_, q, done := benchRig(b)
	defer done()
	for b.Loop() {
		q.Task(func() error { return nil }, TaskInline)
		q.Sync()
	}
}

func benchAlloc(b *testing.B, n uint64) {
	m, err := NewMemory(1 << 30)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for b.Loop() {
		a, err := m.Alloc(n, 0)
		if err != nil {
			b.Fatal(err)
		}
		m.Free(a)
	}
}

func BenchmarkAllocFree256(b *testing.B)  { benchAlloc(b, 256) }
func BenchmarkAllocFree64K(b *testing.B)  { benchAlloc(b, 64<<10) }
func BenchmarkAllocFree1M(b *testing.B)   { benchAlloc(b, 1<<20) }
func BenchmarkAllocFree16M(b *testing.B)  { benchAlloc(b, 16<<20) }
func BenchmarkAllocFree256M(b *testing.B) { benchAlloc(b, 256<<20) }

func BenchmarkLookup(b *testing.B) {
	m, _ := NewMemory(1 << 30)
	defer m.Close()
	a, _ := m.Alloc(1000, 0)
	for b.Loop() {
		if _, _, ok := m.Lookup(a + 999); !ok {
			b.Fatal("lost")
		}
	}
}
