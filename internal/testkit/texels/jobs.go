package texels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"kudzu/internal/spec/cu"
)

// format is a format of arrays and how it is named.
type format struct {
	name string
	f    cu.CUarray_format
}

var formats = []format{
	{"u8", cu.CU_AD_FORMAT_UNSIGNED_INT8}, {"u16", cu.CU_AD_FORMAT_UNSIGNED_INT16}, {"u32", cu.CU_AD_FORMAT_UNSIGNED_INT32},
	{"s8", cu.CU_AD_FORMAT_SIGNED_INT8}, {"s16", cu.CU_AD_FORMAT_SIGNED_INT16}, {"s32", cu.CU_AD_FORMAT_SIGNED_INT32},
	{"f16", cu.CU_AD_FORMAT_HALF}, {"f32", cu.CU_AD_FORMAT_FLOAT},
}

func formatNamed(name string) cu.CUarray_format {
	for _, f := range formats {
		if f.name == name {
			return f.f
		}
	}
	panic("BUG: no format " + name)
}

const (
	wrap   = cu.CU_TR_ADDRESS_MODE_WRAP
	clamp  = cu.CU_TR_ADDRESS_MODE_CLAMP
	mirror = cu.CU_TR_ADDRESS_MODE_MIRROR
	border = cu.CU_TR_ADDRESS_MODE_BORDER
	point  = cu.CU_TR_FILTER_MODE_POINT
	linear = cu.CU_TR_FILTER_MODE_LINEAR

	normal  = cu.CU_TRSF_NORMALIZED_COORDINATES
	integer = cu.CU_TRSF_READ_AS_INTEGER
	srgb    = cu.CU_TRSF_SRGB
	seam    = cu.CU_TRSF_SEAMLESS_CUBEMAP
)

var modeNames = []string{"wrap", "clamp", "mirror", "border"}

// maker makes jobs; every job draws from a generator of its own, so that one more changes no other.
type maker struct {
	jobs  []*Job
	probe bool
}

func (m *maker) add(j *Job) *rand.Rand {
	h := uint64(14695981039346656037)
	for _, c := range []byte(j.Name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	r := rand.New(rand.NewPCG(h, 1))
	j.Probe = m.probe
	if j.Array.NumChannels == 0 {
		j.Array.NumChannels = 1
	}
	if j.Data == nil {
		j.Data = texels(r, j.Array.Format, j.Bytes())
	}
	m.jobs = append(m.jobs, j)
	return r
}

// texels fills memory: floats of moderate size, integers of any.
func texels(r *rand.Rand, f cu.CUarray_format, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	switch f {
	case cu.CU_AD_FORMAT_FLOAT:
		for i := 0; i+4 <= n; i += 4 {
			put(b[i:], math.Float32bits(float32(r.NormFloat64())*float32(math.Exp2(float64(r.IntN(9)-4)))))
		}
	case cu.CU_AD_FORMAT_HALF:
		for i := 1; i < n; i += 2 {
			b[i] = b[i]&0x83 | byte(9+r.IntN(10))<<2
		}
	}
	return b
}

func put(b []byte, v uint32) { b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24) }

func floats(f ...float32) []byte {
	b := make([]byte, 4*len(f))
	for i, x := range f {
		put(b[4*i:], math.Float32bits(x))
	}
	return b
}

// coords makes n operands of k words each.
func coords(n int, word func(i, k int) float32, k int) []uint32 {
	w := make([]uint32, 0, n*k)
	for i := range n {
		for c := range k {
			w = append(w, math.Float32bits(word(i, c)))
		}
	}
	return w
}

// negZero is not a literal: -0.0 is +0 in Go.
var negZero = float32(math.Copysign(0, -1))

var oddCoords = []float32{0, negZero, 0.5, -0.5, 1, -1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e9, -1e9, 3e38, 1e-42, 1 - 1.0/(1<<24), -1e-8, 2, -2, 1.5, 4096.5, 1e5}

// spread is a coordinate near a side of size n, in texels, and at times an odd one.
func spread(r *rand.Rand, n float32, norm bool) float32 {
	if r.IntN(12) == 0 {
		return oddCoords[r.IntN(len(oddCoords))]
	}
	x := float32(r.Float64()*2.6-0.8) * n
	switch r.IntN(4) {
	case 0:
		x = float32(math.Floor(float64(x)))
	case 1:
		x = float32(math.Floor(float64(x)*256)) / 256
	}
	if norm {
		x /= n
	}
	return x
}

