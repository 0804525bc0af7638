package texels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"kudzu/internal/spec/cu"
)

func (m *maker) mipmaps() {
	big := []geometry{
		{"1d", 1, false, false, 24, 0, 0, 0}, {"2d", 2, false, false, 20, 12, 0, 0}, {"3d", 3, false, false, 8, 12, 6, 0},
		{"a2d", 2, true, false, 16, 9, 3, cu.CUDA_ARRAY3D_LAYERED}, {"cube", 3, false, true, 16, 16, 6, cu.CUDA_ARRAY3D_CUBEMAP},
	}
	mip := func(name, code string, g *geometry, t cu.CUDA_TEXTURE_DESC, v *cu.CUDA_RESOURCE_VIEW_DESC, extra int, word func(r *rand.Rand, k int) float32) {
		_, in := g.operands()
		j := &Job{Name: name, Res: cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, Array: g.array("f32", 1), Levels: 4, Tex: t, View: v, Code: code, In: in + extra, Out: 4}
		if g.name == "3d" {
			j.Levels = 3
		}
		r := m.add(j)
		for range kept * 2 {
			j.Words = append(j.Words, g.words(r, 1, true)...)
			for k := range extra {
				j.Words = append(j.Words, math.Float32bits(word(r, k)))
			}
		}
	}
	lod := func(r *rand.Rand, _ int) float32 {
		switch r.IntN(8) {
		case 0:
			return float32(r.IntN(6) - 1)
		case 1:
			return oddCoords[r.IntN(len(oddCoords))]
		}
		return float32(r.Float64()*6 - 1.5)
	}
	for gi := range big {
		g := &big[gi]
		ops, in := g.operands()
		for _, filter := range []cu.CUfilter_mode{point, linear} {
			for _, mf := range []cu.CUfilter_mode{point, linear} {
				t := desc(filter, normal, clamp)
				t.MipmapFilterMode, t.MaxMipmapLevelClamp = mf, 10
				level := fmt.Sprintf("tex.level.%s.v4.f32.f32 {o0,o1,o2,o3}, [t, %s], i%d;", g.name, ops, in)
				mip(fmt.Sprintf("level %s %d%d", g.name, filter, mf), level, g, t, nil, 1, lod)
				b := t
				b.MipmapLevelBias, b.MinMipmapLevelClamp, b.MaxMipmapLevelClamp = 0.7, 0.3, 2.2
				mip(fmt.Sprintf("level biased %s %d%d", g.name, filter, mf), level, g, b, nil, 1, lod)
				n := map[string]int{"1d": 1, "2d": 2, "a2d": 2, "3d": 3, "cube": 3}[g.name]
				vec := func(at int) string {
					switch n {
					case 1:
						return fmt.Sprintf("i%d", at)
					case 2:
						return fmt.Sprintf("{i%d,i%d}", at, at+1)
					}
					return fmt.Sprintf("{i%d,i%d,i%d,i%d}", at, at+1, at+2, at+2)
				}
				grad := fmt.Sprintf("tex.grad.%s.v4.f32.f32 {o0,o1,o2,o3}, [t, %s], %s, %s;", g.name, ops, vec(in), vec(in+n))
				if n == 1 {
					grad = fmt.Sprintf("tex.grad.%s.v4.f32.f32 {o0,o1,o2,o3}, [t, %s], {i%d}, {i%d};", g.name, ops, in, in+1)
				}
				mip(fmt.Sprintf("grad %s %d%d", g.name, filter, mf), grad, g, t, nil, 2*n, func(r *rand.Rand, _ int) float32 {
					return float32(math.Exp2(r.Float64()*7-6)) * float32(1-2*r.IntN(2))
				})
				mip(fmt.Sprintf("no level %s %d%d", g.name, filter, mf), fmt.Sprintf("tex.%s.v4.f32.f32 {o0,o1,o2,o3}, [t, %s];", g.name, ops), g, b, nil, 0, nil)
				mip(fmt.Sprintf("base %s %d%d", g.name, filter, mf), fmt.Sprintf("tex.base.%s.v4.f32.f32 {o0,o1,o2,o3}, [t, %s];", g.name, ops), g, b, nil, 0, nil)
			}
		}
	}
	g := &big[1]
	t := desc(linear, normal, wrap)
	t.MipmapFilterMode, t.MaxMipmapLevelClamp = linear, 10
	v := &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CU_RES_VIEW_FORMAT_FLOAT_1X32, Width: 20, Height: 12, FirstMipmapLevel: 1, LastMipmapLevel: 2}
	mip("view of levels", "tex.level.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], i2;", g, t, v, 1, lod)
	v2 := *v
	v2.Width, v2.Height = 10, 6
	mip("view of levels, their size", "tex.level.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], i2;", g, t, &v2, 1, lod)
	mip("level integer", "cvt.rzi.s32.f32 i2, i2; cvt.rzi.s32.f32 i0, i0; cvt.rzi.s32.f32 i1, i1; tex.level.2d.v4.f32.s32 {o0,o1,o2,o3}, [t, {i0,i1}], i2;", g, desc(point, 0, clamp), nil, 1, lod)
	t.MaxAnisotropy = 8
	mip("anisotropic", "tex.grad.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], {i2,i3}, {i4,i5};", g, t, nil, 4, func(r *rand.Rand, _ int) float32 {
		return float32(math.Exp2(r.Float64()*7 - 6))
	})
	// A view with another format of the same size, of an array.
	j := &Job{Name: "view as bytes", Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: geometries[1].array("u32", 1), Tex: desc(point, integer, clamp), View: &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CU_RES_VIEW_FORMAT_UINT_4X8, Width: 11, Height: 6}, In: 2, Out: 4, Code: "tex.2d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];"}
	r := m.add(j)
	j.Words = geometries[1].words(r, kept, false)
	j = &Job{Name: "view of layers", Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: geometries[4].array("u32", 1), Tex: desc(point, integer, clamp), View: &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CU_RES_VIEW_FORMAT_UINT_1X32, Width: 8, Height: 5, Depth: 3, FirstLayer: 1, LastLayer: 2}, In: 3, Out: 4, Code: "tex.a2d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0,i1,i2,i2}];"}
	r = m.add(j)
	j.Words = geometries[4].words(r, kept, false)
}

