package cudnn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/dnn"
)

var narrowFormats = map[nn.Elem]*softfloat.Format{nn.E4M3: softfloat.E4M3, nn.E5M2: softfloat.E5M2, nn.E2M1: softfloat.E2M1, nn.E8M0: softfloat.UE8M0}

func decode(e nn.Elem, code byte) float32 {
	return math.Float32frombits(uint32(narrowFormats[e].Convert(softfloat.F32, uint64(code), softfloat.Env{})))
}

func encode(e nn.Elem, v float32, up bool) byte {
	env := softfloat.Env{SatFinite: e != nn.E8M0}
	if up {
		env.Mode = softfloat.RP
	}
	return byte(softfloat.F32.Convert(narrowFormats[e], uint64(math.Float32bits(v)), env))
}

// blockCase is a tensor in blocks along an axis, or along several.
type blockCase struct {
	wide, few, scale         nn.Tensor
	block                    []int64
	axis                     int
	tiled, padded, listed    bool
	finite                   bool
	wideValues, scaleNumbers []float32
}

// index are the indices of element i of some sizes.
func index(dim []int64, i int64) []int64 {
	x := make([]int64, len(dim))
	for d := len(dim) - 1; d >= 0; d-- {
		x[d], i = i%dim[d], i/dim[d]
	}
	return x
}

func packedCount(dim []int64) int64 { return (nn.Tensor{Dim: dim}).Count() }

// counts are how many blocks there are.
func (c *blockCase) counts() []int64 {
	n := slices.Clone(c.wide.Dim)
	for d := range n {
		n[d] = (n[d] + c.block[d] - 1) / c.block[d]
	}
	return n
}

// factorOf is the number of the factor of element x, as if they lay without gaps.
func (c *blockCase) factorOf(x []int64) (i int64) {
	for d, n := range c.counts() {
		i = i*n + x[d]/c.block[d]
	}
	return i
}

// factorPlace is the byte where factor i lies. Tiles are for tensors whose last axis has the blocks, the one before it the rows.
func (c *blockCase) factorPlace(i int64) int64 {
	n := c.counts()
	if !c.tiled {
		return place(nn.Tensor{Dim: n, Stride: c.scale.Stride}, i)
	}
	x, r := index(n, i), len(n)
	row, column, down, across := x[r-2], x[r-1], (n[r-2]+127)/128, (n[r-1]+3)/4
	matrix := i / (n[r-2] * n[r-1])
	return ((matrix*down+row/128)*across+column/4)*512 + row%32*16 + row/32%4*4 + column%4
}

func (c *blockCase) scaleBytes() int64 {
	n, r := c.counts(), len(c.block)
	if c.tiled {
		return packedCount(n[:r-2]) * ((n[r-2] + 127) / 128) * ((n[r-1] + 3) / 4) * 512
	}
	return c.scale.Span() * c.scale.Type.Size()
}

// raw is a tensor of given bytes.
func (n *opGraph) raw(t nn.Tensor, mem []byte, more ...attr) (backendDesc, func() []byte) {
	n.t.Helper()
	d, id := n.describe(t.Type, t.Dim, t.Stride, more...)
	at, err := n.th.driver().MemAlloc(uint64(len(mem)))
	n.ok(err)
	n.t.Cleanup(func() { _ = n.th.driver().MemFree(at) })
	n.ok(n.th.driver().MemcpyHtoD(at, hostmem.Of(&mem[0]), uint64(len(mem))))
	n.ptrs[id] = uint64(at)
	return d, func() []byte {
		n.ok(n.th.driver().CtxSynchronize())
		n.ok(n.th.driver().MemcpyDtoH(hostmem.Of(&mem[0]), driver.DevPtr(n.ptrs[id]), uint64(len(mem))))
		return mem
	}
}

// code reads the code at an element of a tensor of few bits.
func code(e nn.Elem, mem []byte, at int64) byte {
	if e == nn.E2M1 {
		return mem[at/2] >> (at % 2 * 4) & 15
	}
	return mem[at]
}

