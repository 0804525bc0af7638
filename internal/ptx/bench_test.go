package ptx

import (
	"runtime"
	"testing"

	"kudzu/internal/ptx/isa/spell"
)

func BenchmarkIndex(b *testing.B) {
	text := spell.LargeModule(16 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := IndexModule(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := spell.LargeModule(4 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseModule(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSliceAndParseOne(b *testing.B) {
	x, err := IndexModule(spell.LargeModule(16 << 20))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := x.Check("kernel_7"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemory: the index of a large module and one parsed kernel take at most twice the text, the text included.
func TestMemory(t *testing.T) {
	text := spell.LargeModule(16 << 20)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	x, err := IndexModule(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.Check(x.Kernels()[3].Name)
	if err != nil {
		t.Fatal(err)
	}
	used := heap() - before
	if used > uint64(len(text)) {
		t.Errorf("index and one kernel take %d KB beside %d KB of text", used>>10, len(text)>>10)
	}
	t.Logf("%d KB beside %d KB of text", used>>10, len(text)>>10)
	runtime.KeepAlive(x)
	runtime.KeepAlive(m)
}