// geometry is how an instruction addresses memory.
type geometry struct {
	name    string
	dims    int // coordinates
	layer   bool
	cube    bool
	w, h, d uint64
	flags   uint32
}

var geometries = []geometry{
	{"1d", 1, false, false, 13, 0, 0, 0},
	{"2d", 2, false, false, 11, 6, 0, 0},
	{"3d", 3, false, false, 7, 5, 4, 0},
	{"a1d", 1, true, false, 9, 0, 5, cu.CUDA_ARRAY3D_LAYERED},
	{"a2d", 2, true, false, 8, 5, 3, cu.CUDA_ARRAY3D_LAYERED},
	{"cube", 3, false, true, 6, 6, 6, cu.CUDA_ARRAY3D_CUBEMAP},
	{"acube", 3, true, true, 5, 5, 12, cu.CUDA_ARRAY3D_CUBEMAP | cu.CUDA_ARRAY3D_LAYERED},
}

// operands is {i0, …} as an instruction on g wants them, padded to a vector's size, and how many are read from memory.
func (g *geometry) operands() (string, int) {
	n := g.dims
	if g.layer {
		n++
	}
	switch n {
	case 1:
		return "{i0}", 1
	case 2:
		return "{i0,i1}", 2
	case 3:
		return "{i0,i1,i2,i2}", 3
	}
	return "{i0,i1,i2,i3}", 4
}

func (g *geometry) array(f string, ch uint32) cu.CUDA_ARRAY3D_DESCRIPTOR {
	return cu.CUDA_ARRAY3D_DESCRIPTOR{Width: g.w, Height: g.h, Depth: g.d, Format: formatNamed(f), NumChannels: ch, Flags: g.flags}
}

// words are n threads' coordinates.
func (g *geometry) words(r *rand.Rand, n int, norm bool) []uint32 {
	var w []uint32
	side := [3]float32{float32(g.w), float32(g.h), float32(g.d)}
	for range n {
		if g.layer {
			layers := int(g.d)
			if g.cube {
				layers /= 6
			}
			w = append(w, uint32(int32(r.IntN(layers+2)-1)))
		}
		for i := range g.dims {
			x := spread(r, side[i], norm)
			if g.cube {
				x = float32(r.Float64()*2 - 1)
				if r.IntN(6) == 0 {
					x = float32(r.IntN(3) - 1)
				}
			}
			w = append(w, math.Float32bits(x))
		}
	}
	return w
}

func desc(filter cu.CUfilter_mode, flags uint32, modes ...cu.CUaddress_mode) cu.CUDA_TEXTURE_DESC {
	t := cu.CUDA_TEXTURE_DESC{FilterMode: filter, Flags: flags, BorderColor: [4]float32{0.25, 0.5, 0.75, 1}}
	for i := range t.AddressMode {
		t.AddressMode[i] = modes[min(i, len(modes)-1)]
	}
	return t
}

const kept = 48 // threads of a job that is kept

// Jobs are all jobs: those whose results are kept, then the probes.
func Jobs() []*Job {
	m := &maker{}
	m.filters()
	m.formatsOf()
	m.points()
	m.integers()
	m.linearMemory()
	m.mipmaps()
	m.gathers()
	m.queries()
	m.surfaces()
	m.reductions()
	m.creation()
	m.faults()
	m.probe = true
	m.probes()
	return m.jobs
}

func (m *maker) texture(name, code string, g *geometry, f string, ch uint32, t cu.CUDA_TEXTURE_DESC, n int) {
	_, in := g.operands()
	j := &Job{Name: name, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array(f, ch), Tex: t, Code: code, In: in, Out: 4}
	r := m.add(j)
	j.Words = g.words(r, n, t.Flags&normal != 0)
}

func (m *maker) filters() {
	for gi := range geometries {
		g := &geometries[gi]
		ops, _ := g.operands()
		code := fmt.Sprintf("tex.%s.v4.f32.f32 {o0,o1,o2,o3}, [t, %s];", g.name, ops)
		for _, norm := range []uint32{0, normal} {
			for mode := range modeNames {
				if g.cube && (norm == 0 || mode > 1) {
					continue
				}
				for _, seamless := range []uint32{0, seam} {
					if seamless != 0 && !g.cube {
						continue
					}
					for _, f := range []string{"f32", "u8"} {
						ch := uint32(1)
						if f == "u8" {
							ch = 4
						}
						m.texture(fmt.Sprintf("filter %s %s %s flags %#x", g.name, f, modeNames[mode], norm|seamless), code, g, f, ch, desc(linear, norm|seamless, cu.CUaddress_mode(mode)), 2*kept)
					}
				}
			}
		}
		m.texture("mixed modes "+g.name, code, g, "f32", 2, desc(linear, normal, wrap, clamp, mirror), kept)
	}
}

