package cudart

import (
	"runtime"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// What libcudart.so.11.0 has that 12 gave other parameters. Texture references, which 12 has no more, are in texref.go.

// GraphInstantiate11 makes a graph executable; the log says nothing, and no node is to blame unless it fails.
func (t *Thread) GraphInstantiate11(g rt.CudaGraph_t, node, log hostmem.Ptr, room uint64) (rt.CudaGraphExec_t, error) {
	if log != hostmem.Nil && room > 0 {
		hostmem.Store(log, uint8(0))
	}
	if node != hostmem.Nil {
		hostmem.Store(node, uint64(0))
	}
	return t.GraphInstantiate(g, 0)
}

// GraphExecUpdate11 takes on the parameters of another graph, and tells which node did not fit and why.
func (t *Thread) GraphExecUpdate11(x rt.CudaGraphExec_t, g rt.CudaGraph_t, node, result hostmem.Ptr) error {
	if result == hostmem.Nil {
		return t.absent(errInvalidValue)
	}
	var info cu.CUgraphExecUpdateResultInfo
	defer runtime.KeepAlive(&info)
	err := t.GraphExecUpdate(x, g, hostmem.Of(&info))
	hostmem.Store(result, int32(info.Result))
	if node != hostmem.Nil {
		hostmem.Store(node, uint64(info.ErrorNode))
	}
	return err
}

// oldTextureDesc is the bytes of a texture's description that 11 has: all but the last word, which says whether cubes are seamless.
const oldTextureDesc = 68

// CreateTextureObject11 makes a texture; it has no word about seamless cubes.
func (t *Thread) CreateTextureObject11(res, tex, view hostmem.Ptr) (rt.CudaTextureObject_t, error) {
	if tex == hostmem.Nil {
		return 0, t.absent(errInvalidValue)
	}
	var d rt.CudaTextureDesc
	defer runtime.KeepAlive(&d)
	copy(hostmem.Bytes(hostmem.Of(&d), oldTextureDesc), hostmem.Bytes(tex, oldTextureDesc))
	return t.CreateTextureObject(res, &d, view)
}

// GetTextureObjectTextureDesc11 is how a texture is sampled.
func (t *Thread) GetTextureObjectTextureDesc11(out hostmem.Ptr, h rt.CudaTextureObject_t) error {
	if out == hostmem.Nil {
		return t.absent(errInvalidValue)
	}
	d, err := t.GetTextureObjectTextureDesc(h)
	if err == nil {
		hostmem.StorePrefix(out, d, oldTextureDesc)
	}
	return err
}

// oldFuncAttributes is the bytes of a kernel's attributes that 11 has: it ends before those of clusters.
const oldFuncAttributes = 56

// FuncGetAttributes11 is what is known of a kernel.
func (t *Thread) FuncGetAttributes11(out, fn hostmem.Ptr) error {
	if out == hostmem.Nil {
		return errInvalidValue
	}
	a, err := t.attributes(fn)
	if err == nil {
		hostmem.StorePrefix(out, a, oldFuncAttributes)
	}
	return err
}

// ProfilerInitialize refuses: the profiler it set up is gone, and 12 has the name no more.
func (t *Thread) ProfilerInitialize(_, _ string, mode int32) error {
	return t.withDriver(func(d *driver.Thread) error { return d.ProfilerInitialize("", "", cu.CUoutput_mode(mode)) })
}
