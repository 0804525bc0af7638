package graph

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"kudzu/internal/lockrank"
	"kudzu/internal/spec/dnn"
)

// Error is a code of cuDNN 9 and why.
type Error struct {
	Code   dnn.CudnnStatus_t
	Reason string
}

func (e *Error) Error() string { return e.Reason }

func fail(code dnn.CudnnStatus_t, format string, args ...interface{}) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Descriptor is one of the backend API: attributes that are set, then fixed by Finalize.
type Descriptor struct {
	kind Kind

	mu     lockrank.Mutex[lockrank.DNNDescriptor]
	final  bool           // guarded by mu
	values map[Attr]value // guarded by mu; nobody changes it when final is set
	made   interface{}    // what Finalize made of the attributes: *tensor, *operation, *graph, *plan, *pack
}

// value is what an attribute holds, by its type: numbers of any kind, or descriptors.
type value struct {
	typ    dnn.CudnnBackendAttributeType_t
	wholes []int64 // enumerations, handles and addresses too; of a fraction both parts
	floats []float64
	chars  []byte
	refs   []*Descriptor
}

// New makes a descriptor.
func New(k Kind) (*Descriptor, error) {
	if _, ok := rows(k); !ok {
		return nil, fail(dnn.CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "a descriptor of unknown type %d", k)
	}
	return &Descriptor{kind: k, values: map[Attr]value{}}, nil
}

// Kind is the type of the descriptor.
func (d *Descriptor) Kind() Kind { return d.kind }

// Reset makes the descriptor as New made it.
func (d *Descriptor) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.final, d.values, d.made = false, map[Attr]value{}, nil
}

// Elements is a program's array: bytes, and for descriptors what they mean.
type Elements struct {
	Bytes []byte
	Refs  []*Descriptor // nil where there is none
}

// check finds the row of an attribute and compares its type.
func (d *Descriptor) check(a Attr, t dnn.CudnnBackendAttributeType_t) (*row, error) {
	r := find(d.kind, a)
	if r == nil {
		return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM, "a descriptor of type %d has no attribute %d", d.kind, a)
	}
	if !slices.Contains(r.form.types, t) {
		return nil, fail(dnn.CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attribute %d is not of type %d", a, t)
	}
	return r, nil
}

// CheckSet says whether an attribute may be set to so many elements; ElementBytes how large they are.
func (d *Descriptor) CheckSet(a Attr, t dnn.CudnnBackendAttributeType_t, count int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.final {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "the descriptor is finalized")
	}
	r, err := d.check(a, t)
	switch {
	case err != nil:
		return err
	case a == dnn.CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
		return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "attribute %d cannot be set", a)
	case r.fixed:
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "attribute %d cannot be set", a)
	case count < 0 || count > r.form.most || count == 0 && r.form.most <= mostDims:
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "attribute %d has no %d elements", a, count)
	}
	return nil
}

// ElementBytes is the size of count elements of a type.
func ElementBytes(t dnn.CudnnBackendAttributeType_t, count int64) int64 {
	return elementSize(t) * count
}