func (m *maker) gathers() {
	g := geometries[1]
	g.flags = cu.CUDA_ARRAY3D_TEXTURE_GATHER
	for ci, comp := range []string{"r", "g", "b", "a"} {
		for mode := range modeNames {
			for _, norm := range []uint32{0, normal} {
				if ci > 0 && (mode != 1 || norm == 0) {
					continue
				}
				m.texture(fmt.Sprintf("gather %s %s %#x", comp, modeNames[mode], norm), "tld4."+comp+".2d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", &g, "u8", 4, desc(point, norm|integer, cu.CUaddress_mode(mode)), kept)
			}
		}
	}
	m.texture("gather f32", "tld4.r.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", &g, "f32", 1, desc(linear, normal, clamp), kept)
	m.texture("gather unorm", "tld4.g.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", &g, "u8", 2, desc(linear, normal, clamp), kept)
	m.texture("gather missing component", "tld4.a.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", &g, "f32", 1, desc(linear, normal, clamp), kept)
	m.texture("gather offset", "tld4.r.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], {1,-3};", &g, "f32", 1, desc(linear, normal, clamp), kept)
	a := geometries[4]
	a.flags |= cu.CUDA_ARRAY3D_TEXTURE_GATHER
	m.texture("gather layers", "tld4.r.a2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1,i2,i2}];", &a, "f32", 1, desc(linear, normal, clamp), kept)
	c := geometries[5]
	c.flags |= cu.CUDA_ARRAY3D_TEXTURE_GATHER
	m.texture("gather cube", "tld4.r.cube.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1,i2,i2}];", &c, "f32", 1, desc(linear, normal, clamp), kept)
}

