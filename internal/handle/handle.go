// Package handle gives the values that C programs hold instead of pointers to our objects.
//
// A handle packs a tag, a kind, a generation and a slot into 64 bits. It is looked up after a range check only, so any
// value a program passes (NULL, random, stale, of another kind, a device address) is answered with "not found" and
// nothing is dereferenced on its word. A slot's generation rises at each reuse; a slot whose generations are used up is
// retired, so a stale handle never comes alive again.
//
//	63      56 55    50 49                 28 27                    4 3  0
//	   tag       kind        generation                slot            0
//
// The top bit is clear and the low four bits are zero, as in pointers that allocators give, because programs print,
// hash and store handles as signed integers or aligned pointers. The value is not a canonical address: a program that
// dereferences it faults at once instead of reading something else.
package handle

import (
	"fmt"
	"io"
	"sync/atomic"

	"kudzu/internal/lockrank"
)

// Value is a handle as C sees it. Zero is never a handle.
type Value uint64

// Kind tells the objects apart. The owner of the tables numbers them from 1 to MaxKind.
type Kind uint8

const (
	tag = 0x4b // 'K'

	slotShift, slotBits = 4, 24
	genShift, genBits   = slotShift + slotBits, 22
	kindShift, kindBits = genShift + genBits, 6
	tagShift            = kindShift + kindBits

	// MaxKind is the largest Kind.
	MaxKind = 1<<kindBits - 1

	maxSlots = 1 << slotBits
	maxGen   = 1<<genBits - 1

	chunkBits = 10
	chunkLen  = 1 << chunkBits
)

// Kind is what the value claims to be; 0 if it is no handle at all. It says nothing about liveness.
func (v Value) Kind() Kind {
	if v>>tagShift != tag || v&(1<<slotShift-1) != 0 {
		return 0
	}
	return Kind(v >> kindShift & MaxKind)
}

func (v Value) slot() uint32 { return uint32(v >> slotShift & (maxSlots - 1)) }
func (v Value) gen() uint32  { return uint32(v >> genShift & maxGen) }

// String shows the parts of a handle, or the bare number of anything else.
func (v Value) String() string {
	if k := v.Kind(); k != 0 {
		return fmt.Sprintf("%#x (kind %d, slot %d, generation %d)", uint64(v), k, v.slot(), v.gen())
	}
	return fmt.Sprintf("%#x", uint64(v))
}

// box is immutable once published, so that a reader who sees the pointer sees a handle and its object together.
type box[T any] struct {
	value Value
	obj   *T
}

type chunk[T any] [chunkLen]atomic.Pointer[box[T]]

// Table holds the live objects of one kind. Get takes no lock; New and Delete take a short one.
type Table[T any] struct {
	kind   Kind
	name   string
	chunks atomic.Pointer[[]*chunk[T]] // grows by replacement; chunks themselves stay
	live   atomic.Int64

	mu   lockrank.Mutex[lockrank.Handles]
	free []freeSlot // guarded by mu
	next uint32     // guarded by mu: slots never used yet start here
}

type freeSlot struct{ slot, gen uint32 }

// NewTable makes an empty table. Name is for reports.
func NewTable[T any](kind Kind, name string) *Table[T] {
	if kind == 0 || kind > MaxKind {
		panic("BUG: handle kind out of range")
	}
	t := &Table[T]{kind: kind, name: name}
	t.chunks.Store(new([]*chunk[T]))
	return t
}

// New publishes obj and returns its handle, or 0 when every slot is taken.
func (t *Table[T]) New(obj *T) Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s freeSlot
	switch {
	case len(t.free) > 0:
		s = t.free[len(t.free)-1]
		t.free = t.free[:len(t.free)-1]
	case t.next < maxSlots:
		s = freeSlot{t.next, 1}
		t.next++
		if n := *t.chunks.Load(); int(s.slot>>chunkBits) == len(n) {
			grown := append(n[:len(n):len(n)], new(chunk[T]))
			t.chunks.Store(&grown)
		}
	default:
		return 0
	}
	v := Value(tag)<<tagShift | Value(t.kind)<<kindShift | Value(s.gen)<<genShift | Value(s.slot)<<slotShift
	(*t.chunks.Load())[s.slot>>chunkBits][s.slot%chunkLen].Store(&box[T]{v, obj})
	t.live.Add(1)
	return v
}

func (t *Table[T]) place(v Value) *atomic.Pointer[box[T]] {
	if v.Kind() != t.kind {
		return nil
	}
	s := v.slot()
	c := *t.chunks.Load()
	if int(s>>chunkBits) >= len(c) {
		return nil
	}
	return &c[s>>chunkBits][s%chunkLen]
}

// Get is the live object behind v, or nil.
func (t *Table[T]) Get(v Value) *T {
	if p := t.place(v); p != nil {
		if b := p.Load(); b != nil && b.value == v {
			return b.obj
		}
	}
	return nil
}

// Delete takes v out and returns its object, or nil if v is not live. Of several callers one gets the object.
func (t *Table[T]) Delete(v Value) *T {
	p := t.place(v)
	if p == nil {
		return nil
	}
	b := p.Load()
	if b == nil || b.value != v || !p.CompareAndSwap(b, nil) {
		return nil
	}
	t.live.Add(-1)
	if g := v.gen(); g < maxGen {
		t.mu.Lock()
		t.free = append(t.free, freeSlot{v.slot(), g + 1})
		t.mu.Unlock()
	}
	return b.obj
}

// Stale reports whether v was a handle of this table once and is none now.
func (t *Table[T]) Stale(v Value) bool {
	if v.Kind() != t.kind || v.gen() == 0 {
		return false
	}
	t.mu.Lock()
	used := v.slot() < t.next
	t.mu.Unlock()
	return used && t.Get(v) == nil
}

// All calls f for the live objects, in slot order, until it returns false. Objects made or deleted meanwhile may be missed.
func (t *Table[T]) All(f func(Value, *T) bool) {
	for _, c := range *t.chunks.Load() {
		for i := range c {
			if b := c[i].Load(); b != nil && !f(b.value, b.obj) {
				return
			}
		}
	}
}

// Len is how many objects are live.
func (t *Table[T]) Len() int { return int(t.live.Load()) }

// Name is the table's name.
func (t *Table[T]) Name() string { return t.name }

// Counter is a table as a report sees it.
type Counter interface {
	Name() string
	Len() int
}

// Leaks writes one line for each table that still has objects and returns how many objects that is.
func Leaks(w io.Writer, tables ...Counter) int {
	sum := 0
	for _, t := range tables {
		if n := t.Len(); n > 0 {
			fmt.Fprintf(w, "%d %s not destroyed\n", n, t.Name())
			sum += n
		}
	}
	return sum
}
