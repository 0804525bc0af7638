package cpu

import (
	"kudzu/internal/backend"
	"kudzu/internal/engine"
)

// NewTexture makes an object that kernels find by its handle.
func (d *Device) NewTexture(t *backend.Texture) (uint64, error) {
	x := engine.Texture(*t)
	h, err := engine.NewTexture(&x)
	return h, plain(err)
}

// SetTexture changes what a handle shows.
func (d *Device) SetTexture(h uint64, t *backend.Texture) error {
	x := engine.Texture(*t)
	return plain(engine.SetTexture(h, &x))
}

// FreeTexture ends an object.
func (d *Device) FreeTexture(h uint64) error { return plain(engine.FreeTexture(h)) }
