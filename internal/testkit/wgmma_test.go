package testkit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/softfloat"
	"kudzu/internal/testkit/compiled"
)

// groupForm is a form of wgmma and where its matrices lie.
type groupForm struct {
	n              int
	d, a, b        string
	regs           bool // a is in registers
	sparse         bool
	selector       int
	sat            bool
	transA, transB bool
	scaleA, scaleB int
	modeA, modeB   int  // swizzle modes: none, 128, 64, 32 bytes
	drop           bool // d does not count
	shift          int  // 128-byte rows by which the swizzle patterns begin late
}

// groupBits are the bits of an element.
var groupBits = map[string]int{"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}

// k is the depth: 32 bytes of a, twice that if a is sparse.
func (f *groupForm) k() int {
	k := 256 / groupBits[f.a]
	if f.sparse {
		k *= 2
	}
	return k
}

func (f *groupForm) float() bool { return f.d != "s32" }
func (f *groupForm) wide() bool  { return groupBits[f.a] == 16 }

// registers of d.
func (f *groupForm) registers() int {
	if f.d == "f16" {
		return f.n / 4
	}
	return f.n / 2
}

func (f *groupForm) String() string {
	s := fmt.Sprintf("m64n%dk%d.%s.%s.%s", f.n, f.k(), f.d, f.a, f.b)
	for _, w := range []struct {
		on   bool
		word string
	}{{f.regs, "regs"}, {f.sparse, fmt.Sprintf("sp%d", f.selector)}, {f.sat, "sat"}, {f.transA, "ta"}, {f.transB, "tb"}, {f.scaleA < 0, "na"}, {f.scaleB < 0, "nb"}, {f.drop, "drop"}} {
		if w.on {
			s += "." + w.word
		}
	}
	return fmt.Sprintf("%s.%d%d.%d", s, f.modeA, f.modeB, f.shift)
}

func (f *groupForm) instruction() string {
	var b strings.Builder
	b.WriteString("wgmma.mma_async")
	if f.sparse {
		b.WriteString(".sp")
	}
	fmt.Fprintf(&b, ".sync.aligned.m64n%dk%d", f.n, f.k())
	if f.sat {
		b.WriteString(".satfinite")
	}
	fmt.Fprintf(&b, ".%s.%s.%s", f.d, f.a, f.b)
	if f.a == "b1" {
		b.WriteString(".and.popc")
	}
	b.WriteString(" {")
	for i := range f.registers() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%%d%d", i)
	}
	b.WriteString("}, ")
	if f.regs {
		b.WriteString("{%a0, %a1, %a2, %a3}, %bd")
	} else {
		b.WriteString("%ad, %bd")
	}
	if f.sparse {
		fmt.Fprintf(&b, ", %%meta, %d", f.selector)
	}
	b.WriteString(", %p")
	if f.float() {
		fmt.Fprintf(&b, ", %d, %d", f.scaleA, f.scaleB)
	}
	bit := map[bool]int{true: 1}
	if f.wide() && !f.regs {
		fmt.Fprintf(&b, ", %d", bit[f.transA])
	}
	if f.wide() {
		fmt.Fprintf(&b, ", %d", bit[f.transB])
	}
	return b.String() + ";"
}