func setCode(e nn.Elem, mem []byte, at int64, c byte) {
	if e == nn.E2M1 {
		mem[at/2] = mem[at/2]&^(15<<(at%2*4)) | c<<(at%2*4)
		return
	}
	mem[at] = c
}

// blockCases are drawn: sizes that are odd, 1 or no whole number of blocks, gaps, tiles with their sizes rounded up or not.
func blockCases(n int, quantise bool) []*blockCase {
	rng := rand.New(rand.NewPCG(22, 7))
	var list []*blockCase
	for i := range n {
		few := []nn.Elem{nn.E4M3, nn.E5M2, nn.E2M1}[i%3]
		c := &blockCase{tiled: rng.IntN(2) == 0, padded: rng.IntN(2) == 0}
		size, scale := int64(32), nn.E8M0
		if few == nn.E2M1 {
			size, scale = 16, nn.E4M3
		}
		rank := 2 + rng.IntN(3)
		dim := make([]int64, rank)
		for d := range dim {
			dim[d] = 1 + rng.Int64N(5)
		}
		c.axis = rng.IntN(rank)
		if c.tiled || few == nn.E2M1 {
			c.axis = rank - 1
		}
		if c.tiled {
			dim[rank-2] = 2 + rng.Int64N(300)
		}
		dim[c.axis] = 1 + rng.Int64N(6*size)
		c.block = slices.Repeat([]int64{1}, rank)
		c.block[c.axis] = size
		if !quantise && !c.tiled && rng.IntN(2) == 0 { // blocks of two axes, of any factors
			c.listed, scale = true, []nn.Elem{nn.E8M0, nn.E4M3, nn.F32}[rng.IntN(3)]
			c.block[rank-1], c.block[rank-2] = 1+rng.Int64N(40), 1+rng.Int64N(40)
			c.axis = rank - 1
		}
		strides := func(even bool) []int64 {
			wide := slices.Clone(dim)
			for d := range wide {
				if rng.IntN(2) == 0 {
					wide[d] += rng.Int64N(3)
				}
			}
			if even {
				wide[rank-1] += wide[rank-1] % 2
			}
			return nn.Packed(wide...)
		}
		c.wide = nn.Tensor{Type: []nn.Elem{nn.F32, nn.BF16, nn.F16}[rng.IntN(3)], Dim: dim, Stride: strides(false)}
		c.few = nn.Tensor{Type: few, Dim: dim, Stride: strides(few == nn.E2M1)}
		at := c.counts()
		if c.tiled && c.padded {
			at[rank-2], at[rank-1] = (at[rank-2]+127)/128*128, (at[rank-1]+3)/4*4
		}
		c.scale = nn.Make(0, scale, at...)
		c.listed = c.listed || rng.IntN(2) == 0 && !quantise
		list = append(list, c)
	}
	return list
}

func (c *blockCase) reordering() []attr {
	if c.tiled {
		return []attr{{dnn.CUDNN_ATTR_TENSOR_REORDERING_MODE, dnn.CUDNN_TENSOR_REORDERING_F8_128x4}}
	}
	return nil
}

