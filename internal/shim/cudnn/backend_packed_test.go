package cudnn

import (
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// TestBackendPacked: sequences that lie one after another are read and written where they are, by operations that know nothing of it.
func TestBackendPacked(t *testing.T) {
	const batch, heads, positions, size = 3, 2, 5, 4
	lengths := []int{3, 5, 2}
	begins := []float64{0, 3, 8, 10}
	dim := []int64{batch, heads, positions, size}
	for _, turned := range []bool{false, true} {
		n := newOpGraph(t)
		offsets := func(unit float64) backendDesc {
			d, v := n.input(nn.S64, []int64{1, 1, 1, 1}, batch+1, 1, 1, 1)
			var at []float64
			for _, b := range begins {
				at = append(at, b*heads*size/unit)
			}
			n.fillAs(nn.S64, v, at)
			return d
		}
		stride := []int64{positions * heads * size, size, heads * size, 1} // as [token, head, element]
		if turned {
			dim, stride = []int64{batch, heads, size, positions}, []int64{positions * heads * size, size, 1, heads * size}
		}
		place := func(i int) (b, pos, at int) { // of an element in the order of indices
			h, x := 0, 0
			if turned {
				b, h, x, pos = i/size/positions/heads, i/size/positions%heads, i/positions%size, i%positions
			} else {
				b, h, pos, x = i/size/positions/heads, i/size/positions%heads, i/size%positions, i%size
			}
			return b, pos, (int(begins[b])+pos)*heads*size + h*size + x
		}
		ragged := func(e nn.Elem, unit int64) (backendDesc, []float64, int64) {
			at := offsets(float64(unit))
			_, v := n.input(e, []int64{1}, 10*heads*size) // all tokens
			from := n.ids
			d, id := n.describe(e, dim, stride, attr{dnn.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, at}, attr{dnn.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER, unit})
			n.ptrs[id] = n.ptrs[from]
			return d, v, from
		}
		x, xs, _ := ragged(nn.F16, 1)
		y, ys := n.output(nn.F32, nn.Packed(dim...), dim...)
		n.point(dnn.CUDNN_POINTWISE_MUL, y, x, n.value(2))
		z, zs := n.input(nn.F32, nn.Packed(dim...), dim...)
		w, _, wID := ragged(nn.F32, size)
		n.point(dnn.CUDNN_POINTWISE_NEG, w, z)
		n.run()
		near(t, "read", ys(), 1e-6, func(i int) float64 {
			if b, pos, at := place(i); pos < lengths[b] {
				return 2 * xs[at]
			}
			return 0
		})
		want := map[int]float64{}
		for i, v := range zs {
			if b, pos, at := place(i); pos < lengths[b] {
				want[at] = -v
			}
		}
		near(t, "written", n.read(nn.F32, wID), 0, func(i int) float64 { return want[i] })
	}
}

// TestBackendPages loads pages of a cache, and attends to them.
func TestBackendPages(t *testing.T) {
	const batch, heads, page, size, pages, blocks = 2, 2, 4, 8, 3, 7
	lengths := []float64{9, 5}
	table := []float64{6, 0, 3, 2, 5, 99} // of the second sequence the third is not there
	value := func(cs []float64, b, h, pos, x int) float64 {
		if pos >= int(lengths[b]) {
			return 0
		}
		return cs[((int(table[b*pages+pos/page])*heads+h)*page+pos%page)*size+x]
	}
	n := newOpGraph(t)
	load := func() (container, at, length backendDesc, cs []float64) {
		container, cs = n.input(nn.F16, nn.Packed(blocks, heads, page, size), blocks, heads, page, size)
		at, v := n.input(nn.S32, nn.Packed(batch, 1, pages, 1), batch, 1, pages, 1)
		n.fillAs(nn.S32, v, table)
		length, v = n.input(nn.S32, nn.Packed(batch, 1, 1, 1), batch, 1, 1, 1)
		n.fillAs(nn.S32, v, lengths)
		return container, at, length, cs
	}
	container, at, length, cs := load()
	const keys = pages*page - 1
	for _, turned := range []bool{false, true} {
		dim, stride := []int64{batch, heads, keys, size}, nn.Packed(batch, heads, keys, size)
		if turned {
			dim, stride = []int64{batch, heads, size, keys}, []int64{heads * keys * size, keys * size, 1, size}
		}
		y, ys := n.output(nn.F16, stride, dim...)
		n.op(dnn.CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC, container}, attr{dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC, y},
			attr{dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC, length}, attr{dnn.CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC, at})
		n.run()
		near(t, "pages", ys(), 0, func(i int) float64 {
			if turned {
				return value(cs, i/keys/size/heads, i/keys/size%heads, i%keys, i/keys%size)
			}
			return value(cs, i/keys/size/heads, i/keys/size%heads, i/size%keys, i%size)
		})
		n.ops = nil
	}
	containerV, atV, _, vs := load()
	q, qs := n.input(nn.F16, nn.Packed(batch, heads, 1, size), batch, heads, 1, size)
	o, os := n.output(nn.F16, nn.Packed(batch, heads, 1, size), batch, heads, 1, size)
	one, v := n.input(nn.S32, nn.Packed(batch, 1, 1, 1), batch, 1, 1, 1)
	n.fillAs(nn.S32, v, []float64{1, 1})
	n.op(dnn.CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, q}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, container}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, containerV},
		attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, o}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC, at}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC, atV},
		attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, one}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, length})
	n.run()
	near(t, "attention", os(), 3e-3, func(i int) float64 {
		b, h := i/size/heads, i/size%heads
		return softmaxed(int(lengths[b]), func(j int) (score, v float64) {
			for x := range size {
				score += qs[i/size*size+x] * value(cs, b, h, j, x)
			}
			return score, value(vs, b, h, j, i%size)
		})
	})
}
