package engine

/*
#include "texture.h"

#cgo nocallback kz_tex_slot
#cgo noescape kz_tex_find
#cgo nocallback kz_tex_find
*/
import "C"

import (
	"sync"
	"unsafe"
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
	Pad                      uint32

	Base, Pitch, Slice   [C.KZ_TEX_LEVELS]uint64
	Width, Height, Depth [C.KZ_TEX_LEVELS]uint32
}

var (
	_ [unsafe.Sizeof(Texture{})]struct{}              = [C.sizeof_struct_kz_tex]struct{}{}
	_ [unsafe.Offsetof(Texture{}.Base)]struct{}       = [unsafe.Offsetof(C.struct_kz_tex{}.base)]struct{}{}
	_ [unsafe.Offsetof(Texture{}.MinLevel)]struct{}   = [unsafe.Offsetof(C.struct_kz_tex{}.min_level)]struct{}{}
	_ [unsafe.Offsetof(Texture{}.Normalized)]struct{} = [unsafe.Offsetof(C.struct_kz_tex{}.normalized)]struct{}{}
)

// textures is the free part of the table; the objects are in C, where kernels find them.
var textures struct {
	sync.Mutex
	free []uint64 // guarded: handles to give out next
	next uint32   // guarded: the first slot never used; slot 0 is nobody's, so that 0 is no handle
}

const texSlots = 1 << C.KZ_TEX_SLOT_BITS

// NewTexture makes an object of t and returns its handle.
func NewTexture(t *Texture) (uint64, error) {
	textures.Lock()
	defer textures.Unlock()
	var h uint64
	switch n := len(textures.free); {
	case n > 0:
		h = textures.free[n-1]
		textures.free = textures.free[:n-1]
	case textures.next+1 < texSlots:
		textures.next++
		h = 1<<C.KZ_TEX_SLOT_BITS | uint64(textures.next)
	default:
		return 0, ErrNoMemory
	}
	p := C.kz_tex_slot(C.uint32_t(h % texSlots))
	if p == nil {
		textures.free = append(textures.free, h)
		return 0, ErrNoMemory
	}
	put(p, t, h)
	return h, nil
}

// put writes all but the handle before the handle: a kernel that looks for it meanwhile finds it dead or whole.
func put(p *C.struct_kz_tex, t *Texture, h uint64) {
	q := (*Texture)(unsafe.Pointer(p))
	q.Handle = 0
	x := *t
	x.Handle = 0
	*q = x
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

// FreeTexture ends an object; its handle is never given out again.
func FreeTexture(h uint64) error {
	textures.Lock()
	defer textures.Unlock()
	p := liveTexture(h)
	if p == nil {
		return ErrInvalid
	}
	(*Texture)(unsafe.Pointer(p)).Handle = 0
	if next := h + texSlots; next>>62 == 0 {
		textures.free = append(textures.free, next)
	}
	return nil
}

// FindTexture is the object of a handle, nil if there is none. It is read-only, and C's.
func FindTexture(h uint64) *Texture { return (*Texture)(unsafe.Pointer(liveTexture(h))) }
