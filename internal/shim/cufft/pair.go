package cufft

import "kudzu/internal/shim"

const pairDims = 4

// pairScratch is the shared memory of fft_pair: a tile, 32 columns of n1 numbers, and the whole transform in rows of 32 lanes.
func pairScratch(n1, n2 uint64, p precision) uint64 {
	return (32 + n1 + (n1+31)/32*n2) * 64 * uint64(p)
}

// pairOf gives the sides of a transform of n numbers in one block's memory, so that few lanes have nothing to do; 0 if there are none.
func pairOf(n uint64, p precision, shared uint64) (n1, n2 uint64) {
	best := uint64(0)
	for a := uint64(2); a <= n/2; a++ {
		b := n / a
		if n%a != 0 || a < leastRows || b < 32 || pairScratch(a, b, p) > shared {
			continue
		}
		if cost := (b+31)/32*a + (a+31)/32*b; best == 0 || cost < best || cost == best && max(a, b) < max(n1, n2) {
			n1, n2, best = a, b, cost
		}
	}
	return n1, n2
}

// pair adds transforms of neighbouring numbers that a block does from end to end. It reports whether it did.
func (b *builder) pair(j job) bool {
	p := b.precision
	if j.in != 1 || j.out != 1 || j.n < leastPair || j.n > longestPair || len(j.others) > pairDims {
		return false
	}
	n1, n2 := pairOf(j.n, p, b.shared)
	if n1 == 0 {
		return false
	}
	mixed := 0
	if j.n&(j.n-1) != 0 {
		mixed = 1
	}
	sides := [2]uint64{n1, n2}
	var twiddles, packed, counts [2]uint64
	var lists [2][]uint64
	for i, n := range sides {
		list := passes(n)
		lists[i] = list
		for k, r := range list {
			packed[i] |= r << (8 * k)
		}
		counts[i] = uint64(len(list))
		twiddles[i] = b.tables.twiddles(p, n, list)
	}
	places, order := b.tables.places(n1, lists[0]), b.tables.places(n2, lists[1])
	if mixed == 0 {
		order = b.tables.order(n2, lists[1])
	}
	// Lanes beyond the last column read on behind the row.
	turns := b.tables.numbers("pair "+itoa(n1), p, j.n+32, func(i uint64) complex128 { return root(i/n2*(i%n2), j.n) })
	count := product(j.others)
	if count == 0 {
		return true
	}
	params := func(c *call, inverse bool) *shim.Params {
		flags := uint32(0)
		if inverse {
			flags |= flagSwap
		}
		q := (&shim.Params{}).U64(c.src, c.dst, c.tables+twiddles[0], c.tables+twiddles[1], c.tables+places, c.tables+order, c.tables+turns)
		appendDims(q, j.others, pairDims)
		return q.U64(count, packed[0], packed[1]).U32(uint32(n1), uint32(n2), uint32(counts[0]), uint32(counts[1]), flags, 0)
	}
	b.ops = append(b.ops, &op{kernels: stepKernels[p][mixed], name: "fft_pair", src: j.src, dst: j.dst, dir: j.dir,
		grid: uint32(min(count, maxBlocks)), shared: uint32(pairScratch(n1, n2, p)), params: params})
	return true
}

// leastRows are enough that lanes without a row write no further than into the next one.
const leastRows = 16

// Lengths that a block does from end to end. Shorter ones are a lane's, longer ones leave the caches.
const (
	leastPair   = 600
	longestPair = 1 << 13
)
