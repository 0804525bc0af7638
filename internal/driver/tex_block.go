package driver

import (
	"encoding/binary"

	"kudzu/internal/backend"
	"kudzu/internal/bcn"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Arrays of compressed blocks. Programs copy blocks; kernels only read such arrays, so what is copied in is decoded once, behind the
// copy and in its stream, and kernels sample the texels that lie beside the blocks.

// blockFormat is how a format's blocks are decoded, and what their texels are to kernels.
type blockFormat struct {
	code     bcn.Format
	texel    uint8  // backend.FormatU8 …
	channels uint32 // of a texel in memory
	given    uint32 // as programs count them
	srgb     bool
}

var blockFormats = map[cu.CUarray_format]*blockFormat{
	cu.CU_AD_FORMAT_BC1_UNORM: {bcn.BC1, backend.FormatU8, 4, 4, false}, cu.CU_AD_FORMAT_BC1_UNORM_SRGB: {bcn.BC1, backend.FormatU8, 4, 4, true},
	cu.CU_AD_FORMAT_BC2_UNORM: {bcn.BC2, backend.FormatU8, 4, 4, false}, cu.CU_AD_FORMAT_BC2_UNORM_SRGB: {bcn.BC2, backend.FormatU8, 4, 4, true},
	cu.CU_AD_FORMAT_BC3_UNORM: {bcn.BC3, backend.FormatU8, 4, 4, false}, cu.CU_AD_FORMAT_BC3_UNORM_SRGB: {bcn.BC3, backend.FormatU8, 4, 4, true},
	cu.CU_AD_FORMAT_BC4_UNORM: {bcn.BC4, backend.FormatU16, 4, 1, false}, cu.CU_AD_FORMAT_BC4_SNORM: {bcn.BC4Signed, backend.FormatS16, 4, 1, false},
	cu.CU_AD_FORMAT_BC5_UNORM: {bcn.BC5, backend.FormatU16, 4, 2, false}, cu.CU_AD_FORMAT_BC5_SNORM: {bcn.BC5Signed, backend.FormatS16, 4, 2, false},
	cu.CU_AD_FORMAT_BC6H_UF16: {bcn.BC6H, backend.FormatF16, 4, 3, false}, cu.CU_AD_FORMAT_BC6H_SF16: {bcn.BC6HSigned, backend.FormatF16, 4, 3, false},
	cu.CU_AD_FORMAT_BC7_UNORM: {bcn.BC7, backend.FormatU8, 4, 4, false}, cu.CU_AD_FORMAT_BC7_UNORM_SRGB: {bcn.BC7, backend.FormatU8, 4, 4, true},
}

// blockShape lays an array of blocks out, the texels behind them.
func (a *Array) blockShape(f *blockFormat) error {
	d := &a.desc
	switch {
	case d.NumChannels != f.given || d.Height == 0:
		return errInvalidValue
	case d.Flags&(cu.CUDA_ARRAY3D_SURFACE_LDST|cu.CUDA_ARRAY3D_COLOR_ATTACHMENT) != 0:
		return errNotSupported
	}
	across := func(n uint64) uint64 { return (n + bcn.Side - 1) / bcn.Side }
	a.blocks, a.elem, a.rows = f, uint64(f.code.Bytes()), across(d.Height)
	a.pitch = across(d.Width) * a.elem
	a.slice = a.pitch * a.rows
	a.texels = (a.slice*a.slices + 511) &^ 511
	a.texelPitch = d.Width * uint64(f.channels) * channelBytes[f.texel]
	a.size = a.texels + a.texelPitch*d.Height*a.slices
	return nil
}

// sampled sets what the texels of blocks are to a texture: fractions or floats, never integers; those of a format that says so are sRGB, and
// the texture must, too.
func (f *blockFormat) sampled(x *backend.Texture) error {
	if f.srgb && x.SRGB == 0 {
		return errInvalidValue
	}
	x.Integers = 0
	return nil
}

// decode decodes the blocks of a box, given in blocks.
func (a *Array) decode(p *cu.CUDA_MEMCPY3D) {
	f := a.blocks
	size := uint64(f.code.Bytes())
	width, height := a.desc.Width, a.desc.Height
	from := hostmem.Bytes(hostmem.Ptr(a.base), a.texels)
	to := hostmem.Bytes(hostmem.Ptr(a.base+a.texels), a.size-a.texels)
	var t bcn.Texels
	for z := p.DstZ; z < p.DstZ+p.Depth; z++ {
		for y := p.DstY; y < p.DstY+p.Height; y++ {
			for x := p.DstXInBytes / size; x < (p.DstXInBytes+p.WidthInBytes)/size; x++ {
				f.code.Decode(from[z*a.slice+y*a.pitch+x*size:][:size], &t)
				for i := range t {
					tx, ty := bcn.Side*x+uint64(i)%bcn.Side, bcn.Side*y+uint64(i)/bcn.Side
					if tx < width && ty < height {
						f.store(to[(z*height+ty)*a.texelPitch:], tx, &t[i])
					}
				}
			}
		}
	}
}

// store writes one texel of a row.
func (f *blockFormat) store(row []byte, x uint64, v *[4]uint16) {
	n := channelBytes[f.texel]
	for c := range uint64(f.channels) {
		at := (x*uint64(f.channels) + c) * n
		if n == 1 {
			row[at] = byte(v[c])
		} else {
			binary.LittleEndian.PutUint16(row[at:], v[c])
		}
	}
}
