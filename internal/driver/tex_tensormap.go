package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/tensormap"
)

// The limits of tensor maps (CUDA driver API, "Tensor Map Object Management"). What the page asks for and the real driver does
// not look at is not looked at: the map's own alignment, and the swizzle of 32-byte slices (recorded in testdata/tensor).
const (
	tensorAddressAlign = 16
	maxTensorDim       = 1 << 32
	maxTensorStride    = 1 << 40
	maxTensorBox       = 256
	maxTensorStep      = 8
	maxTensorPixels    = 1024
	maxTensorBytes     = 227 << 10 // of a box: what a block's shared memory can be
)

// tensorShape is what tiled and im2col maps have in common.
type tensorShape struct {
	to         hostmem.Ptr
	typ        cu.CUtensorMapDataType
	rank       uint32
	address    hostmem.Ptr
	dims       hostmem.Ptr
	strides    hostmem.Ptr
	steps      hostmem.Ptr
	interleave cu.CUtensorMapInterleave
	swizzle    cu.CUtensorMapSwizzle
	promotion  cu.CUtensorMapL2promotion
	fill       cu.CUtensorMapFloatOOBfill
}

// begin checks the common part and makes a map of it.
func (s *tensorShape) begin() (*tensormap.Map, error) {
	m := &tensormap.Map{Type: tensormap.Type(s.typ), Rank: int(s.rank), Address: uint64(s.address), Interleave: tensormap.Interleave(s.interleave), Swizzle: tensormap.Swizzle(s.swizzle), Promotion: uint8(s.promotion)}
	interleaved := s.interleave != cu.CU_TENSOR_MAP_INTERLEAVE_NONE
	switch {
	case s.to == hostmem.Nil, s.address == hostmem.Nil, s.dims == hostmem.Nil, s.steps == hostmem.Nil, s.rank > 1 && s.strides == hostmem.Nil:
		return nil, errInvalidValue
	case s.typ < 0 || s.typ >= cu.CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B: // packed small types are for compute capability 10.0
		return nil, errInvalidValue
	case s.rank == 0 || s.rank > tensormap.MaxRank || interleaved && s.rank < 3:
		return nil, errInvalidValue
	case s.interleave < 0 || s.interleave > cu.CU_TENSOR_MAP_INTERLEAVE_32B || s.swizzle < 0 || s.swizzle > cu.CU_TENSOR_MAP_SWIZZLE_128B:
		return nil, errInvalidValue // other swizzles are for compute capability 10.0
	case s.promotion < 0 || s.promotion > cu.CU_TENSOR_MAP_L2_PROMOTION_L2_256B || s.fill < 0 || s.fill > cu.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA:
		return nil, errInvalidValue
	case s.fill == cu.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && !m.Type.Float():
		return nil, errInvalidValue
	}
	m.NaN = s.fill == cu.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
	align := uint64(tensorAddressAlign)
	if s.interleave == cu.CU_TENSOR_MAP_INTERLEAVE_32B {
		align = 32
	}
	if m.Address%align != 0 {
		return nil, errInvalidValue
	}
	for i := range m.Dim {
		m.Dim[i], m.Box[i], m.Step[i] = 1, 1, 1
	}
	for i, n := range hostmem.Slice[uint64](s.dims, m.Rank) {
		if m.Dim[i] = n; n == 0 || n > maxTensorDim {
			return nil, errInvalidValue
		}
	}
	for i, n := range hostmem.Slice[uint64](s.strides, m.Rank-1) {
		if m.Stride[i] = n; n%align != 0 || n >= maxTensorStride {
			return nil, errInvalidValue
		}
	}
	for i, n := range hostmem.Slice[uint32](s.steps, m.Rank) {
		if m.Step[i] = n; n == 0 || n > maxTensorStep {
			return nil, errInvalidValue
		}
	}
	return m, nil
}

