package tap

import (
	"testing"
	"unsafe"

	"kudzu/internal/backend"
)

// nowhere is a device's memory without allocations.
type nowhere struct{ memory }

func (nowhere) Range() (base, size uint64) { return 0, 0 }
func (nowhere) Allocations() [][2]uint64   { return nil }

// Host memory that the reference has not touched keeps what the program's other threads write while it runs.
func TestUndoHostMemory(t *testing.T) {
	d := &Device{mem: &hostMemory{memory: nowhere{}}}
	var host [2][]byte
	var at [2]uint64
	for i := range host {
		host[i] = make([]byte, 3*Chunk)
		at[i] = uint64(uintptr(unsafe.Pointer(&host[i][0])))
		if err := d.mem.RegisterHost(backend.Addr(at[i]), uint64(len(host[i]))); err != nil {
			t.Fatal(err)
		}
	}
	space, err := d.Space()
	if err != nil {
		t.Fatal(err)
	}
	var buf []byte
	im, ok := d.Take(1<<20, &buf)
	if !ok || len(im) != 2 {
		t.Fatalf("%d regions, %v", len(im), ok)
	}
	space.Find(at[1]) // a run before
	space.Begin()
	if _, _, ok := space.Find(at[0] + 2*Chunk); !ok || space.Outside() {
		t.Fatal("host memory is not found")
	}
	host[0][7], host[1][7] = 1, 2 // by the reference, and by the program
	c := im.Undo(space)
	if host[0][7] != 0 || host[1][7] != 2 || len(c) != 1 {
		t.Errorf("%d and %d, %d changes", host[0][7], host[1][7], len(c))
	}
}
