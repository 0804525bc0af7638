package graph

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/dnn"
)

// guesser makes descriptors at random: of the right types mostly, so that what is wrong with them is found late.
type guesser struct {
	*rand.Rand
	tensors []*Descriptor
	made    map[Kind][]*Descriptor
}

// tensor makes a tensor of few elements.
func (g *guesser) tensor(id int64) *Descriptor {
	rank := 4
	if g.IntN(4) == 0 {
		rank = 1 + g.IntN(6)
	}
	dim := make([]int64, rank)
	for i := range dim {
		dim[i] = []int64{1, 2, 2, 2, 4, 4, 3, 8, 0}[g.IntN(9)]
	}
	stride := nn.Packed(dim...)
	if g.IntN(3) == 0 {
		stride = nn.ChannelsLast(dim...)
	}
	types := slices.Sorted(maps.Keys(elemTypes))
	typ := int64(dnn.CUDNN_DATA_FLOAT)
	if g.IntN(3) == 0 {
		typ = int64(types[g.IntN(len(types))])
	}
	d := &Descriptor{kind: Tensor, values: map[Attr]value{
		dnn.CUDNN_ATTR_TENSOR_UNIQUE_ID: {wholes: []int64{id}}, dnn.CUDNN_ATTR_TENSOR_DATA_TYPE: {wholes: []int64{typ}}, dnn.CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT: {wholes: []int64{16}},
		dnn.CUDNN_ATTR_TENSOR_DIMENSIONS: {wholes: dim}, dnn.CUDNN_ATTR_TENSOR_STRIDES: {wholes: stride}, dnn.CUDNN_ATTR_TENSOR_IS_VIRTUAL: {wholes: []int64{int64(g.IntN(2))}},
		dnn.CUDNN_ATTR_TENSOR_IS_BY_VALUE: {wholes: []int64{int64(g.IntN(8) / 7)}},
	}}
	for a, v := range d.values {
		v.typ = find(Tensor, a).form.types[0]
		d.values[a] = v
	}
	if g.IntN(6) == 0 && len(g.tensors) > 0 {
		d.values[dnn.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC] = value{typ: dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR, refs: []*Descriptor{g.tensors[g.IntN(len(g.tensors))]}}
	}
	return d
}

// guess is a value for an attribute, or none.
func (g *guesser) guess(r row) (v value, ok bool) {
	v.typ = r.form.types[g.IntN(len(r.form.types))]
	count := int(min(r.form.most, int64(1+g.IntN(4))))
	switch v.typ {
	case dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR:
		from := g.made[r.form.of]
		if r.form.of == Tensor {
			from = g.tensors
		} else if r.form.of == anyOperation {
			from = slices.Concat(slices.Collect(maps.Values(g.made))...)
			from = slices.DeleteFunc(from, func(d *Descriptor) bool { return operations()[d.kind] == nil })
		}
		if len(from) == 0 {
			return v, false
		}
		for range count {
			v.refs = append(v.refs, from[g.IntN(len(from))])
		}
	case dnn.CUDNN_TYPE_DOUBLE, dnn.CUDNN_TYPE_FLOAT:
		for range count {
			v.floats = append(v.floats, g.NormFloat64())
		}
	case dnn.CUDNN_TYPE_CHAR:
		v.chars = []byte("{}")
	default:
		if v.typ == dnn.CUDNN_TYPE_FRACTION {
			count *= 2
		}
		for range count {
			v.wholes = append(v.wholes, int64(g.IntN(5)))
		}
		if v.typ == dnn.CUDNN_TYPE_POINTWISE_MODE {
			modes := slices.Sorted(maps.Keys(pointModes))
			v.wholes[0] = int64(modes[g.IntN(len(modes))])
		}
	}
	return v, true
}

// descriptor makes one of a kind, and keeps it if it can be finalized.
func (g *guesser) descriptor(k Kind) *Descriptor {
	d := &Descriptor{kind: k, values: map[Attr]value{}}
	all, _ := rows(k)
	for _, r := range all {
		if r.fixed || !r.need && g.IntN(3) > 0 {
			continue
		}
		if v, ok := g.guess(r); ok {
			d.values[r.name] = v
		}
	}
	if d.Finalize() != nil {
		return nil
	}
	g.made[k] = append(g.made[k], d)
	return d
}

// TestRandomGraphs: whatever descriptors say, they are made or refused; a graph that can run has a place for everything, and the text of
// its plan makes it again.
func TestRandomGraphs(t *testing.T) {
	kinds := slices.Concat(slices.Collect(maps.Keys(settings())), slices.Collect(maps.Keys(operations())))
	slices.Sort(kinds)
	kinds = slices.DeleteFunc(kinds, func(k Kind) bool {
		return k == Tensor || k == ExecutionPlan || k == KernelCache || k == DeviceProp || k == VariantPack
	})
	finished, plans := 0, 0
	for seed := range uint64(400) {
		g := &guesser{Rand: rand.New(rand.NewPCG(seed, 22)), made: map[Kind][]*Descriptor{}}
		for id := range int64(6 + g.IntN(10)) {
			if d := g.tensor(id + 1); d.Finalize() == nil {
				g.tensors = append(g.tensors, d)
			}
		}
		for range 200 {
			if g.descriptor(kinds[g.IntN(len(kinds))]) != nil {
				finished++
			}
		}
		for range 20 {
			g.descriptor(OperationGraph)
		}
		for _, d := range g.made[OperationGraph] {
			gr := d.made.(*graph)
			if gr.runs() != nil {
				continue
			}
			plans++
			p := &plan{gr}
			again, err := planOf(p.json())
			if err != nil {
				t.Fatalf("seed %d: a plan's text: %v", seed, err)
			}
			if a, b := gr.between(), again.graph.between(); a != b {
				t.Fatalf("seed %d: %d bytes between operations, by the text %d", seed, a, b)
			}
		}
	}
	if finished < 10000 || plans < 200 {
		t.Errorf("only %d descriptors and %d plans", finished, plans)
	}
}
