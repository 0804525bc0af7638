package cudnn

import (
	"kudzu/internal/cudart"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/dnn"
	"kudzu/internal/spec/rt"
)

// Handle is cuDNN's name for one.
type Handle = dnn.CudnnHandle_t

// library is what cudnnCreate gives.
type library struct {
	mu     lockrank.Mutex[lockrank.DNNHandle]
	stream cu.CUstream // guarded by mu
	spaces nn.Spaces
}

var libraries = handle.NewTable[library](handle.CudnnHandle, "cuDNN handles")

// Create makes a handle on the current device.
func (t *Thread) Create(of Release) (uint64, error) {
	called.Store(int32(of))
	if err := cudart.Ready(t.driver()); err != nil {
		return 0, notInitialized
	}
	return issued(libraries.New(&library{}))
}

func issued(v handle.Value) (uint64, error) {
	if v == 0 {
		return 0, hostAlloc
	}
	return uint64(v), nil
}

// Destroy ends a handle. Giving memory back waits for the work that uses it; the device is not waited for, which would end captures of other
// threads.
func (t *Thread) Destroy(h Handle) error {
	x := libraries.Delete(handle.Value(h))
	if x == nil {
		return because(badParam, "%#x is no handle", uint64(h))
	}
	for _, p := range providers.All() {
		if p.Serves(t.driver()) {
			_ = t.driver().CtxSynchronize() // another library's handle goes, which work may still use
		}
		p.Drop(&x.spaces)
	}
	x.spaces.Drop(t.driver())
	return nil
}

// work is where operations of a handle are enqueued.
func (t *Thread) work(h Handle) (*nn.Run, error) {
	x, err := find(h)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return &nn.Run{D: t.driver(), Stream: x.stream, Spaces: &x.spaces}, nil
}

func find(h Handle) (*library, error) {
	x := libraries.Get(handle.Value(h))
	if x == nil {
		return nil, because(badParam, "%#x is no handle", uint64(h))
	}
	return x, nil
}

// SetStream sends later work of the handle to a stream.
func (t *Thread) SetStream(h Handle, s rt.CudaStream_t) error {
	x, err := find(h)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stream = cu.CUstream(s)
	return nil
}

// GetStream is the stream of a handle.
func (t *Thread) GetStream(h Handle) (rt.CudaStream_t, error) {
	x, err := find(h)
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return rt.CudaStream_t(x.stream), nil
}

// QueryRuntimeError: no kernel of ours reports one.
func (t *Thread) QueryRuntimeError(h Handle, status hostmem.Ptr, mode dnn.CudnnErrQueryMode_t, tag hostmem.Ptr) error {
	x, err := find(h)
	if err != nil {
		return err
	}
	if status == hostmem.Nil {
		return nullPointer
	}
	if mode < dnn.CUDNN_ERRQUERY_RAWCODE || mode > dnn.CUDNN_ERRQUERY_BLOCKING {
		return because(badParam, "mode %d", mode)
	}
	if mode == dnn.CUDNN_ERRQUERY_BLOCKING {
		x.mu.Lock()
		stream := x.stream
		x.mu.Unlock()
		if err := t.driver().StreamSynchronize(stream); err != nil {
			return executionFailed
		}
	}
	hostmem.Store(status, dnn.CUDNN_STATUS_SUCCESS)
	return nil
}

// The parts are one library: their versions never differ.

// GraphVersionCheck answers for a part.
func (t *Thread) GraphVersionCheck() error { return nil }

// OpsVersionCheck answers for a part.
func (t *Thread) OpsVersionCheck() error { return nil }

// CnnVersionCheck answers for a part.
func (t *Thread) CnnVersionCheck() error { return nil }

// AdvVersionCheck answers for a part.
func (t *Thread) AdvVersionCheck() error { return nil }

// SubquadraticOpsVersionCheck answers for a part.
func (t *Thread) SubquadraticOpsVersionCheck() error { return nil }

// OpsInferVersionCheck answers for a part of 8.
func (t *Thread) OpsInferVersionCheck() error { return nil }

// OpsTrainVersionCheck answers for a part of 8.
func (t *Thread) OpsTrainVersionCheck() error { return nil }

// CnnInferVersionCheck answers for a part of 8.
func (t *Thread) CnnInferVersionCheck() error { return nil }

// CnnTrainVersionCheck answers for a part of 8.
func (t *Thread) CnnTrainVersionCheck() error { return nil }

// AdvInferVersionCheck answers for a part of 8.
func (t *Thread) AdvInferVersionCheck() error { return nil }

// AdvTrainVersionCheck answers for a part of 8.
func (t *Thread) AdvTrainVersionCheck() error { return nil }
