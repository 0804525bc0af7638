package engine

/*
#include "texture.h"

#cgo nocallback kz_tex_slot
#cgo noescape kz_tex_find
#cgo nocallback kz_texture_quick
#cgo noescape kz_texture_quick
#cgo nocallback kz_tex_find
*/
import "C"

import (
	"unsafe"

	"kudzu/internal/lockrank"
)

// Texture is struct kz_tex; backend.Texture has the same fields and says what they are.
type Texture struct {
	Handle uint64

	Kind     uint8
	Dims     uint8
	Layered  uint8
	Cube     uint8
	Format   uint8
	Channels uint8
	Memory   uint8
	Levels   uint8

	Normalized uint8
	Linear     uint8
	MipLinear  uint8
	Integers   uint8
	SRGB       uint8
	Seamless   uint8
	Reference  uint8
	Anisotropy uint8

	Address [4]uint8

	MinLevel, MaxLevel, Bias float32
	Border                   [4]float32
	Pad                      [2]uint32 // the first is put's: kz_texture_quick

	Base, Pitch, Slice   [C.KZ_TEX_LEVELS]uint64
	Width, Height, Depth [C.KZ_TEX_LEVELS]uint32
}

var (
	_ [unsafe.Sizeof(Texture{})]struct{}              = [C.sizeof_struct_kz_tex]struct{}{}
	_ [unsafe.Offsetof(Texture{}.Base)]struct{}       = [unsafe.Offsetof(C.struct_kz_tex{}.base)]struct{}{}
	_ [unsafe.Offsetof(Texture{}.MinLevel)]struct{}   = [unsafe.Offsetof(C.struct_kz_tex{}.min_level)]struct{}{}
	_ [unsafe.Offsetof(Texture{}.Normalized)]struct{} = [unsafe.Offsetof(C.struct_kz_tex{}.normalized)]struct{}{}
)

// textures orders the writers of the table; the objects are in C, where kernels find them.
var textures lockrank.Mutex[lockrank.EngineTextures]

// TextureSlotBits divides a handle: its slot in the table below, a generation above. Handles are the caller's to choose, no two
// of one slot at a time.
const TextureSlotBits = C.KZ_TEX_SLOT_BITS

// NewTexture makes an object of t with a handle.
func NewTexture(h uint64, t *Texture) error {
	textures.Lock()
	defer textures.Unlock()
	p := C.kz_tex_slot(C.uint32_t(h % (1 << TextureSlotBits)))
	if p == nil {
		return ErrNoMemory
	}
	put(p, t, h)
	return nil
}

// put writes all but the handle before the handle: a kernel that looks for it meanwhile finds it dead or whole.
func put(p *C.struct_kz_tex, t *Texture, h uint64) {
	q := (*Texture)(unsafe.Pointer(p))
	q.Handle = 0
	x := *t
	x.Handle = 0
	*q = x
	q.Pad[0] = uint32(C.kz_texture_quick(p))
	q.Handle = h
}

func liveTexture(h uint64) *C.struct_kz_tex {
	return (*C.struct_kz_tex)(unsafe.Pointer(C.kz_tex_find(C.uint64_t(h))))
}

// SetTexture changes what a handle shows.
func SetTexture(h uint64, t *Texture) error {
	textures.Lock()
	defer textures.Unlock()
	p := liveTexture(h)
	if p == nil {
		return ErrInvalid
	}
	put(p, t, h)
	return nil
}

// FreeTexture ends an object.
func FreeTexture(h uint64) error {
	textures.Lock()
	defer textures.Unlock()
	p := liveTexture(h)
	if p == nil {
		return ErrInvalid
	}
	(*Texture)(unsafe.Pointer(p)).Handle = 0
	return nil
}

// FindTexture is the object of a handle, nil if there is none. It is read-only, and C's.
func FindTexture(h uint64) *Texture { return (*Texture)(unsafe.Pointer(liveTexture(h))) }
