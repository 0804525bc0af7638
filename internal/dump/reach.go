package dump

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/lazyre"
)

// Params stands for the block of parameters where otherwise a region has a number.
const Params = -1

// Word is a place that holds an address or a handle.
type Word struct {
	In     int    // the region, or Params
	Offset uint64 // in it
	To     int    // the region that the address is in, or the texture
	Handle bool   // of a texture, not an address
}

// Finder finds what addresses are in.
type Finder struct {
	order    []int // regions in order of addresses
	regions  []Region
	lo, hi   uint64
	textures map[uint64]int
}

// NewFinder makes one. Textures are found only if there are any: a kernel that samples nothing needs none.
func NewFinder(regions []Region, textures []backend.Texture) *Finder {
	f := &Finder{regions: regions, textures: map[uint64]int{}, lo: ^uint64(0)}
	for i := range regions {
		f.order = append(f.order, i)
		f.lo, f.hi = min(f.lo, regions[i].Base), max(f.hi, regions[i].Base+regions[i].Size)
	}
	slices.SortFunc(f.order, func(a, b int) int { return cmp.Compare(regions[a].Base, regions[b].Base) })
	for i := range textures {
		f.textures[textures[i].Handle] = i
	}
	return f
}

// At is the region that an address is in, -1 if there is none.
func (f *Finder) At(addr uint64) int {
	if addr < f.lo || addr >= f.hi {
		return -1
	}
	n, _ := slices.BinarySearchFunc(f.order, addr, func(i int, a uint64) int {
		if f.regions[i].Base <= a {
			return -1
		}
		return 1
	})
	if n == 0 {
		return -1
	}
	if i := f.order[n-1]; addr-f.regions[i].Base < f.regions[i].Size {
		return i
	}
	return -1
}

// Steps says where words that may hold addresses lie in the memory of a region, or in Params: from the first one on, so many bytes apart.
// Addresses are aligned in the device's memory, and a region may begin anywhere: behind a variable, or where host memory was registered.
// Parameters may be packed, so every fourth byte counts there.
func Steps(regions []Region, in int) (first, step int) {
	if in == Params {
		return 0, 4
	}
	return int(-regions[in].Base & 7), 8
}

// Words calls fn for every word of b that may hold an address or a handle. Any word of Steps that could be one counts as one.
func (f *Finder) Words(in int, b []byte, fn func(Word)) {
	first, step := Steps(f.regions, in)
	for off := first; off+8 <= len(b); off += step {
		x := binary.LittleEndian.Uint64(b[off:])
		if x == 0 {
			continue
		}
		if to := f.At(x); to >= 0 {
			fn(Word{In: in, Offset: uint64(off), To: to})
		} else if len(f.textures) > 0 {
			if t, ok := f.textures[x]; ok {
				fn(Word{In: in, Offset: uint64(off), To: t, Handle: true})
			}
		}
	}
}

// Reach says which regions and textures a launch can reach from its parameters and the regions that roots names, over addresses and
// handles in memory. read gives the memory of a region.
func (f *Finder) Reach(params []byte, roots []int, textures []backend.Texture, read func(i int) []byte) (regions, seen []bool) {
	regions, seen = make([]bool, len(f.regions)), make([]bool, len(textures))
	var todo []int
	mark := func(i int) {
		if i >= 0 && !regions[i] {
			regions[i] = true
			todo = append(todo, i)
		}
	}
	found := func(w Word) {
		if !w.Handle {
			mark(w.To)
			return
		}
		if seen[w.To] {
			return
		}
		seen[w.To] = true
		for l := range int(textures[w.To].Levels) {
			mark(f.At(textures[w.To].Base[l]))
		}
	}
	f.Words(Params, params, found)
	for _, i := range roots {
		mark(i)
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f.Words(i, read(i), found)
	}
	return regions, seen
}

var samples = lazyre.New(`\b(tex|tld4|txq|suld|sust|sured|suq|istypep)\.`)

// Samples reports a kernel that uses textures or surfaces.
func Samples(ptx string) bool { return samples().MatchString(ptx) }

// Names reports a text that has a name as a word of its own.
func Names(ptx, name string) bool {
	word := func(c byte) bool {
		return c == '_' || c == '$' || c == '%' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for at := 0; ; {
		i := strings.Index(ptx[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if (at == 0 || !word(ptx[at-1])) && (end == len(ptx) || !word(ptx[end])) {
			return true
		}
		at = end
	}
}
