package rocsolver_test

import (
	"encoding/binary"
	"math"
	"sync"
	"unsafe"

	"kudzu/internal/abi"
	"kudzu/internal/bind"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec"
)

var table = sync.OnceValues(func() (*spec.API, error) { return spec.Load("cusolver") })

func find(name string) *abi.Handler {
	for _, list := range bind.Handlers {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// call makes a call as a stub does: arguments packed as C lays out a structure of them.
func (r *rig) call(name string, args []uint64) int32 {
	r.t.Helper()
	api, err := table()
	r.ok(err)
	at := find(name)
	if at == nil {
		r.t.Fatalf("%s is not bound", name)
	}
	var block []byte
	for _, f := range api.Funcs {
		if f.Name != name {
			continue
		}
		if len(f.Params) != len(args) {
			r.t.Fatalf("%s takes %d arguments, not %d", name, len(f.Params), len(args))
		}
		for i, p := range f.Params {
			size, align, err := api.Scope(13).Size(p.Type)
			r.ok(err)
			for len(block)%align != 0 {
				block = append(block, 0)
			}
			block = append(block, binary.LittleEndian.AppendUint64(nil, args[i])[:size]...)
		}
	}
	words := make([]uint64, len(block)/8+1)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words)), block)
	return at.Call(unsafe.Pointer(r.th), unsafe.Pointer(&words[0]))
}

func (r *rig) upload(v []float32) driver.DevPtr {
	r.t.Helper()
	p, err := r.th.MemAlloc(uint64(4 * len(v)))
	r.ok(err)
	r.ok(r.th.MemcpyHtoD(p, hostmem.Of(&v[0]), uint64(4*len(v))))
	return p
}

func (r *rig) download(p driver.DevPtr, n int) []float32 {
	r.t.Helper()
	b := make([]byte, 4*n)
	r.ok(r.th.MemcpyDtoH(hostmem.Of(&b[0]), p, uint64(len(b))))
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// number is what lies at an address.
func (r *rig) number(p driver.DevPtr) int32 {
	r.t.Helper()
	var v int32
	r.ok(r.th.MemcpyDtoH(hostmem.Of(&v), p, 4))
	return v
}
