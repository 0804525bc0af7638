package codeobject

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

const ntMetadata = 32 // NT_AMDGPU_METADATA

// note finds the metadata in the notes of a file.
func (f *file) note() ([]byte, error) {
	for _, s := range f.sections {
		if s.kind != shtNote {
			continue
		}
		b, err := s.bytes(f)
		if err != nil {
			return nil, err
		}
		if d := findNote(b, "AMDGPU", ntMetadata); d != nil {
			return d, nil
		}
	}
	return nil, errors.New("code object: no NT_AMDGPU_METADATA note")
}

func findNote(b []byte, name string, kind uint32) []byte {
	le := binary.LittleEndian
	for len(b) >= 12 {
		n, d, k := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
		b = b[12:]
		nPad, dPad := (n+3)&^3, (d+3)&^3
		if nPad > uint64(len(b)) || d > uint64(len(b))-nPad {
			return nil
		}
		if k == kind && string(bytes.TrimRight(b[:n], "\x00")) == name {
			return b[nPad : nPad+d]
		}
		b = b[min(nPad+dPad, uint64(len(b))):]
	}
	return nil
}

// fields reads a map whose values have known types; the first that has another is the error.
type fields struct {
	m   map[string]any
	err error
}

func field[T any](f *fields, key string) T {
	var zero T
	v, ok := f.m[key]
	if !ok {
		return zero
	}
	t, ok := v.(T)
	if !ok && f.err == nil {
		f.err = fmt.Errorf("metadata: %s is a %T", key, v)
	}
	return t
}

func (f *fields) number(key string) int {
	n := field[int64](f, key)
	if (n < 0 || n > 1<<31-1) && f.err == nil {
		f.err = fmt.Errorf("metadata: %s is %d", key, n)
	}
	return int(n)
}

// maxKernels bounds what a hostile note can make us do.
const maxKernels = 1 << 16

func (o *Object) readMetadata(f *file) error {
	b, err := f.note()
	if err != nil {
		return err
	}
	v, err := (&unpacker{b: b}).value()
	if err != nil {
		return err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return errors.New("metadata: no map")
	}
	top := &fields{m: m}
	o.Metadata = field[string](top, "amdhsa.target")
	kernels := field[[]any](top, "amdhsa.kernels")
	if top.err != nil {
		return top.err
	}
	if len(kernels) > maxKernels {
		return fmt.Errorf("metadata: %d kernels", len(kernels))
	}
	for _, x := range kernels {
		km, ok := x.(map[string]any)
		if !ok {
			return errors.New("metadata: a kernel is no map")
		}
		k, err := kernelOf(km)
		if err != nil {
			return err
		}
		o.Kernels = append(o.Kernels, k)
	}
	return nil
}

func kernelOf(m map[string]any) (*Kernel, error) {
	f := &fields{m: m}
	k := &Kernel{
		Name: field[string](f, ".name"), Symbol: field[string](f, ".symbol"),
		KernargSize: f.number(".kernarg_segment_size"), KernargAlign: f.number(".kernarg_segment_align"),
		GroupFixed: f.number(".group_segment_fixed_size"), PrivateFixed: f.number(".private_segment_fixed_size"),
		Wave: f.number(".wavefront_size"), SGPRs: f.number(".sgpr_count"), VGPRs: f.number(".vgpr_count"), AGPRs: f.number(".agpr_count"),
		SGPRSpills: f.number(".sgpr_spill_count"), VGPRSpills: f.number(".vgpr_spill_count"), MaxFlat: f.number(".max_flat_workgroup_size"),
		DynamicStack: field[bool](f, ".uses_dynamic_stack"),
	}
	for i, x := range field[[]any](f, ".reqd_workgroup_size") {
		if n, ok := x.(int64); ok && i < 3 && n >= 0 && n < 1<<31 {
			k.Required[i] = int(n)
		}
	}
	for _, x := range field[[]any](f, ".args") {
		am, ok := x.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("kernel %s: metadata: an argument is no map", k.Name)
		}
		a := &fields{m: am}
		k.Args = append(k.Args, Arg{
			Name: field[string](a, ".name"), Offset: a.number(".offset"), Size: a.number(".size"),
			Kind: field[string](a, ".value_kind"), AddressSpace: field[string](a, ".address_space"),
		})
		if a.err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, a.err)
		}
	}
	if f.err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, f.err)
	}
	if k.Name == "" || k.Symbol == "" {
		return nil, errors.New("metadata: a kernel without name or symbol")
	}
	return k, nil
}
