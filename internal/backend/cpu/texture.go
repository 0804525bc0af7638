package cpu

import (
	"kudzu/internal/backend"
	"kudzu/internal/engine"
)

// NewTexture makes an object that kernels find by its handle.
func (d *Device) NewTexture(t *backend.Texture) (uint64, error) {
	x := engine.Texture(*t)
	h, err := backend.TakeTextureHandle()
	if err != nil {
		return 0, err
	}
	if err := engine.NewTexture(h, &x); err != nil {
		backend.GiveTextureHandle(h)
		return 0, plain(err)
	}
	return h, nil
}

// SetTexture changes what a handle shows.
func (d *Device) SetTexture(h uint64, t *backend.Texture) error {
	x := engine.Texture(*t)
	return plain(engine.SetTexture(h, &x))
}

// FreeTexture ends an object.
func (d *Device) FreeTexture(h uint64) error {
	if err := engine.FreeTexture(h); err != nil {
		return plain(err)
	}
	backend.GiveTextureHandle(h)
	return nil
}

var _ [backend.TextureSlotBits]struct{} = [engine.TextureSlotBits]struct{}{}
