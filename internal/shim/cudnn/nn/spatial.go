package nn

import (
	"slices"

	"kudzu/internal/shim"
)

var spatialKernels = module("spatial transformers", "spatial")

// Spatial is a spatial transformer of images whose result is [Dim]. Maps and grids have no gaps: maps are [samples, 2, 3], grids
// [samples, height, width, 2].
type Spatial struct {
	Type Elem
	Dim  []int64
}

// put appends an Image of kernels/spatial.cu.
func (s Spatial) put(q *shim.Params, h, w int64) (string, error) {
	if len(s.Dim) != 4 || !slices.Contains([]Elem{F32, F64, F16, BF16}, s.Type) {
		return "", ErrUnsupported
	}
	for _, d := range s.Dim {
		q.U64(uint64(d))
	}
	q.U64(uint64(h), uint64(w)).U32(uint32(s.Type), 0)
	if s.Type == F64 {
		return "F64", nil
	}
	return "F32", nil
}

func (s Spatial) places() int64 { return s.Dim[0] * s.Dim[2] * s.Dim[3] }

// fits checks images: x is what is read, y the result or its gradient.
func (s Spatial) fits(x, y Tensor) bool {
	return len(s.Dim) == 4 && len(x.Dim) == 4 && slices.Equal(y.Dim, s.Dim) && x.Dim[0] == s.Dim[0] && x.Dim[1] == s.Dim[1] && x.Type == s.Type && y.Type == s.Type
}

// SpatialGrid makes a grid of maps.
func (r *Run) SpatialGrid(s Spatial, theta, grid uint64) error {
	var q shim.Params
	suffix, err := s.put(&q, 1, 1)
	if err != nil {
		return err
	}
	return r.launch(spatialKernels, "gridForward"+suffix, threads(s.places()), oneWarp, q.U64(theta, grid))
}

// SpatialGridBackward makes the gradient of the maps.
func (r *Run) SpatialGridBackward(s Spatial, dgrid, dtheta uint64) error {
	var q shim.Params
	suffix, err := s.put(&q, 1, 1)
	if err != nil {
		return err
	}
	return r.launch(spatialKernels, "gridBackward"+suffix, spread(6*s.Dim[0]), oneWarp, q.U64(dgrid, dtheta))
}

// SpatialSample reads x at the places of a grid.
func (r *Run) SpatialSample(s Spatial, b Scale, x Tensor, grid uint64, y Tensor) error {
	if !s.fits(x, y) {
		return ErrShape
	}
	var q shim.Params
	suffix, err := s.put(&q, x.Dim[2], x.Dim[3])
	if err != nil {
		return err
	}
	putScale(&q, b)
	putStrided(&q, x)
	putStrided(q.U64(grid), y)
	return r.launch(spatialKernels, "sampleForward"+suffix, threads(y.Count()), oneWarp, &q)
}

// SpatialSampleBackward makes the gradients of the image and of the grid.
func (r *Run) SpatialSampleBackward(s Spatial, b Scale, x, dx Tensor, bGrid Scale, dy Tensor, grid, dgrid uint64) error {
	if !s.fits(x, dy) || !s.fits(dx, dy) || !SameShape(x, dx) {
		return ErrShape
	}
	var q, p shim.Params
	suffix, err := s.put(&q, x.Dim[2], x.Dim[3])
	if err != nil {
		return err
	}
	putScale(&q, b)
	putStrided(q.U64(grid), dy)
	putStrided(&q, dx)
	if err := r.launch(spatialKernels, "imageBackward"+suffix, threads(s.Dim[0]*s.Dim[1]), oneWarp, &q); err != nil {
		return err
	}
	if _, err := s.put(&p, x.Dim[2], x.Dim[3]); err != nil {
		return err
	}
	putScale(&p, bGrid)
	putStrided(&p, x)
	putStrided(p.U64(grid), dy)
	return r.launch(spatialKernels, "placeBackward"+suffix, threads(s.places()), oneWarp, p.U64(dgrid))
}
