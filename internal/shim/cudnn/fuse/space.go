package fuse

import (
	"cmp"
	"math/bits"
	"slices"
)

// axis is one of the sizes that indices run through, and the stride of each tensor along it, in elements.
type axis struct {
	size   int64
	stride []int64
}

// collapse orders axes as the strides of the tensors ask, fastest first, drops those of one element, and makes one of neighbours that
// every tensor walks as one. The tensors that come first in order decide.
func collapse(axes []axis, order []int) []axis {
	var left []axis
	for _, a := range axes {
		if a.size != 1 {
			left = append(left, a)
		}
	}
	slices.SortStableFunc(left, func(a, b axis) int {
		for _, t := range order {
			if x, y := abs(a.stride[t]), abs(b.stride[t]); x != y && x != 0 && y != 0 {
				return cmp.Compare(x, y)
			}
		}
		return 0
	})
	var out []axis
	for _, a := range left {
		if n := len(out); n > 0 && follows(&out[n-1], &a) {
			out[n-1].size *= a.size
			continue
		}
		out = append(out, axis{a.size, slices.Clone(a.stride)})
	}
	if len(out) == 0 {
		strides := 0
		if len(axes) > 0 {
			strides = len(axes[0].stride)
		}
		out = []axis{{1, make([]int64, strides)}}
	}
	return out
}

// follows reports that slow goes on where fast ends, in every tensor.
func follows(fast, slow *axis) bool {
	if fast.size*slow.size >= maxCount {
		return false
	}
	for t := range fast.stride {
		if slow.stride[t] != fast.stride[t]*fast.size {
			return false
		}
	}
	return true
}

func abs(n int64) int64 { return max(n, -n) }

// count is the number of indices.
func count(axes []axis) int64 {
	n := int64(1)
	for _, a := range axes {
		n *= a.size
	}
	return n
}

// maxCount is more than indices of a launch: they are numbers of 31 bits.
const maxCount = 1 << 31

// divisor makes a quotient of 31-bit numbers by d: the upper half of the product with multiplier, shifted.
func divisor(d int64) (multiplier, shift uint32) {
	if d <= 1 {
		return 0, 0 // the kernel takes the number itself
	}
	shift = uint32(bits.Len64(uint64(d - 1)))
	m := (uint64(1)<<(31+shift) + uint64(d) - 1) / uint64(d)
	return uint32(m), shift - 1
}
