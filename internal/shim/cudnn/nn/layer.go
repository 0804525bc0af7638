package nn

import (
	"slices"

	"kudzu/internal/shim"
)

func putScale(q *shim.Params, s Scale) { q.F64(s.Alpha, s.Beta) }

// checked is the suffix of a kernel that computes with tensors of given types, and an error if there is none.
func checked(ts ...Tensor) (string, error) {
	suffix := "F32"
	for _, t := range ts {
		if err := t.Check(); err != nil {
			return "", err
		}
		switch t.Type {
		case F64:
			suffix = "F64"
		case F32, F16, BF16, E4M3, E5M2, S8, U8:
		default:
			return "", ErrUnsupported
		}
	}
	return suffix, nil
}

// threads is a grid for n pieces of work of a few instructions each, a thread a piece.
func threads(n int64) [3]uint32 { return spread(over(n, warp)) }

// flat is a tensor of n dimensions for kernels that have places for that many: the batch, the channels, and those of the space at the
// end, with ones before them.
func flat(t Tensor, n int) Tensor {
	missing := n - len(t.Dim)
	t.Dim = slices.Concat(t.Dim[:2], slices.Repeat([]int64{1}, missing), t.Dim[2:])
	t.Stride = slices.Concat(t.Stride[:2], make([]int64, missing), t.Stride[2:])
	return t
}

// Merge joins neighbouring dimensions that are one run in every tensor, so that kernels divide less.
func Merge(dim []int64, strides ...[]int64) (joined []int64, runs [][]int64) {
	runs = make([][]int64, len(strides))
	for d := range dim {
		if dim[d] == 1 && len(dim) > 1 {
			continue
		}
		last := len(joined) - 1
		fits := last >= 0
		for i, s := range strides {
			fits = fits && runs[i][last] == s[d]*dim[d]
		}
		if fits {
			joined[last] *= dim[d]
		} else {
			joined = append(joined, dim[d])
		}
		for i, s := range strides {
			if fits {
				runs[i][last] = s[d]
			} else {
				runs[i] = append(runs[i], s[d])
			}
		}
	}
	if joined == nil {
		joined = []int64{1}
		for i := range runs {
			runs[i] = []int64{1}
		}
	}
	return joined, runs
}