func (m *maker) queries() {
	for gi := range geometries {
		g := &geometries[gi]
		for _, q := range []string{"width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "filter_mode", "addr_mode_0", "array_size", "num_mipmap_levels", "num_samples"} {
			f := formats[gi%len(formats)]
			j := &Job{Name: "txq " + g.name + " " + q, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array(f.name, []uint32{1, 2, 4}[gi%3]), Tex: desc(point, integer|normal, clamp), Out: 1, Code: "txq." + q + ".b32 o0, [t];"}
			m.add(j)
		}
	}
	for _, f := range formats {
		for _, ch := range []uint32{1, 2, 4} {
			for _, q := range []string{"channel_data_type", "channel_order"} {
				m.add(&Job{Name: fmt.Sprintf("txq %sx%d %s", f.name, ch, q), Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: geometries[1].array(f.name, ch), Tex: desc(point, integer, clamp), Out: 1, Code: "txq." + q + ".b32 o0, [t];"})
			}
		}
	}
	for _, q := range []string{"width", "height", "depth"} {
		j := &Job{Name: "txq level " + q, Res: cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 20, Height: 12, Depth: 6, Format: formatNamed("f32")}, Levels: 4, Tex: desc(point, normal, clamp), In: 1, Out: 1, Code: "txq.level." + q + ".b32 o0, [t], i0;"}
		m.add(j)
		j.Words = []uint32{0, 1, 2, 3, 4, 100, 0xffffffff}
		for gi := range geometries {
			g := &geometries[gi]
			j := &Job{Name: "suq " + g.name + " " + q, Surface: true, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array("u16", 2), Out: 1, Code: "suq." + q + ".b32 o0, [t];"}
			j.Array.Flags |= cu.CUDA_ARRAY3D_SURFACE_LDST
			m.add(j)
		}
	}
	for _, q := range []string{"channel_data_type", "channel_order", "array_size"} {
		j := &Job{Name: "suq " + q, Surface: true, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: geometries[4].array("u16", 2), Out: 1, Code: "suq." + q + ".b32 o0, [t];"}
		j.Array.Flags |= cu.CUDA_ARRAY3D_SURFACE_LDST
		m.add(j)
	}
	lin := &Job{Name: "txq memory width", Res: cu.CU_RESOURCE_TYPE_LINEAR, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 29, Format: formatNamed("f32"), NumChannels: 1}, Tex: desc(point, 0, clamp), Out: 1, Code: "txq.width.b32 o0, [t];"}
	m.add(lin)
	for _, typ := range []string{"texref", "surfref", "samplerref"} {
		m.add(&Job{Name: "istypep texture " + typ, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: geometries[1].array("f32", 1), Tex: desc(point, 0, clamp), Out: 1, Code: "istypep." + typ + " p, t; selp.u32 o0, 1, 0, p;"})
		j := &Job{Name: "istypep surface " + typ, Surface: true, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: geometries[1].array("f32", 1), Out: 1, Code: "istypep." + typ + " p, t; selp.u32 o0, 1, 0, p;"}
		j.Array.Flags |= cu.CUDA_ARRAY3D_SURFACE_LDST
		m.add(j)
	}
}

// surfaceWords are coordinates of surfaces, x in bytes where scaled by the size of an access; y and z near their sides.
func surfaceWords(r *rand.Rand, g *geometry, n, unit, width int) []uint32 {
	var w []uint32
	for range n {
		if g.layer {
			w = append(w, uint32(int32(r.IntN(int(g.d)+2)-1)))
		}
		x := r.IntN(width+4) - 2
		w = append(w, uint32(int32(x*unit)))
		for _, s := range []uint64{g.h, g.d}[:g.dims-1] {
			w = append(w, uint32(int32(r.IntN(int(s)+3)-1)))
		}
	}
	return w
}

