package engine

import "testing"

// A byte is stored at an offset from the block's shared memory.
const kShared = "48 8b 07 48 8b 00 48 03 06 c6 00 01 31 c0 c3"

// TestSharedWindow: every offset that compiled code may add ends in the block's shared memory or in a fault, of the kind that the hardware
// gives it.
func TestSharedWindow(t *testing.T) {
	r := newRig(t, 2)
	if r.e.Narrow() {
		t.Fatal("address space is short")
	}
	const gib = int64(1) << 30
	for _, c := range []struct {
		static, dynamic uint32
		off             int64
		want            FaultKind // 0: none
	}{
		{64, 0, 0, 0}, {64, 0, 127, 0}, {64, 0, 128, FaultAddress}, {64, 0, 1 << 20, FaultAddress}, {64, 0, 16<<20 - 1025, FaultAddress},
		{64, 0, 16<<20 - 1024, FaultInstruction}, {64, 0, gib, FaultInstruction}, {64, 0, 4*gib - 4096, FaultInstruction},
		{64, 0, 4 * gib, FaultAddress}, {64, 0, 9*gib - 1, FaultAddress}, {64, 0, -4096, FaultAddress}, {64, 0, -17 * gib, FaultAddress},
		{0, 1024, 1023, 0}, {0, 1024, 1024, FaultAddress}, {100, 1000, 1128, 0}, {48 << 10, 0, 48<<10 - 1, 0}, {48 << 10, 0, 48 << 10, FaultAddress},
		{0, 227 << 10, 227<<10 - 1, 0}, {0, 227 << 10, 227 << 10, FaultAddress}, {64, 0, 128, FaultAddress},
	} {
		k := kernel(t, kShared, func(k *KernelConfig) { k.SharedStatic = c.static })
		l := &Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, DynamicShared: c.dynamic, Params: words(uint64(c.off))}
		if c.want != 0 {
			if f := r.fault(k, l); f.Kind != c.want {
				t.Errorf("%d + %d bytes, offset %#x: %v, want kind %d", c.static, c.dynamic, c.off, f, c.want)
			}
			continue
		}
		r.ok(r.q.Launch(k, l))
		r.ok(r.q.Sync())
	}
}
