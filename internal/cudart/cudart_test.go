package cudart

import (
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// TestPropRows: every property of both layouts has a row, of as many attributes as the field has numbers.
func TestPropRows(t *testing.T) {
	other := " Name Uuid Luid LuidDeviceNodeMask TotalGlobalMem Reserved "
	seen := map[string]bool{}
	for _, layout := range []reflect.Type{reflect.TypeFor[rt.CudaDeviceProp](), reflect.TypeFor[rt.CudaDeviceProp_12]()} {
		for i := range layout.NumField() {
			f := layout.Field(i)
			if f.Name == "_" || strings.Contains(other, " "+f.Name+" ") {
				continue
			}
			seen[f.Name] = true
			want := 1
			if f.Type.Kind() == reflect.Array {
				want = f.Type.Len()
			}
			if got := len(propRows[f.Name]); got != want {
				t.Errorf("%s.%s has %d attributes, want %d", layout.Name(), f.Name, got, want)
			}
		}
	}
	for name := range propRows {
		if !seen[name] {
			t.Errorf("row %s belongs to no field", name)
		}
	}
}

// TestCodes: the codes of the driver mean the same to the runtime.
func TestCodes(t *testing.T) {
	codes := func(api, enum string) map[int64]bool {
		a, err := spec.Load(api)
		if err != nil {
			t.Fatal(err)
		}
		m := map[int64]bool{}
		for _, e := range a.Enums {
			if e.Name == enum {
				for _, v := range e.Values {
					m[v.Value] = true
				}
			}
		}
		return m
	}
	ours := codes("cudart", "cudaError_t")
	for c := range codes("cuda", "CUresult") {
		if got := ErrorOf(driver.Result(c)); !ours[int64(got)] {
			t.Errorf("the driver's %d is %d here, which no name has", c, got)
		}
	}
}

// base plays libkudzu-base: notes that wait to be taken.
type base struct {
	noted atomic.Uint64
	notes []Note
}

func (b *base) note(n ...Note) {
	b.notes = append(b.notes, n...)
	b.noted.Add(uint64(len(n)))
}

func (b *base) take(out []Note) int {
	n := copy(out, b.notes)
	b.notes = b.notes[n:]
	return n
}

// TestRegistry: what is registered is found, the first of several units with the same stub serves until it goes.
func TestRegistry(t *testing.T) {
	b := &base{}
	r := &registry{noted: &b.noted, take: b.take}
	d := new(driver.Thread)
	if r.find(d, 100) != nil {
		t.Error("found before anything was registered")
	}
	b.note(Note{Kind: noteFatbin, Fatbin: 1}, Note{Kind: noteKernel, Fatbin: 1, Host: 100}, Note{Kind: noteVariable, Fatbin: 1, Host: 200, Size: 4})
	b.note(Note{Kind: noteFatbin, Fatbin: 2}, Note{Kind: noteKernel, Fatbin: 2, Host: 100}, Note{Kind: noteKernel, Fatbin: 3, Host: 300})
	at := func(p hostmem.Ptr) uint64 {
		if e := r.find(d, p); e != nil {
			return e.fatbin.number
		}
		return 0
	}
	for p, want := range map[hostmem.Ptr]uint64{100: 1, 200: 1, 300: 0} {
		if got := at(p); got != want {
			t.Errorf("address %d is of unit %d, want %d", p, got, want)
		}
	}
	b.note(Note{Kind: noteGone, Fatbin: 1}, Note{Kind: noteGone, Fatbin: 7})
	if at(100) != 2 || at(200) != 0 {
		t.Errorf("after unit 1 is gone: %d %d, want 2 0", at(100), at(200))
	}
	many := make([]Note, 5000)
	for i := range many {
		many[i] = Note{Kind: noteKernel, Fatbin: 2, Host: hostmem.Ptr(1000 + i)}
	}
	b.note(many...)
	if at(5999) != 2 {
		t.Error("the last of many notes is lost")
	}
	b.note(Note{Kind: noteGone, Fatbin: 2})
	if at(100) != 0 || len(*r.symbols.Load()) != 0 {
		t.Error("something is left of what is gone")
	}
}

// TestLayouts: structures that are passed on as the driver's are laid out alike.
func TestLayouts(t *testing.T) {
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[rt.CudaMemPoolProps](), reflect.TypeFor[cu.CUmemPoolProps]()},
		{reflect.TypeFor[rt.CudaMemAllocNodeParams](), reflect.TypeFor[cu.CUDA_MEM_ALLOC_NODE_PARAMS]()},
		{reflect.TypeFor[rt.CudaLaunchAttributeValue](), reflect.TypeFor[cu.CUkernelNodeAttrValue]()},
		{reflect.TypeFor[rt.CudaLaunchAttribute](), reflect.TypeFor[cu.CUlaunchAttribute]()},
		{reflect.TypeFor[rt.CudaMemAccessDesc](), reflect.TypeFor[cu.CUmemAccessDesc]()},
		{reflect.TypeFor[rt.CudaMemLocation](), reflect.TypeFor[cu.CUmemLocation]()},
		{reflect.TypeFor[rt.CudaGraphExecUpdateResultInfo](), reflect.TypeFor[cu.CUgraphExecUpdateResultInfo]()},
		{reflect.TypeFor[rt.CudaGraphInstantiateParams](), reflect.TypeFor[cu.CUDA_GRAPH_INSTANTIATE_PARAMS]()},
	} {
		a, b := pair[0], pair[1]
		if a.Size() != b.Size() {
			t.Errorf("%s has %d bytes, %s %d", a, a.Size(), b, b.Size())
		}
		for i := range min(a.NumField(), b.NumField()) {
			if strings.HasPrefix(strings.ToLower(a.Field(i).Name), "reserved") {
				break // the driver may have a meaning for more of it
			}
			if a.Field(i).Offset != b.Field(i).Offset || a.Field(i).Type.Size() != b.Field(i).Type.Size() {
				t.Errorf("%s.%s lies elsewhere than %s.%s", a, a.Field(i).Name, b, b.Field(i).Name)
			}
		}
	}
}