func (m *maker) surfaces() {
	for gi := range geometries[:5] {
		g := &geometries[gi]
		ops, in := g.operands()
		for _, mode := range []string{"clamp", "zero"} {
			for _, a := range []struct {
				f    string
				ch   uint32
				vec  string
				typ  string
				regs int
			}{{"u8", 1, "", "b8", 0}, {"u16", 1, "", "b16", 0}, {"f32", 1, "", "b32", 1}, {"u32", 2, "", "b64", 2}, {"u8", 4, "", "b32", 1}, {"u16", 2, ".v2", "b16", 0}, {"u32", 2, ".v2", "b32", 2}, {"f32", 4, ".v4", "b32", 4}, {"u8", 4, ".v4", "b8", 0}, {"u32", 4, ".v2", "b64", 4}} {
				n := map[string]int{"": 1, ".v2": 2, ".v4": 4}[a.vec]
				// Loads.
				regs := []string{}
				tail := ""
				for k := range n {
					switch a.typ {
					case "b8", "b16":
						regs = append(regs, fmt.Sprintf("h%d", k))
						tail += fmt.Sprintf(" cvt.u32.u16 o%d, h%d;", k, k)
					case "b32":
						regs = append(regs, fmt.Sprintf("o%d", k))
					case "b64":
						regs = append(regs, fmt.Sprintf("l%d", k))
						tail += fmt.Sprintf(" mov.b64 {o%d,o%d}, l%d;", 2*k, 2*k+1, k)
					}
				}
				out := n
				if a.typ == "b64" {
					out = 2 * n
				}
				list := "{" + join(regs) + "}"
				if n == 1 {
					list = regs[0]
				}
				array := g.array(a.f, a.ch)
				array.Flags |= cu.CUDA_ARRAY3D_SURFACE_LDST
				unit := elemBytes(array.Format) * int(a.ch)
				j := &Job{Name: fmt.Sprintf("suld %s %sx%d %s%s %s", g.name, a.f, a.ch, a.vec, a.typ, mode), Surface: true, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: array, In: in, Out: out,
					Code: fmt.Sprintf("suld.b.%s%s.%s.%s %s, [t, %s];%s", g.name, a.vec, a.typ, mode, list, ops, tail)}
				r := m.add(j)
				j.Words = surfaceWords(r, g, 24, unit, int(g.w))
				// Stores: the value depends on the place only, so that threads may agree.
				head, vals := "", []string{}
				for k := range n {
					switch a.typ {
					case "b8", "b16":
						head += fmt.Sprintf("add.u32 o%d, o6, %d; cvt.u16.u32 h%d, o%d; ", k, 37*k, k, k)
						vals = append(vals, fmt.Sprintf("h%d", k))
					case "b32":
						head += fmt.Sprintf("mad.lo.u32 o%d, o6, 77773, %d; ", k, k)
						vals = append(vals, fmt.Sprintf("o%d", k))
					case "b64":
						head += fmt.Sprintf("mov.b64 l%d, {o6, o7}; ", k)
						vals = append(vals, fmt.Sprintf("l%d", k))
					}
				}
				list = "{" + join(vals) + "}"
				if n == 1 {
					list = vals[0]
				}
				hash := "mov.u32 o6, 12345; "
				for k := range in {
					hash += fmt.Sprintf("mad.lo.u32 o6, o6, 1000003, i%d; ", k)
				}
				if mode == "clamp" { // two threads may be clamped to one place: one value for all
					hash = "mov.u32 o6, 12345; "
				}
				j = &Job{Name: fmt.Sprintf("sust %s %sx%d %s%s %s", g.name, a.f, a.ch, a.vec, a.typ, mode), Surface: true, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: array, In: in, Out: 1,
					Code: hash + "mov.u32 o7, o6; " + head + fmt.Sprintf("sust.b.%s%s.%s.%s [t, %s], %s; mov.u32 o0, 1;", g.name, a.vec, a.typ, mode, ops, list)}
				r = m.add(j)
				j.Words = surfaceWords(r, g, 12, unit, int(g.w))
			}
		}
	}
	// Formatted stores.
	g := &geometries[1]
	for _, f := range formats {
		for _, ch := range []uint32{1, 2, 4} {
			array := g.array(f.name, ch)
			array.Flags |= cu.CUDA_ARRAY3D_SURFACE_LDST
			vec, regs := "", "o6"
			switch ch {
			case 2:
				vec, regs = ".v2", "{i2,i3}"
			case 4:
				vec, regs = ".v4", "{i2,i3,i4,i5}"
			default:
				regs = "i2"
			}
			j := &Job{Name: fmt.Sprintf("sust.p %sx%d", f.name, ch), Surface: true, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: array, In: 6, Out: 1, Code: "mov.u32 o0, 1; sust.p.2d" + vec + ".b32.zero [t, {i0,i1}], " + regs + ";"}
			r := m.add(j)
			for i := range 24 {
				j.Words = append(j.Words, uint32(i%12), uint32(i/12))
				for range 4 {
					v := r.Uint32()
					switch r.IntN(4) {
					case 0:
						v = math.Float32bits(float32(r.NormFloat64()))
					case 1:
						v = uint32(int32(r.IntN(600) - 300))
					case 2:
						v = math.Float32bits(float32(r.NormFloat64() * 1e5))
					}
					j.Words = append(j.Words, v)
				}
			}
		}
	}
}

func join(s []string) string {
	out := ""
	for i, x := range s {
		if i > 0 {
			out += ","
		}
		out += x
	}
	return out
}

func (m *maker) reductions() {
	for gi := range geometries[:3] {
		g := &geometries[gi]
		ops, in := g.operands()
		for _, p := range []string{"b", "p"} {
			for _, o := range []string{"add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "max.u32", "max.s32", "min.u64", "max.s64", "and.b32", "or.b32", "add.b32", "min.b32", "max.b32"} {
				b := p == "b"
				if b == (o == "add.b32" || o == "min.b32" || o == "max.b32") && o[:3] != "and" && o[:2] != "or" {
					continue
				}
				if !b && o[3:] != ".b32" && o != "or.b32" {
					continue
				}
				wide := o[len(o)-2:] == "64"
				array := g.array("u32", 1)
				if o == "min.b32" {
					array = g.array("s32", 1)
				}
				val, unit := "i6", 4
				if wide {
					array, val, unit = g.array("u32", 2), "l0", 8
				}
				if !b {
					unit = 1
				}
				array.Flags |= cu.CUDA_ARRAY3D_SURFACE_LDST
				j := &Job{Name: fmt.Sprintf("sured.%s %s %s", p, g.name, o), Surface: true, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: array, In: 8, Out: 1, Code: fmt.Sprintf("mov.u32 o0, 1; mov.b64 l0, {i6,i7}; sured.%s.%s.%s.%s.zero [t, %s], %s;", p, o[:len(o)-4], g.name, o[len(o)-3:], ops, val)}
				r := m.add(j)
				for range 40 {
					w := surfaceWords(r, g, 1, unit, int(g.w))
					for len(w) < 6 {
						w = append(w, 0)
					}
					j.Words = append(j.Words, append(w, r.Uint32(), r.Uint32())...)
				}
				_ = in
			}
		}
	}
}

