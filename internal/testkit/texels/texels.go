// Package texels is what textures and surfaces do on real hardware: a list of jobs (memory, how it is looked at, an
// instruction, its operands), a file of their results recorded on a GPU, and the means to run the same jobs through our own
// driver. The recorder is a C program (record.c) that knows nothing of what it runs: it reads the jobs as a file.
package texels

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"kudzu/internal/spec/cu"
)

// Job is one object, one instruction and its operands.
type Job struct {
	Name    string
	Surface bool
	Probe   bool // recorded to learn from; not kept
	Faults  bool // may end its context: runs in a process of its own

	Res    cu.CUresourcetype
	Array  cu.CUDA_ARRAY3D_DESCRIPTOR // also the shape and format of linear memory
	Levels uint32
	Tex    cu.CUDA_TEXTURE_DESC
	View   *cu.CUDA_RESOURCE_VIEW_DESC

	Code    string // the instruction, on t, i0 … and o0 …
	In, Out int    // words a thread
	Data    []byte // of all levels, rows without gaps
	Words   []uint32
}

// Threads is how many threads run.
func (j *Job) Threads() int {
	if j.In == 0 {
		return 1
	}
	return len(j.Words) / j.In
}

// elemBytes is the size of a channel.
func elemBytes(f cu.CUarray_format) int {
	switch f {
	case cu.CU_AD_FORMAT_UNSIGNED_INT8, cu.CU_AD_FORMAT_SIGNED_INT8:
		return 1
	case cu.CU_AD_FORMAT_UNSIGNED_INT16, cu.CU_AD_FORMAT_SIGNED_INT16, cu.CU_AD_FORMAT_HALF:
		return 2
	}
	return 4
}

// ElemBytes is the size of an element.
func (j *Job) ElemBytes() int { return elemBytes(j.Array.Format) * int(j.Array.NumChannels) }

// Level is the shape of a level: width, height and depth as an array's description has them.
func (j *Job) Level(l uint32) (w, h, d uint64) {
	w, h, d = j.Array.Width, j.Array.Height, j.Array.Depth
	for range l {
		w, h = max(1, w/2), half(h)
		if j.Array.Flags&(cu.CUDA_ARRAY3D_LAYERED|cu.CUDA_ARRAY3D_CUBEMAP) == 0 {
			d = half(d)
		}
	}
	return w, h, d
}

func half(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return max(1, n/2)
}

// LevelBytes is the size of a level.
func (j *Job) LevelBytes(l uint32) int {
	w, h, d := j.Level(l)
	return int(w*max(1, h)*max(1, d)) * j.ElemBytes()
}

// Bytes is the size of all levels.
func (j *Job) Bytes() int {
	n := 0
	for l := range max(1, j.Levels) {
		n += j.LevelBytes(l)
	}
	return n
}

// PTX is the kernel: operands from memory, the instruction, results to memory.
func (j *Job) PTX() string {
	var b strings.Builder
	b.WriteString(`.version 8.1
.target sm_80
.address_size 64
.visible .entry k(.param .u64 tex, .param .u64 in, .param .u64 out, .param .u32 n) {
.reg .b64 t, a, b, w, l<4>; .reg .b32 i<16>, o<8>, c, x, y, z; .reg .b16 h<8>; .reg .pred p, q;
ld.param.u64 t, [tex]; ld.param.u64 a, [in]; ld.param.u64 b, [out]; ld.param.u32 c, [n];
mov.u32 x, %tid.x; mov.u32 y, %ntid.x; mov.u32 z, %ctaid.x; mad.lo.u32 x, y, z, x;
setp.ge.u32 q, x, c; @q ret;
`)
	fmt.Fprintf(&b, "mul.wide.u32 w, x, %d; add.u64 a, a, w;\nmul.wide.u32 w, x, %d; add.u64 b, b, w;\n", 4*j.In, 4*j.Out)
	for i := range j.In {
		fmt.Fprintf(&b, "ld.global.b32 i%d, [a+%d];\n", i, 4*i)
	}
	b.WriteString(j.Code + "\n")
	for i := range j.Out {
		fmt.Fprintf(&b, "st.global.b32 [b+%d], o%d;\n", 4*i, i)
	}
	b.WriteString("ret;\n}\n")
	return b.String()
}

// Write writes the jobs as record.c reads them.
func Write(jobs []*Job) []byte {
	var b bytes.Buffer
	word := func(v ...any) {
		for _, x := range v {
			_ = binary.Write(&b, binary.LittleEndian, x) // a Buffer does not fail
		}
	}
	texts := map[string]uint32{}
	var all []string
	for _, j := range jobs {
		if _, ok := texts[j.PTX()]; !ok {
			texts[j.PTX()] = uint32(len(all))
			all = append(all, j.PTX())
		}
	}
	word(uint32(len(all)), uint32(len(jobs)))
	for _, s := range all {
		word(uint32(len(s)+1), []byte(s), byte(0))
	}
	flag := func(x bool) uint32 {
		if x {
			return 1
		}
		return 0
	}
	for _, j := range jobs {
		a, t := &j.Array, &j.Tex
		word(texts[j.PTX()], flag(j.Surface), flag(j.Faults), uint32(j.Res), uint32(a.Width), uint32(a.Height), uint32(a.Depth), uint32(a.Format), a.NumChannels, a.Flags, j.Levels)
		word(uint32(t.AddressMode[0]), uint32(t.AddressMode[1]), uint32(t.AddressMode[2]), uint32(t.FilterMode), t.Flags, t.MaxAnisotropy, uint32(t.MipmapFilterMode),
			t.MipmapLevelBias, t.MinMipmapLevelClamp, t.MaxMipmapLevelClamp, t.BorderColor)
		v := cu.CUDA_RESOURCE_VIEW_DESC{}
		if j.View != nil {
			v = *j.View
		}
		word(flag(j.View != nil), uint32(v.Format), uint32(v.Width), uint32(v.Height), uint32(v.Depth), v.FirstMipmapLevel, v.LastMipmapLevel, v.FirstLayer, v.LastLayer)
		word(uint32(j.Threads()), uint32(j.In), uint32(j.Out), uint32(j.ElemBytes()), uint32(len(j.Data)), j.Data, j.Words)
	}
	return b.Bytes()
}
