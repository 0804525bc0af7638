package cudnn

import (
	"math"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// product adds a matmul.
func (n *opGraph) product(a, b, c backendDesc) {
	n.t.Helper()
	mm := n.make(dnn.CUDNN_BACKEND_MATMUL_DESCRIPTOR, attr{dnn.CUDNN_ATTR_MATMUL_COMP_TYPE, dnn.CUDNN_DATA_FLOAT})
	n.op(dnn.CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_ADESC, a}, attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
		attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_CDESC, c}, attr{dnn.CUDNN_ATTR_OPERATION_MATMUL_DESC, mm})
}

// reduction adds a reduction.
func (n *opGraph) reduction(op dnn.CudnnReduceTensorOp_t, x, y backendDesc) {
	n.t.Helper()
	red := n.make(dnn.CUDNN_BACKEND_REDUCTION_DESCRIPTOR, attr{dnn.CUDNN_ATTR_REDUCTION_OPERATOR, op}, attr{dnn.CUDNN_ATTR_REDUCTION_COMP_TYPE, dnn.CUDNN_DATA_FLOAT})
	n.op(dnn.CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x}, attr{dnn.CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y}, attr{dnn.CUDNN_ATTR_OPERATION_REDUCTION_DESC, red})
}

// TestBackendAttention is attention of four heads that share two heads of keys, as operations and as one, against f64.
func TestBackendAttention(t *testing.T) {
	const batch, heads, keysHeads, queries, keys, d = 2, 4, 2, 9, 11, 8
	q, k, o := []int64{batch, heads, queries, d}, []int64{batch, keysHeads, keys, d}, []int64{batch, heads, queries, d}
	scores, row := []int64{batch, heads, queries, keys}, []int64{batch, heads, queries, 1}
	for _, whole := range []bool{false, true} {
		n := newOpGraph(t)
		qd, qs := n.input(nn.F16, nn.Packed(q...), q...)
		kd, ks := n.input(nn.F16, nn.Packed(k...), k...)
		kID := n.ids
		vd, vs := n.input(nn.F16, nn.Packed(k...), k...)
		od, os := n.output(nn.F16, nn.Packed(o...), o...)
		if whole {
			stats, _ := n.output(nn.F32, nn.Packed(row...), row...)
			n.op(dnn.CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, qd}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, kd}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, vd},
				attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, od}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, stats}, attr{dnn.CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, n.value(0.5)})
		} else {
			// The keys again, turned.
			s := nn.Packed(k...)
			turned, id := n.describe(nn.F16, []int64{batch, keysHeads, d, keys}, []int64{s[0], s[1], s[3], s[2]})
			n.ptrs[id] = n.ptrs[kID]
			raw, scaled, most, shifted := n.virtual(nn.F32, scores...), n.virtual(nn.F32, scores...), n.virtual(nn.F32, row...), n.virtual(nn.F32, scores...)
			e, sum, p := n.virtual(nn.F32, scores...), n.virtual(nn.F32, row...), n.virtual(nn.F16, scores...)
			n.product(qd, turned, raw)
			n.point(dnn.CUDNN_POINTWISE_MUL, scaled, raw, n.value(0.5))
			n.reduction(dnn.CUDNN_REDUCE_TENSOR_MAX, scaled, most)
			n.point(dnn.CUDNN_POINTWISE_SUB, shifted, scaled, most)
			n.point(dnn.CUDNN_POINTWISE_EXP, e, shifted)
			n.reduction(dnn.CUDNN_REDUCE_TENSOR_ADD, e, sum)
			n.point(dnn.CUDNN_POINTWISE_DIV, p, e, sum)
			n.product(p, vd, od)
		}
		n.run()
		near(t, "o", os(), 3e-3, func(i int) float64 {
			at := i / d // the row of q
			head := at/(heads*queries)*keysHeads + at/queries%heads/(heads/keysHeads)
			total, out := 0.0, 0.0
			for j := range keys {
				dot := 0.0
				for x := range d {
					dot += qs[at*d+x] * ks[(head*keys+j)*d+x]
				}
				w := math.Exp(0.5 * dot)
				total += w
				out += w * vs[(head*keys+j)*d+i%d]
			}
			return out / total
		})
	}
}

// TestBackendBetween: what is between operations lies where nothing else does that is still needed.
func TestBackendBetween(t *testing.T) {
	const size = 8
	n := newOpGraph(t)
	x, xs := n.input(nn.F32, nn.Packed(size, size), size, size)
	want := append([]float64(nil), xs...)
	from := x
	for range 5 {
		to := n.virtual(nn.F32, size, size)
		n.product(from, x, to)
		from = to
		next := make([]float64, size*size)
		for i := range next {
			for k := range size {
				next[i] += want[i/size*size+k] * xs[k*size+i%size]
			}
		}
		want = next
	}
	y, ys := n.output(nn.F32, nn.Packed(size, size), size, size)
	n.point(dnn.CUDNN_POINTWISE_NEG, y, from)
	plan := n.plan()
	need := n.between(plan)
	if need != 2*size*size*4 {
		t.Errorf("%d bytes for five products of which two are there at a time", need)
	}
	n.run()
	near(t, "product", ys(), 1e-4, func(i int) float64 { return -want[i] })
}
