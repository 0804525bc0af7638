package hip

import (
	"encoding/binary"
	"errors"

	"kudzu/internal/backend"
	"kudzu/internal/devrt"
	"kudzu/internal/lockrank"
)

// Kernels sample textures in software (package devrt), from a table of objects in device memory that has as many chunks as its
// slots needed. A kernel that names the table finds objects made later, too.

type textures struct {
	mu     lockrank.Mutex[lockrank.HIPTextures]
	table  backend.Addr            // guarded by mu: 0 before the first object or the first kernel that names it
	chunks map[uint64]backend.Addr // guarded by mu: by where the table has their address
	live   map[uint64]bool         // guarded by mu: handles of this device
}

var _ backend.Textures = (*device)(nil)

var (
	_           [backend.TextureSlotBits]struct{} = [devrt.TextureSlotBits]struct{}{}
	objectBytes                                   = uint64(binary.Size(backend.Texture{}))
)

// lendTextures gives the table's address. Preconditions: d.textures is locked.
func (d *device) lendTextures() (backend.Addr, error) {
	return d.place(&d.textures.table, devrt.TextureTable, func(backend.Addr) []byte { return devrt.NewTextures(&backend.SRGBLinear) })
}

// slot is where the object of a handle lies, made if need be. Preconditions: d.textures is locked.
func (d *device) slot(h uint64) (backend.Addr, error) {
	s := &d.textures
	table, err := d.lendTextures()
	if err != nil {
		return 0, err
	}
	at := devrt.ChunkAt(h)
	chunk := s.chunks[at]
	if chunk == 0 {
		n := devrt.TextureChunk * objectBytes
		if _, err := d.place(&chunk, n, func(backend.Addr) []byte { return make([]byte, n) }); err != nil {
			return 0, err
		}
		if err := d.upload(table+backend.Addr(at), binary.LittleEndian.AppendUint64(nil, uint64(chunk))); err != nil {
			return 0, errors.Join(err, d.Memory().Free(chunk))
		}
		if s.chunks == nil {
			s.chunks = map[uint64]backend.Addr{}
		}
		s.chunks[at] = chunk
	}
	return chunk + backend.Addr(h%devrt.TextureChunk*objectBytes), nil
}

// show writes an object to its slot. Preconditions: d.textures is locked.
func (d *device) show(h uint64, t *backend.Texture) error {
	at, err := d.slot(h)
	if err != nil {
		return err
	}
	x := *t
	x.Handle = h
	b, err := binary.Append(nil, binary.LittleEndian, &x)
	if err != nil {
		return err
	}
	return d.upload(at, b)
}

// NewTexture makes an object that kernels of this device find by its handle.
func (d *device) NewTexture(t *backend.Texture) (uint64, error) {
	h, err := backend.TakeTextureHandle()
	if err != nil {
		return 0, err
	}
	s := &d.textures
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := d.show(h, t); err != nil {
		backend.GiveTextureHandle(h)
		return 0, err
	}
	if s.live == nil {
		s.live = map[uint64]bool{}
	}
	s.live[h] = true
	return h, nil
}

// SetTexture changes what a handle shows.
func (d *device) SetTexture(h uint64, t *backend.Texture) error {
	s := &d.textures
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live[h] {
		return backend.ErrNotFound
	}
	return d.show(h, t)
}

// FreeTexture ends an object: kernels that still have its handle fault.
func (d *device) FreeTexture(h uint64) error {
	s := &d.textures
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live[h] {
		return backend.ErrNotFound
	}
	at, err := d.slot(h)
	if err != nil {
		return err
	}
	if err := d.upload(at, make([]byte, 8)); err != nil {
		return err
	}
	delete(s.live, h)
	backend.GiveTextureHandle(h)
	return nil
}
