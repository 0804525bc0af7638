package backend

import (
	"cmp"
	"slices"

	"kudzu/internal/lockrank"
)

// Book is a list of allocations, for a Memory whose runtime keeps none that it tells.
type Book struct {
	mu  lockrank.Mutex[lockrank.Book]
	all map[Addr]uint64 // guarded by mu: bytes by address
}

// Add notes an allocation if there was no error, and passes both on.
func (b *Book) Add(a Addr, n uint64, err error) (Addr, error) {
	if err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.all == nil {
			b.all = map[Addr]uint64{}
		}
		b.all[a] = n
	}
	return a, err
}

// Drop forgets the allocation that begins at a.
func (b *Book) Drop(a Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, a)
}

// List is all of them, in order of addresses.
func (b *Book) List() [][2]uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list [][2]uint64
	for a, n := range b.all {
		list = append(list, [2]uint64{uint64(a), n})
	}
	slices.SortFunc(list, func(x, y [2]uint64) int { return cmp.Compare(x[0], y[0]) })
	return list
}