// creation asks for objects only: what is allowed, and the code where it is not.
func (m *maker) creation() {
	for _, res := range []cu.CUresourcetype{cu.CU_RESOURCE_TYPE_ARRAY, cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, cu.CU_RESOURCE_TYPE_LINEAR, cu.CU_RESOURCE_TYPE_PITCH2D} {
		for _, f := range []string{"u8", "u32", "f16", "f32"} {
			for _, filter := range []cu.CUfilter_mode{point, linear} {
				for _, flags := range []uint32{0, integer, normal, srgb, integer | srgb, 0x80, seam, 0x20} {
					for _, mode := range []cu.CUaddress_mode{wrap, border} {
						j := &Job{Name: fmt.Sprintf("create %d %s %d %#x %d", res, f, filter, flags, mode), Res: res, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 16, Height: 16, Format: formatNamed(f), NumChannels: 1}, Levels: 2, Tex: desc(filter, flags, mode), Out: 1, Code: "mov.u32 o0, 1;"}
						m.add(j)
					}
				}
			}
		}
	}
	one := func(name string, change func(j *Job)) {
		j := &Job{Name: "create " + name, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 16, Height: 16, Format: formatNamed("f32"), NumChannels: 1}, Levels: 1, Tex: desc(point, normal, clamp), Out: 1, Code: "mov.u32 o0, 1;"}
		change(j)
		m.add(j)
	}
	one("aniso 16", func(j *Job) { j.Tex.MaxAnisotropy = 16 })
	one("aniso 17", func(j *Job) { j.Tex.MaxAnisotropy = 17 })
	one("bad mode", func(j *Job) { j.Tex.AddressMode[0] = 7 })
	one("bad mode of an unused dimension", func(j *Job) { j.Tex.AddressMode[2] = 7 })
	one("bad filter", func(j *Job) { j.Tex.FilterMode = 3 })
	one("bad mip filter", func(j *Job) { j.Tex.MipmapFilterMode = 3 })
	one("view wrong size", func(j *Job) {
		j.View = &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CU_RES_VIEW_FORMAT_FLOAT_1X32, Width: 8, Height: 16}
	})
	one("view wrong format", func(j *Job) {
		j.View = &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CU_RES_VIEW_FORMAT_UINT_1X8, Width: 16, Height: 16}
	})
	one("view levels of an array", func(j *Job) {
		j.View = &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CU_RES_VIEW_FORMAT_FLOAT_1X32, Width: 16, Height: 16, LastMipmapLevel: 1}
	})
	one("view none", func(j *Job) { j.View = &cu.CUDA_RESOURCE_VIEW_DESC{Width: 16, Height: 16} })
	one("view block", func(j *Job) {
		j.Array.Format, j.Array.NumChannels = formatNamed("u32"), 2
		j.View = &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CU_RES_VIEW_FORMAT_UNSIGNED_BC1, Width: 64, Height: 64}
	})
	one("view of memory", func(j *Job) {
		j.Res = cu.CU_RESOURCE_TYPE_LINEAR
		j.View = &cu.CUDA_RESOURCE_VIEW_DESC{Format: cu.CU_RES_VIEW_FORMAT_FLOAT_1X32, Width: 16}
	})
	one("surface without the flag", func(j *Job) { j.Surface = true })
	one("surface of memory", func(j *Job) { j.Surface, j.Res = true, cu.CU_RESOURCE_TYPE_LINEAR })
	one("surface of a mipmap", func(j *Job) {
		j.Surface, j.Res = true, cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
		j.Array.Flags = cu.CUDA_ARRAY3D_SURFACE_LDST
	})
	one("surface", func(j *Job) { j.Surface = true; j.Array.Flags = cu.CUDA_ARRAY3D_SURFACE_LDST })
	one("gather 1d", func(j *Job) { j.Array.Height = 0; j.Array.Flags = cu.CUDA_ARRAY3D_TEXTURE_GATHER })
	one("mip clamp", func(j *Job) { j.Tex.MinMipmapLevelClamp = 3; j.Tex.MaxMipmapLevelClamp = 1 })
}