// kernel copies an image into shared memory, multiplies once and stores d.
func (f *groupForm) kernel(name string) string {
	var b strings.Builder
	n := f.registers()
	reg := "b32"
	if f.d == "f32" {
		reg = "f32"
	}
	fmt.Fprintf(&b, `.visible .entry %s(.param .u64 out, .param .u64 image, .param .u32 words, .param .u64 c, .param .u64 a, .param .u64 meta, .param .u64 adesc, .param .u64 bdesc, .param .u32 scaled)
{
	.reg .b32 %%me, %%i, %%n, %%x, %%at, %%meta, %%base, %%a<4>;
	.reg .%s %%d<%d>;
	.reg .b64 %%p0, %%p1, %%ad, %%bd, %%off;
	.reg .pred %%p, %%q;
	mov.u32 %%me, %%tid.x;
	mov.u32 %%base, image_shared;
	ld.param.u32 %%n, [words];
	ld.param.u64 %%p0, [image];
	mov.u32 %%i, %%me;
copy:
	mul.wide.u32 %%off, %%i, 4;
	add.u64 %%p1, %%p0, %%off;
	ld.global.u32 %%x, [%%p1];
	shl.b32 %%at, %%i, 2;
	add.u32 %%at, %%at, %%base;
	st.shared.u32 [%%at], %%x;
	add.u32 %%i, %%i, 128;
	setp.lt.u32 %%q, %%i, %%n;
	@%%q bra copy;
	fence.proxy.async;
	bar.sync 0;
	shr.u32 %%base, %%base, 4;
	cvt.u64.u32 %%off, %%base;
	ld.param.u64 %%ad, [adesc];
	add.u64 %%ad, %%ad, %%off;
	ld.param.u64 %%bd, [bdesc];
	add.u64 %%bd, %%bd, %%off;
	ld.param.u64 %%p0, [a];
	mul.wide.u32 %%off, %%me, 16;
	add.u64 %%p0, %%p0, %%off;
	ld.global.v4.u32 {%%a0, %%a1, %%a2, %%a3}, [%%p0];
	ld.param.u64 %%p0, [meta];
	mul.wide.u32 %%off, %%me, 4;
	add.u64 %%p0, %%p0, %%off;
	ld.global.u32 %%meta, [%%p0];
	ld.param.u64 %%p0, [c];
	mul.wide.u32 %%off, %%me, %d;
	add.u64 %%p0, %%p0, %%off;
`, name, reg, n, 4*n)
	for i := range n {
		fmt.Fprintf(&b, "\tld.global.%s %%d%d, [%%p0+%d];\n", reg, i, 4*i)
	}
	fmt.Fprintf(&b, "\tld.param.u32 %%x, [scaled];\n\tsetp.ne.u32 %%p, %%x, 0;\n\twgmma.fence.sync.aligned;\n\t%s\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n", f.instruction())
	b.WriteString("\tld.param.u64 %p0, [out];\n\tadd.u64 %p0, %p0, %off;\n")
	for i := range n {
		fmt.Fprintf(&b, "\tst.global.%s [%%p0+%d], %%d%d;\n", reg, 4*i, i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

const groupHeader = ".version 8.4\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 image_shared[];\n"

// encode is a small integer as an element.
func encode(v int, elem string) uint64 {
	if v < 0 && elem == "u8" {
		v = -v
	}
	var fmts = map[string]*softfloat.Format{"f16": softfloat.F16, "bf16": softfloat.BF16, "tf32": softfloat.F32, "f32": softfloat.F32, "e4m3": softfloat.E4M3, "e5m2": softfloat.E5M2}
	if f := fmts[elem]; f != nil {
		return softfloat.F64.Convert(f, math.Float64bits(float64(v)), softfloat.Env{})
	}
	if elem == "b1" {
		return uint64(v & 1)
	}
	return uint64(uint8(v))
}

// worth is what encode made of it.
func worth(v int, elem string) int {
	switch {
	case v < 0 && elem == "u8":
		return -v
	case elem == "b1":
		return v & 1
	}
	return v
}

// groupMatrix is the canonical layout of a matrix of rows (of a, or columns of b) and k: in 16-byte parts, as cute writes the layouts.
type groupMatrix struct {
	rows, k, bits, mode int
	trans               bool
	at                  int // of its first byte
}

// parts are the 16-byte parts of a row of the swizzle pattern.
func (m *groupMatrix) parts() int { return []int{1, 8, 4, 2}[m.mode] }

// distances are those of a descriptor, in bytes, and the bytes of the matrix. They are not the least possible.
func (m *groupMatrix) distances() (leading, stride, bytes int) {
	brick := 8 * 16 * m.parts()
	along := m.k * m.bits / 128
	switch {
	case !m.trans && m.mode == 0: // ((8,n),k) : ((1,SBO),LBO)
		leading, stride = 128, 128*along+16
		return leading, stride, m.rows / 8 * stride
	case !m.trans:
		across := max(1, along/m.parts())
		leading, stride = brick, brick*across+1024
		return leading, stride, m.rows / 8 * stride
	case m.mode == 0: // ((1,n),(8,k)) : ((X,SBO),(1,LBO))
		stride, leading = 128+32, (128+32)*m.rows/8
		return leading, stride, leading * m.k / 8
	}
	// ((p,n),(8,k)) : ((1,LBO),(p,SBO))
	stride = brick + 1024
	leading = stride * m.k / 8
	return leading, stride, leading * max(1, m.rows/8/m.parts())
}

// offset is where the element's byte is.
func (m *groupMatrix) offset(row, k int) int {
	leading, stride, _ := m.distances()
	p := m.parts()
	per := 128 / m.bits
	var at, within int
	if m.trans {
		part := row / per
		within = row % per * m.bits / 8
		if m.mode == 0 {
			at = part*stride + k%8*16 + k/8*leading
		} else {
			at = part%p*16 + part/p*leading + k%8*16*p + k/8*stride
		}
	} else {
		part := k / per
		within = k % per * m.bits / 8
		at = row%8*16*p + row/8*stride
		if m.mode == 0 {
			at += part * leading
		} else {
			at += part%p*16 + part/p*leading
		}
	}
	return at + within
}

// byteOf is the offset in the image, swizzled: bits 4 and up are exchanged by bits 7 and up of the address, from where the pattern begins.
func (m *groupMatrix) byteOf(row, k, shift int) int {
	at := m.at + m.offset(row, k)
	return at ^ ((at/128-shift)&7&(m.parts()-1))<<4
}

func (m *groupMatrix) descriptor(shift int) uint64 {
	leading, stride, _ := m.distances()
	return uint64(m.at)>>4 | uint64(leading)>>4<<16 | uint64(stride)>>4<<32 | uint64(shift)<<49 | uint64(m.mode)<<62
}

// put writes an element.
func put(image []byte, at, k, bits int, v uint64) {
	if bits == 1 {
		image[at] |= byte(v << (k % 8))
		return
	}
	for i := range bits / 8 {
		image[at+i] = byte(v >> (8 * i))
	}
}

// prepare makes matrices of numbers from -2 to 2.
func (f *groupForm) prepare(seed uint64) *Run {
	rng := rand.New(rand.NewPCG(seed, uint64(f.n)))
	k, bits := f.k(), groupBits[f.a]
	stored := k
	if f.sparse {
		stored = k / 2
	}
	a := &groupMatrix{rows: 64, k: stored, bits: bits, mode: f.modeA, trans: f.transA, at: 128 * f.shift}
	_, _, bytes := a.distances()
	b := &groupMatrix{rows: f.n, k: k, bits: bits, mode: f.modeB, trans: f.transB, at: (a.at+bytes+1023)&^1023 + 128*f.shift}
	_, _, more := b.distances()
	image := make([]byte, (b.at+more+1023)&^1023)

	number := func() int { return rng.IntN(5) - 2 }
	av, bv := make([][]int, 64), make([][]int, f.n)
	raw := make([][]uint64, 64)
	meta := make([]uint64, 128)
	for r := range av {
		av[r], raw[r] = make([]int, k), make([]uint64, stored)
		columns := f.columns(rng, r, meta)
		for i := range stored {
			v := number()
			av[r][columns[i]], raw[r][i] = worth(v, f.a), encode(v, f.a)
			put(image, a.byteOf(r, i, f.shift), i, bits, raw[r][i])
		}
	}
	for c := range bv {
		bv[c] = make([]int, k)
		for i := range k {
			v := number()
			bv[c][i] = worth(v, f.b)
			put(image, b.byteOf(c, i, f.shift), i, bits, encode(v, f.b))
		}
	}
	return f.launch(&groupNumbers{rng: rng, image: image, a: av, b: bv, raw: raw, meta: meta, descs: [2]uint64{a.descriptor(f.shift), b.descriptor(f.shift)}})
}

// columns are those that the elements of a row of a are of, and their metadata.
func (f *groupForm) columns(rng *rand.Rand, r int, meta []uint64) []int {
	k := f.k()
	var at []int
	if !f.sparse {
		for i := range k {
			at = append(at, i)
		}
		return at
	}
	chunk := 4
	if f.a == "tf32" {
		chunk = 2
	}
	warp, row := r/16, r%16
	for c := range k / chunk {
		var nibble uint64
		if chunk == 2 {
			i := rng.IntN(2)
			at = append(at, 2*c+i)
			nibble = [2]uint64{4, 14}[i]
		} else {
			i := rng.IntN(3)
			j := i + 1 + rng.IntN(3-i)
			at = append(at, 4*c+i, 4*c+j)
			nibble = uint64(i | j<<2)
		}
		lane, shift := row%8*4+2*f.selector+c/4, row/8*16+c%4*4
		if groupBits[f.a] == 8 {
			lane, shift = row%8*4+c/8*2+row/8, c%8*4
		}
		meta[32*warp+lane] |= nibble << shift
	}
	return at
}

// groupNumbers is what prepare has found.
type groupNumbers struct {
	rng   *rand.Rand
	image []byte
	a, b  [][]int
	raw   [][]uint64
	meta  []uint64
	descs [2]uint64
}

func (f *groupForm) launch(x *groupNumbers) *Run {
	n := f.registers()
	c, want := make([]uint64, 128*n), make([]uint64, 128*n)
	per := 1
	elem := f.d
	if f.d == "f16" {
		per = 2
	}
	enc := func(v int) uint64 {
		if elem == "s32" {
			return uint64(uint32(v))
		}
		return encode(v, elem)
	}
	for t := range 128 {
		for i := range n * per {
			row, col := t/32*16+t%32/4+i/2%2*8, i/4*8+t%4*2+i%2
			add := x.rng.IntN(200) - 100
			sum := 0
			for k := range x.a[row] {
				sum += x.a[row][k] * x.b[col][k]
			}
			if f.float() {
				sum *= f.scaleA * f.scaleB
			}
			if !f.drop {
				sum += add
			}
			c[t*n+i/per] |= enc(add) << (16 * (i % per))
			want[t*n+i/per] |= enc(sum) << (16 * (i % per))
		}
	}
	regs := make([]uint64, 512)
	width := groupBits[f.a]
	each := 32 / width
	for t := range 128 {
		for i := range 4 * each {
			reg, j := i/each, i%each
			row, col := t/32*16+t%32/4+reg%2*8, t%4*each+j+reg/2*4*each
			regs[4*t+reg] |= x.raw[row][col] << (j * width)
		}
	}
	words := make([]uint64, len(x.image)/4)
	for i := range words {
		for j := range 4 {
			words[i] |= uint64(x.image[4*i+j]) << (8 * j)
		}
	}
	buffer := func(v []uint64) Arg { return Arg{Type: U32, Buffer: true, Result: -1, Values: v} }
	scalar := func(t Type, v uint64) Arg { return Arg{Type: t, Result: -1, Values: []uint64{v}} }
	scaled := uint64(1)
	if f.drop {
		scaled = 0
	}
	return &Run{
		Line: f.String(), Kernel: "k", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{128, 1, 1}, Shared: uint32(len(x.image)),
		Args: []Arg{
			{Type: U32, Buffer: true, Result: 0, Values: make([]uint64, 128*n)}, buffer(words), scalar(U32, uint64(len(words))), buffer(c), buffer(regs), buffer(x.meta),
			scalar(U64, x.descs[0]), scalar(U64, x.descs[1]), scalar(U32, scaled),
		},
		Want: map[int][]uint64{0: want}, Near: map[int]Tolerance{}, Sorted: map[int]bool{}, Recorded: map[int][]uint64{},
	}
}

// groupForms are all types, with operands from both places, and the layouts in turn.
func groupForms(all bool) []*groupForm {
	var list []*groupForm
	turn := 0
	add := func(f groupForm) {
		turn++
		f.modeA, f.modeB = turn%4, turn/4%4
		f.scaleA, f.scaleB = 1-turn%3/2*2, 1-turn%5/4*2
		f.drop = turn%7 == 0
		if f.modeA > 0 && f.modeB > 0 && turn%2 == 0 {
			f.shift = turn % 8
		}
		list = append(list, &f)
	}
	type kind struct{ d, a, b string }
	kinds := []kind{{"f16", "f16", "f16"}, {"f32", "f16", "f16"}, {"f32", "bf16", "bf16"}, {"f32", "tf32", "tf32"}, {"s32", "b1", "b1"}}
	for _, a := range []string{"e4m3", "e5m2"} {
		for _, b := range []string{"e4m3", "e5m2"} {
			kinds = append(kinds, kind{"f16", a, b}, kind{"f32", a, b})
		}
	}
	for _, a := range []string{"s8", "u8"} {
		for _, b := range []string{"s8", "u8"} {
			kinds = append(kinds, kind{"s32", a, b})
		}
	}
	for _, regs := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			for i, x := range kinds {
				if x.a == "b1" && sparse {
					continue
				}
				f := groupForm{n: []int{8, 16, 24, 32, 48, 64, 128}[(i+turn)%7], d: x.d, a: x.a, b: x.b, regs: regs, sparse: sparse, sat: x.d == "s32" && x.a != "b1" && i%2 == 0}
				if sparse && groupBits[x.a] > 8 {
					f.selector = i % 2
				}
				add(f)
				for trans := 1; f.wide() && trans < 4; trans++ {
					g := f
					g.transA, g.transB = trans&1 != 0 && !regs, trans&2 != 0
					add(g)
				}
			}
		}
	}
	for n := 8; all && n <= 256; n += 8 {
		add(groupForm{n: n, d: "f32", a: "f16", b: "f16"})
		add(groupForm{n: n, d: "f32", a: "tf32", b: "tf32", regs: true})
	}
	return list
}

// TestWarpgroup multiplies small integers with every type of wgmma, with the matrices in all layouts, and compares with a plain sum.
func TestWarpgroup(t *testing.T) {
	for _, b := range []backend.Backend{interp.New(interp.Config{}), devices.CPU(compiled.Config(t))} {
		t.Run(b.Name(), func(t *testing.T) {
			devs, err := b.Open()
			if err != nil {
				t.Fatal(err)
			}
			all := b.Name() == "interp" || os.Getenv("KUDZU_FULL") != ""
			for i, f := range groupForms(all) {
				if all || i%5 == 0 && f.n <= 48 { // each is compiled
					t.Run(f.String(), func(t *testing.T) { runWarpgroup(t, devs[0], f, uint64(i)) })
				}
			}
		})
	}
}

func runWarpgroup(t *testing.T, d backend.Device, f *groupForm, seed uint64) {
	c := &Case{PTX: groupHeader + f.kernel("k"), Runs: []*Run{f.prepare(seed)}}
	out, err := c.Execute(d, func(ptx string) (*backend.Module, error) { return driver.Describe("wgmma", ptx, 90) })
	if err != nil {
		t.Fatal(err)
	}
	compareAll(t, c, out)
}
