package cudnn

import (
	"sync/atomic"

	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/dnn"
)

// descriptor is a value that programs set and pass to calls. What it describes, the type of the value tells: tensor, filter and so on.
// A value is never changed, but replaced: a call that has read it is not disturbed by a thread that sets it anew.
type descriptor struct{ now atomic.Value }

var descriptors = handle.NewTable[descriptor](handle.CudnnDescriptor, "cuDNN descriptors")

// create gives a descriptor whose value is the zero of its type, or what is said.
func create[T any](v T) (uint64, error) {
	d := new(descriptor)
	d.now.Store(v)
	return issued(descriptors.New(d))
}

// destroy ends a descriptor. NULL is none, and no mistake.
func destroy[T any, H ~uint64](h H) error {
	if h == 0 {
		return nil
	}
	if _, err := look[T](h); err != nil {
		return err
	}
	if descriptors.Delete(handle.Value(h)) == nil {
		return because(badParam, "%#x is no descriptor", uint64(h))
	}
	return nil
}

// look is the value of a descriptor.
func look[T any, H ~uint64](h H) (T, error) {
	var none T
	if h == 0 {
		return none, because(badParam, "no descriptor of a %T", none)
	}
	d := descriptors.Get(handle.Value(h))
	if d == nil {
		return none, because(badParam, "%#x is no descriptor", uint64(h))
	}
	v, ok := d.now.Load().(T)
	if !ok {
		return none, because(badParam, "%#x is the descriptor of a %T, not of a %T", uint64(h), d.now.Load(), none)
	}
	return v, nil
}

// set gives a descriptor a value.
func set[T any, H ~uint64](h H, v T) error {
	if _, err := look[T](h); err != nil {
		return err
	}
	return replace(h, v)
}

// alter gives a descriptor a value made of the one it has.
func alter[T any, H ~uint64](h H, f func(*T)) error {
	v, err := look[T](h)
	if err != nil {
		return err
	}
	f(&v)
	return replace(h, v)
}

func replace[T any, H ~uint64](h H, v T) error {
	if d := descriptors.Get(handle.Value(h)); d != nil {
		d.now.Store(v)
		return nil
	}
	return because(badParam, "%#x is no descriptor", uint64(h))
}

// maxDims are the most of a tensor.
const maxDims = dnn.CUDNN_DIM_MAX

// ints reads an array of a program.
func ints(p hostmem.Ptr, n int32) ([]int64, error) {
	if p == hostmem.Nil {
		return nil, because(badParam, "no array")
	}
	if n < 0 {
		return nil, because(badParam, "%d elements", n)
	}
	v := make([]int64, n)
	for i, x := range hostmem.Slice[int32](p, int(n)) {
		v[i] = int64(x)
	}
	return v, nil
}

// putInts fills the first n elements of an array of a program with what there is. NULL wants nothing.
func putInts(p hostmem.Ptr, n int32, v []int64) {
	if p == hostmem.Nil {
		return
	}
	for i, x := range v[:min(len(v), int(max(n, 0)))] {
		hostmem.Store(p.Index(i, 4), int32(x))
	}
}

// known says that a value is one of the enumerators from 0 to last.
func known[E ~int32](v, last E) bool { return v >= 0 && v <= last }