func (m *maker) faults() {
	g := &geometries[1]
	array := g.array("u32", 1)
	array.Flags |= cu.CUDA_ARRAY3D_SURFACE_LDST
	fault := func(name, code string, surface bool, words ...uint32) {
		j := &Job{Name: "fault " + name, Surface: surface, Faults: true, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: array, Tex: desc(point, integer, clamp), In: 2, Out: 1, Code: code, Words: words}
		m.add(j)
	}
	fault("suld trap outside", "suld.b.2d.b32.trap o0, [t, {i0,i1}];", true, 4000, 1)
	fault("suld trap inside", "suld.b.2d.b32.trap o0, [t, {i0,i1}];", true, 8, 1)
	fault("sust trap outside", "sust.b.2d.b32.trap [t, {i0,i1}], i1; mov.u32 o0, 1;", true, 4000, 1)
	fault("suld zero misaligned", "suld.b.2d.b32.zero o0, [t, {i0,i1}];", true, 6, 1)
	fault("tex of a null handle", "mov.u64 t, 0; tex.2d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", false, 0, 0)
	fault("tex of a wild handle", "mov.u64 t, 0x123456789; tex.2d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", false, 0, 0)
	fault("suld of a texture", "suld.b.2d.b32.zero o0, [t, {i0,i1}];", false, 4, 1)
	fault("tex of a surface", "tex.2d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", true, 0, 0)
	fault("tex 3d of a 2d texture", "tex.3d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0,i1,i1,i1}];", false, 0, 0)
	fault("tex 1d of a 2d texture", "tex.1d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0}];", false, 0x40400000, 0x3f800000)
}