// inner checks the innermost bytes of a box: whole pieces of 16, and no more than the swizzle permutes.
func inner(m *tensormap.Map, elements uint32) error {
	n := int(elements) * m.Type.Bytes()
	if n%16 != 0 || m.Interleave == tensormap.Plain && m.Swizzle != tensormap.NoSwizzle && n > m.Swizzle.Span() {
		return errInvalidValue
	}
	return nil
}

func (s *tensorShape) finish(m *tensormap.Map) error {
	hostmem.Store(s.to, m.Pack())
	return nil
}

// TensorMapEncodeTiled describes a tensor of which copies move boxes.
func (t *Thread) TensorMapEncodeTiled(to hostmem.Ptr, typ cu.CUtensorMapDataType, rank uint32, address, dims, strides, box, steps hostmem.Ptr,
	interleave cu.CUtensorMapInterleave, swizzle cu.CUtensorMapSwizzle, promotion cu.CUtensorMapL2promotion, fill cu.CUtensorMapFloatOOBfill) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	s := &tensorShape{to, typ, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill}
	m, err := s.begin()
	if err != nil {
		return err
	}
	if box == hostmem.Nil {
		return errInvalidValue
	}
	for i, n := range hostmem.Slice[uint32](box, m.Rank) {
		if m.Box[i] = n; n == 0 || n > maxTensorBox {
			return errInvalidValue
		}
	}
	if err := inner(m, m.Box[0]); err != nil {
		return err
	}
	if _, ok := m.Size(maxTensorBytes); !ok {
		return errInvalidValue
	}
	return s.finish(m)
}

// cornerRange is how far corners of im2col may be from the image, by rank.
var cornerRange = map[int]int{3: 1 << 15, 4: 1 << 7, 5: 1 << 4}

// TensorMapEncodeIm2col describes images of which copies move columns of pixels.
func (t *Thread) TensorMapEncodeIm2col(to hostmem.Ptr, typ cu.CUtensorMapDataType, rank uint32, address, dims, strides, lower, upper hostmem.Ptr, channels, pixels uint32, steps hostmem.Ptr,
	interleave cu.CUtensorMapInterleave, swizzle cu.CUtensorMapSwizzle, promotion cu.CUtensorMapL2promotion, fill cu.CUtensorMapFloatOOBfill) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	s := &tensorShape{to, typ, rank, address, dims, strides, steps, interleave, swizzle, promotion, fill}
	m, err := s.begin()
	if err != nil {
		return err
	}
	if m.Rank < 3 || lower == hostmem.Nil || upper == hostmem.Nil || channels == 0 || channels > maxTensorBox || pixels == 0 || pixels > maxTensorPixels {
		return errInvalidValue
	}
	m.Im2col, m.Channels, m.Pixels = true, channels, pixels
	most := cornerRange[m.Rank]
	lo, up := hostmem.Slice[int32](lower, m.Rank-2), hostmem.Slice[int32](upper, m.Rank-2)
	for i := range lo {
		l, u := int(lo[i]), int(up[i])
		if l < -most || l >= most || u < -most || u >= most {
			return errInvalidValue
		}
		m.Lower[i], m.Upper[i] = int16(l), int16(u)
		if m.Last(i) < int64(l) { // no pixel
			return errInvalidValue
		}
	}
	if err := inner(m, channels); err != nil {
		return err
	}
	return s.finish(m)
}

// TensorMapReplaceAddress moves a tensor.
func (t *Thread) TensorMapReplaceAddress(to, address hostmem.Ptr) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	if to == hostmem.Nil {
		return errInvalidValue
	}
	b := hostmem.Load[[tensormap.Bytes]byte](to)
	m, ok := tensormap.Unpack(b[:])
	align := uint64(tensorAddressAlign)
	if ok && m.Interleave == tensormap.Slices32 {
		align = 32
	}
	if !ok || address == hostmem.Nil || uint64(address)%align != 0 {
		return errInvalidValue
	}
	m.Address = uint64(address)
	hostmem.Store(to, m.Pack())
	return nil
}
