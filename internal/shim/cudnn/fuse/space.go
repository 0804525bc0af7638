package fuse

import (
	"cmp"
	"math/bits"
	"slices"

	"kudzu/internal/shim/cudnn/nn"
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
	strides := 0
	if len(axes) > 0 {
		strides = len(axes[0].stride)
	}
	if len(left) == 0 {
		return []axis{{1, make([]int64, strides)}}
	}
	slices.Reverse(left)
	var dim []int64
	runs := make([][]int64, strides)
	for _, a := range left {
		dim = append(dim, a.size)
		for t, s := range a.stride {
			runs[t] = append(runs[t], s)
		}
	}
	dim, runs = nn.Merge(dim, runs...)
	out := make([]axis, len(dim))
	for i, n := range dim {
		a := axis{n, make([]int64, strides)}
		for t := range runs {
			a.stride[t] = runs[t][i]
		}
		out[len(out)-1-i] = a
	}
	return out
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
