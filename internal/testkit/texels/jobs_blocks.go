package texels

import (
	"math/rand/v2"

	"kudzu/internal/bcn"
	"kudzu/internal/spec/cu"
)

// Compressed blocks, read on the card through views of arrays of words. They are a list and a recording of their own, so that neither
// moves the other's. What they decode to is compared (package bcn); such views our driver has none.

// BlockFormat is a view's format of blocks.
type BlockFormat struct {
	Name  string
	Code  bcn.Format
	view  cu.CUresourceViewFormat
	first func(i int) (mode, mask byte) // what picks a block's mode; nil: nothing does
}

// sixth and seventh pick the modes of BC6H and BC7, those that are none among them.
func sixth(i int) (mode, mask byte) { return byte(i % 32), 31 }

func seventh(i int) (mode, mask byte) {
	mode = byte(1 << (i % 9))
	return mode, mode<<1 - 1
}

// BlockFormats are all of them.
var BlockFormats = []BlockFormat{
	{"bc1", bcn.BC1, cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC1, nil}, {"bc2", bcn.BC2, cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC2, nil},
	{"bc3", bcn.BC3, cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC3, nil},
	{"bc4", bcn.BC4, cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC4, nil}, {"bc4 signed", bcn.BC4Signed, cu.CU_RES_VIEW_FORMAT_SIGNED_BC4, nil},
	{"bc5", bcn.BC5, cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC5, nil}, {"bc5 signed", bcn.BC5Signed, cu.CU_RES_VIEW_FORMAT_SIGNED_BC5, nil},
	{"bc6h", bcn.BC6H, cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC6H, sixth}, {"bc6h signed", bcn.BC6HSigned, cu.CU_RES_VIEW_FORMAT_SIGNED_BC6H, sixth},
	{"bc7", bcn.BC7, cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC7, seventh},
}

const blocksWide, blocksHigh = 16, 8

// blocks fills memory with blocks: any bytes, and ends that are equal or the extremes in some of them.
func (f *BlockFormat) blocks(r *rand.Rand) []byte {
	size := f.Code.Bytes()
	b := make([]byte, blocksWide*blocksHigh*size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for i := range blocksWide * blocksHigh {
		p := b[i*size:][:size]
		switch {
		case f.first != nil:
			mode, mask := f.first(i)
			p[0] = p[0]&^mask | mode
		case i%8 == 0: // equal ends
			copy(p[2:4], p[0:2])
			p[1] = p[0]
		case i%8 == 1:
			p[0], p[1] = 0x80, 0x7f
		case i%8 == 2:
			p[0], p[1] = 0x00, 0xff
		case i%8 == 3:
			p[0], p[1] = 0x81, 0x80
		}
	}
	return b
}

// BlockJobs read every texel of some blocks, a job a format.
func BlockJobs() []*Job {
	m := &maker{}
	for i := range BlockFormats {
		f := &BlockFormats[i]
		words := uint32(f.Code.Bytes() / 4)
		j := &Job{Name: f.Name + " texels", Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: blocksWide, Height: blocksHigh, Format: cu.CU_AD_FORMAT_UNSIGNED_INT32, NumChannels: words},
			Tex: desc(point, 0, clamp), View: &cu.CUDA_RESOURCE_VIEW_DESC{Format: f.view, Width: bcn.Side * blocksWide, Height: bcn.Side * blocksHigh},
			In: 2, Out: 4, Code: "tex.2d.v4.f32.s32 {o0,o1,o2,o3}, [t, {i0,i1}];", Data: []byte{}}
		j.Data = f.blocks(m.add(j))
		for y := range uint32(bcn.Side * blocksHigh) {
			for x := range uint32(bcn.Side * blocksWide) {
				j.Words = append(j.Words, x, y)
			}
		}
	}
	return m.jobs
}