// probes ask for weights and sums at many points; they are for learning the formulas.
func (m *maker) probes() {
	tex := func(name, code string, a cu.CUDA_ARRAY3D_DESCRIPTOR, t cu.CUDA_TEXTURE_DESC, data []byte, in int, words func(r *rand.Rand) []uint32) {
		j := &Job{Name: "probe " + name, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: a, Tex: t, Data: data, In: in, Out: 4, Code: code}
		r := m.add(j)
		j.Words = words(r)
	}
	const c1 = "tex.1d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0}];"
	const c2 = "tex.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];"
	const c3 = "tex.3d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1,i2,i2}];"
	f32 := cu.CUarray_format(cu.CU_AD_FORMAT_FLOAT)
	unit := make([]float32, 8)
	unit[2] = 1
	tex("1d weight fine", c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 8, Format: f32}, desc(linear, 0, clamp), floats(unit...), 1, func(r *rand.Rand) []uint32 {
		return coords(3*4096, func(i, _ int) float32 { return 1 + float32(i)/4096 }, 1)
	})
	for _, n := range []uint64{7, 8, 100, 1000, 16384} {
		ramp := make([]float32, n)
		for i := range ramp {
			ramp[i] = float32(i)
		}
		tex(fmt.Sprintf("1d normalised %d", n), c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: n, Format: f32}, desc(linear, normal, clamp), floats(ramp...), 1, func(r *rand.Rand) []uint32 {
			return coords(8192, func(i, _ int) float32 { return r.Float32() }, 1)
		})
		tex(fmt.Sprintf("1d normalised wrap %d", n), c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: n, Format: f32}, desc(linear, normal, wrap), floats(ramp...), 1, func(r *rand.Rand) []uint32 {
			return coords(4096, func(i, _ int) float32 { return r.Float32()*20 - 10 }, 1)
		})
		tex(fmt.Sprintf("1d point wrap %d", n), c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: n, Format: f32}, desc(point, normal, wrap), floats(ramp...), 1, func(r *rand.Rand) []uint32 {
			return coords(4096, func(i, _ int) float32 { return float32(r.IntN(int(n)*3)-int(n))/float32(n) + (r.Float32()-0.5)*1e-6 }, 1)
		})
		tex(fmt.Sprintf("1d point mirror %d", n), c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: n, Format: f32}, desc(point, normal, mirror), floats(ramp...), 1, func(r *rand.Rand) []uint32 {
			return coords(4096, func(i, _ int) float32 { return float32(r.IntN(int(n)*5)-2*int(n))/float32(n) + (r.Float32()-0.5)*1e-6 }, 1)
		})
		tex(fmt.Sprintf("1d point clamp %d", n), c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: n, Format: f32}, desc(point, normal, clamp), floats(ramp...), 1, func(r *rand.Rand) []uint32 {
			return coords(4096, func(i, _ int) float32 { return float32(r.IntN(int(n)))/float32(n) + (r.Float32()-0.5)*1e-6 }, 1)
		})
		tex(fmt.Sprintf("1d unnormalised %d", n), c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: n, Format: f32}, desc(linear, 0, clamp), floats(ramp...), 1, func(r *rand.Rand) []uint32 {
			return coords(4096, func(i, _ int) float32 { return r.Float32() * float32(n) }, 1)
		})
	}
	unit2 := make([]float32, 16)
	unit2[5] = 1
	fine := func(n, k int) func(r *rand.Rand) []uint32 {
		return func(r *rand.Rand) []uint32 {
			return coords(n, func(i, _ int) float32 { return 0.5 + float32(r.IntN(513))/256 }, k)
		}
	}
	tex("2d weight", c2, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 4, Height: 4, Format: f32}, desc(linear, 0, clamp), floats(unit2...), 2, fine(16384, 2))
	unit3 := make([]float32, 64)
	unit3[21] = 1
	tex("3d weight", c3, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 4, Height: 4, Depth: 4, Format: f32}, desc(linear, 0, clamp), floats(unit3...), 3, fine(16384, 3))
	for _, sum := range []struct {
		name  string
		scale float64
	}{{"near", 0}, {"wide", 12}, {"far", 30}} {
		for d := 1; d <= 3; d++ {
			n := []int{0, 64, 256, 512}[d]
			j := &Job{Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: []uint64{0, 64, 16, 8}[d], Height: []uint64{0, 0, 16, 8}[d], Depth: []uint64{0, 0, 0, 8}[d], Format: f32}}
			r := rand.New(rand.NewPCG(uint64(d), uint64(sum.scale)))
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(r.NormFloat64() * math.Exp2((r.Float64()-0.5)*2*sum.scale))
			}
			code := []string{"", c1, c2, c3}[d]
			tex(fmt.Sprintf("%dd sum %s", d, sum.name), code, j.Array, desc(linear, 0, clamp), floats(v...), d, func(r *rand.Rand) []uint32 {
				return coords(8192, func(i, k int) float32 { return float32(r.IntN(int(j.Array.Width)*256)) / 256 }, d)
			})
		}
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	special := []float32{1, inf, 2, -inf, nan, 3, 1e-40, 2e-40, 3e38, 3.3e38, -3e38, 0, negZero, -1, 1e-38, -1e-38}
	tex("1d special", c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 16, Format: f32}, desc(linear, 0, clamp), floats(special...), 1, func(r *rand.Rand) []uint32 {
		return coords(4096, func(i, _ int) float32 { return float32(i) / 256 }, 1)
	})
	tex("1d special point", c1, cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 16, Format: f32}, desc(point, 0, clamp), floats(special...), 1, func(r *rand.Rand) []uint32 {
		return coords(64, func(i, _ int) float32 { return float32(i) / 4 }, 1)
	})
	for _, f := range []string{"u8", "s8", "u16", "s16", "f16"} {
		for d := 1; d <= 3; d++ {
			a := cu.CUDA_ARRAY3D_DESCRIPTOR{Width: []uint64{0, 4096, 64, 16}[d], Height: []uint64{0, 0, 64, 16}[d], Depth: []uint64{0, 0, 0, 16}[d], Format: formatNamed(f), NumChannels: 1}
			tex(fmt.Sprintf("%dd %s", d, f), []string{"", c1, c2, c3}[d], a, desc(linear, 0, clamp), nil, d, func(r *rand.Rand) []uint32 {
				return coords(8192, func(i, k int) float32 { return float32(r.IntN(int(a.Width)*256)) / 256 }, d)
			})
			if d == 1 {
				tex(fmt.Sprintf("point %s", f), c1, a, desc(point, 0, clamp), ordered(formatNamed(f), a.Width), 1, func(r *rand.Rand) []uint32 {
					return coords(4096, func(i, k int) float32 { return float32(i) }, 1)
				})
				tex(fmt.Sprintf("point srgb %s", f), c1, a, desc(point, srgb, clamp), ordered(formatNamed(f), a.Width), 1, func(r *rand.Rand) []uint32 {
					return coords(4096, func(i, k int) float32 { return float32(i) }, 1)
				})
			}
		}
	}
	m.probesMore(tex)
}

// ordered is all values of a format, or a part of them, one after another.
func ordered(f cu.CUarray_format, n uint64) []byte {
	w := uint64(elemBytes(f))
	b := make([]byte, n*w)
	for i := range n {
		v := i
		if w == 2 {
			v = i * 65537 / n
		}
		b[i*w] = byte(v)
		if w == 2 {
			b[i*w+1] = byte(v >> 8)
		}
	}
	return b
}

