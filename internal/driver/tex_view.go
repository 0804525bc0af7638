package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/bcn"
	"kudzu/internal/spec/cu"
)

// viewFormats are the formats in which a view reads elements, by their number of channels, less the block-compressed ones.
var viewFormats = [...]struct{ format, channels uint8 }{
	cu.CU_RES_VIEW_FORMAT_UINT_1X8: {backend.FormatU8, 1}, cu.CU_RES_VIEW_FORMAT_UINT_2X8: {backend.FormatU8, 2}, cu.CU_RES_VIEW_FORMAT_UINT_4X8: {backend.FormatU8, 4},
	cu.CU_RES_VIEW_FORMAT_SINT_1X8: {backend.FormatS8, 1}, cu.CU_RES_VIEW_FORMAT_SINT_2X8: {backend.FormatS8, 2}, cu.CU_RES_VIEW_FORMAT_SINT_4X8: {backend.FormatS8, 4},
	cu.CU_RES_VIEW_FORMAT_UINT_1X16: {backend.FormatU16, 1}, cu.CU_RES_VIEW_FORMAT_UINT_2X16: {backend.FormatU16, 2}, cu.CU_RES_VIEW_FORMAT_UINT_4X16: {backend.FormatU16, 4},
	cu.CU_RES_VIEW_FORMAT_SINT_1X16: {backend.FormatS16, 1}, cu.CU_RES_VIEW_FORMAT_SINT_2X16: {backend.FormatS16, 2}, cu.CU_RES_VIEW_FORMAT_SINT_4X16: {backend.FormatS16, 4},
	cu.CU_RES_VIEW_FORMAT_UINT_1X32: {backend.FormatU32, 1}, cu.CU_RES_VIEW_FORMAT_UINT_2X32: {backend.FormatU32, 2}, cu.CU_RES_VIEW_FORMAT_UINT_4X32: {backend.FormatU32, 4},
	cu.CU_RES_VIEW_FORMAT_SINT_1X32: {backend.FormatS32, 1}, cu.CU_RES_VIEW_FORMAT_SINT_2X32: {backend.FormatS32, 2}, cu.CU_RES_VIEW_FORMAT_SINT_4X32: {backend.FormatS32, 4},
	cu.CU_RES_VIEW_FORMAT_FLOAT_1X16: {backend.FormatF16, 1}, cu.CU_RES_VIEW_FORMAT_FLOAT_2X16: {backend.FormatF16, 2}, cu.CU_RES_VIEW_FORMAT_FLOAT_4X16: {backend.FormatF16, 4},
	cu.CU_RES_VIEW_FORMAT_FLOAT_1X32: {backend.FormatF32, 1}, cu.CU_RES_VIEW_FORMAT_FLOAT_2X32: {backend.FormatF32, 2}, cu.CU_RES_VIEW_FORMAT_FLOAT_4X32: {backend.FormatF32, 4},
}

var channelBytes = [...]uint64{backend.FormatU8: 1, backend.FormatU16: 2, backend.FormatU32: 4, backend.FormatS8: 1, backend.FormatS16: 2, backend.FormatS32: 4, backend.FormatF16: 2, backend.FormatF32: 4}

// blockView checks a view that takes words of an array for compressed blocks. Such views are not offered: kernels may write the array, and
// blocks are decoded when they are copied (tex_block.go).
func blockView(x *backend.Texture, v *cu.CUDA_RESOURCE_VIEW_DESC) error {
	channels := uint8(4)
	switch v.Format {
	case cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC1, cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC4, cu.CU_RES_VIEW_FORMAT_SIGNED_BC4:
		channels = 2
	}
	if x.Format != backend.FormatU32 || x.Channels != channels || v.Width != bcn.Side*uint64(x.Width[0]) || v.Height != bcn.Side*uint64(x.Height[0]) {
		return errInvalidValue
	}
	return errNotSupported
}

// viewed narrows an array to a view of it: another format of the same size, some of its levels, some of its layers.
func viewed(x *backend.Texture, v *cu.CUDA_RESOURCE_VIEW_DESC) error {
	switch {
	case v.Format >= cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC1 && v.Format <= cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC7:
		return blockView(x, v)
	case v.Format <= cu.CU_RES_VIEW_FORMAT_NONE || int(v.Format) >= len(viewFormats):
		return errInvalidValue
	}
	f := viewFormats[v.Format]
	if channelBytes[f.format]*uint64(f.channels) != channelBytes[x.Format]*uint64(x.Channels) {
		return errInvalidValue
	}
	if v.Width != uint64(x.Width[0]) || v.Height != uint64(x.Height[0]) && v.Height != 0 || v.LastMipmapLevel >= uint32(x.Levels) || v.FirstMipmapLevel > v.LastMipmapLevel {
		return errInvalidValue
	}
	x.Format, x.Channels = f.format, f.channels
	n := v.LastMipmapLevel - v.FirstMipmapLevel + 1
	for l := range n {
		from := l + v.FirstMipmapLevel
		x.Base[l], x.Pitch[l], x.Slice[l] = x.Base[from], x.Pitch[from], x.Slice[from]
		x.Width[l], x.Height[l], x.Depth[l] = x.Width[from], x.Height[from], x.Depth[from]
	}
	x.Levels = uint8(n)
	if x.Layered == 0 && x.Cube == 0 {
		return nil
	}
	if v.LastLayer == 0 && v.FirstLayer == 0 { // all of them
		return nil
	}
	if v.FirstLayer > v.LastLayer || v.LastLayer >= x.Depth[0] {
		return errInvalidValue
	}
	for l := range n {
		x.Base[l] += uint64(v.FirstLayer) * x.Slice[l]
		x.Depth[l] = v.LastLayer - v.FirstLayer + 1
	}
	return nil
}