func TestBackendBlockScaleQuantise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, c := range blockCases(36, true) {
		n := newOpGraph(t)
		wide := make([]byte, c.wide.Span()*c.wide.Type.Size())
		count := c.wide.Count()
		values := make([]float32, count)
		most := make([]float32, packedCount(c.counts()))
		for k := range values {
			v := rng.NormFloat64() * math.Exp(4*rng.NormFloat64())
			f := c.factorOf(index(c.wide.Dim, int64(k)))
			switch {
			case f%7 == 3:
				v = 0
			case f%11 == 5 && rng.IntN(20) == 0:
				v = math.NaN()
			}
			at := place(c.wide, int64(k)) * c.wide.Type.Size()
			copy(wide[at:], c.wide.Type.Bytes(v))
			values[k] = float32(c.wide.Type.Value(wide[at:]))
			if a := float32(math.Abs(float64(values[k]))); a > most[f] || a != a {
				most[f] = a
			}
		}
		for k, v := range values { // a NaN stays the largest, whatever follows
			if v != v {
				most[c.factorOf(index(c.wide.Dim, int64(k)))] = v
			}
		}
		x, _ := n.raw(c.wide, wide)
		y, ys := n.raw(c.few, make([]byte, c.few.Span()))
		scale, scales := n.raw(c.scale, make([]byte, c.scaleBytes()), c.reordering()...)
		n.op(dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_YDESC, y},
			attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_SCALE_DESC, scale}, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_MATH_PREC, dnn.CUDNN_DATA_FLOAT},
			attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE, int32(c.block[c.axis])})
		n.run()
		codes, factors := ys(), scales()
		top := map[nn.Elem]float32{nn.E4M3: 448, nn.E5M2: 57344, nn.E2M1: 6}[c.few.Type]
		want := make([]byte, len(most))
		for f, m := range most {
			want[f] = encode(c.scale.Type, m/top, true)
			if got := factors[c.factorPlace(int64(f))]; got != want[f] {
				t.Fatalf("case %d, %v: factor %d is %#x, not %#x of %v", i, c, f, got, want[f], m)
			}
		}
		for k, v := range values {
			by := decode(c.scale.Type, want[c.factorOf(index(c.wide.Dim, int64(k)))])
			w := byte(0)
			if by != 0 {
				w = encode(c.few.Type, v/by, false)
			}
			got := code(c.few.Type, codes, place(c.few, int64(k)))
			if a, b := decode(c.few.Type, got), decode(c.few.Type, w); got != w && (a == a || b == b) {
				t.Fatalf("case %d, %v: element %d is %#x, not %#x of %v by %v", i, c, k, got, w, v, by)
			}
		}
	}
}

// drawn gives a case codes, and makes the tensors of its graph.
func (c *blockCase) drawn(n *opGraph, rng *rand.Rand) (x, scale backendDesc) {
	n.t.Helper()
	few, factors := make([]byte, c.few.Span()), make([]byte, c.scaleBytes())
	c.scaleNumbers = make([]float32, packedCount(c.counts()))
	for f := range c.scaleNumbers {
		at := c.factorPlace(int64(f)) * c.scale.Type.Size()
		switch c.scale.Type {
		case nn.F32:
			copy(factors[at:], nn.F32.Bytes(rng.NormFloat64()))
			c.scaleNumbers[f] = float32(nn.F32.Value(factors[at:]))
			continue
		case nn.E8M0:
			factors[at] = byte(117 + rng.IntN(16))
		default:
			factors[at] = byte(rng.IntN(0x7f))
		}
		c.scaleNumbers[f] = decode(c.scale.Type, factors[at])
	}
	c.wideValues = make([]float32, c.wide.Count())
	for k := range c.wideValues {
		v := byte(rng.IntN(256))
		if c.few.Type == nn.E2M1 {
			v &= 15
		}
		if f := float64(decode(c.few.Type, v)); c.finite && (math.IsNaN(f) || math.IsInf(f, 0)) {
			v = 0
		}
		setCode(c.few.Type, few, place(c.few, int64(k)), v)
		c.wideValues[k] = decode(c.few.Type, v) * c.scaleNumbers[c.factorOf(index(c.wide.Dim, int64(k)))]
	}
	x, _ = n.raw(c.few, few)
	scale, _ = n.raw(c.scale, factors, c.reordering()...)
	return x, scale
}

// dequantise adds the operation.
func (n *opGraph) dequantise(x, scale, y backendDesc, block ...int32) {
	n.t.Helper()
	n.op(dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_YDESC, y},
		attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC, scale}, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_MATH_PREC, dnn.CUDNN_DATA_FLOAT},
		attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_BLOCK_SIZE, block})
}

