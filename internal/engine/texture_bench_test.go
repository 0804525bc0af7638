package engine

import "testing"

// BenchmarkTexture: one warp's fetch, bilinear and not, of the two most common formats.
func BenchmarkTexture(b *testing.B) {
	mem := make([]byte, 256*256*4+64)
	for _, c := range []struct {
		name             string
		format, channels uint8
		linear           uint8
	}{{"point f32", 7, 1, 0}, {"linear f32", 7, 1, 1}, {"point u8x4", 0, 4, 0}, {"linear u8x4", 0, 4, 1}} {
		b.Run(c.name, func(b *testing.B) {
			t := Texture{Kind: 1, Dims: 2, Format: c.format, Channels: c.channels, Levels: 1, Linear: c.linear, Normalized: 1, Address: [4]uint8{1, 1, 1}}
			t.Base[0], t.Pitch[0], t.Width[0], t.Height[0] = addressOf(mem), 1024, 256, 256
			h := uint64(1<<TextureSlotBits | 1)
			err := NewTexture(h, &t)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = FreeTexture(h) }()
			b.ResetTimer()
			sampleLoop(h, 1<<4, b.N)
		})
	}
}