// Set gives an attribute its elements. CheckSet has said that it may.
func (d *Descriptor) Set(a Attr, t dnn.CudnnBackendAttributeType_t, e Elements) error {
	v := value{typ: t}
	switch size := int(elementSize(t)); {
	case t == dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR:
		if find(d.kind, a).form.of == anyOperation {
			for _, ref := range e.Refs {
				if ref == nil || operations()[ref.kind] == nil {
					return fail(dnn.CUDNN_STATUS_NOT_SUPPORTED, "what is no operation for attribute %d", a)
				}
			}
		}
		v.refs = slices.Clone(e.Refs) // looked at when the descriptor is finalized
	case t == dnn.CUDNN_TYPE_CHAR:
		v.chars = slices.Clone(e.Bytes)
	case t == dnn.CUDNN_TYPE_FLOAT:
		for b := range slices.Chunk(e.Bytes, size) {
			v.floats = append(v.floats, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	case t == dnn.CUDNN_TYPE_DOUBLE:
		for b := range slices.Chunk(e.Bytes, size) {
			v.floats = append(v.floats, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	default:
		for b := range slices.Chunk(e.Bytes, min(size, 8)) {
			v.wholes = append(v.wholes, whole(b))
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.final {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "the descriptor is finalized")
	}
	d.values[a] = v
	return nil
}

// usable reports a descriptor that another may refer to.
func usable(ref *Descriptor, of Kind) error {
	switch {
	case of == anyOperation && operations()[ref.kind] == nil, of != anyOperation && ref.kind != of:
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a descriptor of type %d", ref.kind)
	case !ref.Final():
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a descriptor that is not finalized")
	}
	return nil
}

// whole is a number of 1, 4 or 8 bytes.
func whole(b []byte) int64 {
	switch len(b) {
	case 1:
		return int64(b[0])
	case 4:
		return int64(signed32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// Final reports a finalized descriptor.
func (d *Descriptor) Final() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.final
}

// Get is an attribute of a finalized descriptor: how many elements there are, and the first of them, as many as are asked for. Refs
// that are asked for become copies of the descriptors.
func (d *Descriptor) Get(a Attr, t dnn.CudnnBackendAttributeType_t, asked int64) (count int64, e Elements, err error) {
	if !d.Final() {
		return 0, e, fail(dnn.CUDNN_STATUS_NOT_INITIALIZED, "the descriptor is not finalized")
	}
	r, err := d.check(a, t)
	if err != nil {
		return 0, e, err
	}
	v, ok := d.values[a]
	if !ok {
		v, ok = d.computed(a)
	}
	if !ok && r.form.most == 1 && t != dnn.CUDNN_TYPE_BACKEND_DESCRIPTOR { // what counts where nothing was set
		v, ok = value{wholes: []int64{unset[a]}}, true
	}
	if !ok {
		return 0, e, fail(dnn.CUDNN_STATUS_BAD_PARAM, "attribute %d was not set", a)
	}
	return v.as(t, asked)
}

// unset are the attributes that are not 0 where nothing was set.
var unset = map[Attr]int64{dnn.CUDNN_ATTR_TENSOR_VECTOR_COUNT: 1, dnn.CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION: -1, dnn.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER: 1}

// as is the first elements of a value, in a type.
func (v value) as(t dnn.CudnnBackendAttributeType_t, asked int64) (int64, Elements, error) {
	var e Elements
	n := int64(max(len(v.wholes), len(v.floats), len(v.refs), len(v.chars)))
	if t == dnn.CUDNN_TYPE_FRACTION {
		n /= 2
	}
	give := min(n, max(asked, 0))
	switch size := elementSize(t); {
	case v.refs != nil:
		e.Refs = v.refs[:give]
	case t == dnn.CUDNN_TYPE_CHAR && v.chars != nil:
		e.Bytes = v.chars[:give]
	case v.floats != nil:
		for _, f := range v.floats[:give] {
			if t == dnn.CUDNN_TYPE_FLOAT {
				e.Bytes = binary.LittleEndian.AppendUint32(e.Bytes, math.Float32bits(float32(f)))
			} else {
				e.Bytes = binary.LittleEndian.AppendUint64(e.Bytes, math.Float64bits(f))
			}
		}
	case t == dnn.CUDNN_TYPE_FRACTION:
		for _, w := range v.wholes[:2*give] {
			e.Bytes = binary.LittleEndian.AppendUint64(e.Bytes, uint64(w))
		}
	default:
		for _, w := range v.wholes[:min(give, int64(len(v.wholes)))] {
			e.Bytes = append(e.Bytes, binary.LittleEndian.AppendUint64(nil, uint64(w))[:size]...)
		}
	}
	return n, e, nil
}

// Become makes a descriptor that a program gave for a result the result.
func (d *Descriptor) Become(of *Descriptor) error {
	if d.kind != of.kind {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a descriptor of type %d for one of type %d", d.kind, of.kind)
	}
	of.mu.Lock()
	final, values, made := of.final, maps.Clone(of.values), of.made
	of.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.final, d.values, d.made = final, values, made
	return nil
}

// Finalize checks the attributes and fixes them.
func (d *Descriptor) Finalize() error {
	d.mu.Lock()
	final, given := d.final, maps.Clone(d.values)
	d.mu.Unlock()
	if final {
		return fail(dnn.CUDNN_STATUS_BAD_PARAM, "the descriptor is finalized")
	}
	all, _ := rows(d.kind)
	for _, r := range all {
		if err := r.settle(given); err != nil {
			return err
		}
	}
	made, err := d.build(given)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.final, d.made, d.values = true, made, given
	return nil
}

// settle makes the descriptors that an attribute names those of now: what becomes of them later changes nothing. One that is NULL is not
// set.
func (r *row) settle(values map[Attr]value) error {
	v, ok := values[r.name]
	if ok && r.form.most == 1 && len(v.refs) == 1 && v.refs[0] == nil {
		delete(values, r.name)
		ok = false
	}
	if !ok {
		if r.need {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM, "attribute %d is not set", r.name)
		}
		return nil
	}
	now := make([]*Descriptor, len(v.refs))
	for i, ref := range v.refs {
		if ref == nil {
			return fail(dnn.CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no descriptor in attribute %d", r.name)
		}
		if err := usable(ref, r.form.of); err != nil {
			return err
		}
		now[i] = &Descriptor{kind: ref.kind}
		if err := now[i].Become(ref); err != nil {
			return err
		}
	}
	if v.refs != nil {
		v.refs = now
		values[r.name] = v
	}
	return nil
}

// signed32 keeps the sign of a number of 32 bits.
func signed32(u uint32) (n int64) {
	n = int64(u)
	if n >= 1<<31 {
		n -= 1 << 32
	}
	return n
}