// formatsOf reads every format with every number of channels, unfiltered and filtered, as what it is and as a fraction.
func (m *maker) formatsOf() {
	g := &geometries[1]
	for _, f := range formats {
		for _, ch := range []uint32{1, 2, 4} {
			for _, filter := range []cu.CUfilter_mode{point, linear} {
				for _, flags := range []uint32{0, integer, srgb | normal} {
					dtypes := []string{"f32"}
					if flags&integer != 0 && f.name[0] != 'f' {
						dtypes = []string{"u32", "s32"}
						if filter == linear {
							dtypes = []string{f.name[:1] + "32"}
						}
					}
					if flags&srgb != 0 && f.name != "u8" && f.name != "f32" {
						continue
					}
					for _, dt := range dtypes {
						m.texture(fmt.Sprintf("format %sx%d filter %d flags %#x as %s", f.name, ch, filter, flags, dt), "tex.2d.v4."+dt+".f32 {o0,o1,o2,o3}, [t, {i0,i1}];", g, f.name, ch, desc(filter, flags, clamp), kept)
					}
				}
			}
		}
	}
	for _, f := range []string{"u8", "f16", "f32"} {
		m.texture("half of "+f, "tex.2d.v4.f16.f32 {h0,h1,h2,h3}, [t, {i0,i1}]; mov.b32 o0,{h0,h1}; mov.b32 o1,{h2,h3}; mov.u32 o2,0; mov.u32 o3,0;", g, f, 4, desc(linear, 0, clamp), kept)
		m.texture("half pairs of "+f, "tex.2d.v2.f16x2.f32 {o0,o1}, [t, {i0,i1}]; mov.u32 o2,0; mov.u32 o3,0;", g, f, 4, desc(linear, 0, clamp), kept)
	}
}

func (m *maker) points() {
	for gi := range geometries {
		g := &geometries[gi]
		ops, _ := g.operands()
		code := fmt.Sprintf("tex.%s.v4.u32.f32 {o0,o1,o2,o3}, [t, %s];", g.name, ops)
		for _, norm := range []uint32{0, normal} {
			for mode := range modeNames {
				if g.cube && (norm == 0 || mode > 1) {
					continue
				}
				m.texture(fmt.Sprintf("point %s %s flags %#x", g.name, modeNames[mode], norm), code, g, "u16", 1, desc(point, norm|integer, cu.CUaddress_mode(mode)), 2*kept)
			}
		}
	}
	g := &geometries[1]
	j := &Job{Name: "offsets 2d", Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array("f32", 1), Tex: desc(linear, normal, wrap), In: 2, Out: 4, Code: "tex.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], {3,-2};"}
	r := m.add(j)
	j.Words = g.words(r, kept, true)
	j = &Job{Name: "offsets 2d point border", Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array("u32", 1), Tex: desc(point, integer, border), In: 2, Out: 4, Code: "tex.2d.v4.u32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], {-8,7};"}
	r = m.add(j)
	j.Words = g.words(r, kept, false)
	j = &Job{Name: "resident", Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array("u32", 1), Tex: desc(point, integer, clamp), In: 2, Out: 5, Code: "tex.2d.v4.u32.f32 {o0,o1,o2,o3}|p, [t, {i0,i1}]; selp.u32 o4, 1, 0, p;"}
	r = m.add(j)
	j.Words = g.words(r, kept, false)
	j = &Job{Name: "compare 2d", Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array("f32", 1), Tex: desc(linear, normal, clamp), In: 3, Out: 4, Code: "tex.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], {0,0}, i2;"}
	r = m.add(j)
	for range kept {
		j.Words = append(j.Words, math.Float32bits(spread(r, 11, true)), math.Float32bits(spread(r, 6, true)), math.Float32bits(float32(r.NormFloat64())))
	}
	j = &Job{Name: "compare depth 2d", Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array("f32", 1), Tex: desc(linear, normal, clamp), In: 3, Out: 4, Code: "tex.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}], {0,0}, i2;"}
	j.Array.Flags |= cu.CUDA_ARRAY3D_DEPTH_TEXTURE
	r = m.add(j)
	for range kept {
		j.Words = append(j.Words, math.Float32bits(spread(r, 11, true)), math.Float32bits(spread(r, 6, true)), math.Float32bits(float32(r.NormFloat64())))
	}
}

