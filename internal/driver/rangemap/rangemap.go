// Package rangemap is a map from disjoint ranges of addresses to what lies there.
package rangemap

import (
	"slices"
	"sort"

	"kudzu/internal/lockrank"
)

// Range is one range and its value.
type Range[V any] struct {
	Base, Size uint64
	Value      V
}

// chunkMax is how many ranges one chunk of a Map holds: small enough that an insertion moves little memory, large
// enough that the list of chunks stays short with a million allocations.
const chunkMax = 512

// Map is a set of disjoint address ranges. Copies look addresses up at every call, so readers share a lock. The zero value is
// empty. Functions that its methods call hold its lock, and call none of its methods.
type Map[V any] struct {
	mu     lockrank.RWMutex[lockrank.DriverRanges]
	chunks [][]Range[V] // guarded by mu: none is empty; ascending
}

// locate is the chunk that holds or would hold addr, and the number of its ranges that start at or before addr.
//
// Preconditions: m.mu is held, there is a chunk.
func (m *Map[V]) locate(addr uint64) (chunk, n int) {
	chunk = max(0, sort.Search(len(m.chunks), func(i int) bool { return m.chunks[i][0].Base > addr })-1)
	c := m.chunks[chunk]
	return chunk, sort.Search(len(c), func(i int) bool { return c[i].Base > addr })
}

// Find is the value of the range that holds addr, or the zero value.
func (m *Map[V]) Find(addr uint64) (v V) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.chunks) == 0 {
		return v
	}
	c, n := m.locate(addr)
	if n == 0 {
		return v
	}
	if r := &m.chunks[c][n-1]; addr-r.Base < r.Size {
		return r.Value
	}
	return v
}

// Add puts a range in; false if it overlaps one that is there.
func (m *Map[V]) Add(r Range[V]) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.chunks) == 0 {
		m.chunks = [][]Range[V]{{r}}
		return true
	}
	c, n := m.locate(r.Base)
	list := m.chunks[c]
	if n > 0 && r.Base-list[n-1].Base < list[n-1].Size {
		return false
	}
	next := (*Range[V])(nil)
	if n < len(list) {
		next = &list[n]
	} else if c+1 < len(m.chunks) {
		next = &m.chunks[c+1][0]
	}
	if next != nil && next.Base-r.Base < r.Size {
		return false
	}
	list = slices.Insert(list, n, r)
	m.chunks[c] = list
	if len(list) > chunkMax {
		half := len(list) / 2
		m.chunks = slices.Insert(m.chunks, c+1, slices.Clone(list[half:]))
		clear(list[half:])
		m.chunks[c] = slices.Clip(list[:half])
	}
	return true
}

// Take removes the range that starts at base and whose value ok accepts.
func (m *Map[V]) Take(base uint64, ok func(V) bool) (v V, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.chunks) == 0 {
		return v, false
	}
	c, n := m.locate(base)
	if n == 0 || m.chunks[c][n-1].Base != base || !ok(m.chunks[c][n-1].Value) {
		return v, false
	}
	v = m.chunks[c][n-1].Value
	if m.chunks[c] = slices.Delete(m.chunks[c], n-1, n); len(m.chunks[c]) == 0 {
		m.chunks = slices.Delete(m.chunks, c, c+1)
	}
	return v, true
}

// TakeAll removes and returns every value that ok accepts.
func (m *Map[V]) TakeAll(ok func(V) bool) (out []V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var kept [][]Range[V]
	for _, c := range m.chunks {
		c = slices.DeleteFunc(c, func(r Range[V]) bool {
			if !ok(r.Value) {
				return false
			}
			out = append(out, r.Value)
			return true
		})
		if len(c) > 0 {
			kept = append(kept, c)
		}
	}
	m.chunks = kept
	return out
}