func TestBackendBlockScaleDequantise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i, c := range blockCases(36, false) {
		n := newOpGraph(t)
		x, scale := c.drawn(n, rng)
		y, ys := n.output(c.wide.Type, c.wide.Stride, c.wide.Dim...)
		block := []int32{int32(c.block[c.axis])}
		if c.listed {
			block = nil
			for _, s := range c.block {
				block = append(block, int32(s))
			}
		}
		n.dequantise(x, scale, y, block...)
		n.run()
		for k, got := range ys() {
			want := c.wide.Type.Value(c.wide.Type.Bytes(float64(c.wideValues[k])))
			if got != want && (got == got || want == want) {
				t.Fatalf("case %d, %v: element %d is %v, not %v", i, c, k, got, want)
			}
		}
	}
}

// TestBackendBlockScaleProduct multiplies two tensors in blocks, whose factors lie in tiles.
func TestBackendBlockScaleProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, e := range []nn.Elem{nn.E2M1, nn.E4M3, nn.E5M2} {
		const b, rows, columns, deep = 2, 137, 9, 160
		size, scale := int64(32), nn.E8M0
		if e == nn.E2M1 {
			size, scale = 16, nn.E4M3
		}
		n := newOpGraph(t)
		factor := func(outer int64) (*blockCase, backendDesc, backendDesc) {
			across := (deep/size + 3) / 4 * 4
			c := &blockCase{tiled: true, finite: true, axis: 2, block: []int64{1, 1, size}, wide: nn.Make(0, nn.F32, b, outer, deep), few: nn.Make(0, e, b, outer, deep), scale: nn.Make(0, scale, b, (outer+127)/128*128, across)}
			x, s := c.drawn(n, rng)
			return c, x, s
		}
		a, x, sx := factor(rows)
		wideA := n.virtual(nn.F32, b, rows, deep)
		n.dequantise(x, sx, wideA, 1, int32(size))
		c, _, _ := factor(columns)
		few, factors := n.ids-1, n.ids // B lies transposed
		turned := func(t nn.Tensor, id int64, more ...attr) backendDesc {
			d, now := n.describe(t.Type, []int64{t.Dim[0], t.Dim[2], t.Dim[1]}, []int64{t.Stride[0], t.Stride[2], t.Stride[1]}, more...)
			n.ptrs[now] = n.ptrs[id]
			return d
		}
		wideB := n.virtual(nn.F32, b, deep, columns)
		n.dequantise(turned(c.few, few), turned(c.scale, factors, c.reordering()...), wideB, int32(size), 1)
		y, ys := n.output(nn.F32, nn.Packed(b, rows, columns), b, rows, columns)
		n.op(dnn.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC, wideA}, attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC, wideB}, attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC, y},
			attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_DESC, n.make(dnn.CUDNN_BACKEND_MATMUL_DESCRIPTOR, attr{dnn.CUDNN_ATTR_MATMUL_COMP_TYPE, dnn.CUDNN_DATA_FLOAT})})
		n.run()
		got := ys()
		for i, g := range got {
			at, j := i/columns, i%columns
			sum, size := 0.0, 0.0
			for k := range deep {
				p := float64(a.wideValues[at*deep+k]) * float64(c.wideValues[(i/(rows*columns)*columns+j)*deep+k])
				sum, size = sum+p, size+math.Abs(p)
			}
			if !(math.Abs(g-sum) <= 1e-5*size) {
				t.Fatalf("%v: element %d is %v, not %v", e, i, g, sum)
			}
		}
	}
}

// TestBackendBlockScaleChain norms, scales and makes blocks in one graph.
func TestBackendBlockScaleChain(t *testing.T) {
	n := newOpGraph(t)
	x, xs := n.input(nn.F32, nn.Packed(5, 96), 5, 96)
	twice := n.virtual(nn.F32, 5, 96)
	n.point(dnn.CUDNN_POINTWISE_ADD, twice, x, x)
	few := nn.Make(0, nn.E4M3, 5, 96)
	y, ys := n.raw(few, make([]byte, 5*96))
	scale, scales := n.raw(nn.Make(0, nn.E8M0, 5, 3), make([]byte, 15))
	n.op(dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_XDESC, twice}, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_YDESC, y},
		attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_SCALE_DESC, scale}, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_MATH_PREC, dnn.CUDNN_DATA_FLOAT}, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_QUANTIZE_BLOCK_SIZE, int32(32)})
	n.run()
	codes, factors := ys(), scales()
	for i, v := range xs {
		by := float64(decode(nn.E8M0, factors[i/32]))
		if got := float64(decode(nn.E4M3, codes[i])) * by; math.Abs(got-2*v) > math.Abs(2*v)/16+by/512 {
			t.Fatalf("element %d is %v, not %v", i, got, 2*v)
		}
	}
}