// integers are coordinates that are integers.
func (m *maker) integers() {
	for gi := range geometries {
		g := &geometries[gi]
		if g.cube {
			continue
		}
		ops, in := g.operands()
		for mode := range modeNames {
			for _, flags := range []uint32{integer, integer | normal} {
				j := &Job{Name: fmt.Sprintf("integer %s %s %#x", g.name, modeNames[mode], flags), Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array("u16", 2), Tex: desc(point, flags, cu.CUaddress_mode(mode)), In: in, Out: 4,
					Code: fmt.Sprintf("tex.%s.v4.s32.s32 {o0,o1,o2,o3}, [t, %s];", g.name, ops)}
				r := m.add(j)
				for range kept * in {
					v := int32(r.IntN(20) - 5)
					if r.IntN(16) == 0 {
						v = int32(r.Uint32())
					}
					j.Words = append(j.Words, uint32(v))
				}
			}
		}
		j := &Job{Name: "integer filtered " + g.name, Res: cu.CU_RESOURCE_TYPE_ARRAY, Array: g.array("f32", 1), Tex: desc(linear, 0, clamp), In: in, Out: 4,
			Code: fmt.Sprintf("tex.%s.v4.f32.s32 {o0,o1,o2,o3}, [t, %s];", g.name, ops)}
		r := m.add(j)
		for range kept * in {
			j.Words = append(j.Words, uint32(int32(r.IntN(14)-2)))
		}
	}
}

func (m *maker) linearMemory() {
	for _, f := range formats {
		for _, ch := range []uint32{1, 4} {
			flags := uint32(integer)
			dt := f.name[:1] + "32"
			j := &Job{Name: fmt.Sprintf("memory %sx%d", f.name, ch), Res: cu.CU_RESOURCE_TYPE_LINEAR, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 29, Format: f.f, NumChannels: ch}, Tex: desc(point, flags, clamp), In: 1, Out: 4,
				Code: "tex.1d.v4." + dt + ".s32 {o0,o1,o2,o3}, [t, {i0}];"}
			r := m.add(j)
			for range kept {
				v := int32(r.IntN(40) - 5)
				if r.IntN(16) == 0 {
					v = int32(r.Uint32())
				}
				j.Words = append(j.Words, uint32(v))
			}
		}
	}
	j := &Job{Name: "memory normalised float", Res: cu.CU_RESOURCE_TYPE_LINEAR, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 29, Format: formatNamed("u8"), NumChannels: 4}, Tex: desc(point, 0, clamp), In: 1, Out: 4, Code: "tex.1d.v4.f32.s32 {o0,o1,o2,o3}, [t, {i0}];"}
	m.add(j)
	for i := range kept {
		j.Words = append(j.Words, uint32(int32(i-5)))
	}
	j = &Job{Name: "memory by float", Res: cu.CU_RESOURCE_TYPE_LINEAR, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 29, Format: formatNamed("f32"), NumChannels: 1}, Tex: desc(point, 0, clamp), In: 1, Out: 4, Code: "tex.1d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0}];"}
	r := m.add(j)
	for range kept {
		j.Words = append(j.Words, math.Float32bits(spread(r, 29, false)))
	}
	for mode := range modeNames {
		for _, filter := range []cu.CUfilter_mode{point, linear} {
			for _, norm := range []uint32{0, normal} {
				j := &Job{Name: fmt.Sprintf("pitch %s filter %d flags %#x", modeNames[mode], filter, norm), Res: cu.CU_RESOURCE_TYPE_PITCH2D, Array: cu.CUDA_ARRAY3D_DESCRIPTOR{Width: 19, Height: 7, Format: formatNamed("f32"), NumChannels: 1},
					Tex: desc(filter, norm, cu.CUaddress_mode(mode)), In: 2, Out: 4, Code: "tex.2d.v4.f32.f32 {o0,o1,o2,o3}, [t, {i0,i1}];"}
				r := m.add(j)
				for range kept {
					j.Words = append(j.Words, math.Float32bits(spread(r, 19, norm != 0)), math.Float32bits(spread(r, 7, norm != 0)))
				}
			}
		}
	}
}
