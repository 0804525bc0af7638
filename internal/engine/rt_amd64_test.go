package engine

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// put places bytes in device memory.
func (r *rig) put(b []byte) uint64 {
	r.Helper()
	a, err := r.m.Alloc(uint64(len(b)), 0)
	r.ok(err)
	p, err := r.m.Bytes(a, uint64(len(b)))
	r.ok(err)
	copy(p, b)
	return a
}

func (r *rig) str(s string) uint64 { return r.put(append([]byte(s), 0)) }

// pack lays arguments out as device code does: each at its own alignment.
func pack(args ...any) []byte {
	b := make([]byte, 0, 64)
	for _, a := range args {
		switch v := a.(type) {
		case int32:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		case uint64:
			for len(b)%8 != 0 {
				b = append(b, 0)
			}
			b = binary.LittleEndian.AppendUint64(b, v)
		case float64:
			for len(b)%8 != 0 {
				b = append(b, 0)
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return append(b, make([]byte, 8)...)
}

func TestPrintf(t *testing.T) {
	out, here := child(t)
	if !here {
		want := strings.Join([]string{
			"plain 100%",
			"-5 7 4294967295 ff 0XFF 10",
			"18446744073709551615 -1",
			"1.500000 1.5e+00 1.50|   1.5|-0",
			"A <abc> <  ab> (null)",
			"0x1234",
			"   42|42   |00042",
			"%q stays",
		}, "\n")
		if !strings.HasPrefix(out, want+"\n") {
			t.Errorf("got\n%s\nwant\n%s", out, want)
		}
		return
	}
	r := newRig(t, 1)
	k := kernel(t, kPrintf)
	a, v := r.alloc(1)
	print := func(format string, count uint64, args ...any) {
		t.Helper()
		r.ok(r.q.Launch(k, grid(1, r.str(format), r.put(pack(args...)), a)))
		r.ok(r.q.Sync())
		if v[0] != count {
			t.Errorf("%s: returned %d", format, v[0])
		}
	}
	print("plain 100%%\n", 0)
	print("%d %i %u %x %#X %o\n", 6, int32(-5), int32(7), int32(-1), int32(255), int32(255), int32(8))
	print("%llu %ld\n", 2, ^uint64(0), ^uint64(0))
	print("%f %.1e %.2f|%6.1f|%g\n", 5, 1.5, 1.5, 1.5, 1.5, math.Copysign(0, -1))
	print("%c <%s> <%*.2s> %s\n", 4, int32('A'), r.str("abc"), int32(4), r.str("abc"), uint64(0))
	print("%p\n", 1, uint64(0x1234))
	print("%5d|%-5d|%05d\n", 3, int32(42), int32(42), int32(42))
	print("%q stays\n", 0)
	print("%99999999d", 1, int32(1)) // bounded
}

func TestPrintfFIFO(t *testing.T) {
	out, here := child(t)
	if !here {
		if !strings.Contains(out, "more\n") || strings.Contains(out, "line 0\n") || !strings.Contains(out, "line 9999\n") || strings.Count(out, "line") > 4096/12 {
			t.Errorf("a FIFO of 4 KiB keeps the newest lines, got %d bytes: %.200s", len(out), out)
		}
		return
	}
	r := newRig(t, 1)
	r.d.SetLimits(4096, 0)
	k := kernel(t, kPrintf)
	a, _ := r.alloc(1)
	f := r.str("line %d\n")
	for i := range 10000 {
		r.ok(r.q.Launch(k, grid(1, f, r.put(pack(int32(i))), a)))
	}
	r.ok(r.q.Sync())
	r.d.SetLimits(1<<63, 0) // no memory for that: as much as by default
	r.ok(r.q.Launch(k, grid(1, r.str("more\n"), 0, a)))
	r.ok(r.q.Sync())
}

// A bad pointer in printf is the kernel's fault and leaves no lock held.
func TestPrintfFault(t *testing.T) {
	r := newRig(t, 2)
	k := kernel(t, kPrintf)
	a, _ := r.alloc(1)
	f := r.fault(k, grid(1, r.str("%s"), r.put(pack(uint64(64))), a))
	if f.Kind != FaultAddress || f.Addr != 64 || f.PCOffset != NoOffset {
		t.Errorf("got %v", f)
	}
	r.fault(k, grid(1, 8, 8, a))
	r.ok(r.q.Launch(k, grid(1, r.str(""), r.put(pack()), a)))
	r.ok(r.q.Sync())
}

func TestAssert(t *testing.T) {
	out, here := child(t)
	if !here {
		for _, want := range []string{
			"file.cu:42: void f(int): block: [0,0,0], thread: [1,1,0] Assertion `x > 0` failed.\n",
			"file.cu:42: void f(int): block: [0,0,0], thread: [2,1,0] Assertion `x > 0` failed.\n",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("got\n%s\nwithout\n%s", out, want)
			}
		}
		return
	}
	r := newRig(t, 1)
	l := grid(1, r.str("x > 0"), r.str("file.cu"), r.str("void f(int)"))
	l.Block = [3]uint32{32, 2, 1}
	f := r.fault(kernel(t, kAssert), l)
	if f.Kind != FaultStop || f.Stop != 2 || !strings.Contains(f.Text, "x > 0") {
		t.Errorf("got %v %q", f, f.Text)
	}
}

func TestDeviceHeap(t *testing.T) {
	r := newRig(t, 2)
	r.d.SetLimits(0, 1<<20)
	k := kernel(t, kMalloc)
	a, v := r.alloc(1)
	seen := map[uint64]bool{}
	n := 0
	for ; ; n++ {
		r.ok(r.q.Launch(k, grid(1, a, 1000, 0)))
		r.ok(r.q.Sync())
		if v[0] == 0 {
			break
		}
		if v[0]%16 != 0 || seen[v[0]] {
			t.Fatalf("pointer %#x", v[0])
		}
		seen[v[0]] = true
	}
	if n < 1000 || n > 1024 {
		t.Errorf("%d blocks of 1000 bytes in a heap of 1 MiB", n)
	}
	d, q := r.domain()
	d.SetLimits(0, 1<<20)
	for range 5000 { // allocate and free
		r.ok(q.Launch(k, grid(1, a, 1000, 1)))
	}
	r.ok(q.Sync())
	if v[0] == 0 {
		t.Error("freed memory is not used again")
	}
	d.SetLimits(0, ^uint64(0))
	for _, n := range []uint64{^uint64(0), ^uint64(0) - 7, 1 << 63, 1<<59 + 1, 1 << 40} {
		r.ok(q.Launch(k, grid(1, a, n, 0)))
		r.ok(q.Sync())
		if v[0] != 0 {
			t.Errorf("%#x bytes at %#x", n, v[0])
		}
	}
	q.Close()
	d.Close()
}

// Short sleeps are no sign that a block waits: no thread stands in for the one worker. Long ones are.
func TestNanosleep(t *testing.T) {
	r := newRig(t, 1)
	k := kernel(t, kNaps)
	r.ok(r.q.Launch(k, grid(500, 400)))
	r.ok(r.q.Sync())
	if s := r.e.Stats(); s.Yields != 0 || s.Extra != 0 {
		t.Errorf("short sleeps: %+v", s)
	}
	r.ok(r.q.Launch(k, grid(1, 100000)))
	r.ok(r.q.Sync())
	if s := r.e.Stats(); s.Yields == 0 {
		t.Errorf("long sleeps: %+v", s)
	}
}
