package backend

import "kudzu/internal/lockrank"

// MaxLevels is the most sizes a mipmapped array has.
const MaxLevels = 18

// Texture is memory as kernels see it through textures and surfaces: plain numbers in an order that C reads as they are (struct
// kz_tex of internal/engine). Handle is the backend's.
type Texture struct {
	Handle uint64

	Kind     uint8 // TextureObject …
	Dims     uint8 // 1, 2, 3
	Layered  uint8
	Cube     uint8
	Format   uint8 // FormatU8 …
	Channels uint8 // 1, 2, 4
	Memory   uint8 // one row of plain memory, not an array
	Levels   uint8

	Normalized uint8 // coordinates
	Linear     uint8 // filter
	MipLinear  uint8
	Integers   uint8 // integer formats are read as integers
	SRGB       uint8
	Seamless   uint8
	Reference  uint8 // made for a .texref or .surfref
	Anisotropy uint8

	Address [4]uint8 // AddressWrap …, of x, y and z

	MinLevel, MaxLevel, Bias float32
	Border                   [4]float32
	Pad                      [2]uint32

	// Of each level, from the largest.
	Base, Pitch, Slice   [MaxLevels]uint64
	Width, Height, Depth [MaxLevels]uint32
}

// The kinds.
const (
	TextureObject = 1
	SurfaceObject = 2
	SamplerObject = 3
)

// The formats of a channel.
const (
	FormatU8 = iota
	FormatU16
	FormatU32
	FormatS8
	FormatS16
	FormatS32
	FormatF16
	FormatF32
)

// The address modes.
const (
	AddressWrap = iota
	AddressClamp
	AddressMirror
	AddressBorder
)

// Textures is a Device whose kernels can sample.
type Textures interface {
	// NewTexture makes an object; kernels get its handle. ErrNoMemory when there are too many.
	NewTexture(t *Texture) (handle uint64, err error)
	// SetTexture changes what a handle shows.
	SetTexture(handle uint64, t *Texture) error
	// FreeTexture ends an object. The caller has finished all work that uses it.
	FreeTexture(handle uint64) error
}

// TextureSlotBits divides a handle: its slot in a table below, a generation above.
const TextureSlotBits = 20

// textureHandles are those of the process: programs pass them around without saying whose they are.
var textureHandles struct {
	lockrank.Mutex[lockrank.TextureHandles]
	free []uint64 // guarded: to give out next
	next uint64   // guarded: the first slot never used; slot 0 is nobody's, so that 0 is no handle
}

// TakeTextureHandle gives a handle that no object ever had.
func TakeTextureHandle() (uint64, error) {
	t := &textureHandles
	t.Lock()
	defer t.Unlock()
	if n := len(t.free); n > 0 {
		h := t.free[n-1]
		t.free = t.free[:n-1]
		return h, nil
	}
	if t.next+1 >= 1<<TextureSlotBits {
		return 0, ErrNoMemory
	}
	t.next++
	return 1<<TextureSlotBits | t.next, nil
}

// GiveTextureHandle ends a handle; its slot comes again in another one.
func GiveTextureHandle(h uint64) {
	t := &textureHandles
	t.Lock()
	defer t.Unlock()
	if next := h + 1<<TextureSlotBits; next>>62 == 0 {
		t.free = append(t.free, next)
	}
}
