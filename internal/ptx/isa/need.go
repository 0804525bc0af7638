package isa

import "sync"

// Need is what a form or a word asks of the module: a PTX version and a target.
type Need struct {
	PTX  Version
	SM   int
	Arch string
}

// Met reports whether target sm with suffix has what is needed.
//
// Arch "a" asks for an architecture-specific target of that very architecture (sm_90a for SM 90), "f" for a target of SM's
// family (same ten) with suffix f or a. A list "100a 101a" names the targets one by one; an entry that ends in f stands for
// its family.
func (n Need) Met(sm int, suffix string) bool {
	switch n.Arch {
	case "":
		return sm >= n.SM
	case "a":
		return suffix == "a" && sm == n.SM
	case "f":
		return suffix != "" && sm >= n.SM && sm/10 == n.SM/10
	}
	return metList(n.Arch, sm, suffix)
}

func metList(list string, sm int, suffix string) bool {
	for i := 0; i < len(list); {
		num := 0
		for i < len(list) && list[i] >= '0' && list[i] <= '9' {
			num = num*10 + int(list[i]-'0')
			i++
		}
		kind := byte(0)
		if i < len(list) && list[i] != ' ' {
			kind = list[i]
			i++
		}
		for i < len(list) && list[i] == ' ' {
			i++
		}
		switch kind {
		case 'a':
			if suffix == "a" && sm == num {
				return true
			}
		case 'f':
			if suffix != "" && sm >= num && sm/10 == num/10 {
				return true
			}
		case '+': // that architecture and every later one
			if sm >= num {
				return true
			}
		default:
			if sm == num {
				return true
			}
		}
	}
	return false
}

// wordNeeds are words that ask for more than the forms they stand in, the same everywhere.
var wordNeeds = [...]struct {
	word string
	need Need
}{
	{".cluster", Need{PTX: v(7, 8), SM: 90}},
	{".shared::cta", Need{PTX: v(7, 8), SM: 30}},
	{".shared::cluster", Need{PTX: v(7, 8), SM: 90}},
	{".L2::cache_hint", Need{PTX: v(7, 4), SM: 80}},
	{".L2::64B", Need{PTX: v(7, 4), SM: 75}},
	{".L2::128B", Need{PTX: v(7, 4), SM: 75}},
	{".L2::256B", Need{PTX: v(7, 4), SM: 80}},
	{".param::entry", Need{PTX: v(8, 3)}},
	{".param::func", Need{PTX: v(8, 3)}},
	{".sp::ordered_metadata", Need{PTX: v(8, 5)}},
	{".cta_group::1", Need{PTX: v(8, 6), Arch: "100f 110f"}},
	{".cta_group::2", Need{PTX: v(8, 6), Arch: "100f 110f"}},
	{".im2col::w", Need{PTX: v(8, 6), Arch: "100f 110f"}},
	{".im2col::w::128", Need{PTX: v(8, 6), Arch: "100f 110f"}},
	{".tile::gather4", Need{PTX: v(8, 6), SM: 100}},
	{".tile::scatter4", Need{PTX: v(8, 6), Arch: "100f 110f"}},
	{".cp_mask", Need{PTX: v(8, 6), SM: 100}},
	{".ignore_oob", Need{PTX: v(9, 2), SM: 90}},
}

var modNeeds = sync.OnceValue(func() map[Mod]Need {
	needs := make(map[Mod]Need, len(wordNeeds))
	for _, w := range wordNeeds {
		m := ModOf(w.word)
		if m == 0 {
			panic("BUG: need of unknown word " + w.word)
		}
		needs[m] = w.need
	}
	return needs
})

// Need is what the word asks for by itself.
func (m Mod) Need() (Need, bool) {
	n, ok := modNeeds()[m]
	return n, ok
}
