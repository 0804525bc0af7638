package devrt

import "encoding/binary"

// Textures and surfaces: instructions on them are calls of functions (internal/lower, CallTextures) that sample in software, the
// engine's own sampler compiled for a GPU (c/texture.h). They find objects in a table: the sRGB curve, then addresses of
// chunks of objects, each as backend.Texture has it. A handle is a generation above SlotBits and a slot below.

// The table.
const (
	TextureSlotBits = 20
	TextureChunk    = 256 // slots in a chunk
	textureChunks   = 1 << TextureSlotBits / TextureChunk
	chunksAt        = 512
	TextureTable    = chunksAt + 8*textureChunks // bytes
)

// Why a function ended its kernel (internal/image: StopXxx).
const (
	StoppedMisaligned = 4
	StoppedAddress    = 8
)

// NewTextures is an empty table's bytes, with the curve of sRGB values.
func NewTextures(srgb *[256]uint16) []byte {
	b := make([]byte, TextureTable)
	for i, v := range srgb {
		binary.LittleEndian.PutUint16(b[2*i:], v)
	}
	return b
}

// ChunkAt is where the table has the address of the chunk of a handle's slot.
func ChunkAt(handle uint64) uint64 {
	return chunksAt + 8*(handle%(1<<TextureSlotBits)/TextureChunk)
}
