package contract

import (
	"encoding/binary"
	"math"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/testkit"
)

// sampling reads a texel, one between two, and stores through a surface.
const sampling = `.version 8.0
.target sm_80
.address_size 64
.visible .entry sample(.param .u64 tex, .param .u64 surf, .param .u64 out)
{
	.reg .b32 %r<3>;
	.reg .f32 %f<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [tex];
	ld.param.u64 %rd1, [surf];
	ld.param.u64 %rd2, [out];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %rd2, %r0, 8, %rd2;
	tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd0, {%r0, 1}];
	st.global.f32 [%rd2], %f0;
	cvt.rn.f32.u32 %f4, %r0;
	add.f32 %f4, %f4, 0f3F800000;
	tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%f4, 0f3F000000}];
	st.global.f32 [%rd2+4], %f0;
	shl.b32 %r1, %r0, 2;
	add.u32 %r0, %r0, 100;
	sust.b.2d.b32.zero [%rd1, {%r1, 1}], %r0;
	ret;
}
`

// plane is 4 by 2 floats in memory, as kernels see them.
func plane(kind uint8, at backend.Addr) *backend.Texture {
	t := &backend.Texture{Kind: kind, Dims: 2, Format: backend.FormatF32, Channels: 1, Levels: 1, Linear: 1, Address: [4]uint8{backend.AddressClamp, backend.AddressClamp, backend.AddressClamp}}
	t.Base[0], t.Pitch[0], t.Slice[0], t.Width[0], t.Height[0] = uint64(at), 16, 32, 4, 2
	return t
}

// textures: objects are made, changed and ended, and kernels find them by their handles.
func textures(t *testing.T, b *bench) {
	d, ok := b.d.(backend.Textures)
	if !ok {
		t.Skip("its textures are another's")
	}
	m, err := driver.Describe("textures", sampling, 90)
	b.ok(err)
	p, err := b.d.Load(m)
	b.ok(err)
	defer func() { b.ok(p.Unload()) }()
	q, k := b.queue(), b.kernel(p, "sample")
	one, two, drawn, out := b.memory(32), b.memory(32), b.memory(32), b.memory(32)
	h := testkit.NewHostPage(t, 64)
	for i := range 16 {
		binary.LittleEndian.PutUint32(h[4*i:], math.Float32bits(float32(i)))
	}
	b.ok(q.Copy(one, h.Addr(), 32))
	b.ok(q.Copy(two, h.Addr()+32, 32))
	b.ok(q.Fill(drawn, 7, 4, 8, 0, 1))
	b.ok(q.Sync())
	tex, err := d.NewTexture(plane(backend.TextureObject, one))
	b.ok(err)
	surf, err := d.NewTexture(plane(backend.SurfaceObject, drawn))
	b.ok(err)
	if tex == 0 || surf == 0 || tex == surf {
		t.Errorf("handles %#x and %#x", tex, surf)
	}
	check := func(first float32) {
		t.Helper()
		params := pointer(backend.Addr(tex))
		params = append(append(params, pointer(backend.Addr(surf))...), pointer(out)...)
		b.ok(q.Launch(k, line(1, 4, params)))
		got := b.words(q, out, 8)
		for i := range 4 {
			texel, between := math.Float32frombits(got[2*i]), math.Float32frombits(got[2*i+1])
			if want := first + float32(4+i); texel != want {
				t.Errorf("texel %d is %v, not %v", i, texel, want)
			}
			if want := first + min(float32(i)+0.5, 3); between != want {
				t.Errorf("between %d and %d: %v, not %v", i, i+1, between, want)
			}
		}
	}
	check(0)
	b.ok(d.SetTexture(tex, plane(backend.TextureObject, two)))
	check(8)
	for i, v := range b.words(q, drawn, 8) {
		want := uint32(7)
		if i >= 4 {
			want = 100 + uint32(i-4)
		}
		if v != want {
			t.Errorf("word %d of the surface is %d, not %d", i, v, want)
		}
	}
	b.ok(d.FreeTexture(tex))
	b.ok(d.FreeTexture(surf))
	if d.FreeTexture(tex) == nil || d.SetTexture(surf, plane(backend.SurfaceObject, one)) == nil {
		t.Error("an object that ended is still there")
	}
	if again, err := d.NewTexture(plane(backend.TextureObject, one)); err != nil || again == tex || again == surf {
		t.Errorf("another object is %#x, %v", again, err)
	} else {
		b.ok(d.FreeTexture(again))
	}
}
