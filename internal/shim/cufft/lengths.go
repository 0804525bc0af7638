package cufft

import "slices"

// radices are those that kernels have, in the order they are taken.
var radices = []uint64{13, 11, 7, 5, 3}

// smooth says that kernels have all factors of n.
func smooth(n uint64) bool {
	for _, r := range append([]uint64{2}, radices...) {
		for n%r == 0 && n > 0 {
			n /= r
		}
	}
	return n == 1
}

// passes are the radices of a step of length n, large ones first.
func passes(n uint64) (list []uint64) {
	for _, r := range radices {
		for ; n%r == 0; n /= r {
			list = append(list, r)
		}
	}
	for ; n >= 8 && n != 16; n /= 8 {
		list = append(list, 8)
	}
	for ; n >= 4; n /= 4 {
		list = append(list, 4)
	}
	if n == 2 {
		// Two passes of four are quicker than one of eight and one of two.
		if i := slices.Index(list, 8); i >= 0 {
			list[i] = 4
			return append(list, 4)
		}
		list = append(list, 2)
	}
	return list
}

// split gives the steps' lengths: as few factors as possible that are not above limit, near to each other.
func split(n, limit uint64, least int) []uint64 {
	for count := least; ; count++ {
		if list := splitInto(n, limit, count); list != nil {
			return list
		}
	}
}

func splitInto(n, limit uint64, count int) []uint64 {
	if count == 1 {
		if n > limit {
			return nil
		}
		return []uint64{n}
	}
	var best []uint64
	for d := uint64(1); d <= limit && d <= n; d++ {
		if n%d != 0 {
			continue
		}
		rest := splitInto(n/d, limit, count-1)
		if list := append([]uint64{d}, rest...); rest != nil && (best == nil || slices.Max(list) < slices.Max(best)) {
			best = list
		}
	}
	return best
}

// padded is a quick length of at least n.
func padded(n uint64) uint64 {
	best := uint64(0)
	for _, odd := range []uint64{1, 3, 5, 7, 9, 15} {
		m := odd
		for m < n {
			m *= 2
		}
		if best == 0 || m < best {
			best = m
		}
	}
	return best
}