// TestBackendBlockScaleMisuse: too few factors, types that are none, a type of four bits where no block is, and what is not there yet.
func TestBackendBlockScaleMisuse(t *testing.T) {
	try := func(wide, few, scale nn.Tensor, prec dnn.CudnnDataType_t, more ...attr) dnn.CudnnStatus_t {
		n := newOpGraph(t)
		x, _ := n.describe(few.Type, few.Dim, few.Stride)
		s, _ := n.describe(scale.Type, scale.Dim, scale.Stride)
		y, _ := n.describe(wide.Type, wide.Dim, wide.Stride)
		_, err := n.try(dnn.CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR, append([]attr{{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_XDESC, x}, {dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_YDESC, y},
			{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_SCALE_DESC, s}, {dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_MATH_PREC, prec}, {dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_BLOCK_SIZE, int32(32)}}, more...)...)
		if err == nil {
			return dnn.CUDNN_STATUS_SUCCESS
		}
		return dnn.CudnnStatus_t(Code(err))
	}
	wide, few, scale := nn.Make(0, nn.F32, 4, 64), nn.Make(0, nn.E4M3, 4, 64), nn.Make(0, nn.E8M0, 4, 2)
	for i, c := range []struct{ got, want dnn.CudnnStatus_t }{
		{try(wide, few, scale, dnn.CUDNN_DATA_FLOAT), dnn.CUDNN_STATUS_SUCCESS},
		{try(wide, few, nn.Make(0, nn.E8M0, 4, 1), dnn.CUDNN_DATA_FLOAT), dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH},
		{try(wide, nn.Make(0, nn.E4M3, 4, 63), scale, dnn.CUDNN_DATA_FLOAT), dnn.CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH},
		{try(nn.Make(0, nn.S32, 4, 64), few, scale, dnn.CUDNN_DATA_FLOAT), dnn.CUDNN_STATUS_NOT_SUPPORTED},
		{try(nn.Make(0, nn.E2M1, 4, 64), few, scale, dnn.CUDNN_DATA_FLOAT), dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE},
		{try(nn.Make(0, nn.F32, 4, 0), nn.Make(0, nn.E4M3, 4, 0), nn.Make(0, nn.E8M0, 4, 0), dnn.CUDNN_DATA_FLOAT), dnn.CUDNN_STATUS_NOT_SUPPORTED},
		{try(wide, few, scale, dnn.CUDNN_DATA_DOUBLE), dnn.CUDNN_STATUS_NOT_SUPPORTED},
		{try(wide, few, scale, dnn.CUDNN_DATA_FLOAT, attr{dnn.CUDNN_ATTR_OPERATION_BLOCK_SCALE_DEQUANTIZE_NEG_SCALE, true}), dnn.CUDNN_STATUS_NOT_SUPPORTED},
	} {
		if c.got != c.want {
			t.Errorf("case %d answers %d, not %d", i, c.got, c.want)
		}
	}
	n := newOpGraph(t)
	x, _ := n.describe(nn.E2M1, []int64{4, 4}, []int64{4, 1})
	y, _ := n.describe(nn.F32, []int64{4, 4}, []int64{4, 1})
	pw := n.make(dnn.CUDNN_BACKEND_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_POINTWISE_MODE, dnn.CUDNN_POINTWISE_IDENTITY}, attr{dnn.CUDNN_ATTR_POINTWISE_MATH_PREC, dnn.CUDNN_DATA_FLOAT})
	if _, err := n.try(dnn.CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pw}, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}); err == nil || Code(err) != int32(dnn.CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE) {
		t.Errorf("a pointwise operation of four bits answers %v", err)
	}
}