func (m *maker) probesMore(tex func(name, code string, a cu.CUDA_ARRAY3D_DESCRIPTOR, t cu.CUDA_TEXTURE_DESC, data []byte, in int, words func(r *rand.Rand) []uint32)) {
	f32 := cu.CUarray_format(cu.CU_AD_FORMAT_FLOAT)
	// Cube maps whose texels say where they are.
	where := make([]float32, 6*8*8)
	for i := range where {
		where[i] = float32(i)
	}
	cube := func(r *rand.Rand) []uint32 {
		return coords(8192, func(i, _ int) float32 {
			if r.IntN(9) == 0 {
				return float32(r.IntN(3) - 1)
			}
			return float32(r.Float64()*2 - 1)
		}, 3)
	}
	const cc = "tex.cube.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1,i2,i2}];"
	a := cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 8, Height: 8, Depth: 6, Format: f32, Flags: cu.CUDA_ARRAY3D_CUBEMAP}
	tex("cube point", cc, a, desc(point, normal, clamp), floats(where...), 3, cube)
	tex("cube linear", cc, a, desc(linear, normal, clamp), floats(where...), 3, cube)
	tex("cube seamless", cc, a, desc(linear, normal|seam, clamp), floats(where...), 3, cube)
	tex("cube wrap", cc, a, desc(linear, normal, wrap), floats(where...), 3, cube)
	// Layers by float rounding do not exist: the layer is an integer. Levels:
	lev := func(name, code string, mf, filter cu.CUfilter_mode, bias float32, in int, words func(r *rand.Rand) []uint32) {
		t := desc(filter, normal, clamp)
		t.MipmapFilterMode, t.MaxMipmapLevelClamp, t.MipmapLevelBias = mf, 20, bias
		j := &Job{Name: "probe " + name, Res: cu.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 64, Height: 64, Format: f32}, Levels: 7, Tex: t, In: in, Out: 4, Code: code}
		var data []float32
		for l := range uint32(7) {
			w := 64 >> l
			for range w * w {
				data = append(data, float32(l))
			}
		}
		j.Data = floats(data...)
		r := m.add(j)
		j.Words = words(r)
	}
	fineLod := func(r *rand.Rand) []uint32 {
		return coords(8192, func(i, k int) float32 {
			if k < 2 {
				return 0.5
			}
			return float32(i)/1024 - 1
		}, 3)
	}
	lev("lod linear", "tex.level.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], i2;", linear, linear, 0, 3, fineLod)
	lev("lod point", "tex.level.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], i2;", point, linear, 0, 3, fineLod)
	lev("lod linear biased", "tex.level.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], i2;", linear, linear, 0.3, 3, fineLod)
	grads := func(r *rand.Rand) []uint32 {
		return coords(8192, func(i, k int) float32 {
			if k < 2 {
				return 0.5
			}
			if k == 2 {
				return float32(math.Exp2(float64(i)/1024 - 7))
			}
			return 0
		}, 6)
	}
	lev("grad one", "tex.grad.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], {i2,i3}, {i4,i5};", linear, linear, 0, 6, grads)
	lev("grad any", "tex.grad.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], {i2,i3}, {i4,i5};", linear, linear, 0, 6, func(r *rand.Rand) []uint32 {
		return coords(8192, func(i, k int) float32 {
			if k < 2 {
				return 0.5
			}
			return float32(math.Exp2(r.Float64()*7-7)) * float32(1-2*r.IntN(2))
		}, 6)
	})
	// Coordinates of 2D and 3D rows that are normalised at once.
	ramp2 := make([]float32, 37*23)
	for i := range ramp2 {
		ramp2[i] = float32(i%37) + 100*float32(i/37)
	}
	tex("2d normalised ramp", "tex.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 37, Height: 23, Format: f32}, desc(linear, normal, mirror, wrap), floats(ramp2...), 2, func(r *rand.Rand) []uint32 {
		return coords(8192, func(i, _ int) float32 { return r.Float32()*8 - 4 }, 2)
	})
	tex("tld4 footprint", "tld4.r.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];", cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 37, Height: 23, Format: f32, Flags: cu.CUDA_ARRAY3D_TEXTURE_GATHER}, desc(point, normal, clamp), floats(ramp2...), 2, func(r *rand.Rand) []uint32 {
		return coords(4096, func(i, k int) float32 {
			n := []float32{37, 23}[k]
			return float32(r.IntN(int(n)*512)) / 512 / n
		}, 2)
	})
}