// TestChannels: kinds that name a whole format become the driver's and come back.
func TestChannels(t *testing.T) {
	for kind, want := range map[rt.CudaChannelFormatKind]struct {
		format cu.CUarray_format
		sizes  [4]int32
	}{
		rt.CudaChannelFormatKindUnsignedNormalized8X2:        {cu.CU_AD_FORMAT_UNORM_INT8X2, [4]int32{8, 8}},
		rt.CudaChannelFormatKindSignedNormalized16X4:         {cu.CU_AD_FORMAT_SNORM_INT16X4, [4]int32{16, 16, 16, 16}},
		rt.CudaChannelFormatKindUnsignedBlockCompressed1:     {cu.CU_AD_FORMAT_BC1_UNORM, [4]int32{8, 8, 8, 8}},
		rt.CudaChannelFormatKindSignedBlockCompressed4:       {cu.CU_AD_FORMAT_BC4_SNORM, [4]int32{8}},
		rt.CudaChannelFormatKindUnsignedBlockCompressed6H:    {cu.CU_AD_FORMAT_BC6H_UF16, [4]int32{16, 16, 16}},
		rt.CudaChannelFormatKindUnsignedBlockCompressed7SRGB: {cu.CU_AD_FORMAT_BC7_UNORM_SRGB, [4]int32{8, 8, 8, 8}},
		rt.CudaChannelFormatKindFloat:                        {cu.CU_AD_FORMAT_HALF, [4]int32{16, 16}},
	} {
		d := rt.CudaChannelFormatDesc{X: want.sizes[0], Y: want.sizes[1], Z: want.sizes[2], W: want.sizes[3], F: kind}
		f, n, err := channels(&d)
		if err != nil || f != want.format {
			t.Errorf("kind %d is format %d: %v", kind, f, err)
		}
		if back := channelDesc(f, n); back != d {
			t.Errorf("kind %d comes back as %+v", kind, back)
		}
	}
	if _, _, err := channels(&rt.CudaChannelFormatDesc{X: 32, F: rt.CudaChannelFormatKindUnsignedBlockCompressed4}); err != errInvalidChannel {
		t.Errorf("32 bits of a block: %v", err)
	}
}
