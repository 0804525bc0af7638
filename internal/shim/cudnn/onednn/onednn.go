// Package onednn does operations of cuDNN with oneDNN, where a program asks for it: KUDZU_DNN=onednn. The library, version 2 or 3, is
// opened at the first operation. Only whole tensors in memory that the driver knows reach it (nn.Work), as a fault in it would be the
// program's end. Why it is not the default: RATIONALE.md.
package onednn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cudnn/nn"
)

// Config says how.
type Config struct {
	Library string // the path of the library; "": by its usual names
	Threads int    // of the library; 0: as many as it likes
}

// Provider is oneDNN as a library of operations.
type Provider struct {
	cfg  Config
	open func() *library
}

var _ nn.Library = (*Provider)(nil)

// Names are tried in this order.
var Names = []string{"libdnnl.so.3", "libdnnl.so.2"}

// New makes a provider. Nothing is opened yet.
func New(cfg Config) *Provider {
	p := &Provider{cfg: cfg}
	p.open = sync.OnceValue(func() *library {
		l, err := load(p.cfg)
		if err != nil {
			logx.Warnf(config.DNN+": %v; our own kernels do everything", err)
			return nil
		}
		logx.Debugf("convolutions by %s", l.so.Path())
		return l
	})
	return p
}

// Name is the library's.
func (p *Provider) Name() string { return "oneDNN" }

// library is what is called.
type library struct {
	so           *dl.Library
	newer        bool // the interface of version 3
	engine, attr uintptr
	threads      int
	set, get     *dl.Func // how many threads OpenMP starts; nil: the library has other threads

	mu   lockrank.Mutex[lockrank.OneDNN]
	kept map[string]*operation // guarded by mu; nil: the library does not do it
	list []string              // guarded by mu: its keys, the oldest first

	running lockrank.Mutex[lockrank.OneDNNRun] // one operation at a time: each takes all threads
	stream  uintptr                            // guarded by running
	room    *dl.Buffer                         // guarded by running: what is laid out anew
}

// most is how many operations are kept.
const most = 256

// load opens the library.
func load(cfg Config) (*library, error) {
	look := dl.Look{What: "oneDNN", Path: cfg.Library, Names: Names, Symbol: "dnnl_primitive_execute"}
	so, err := look.Open()
	if err != nil {
		return nil, err
	}
	l := &library{so: so, threads: cfg.Threads, kept: map[string]*operation{}}
	_, err = so.Find("dnnl_matmul_primitive_desc_create")
	l.newer = err == nil
	for _, f := range functions {
		if _, err := so.Find(f.name); err != nil && (f.of == both || f.of == version3 == l.newer) {
			return nil, err
		}
	}
	if set, err := so.Find("omp_set_num_threads"); err == nil && cfg.Threads > 0 {
		if get, err := so.Find("omp_get_max_threads"); err == nil {
			l.set, l.get = set, get
		}
	}
	for _, v := range []struct {
		name string
		to   *uintptr
		args []uintptr
	}{{"dnnl_engine_create", &l.engine, []uintptr{cpu, 0}}, {"dnnl_primitive_attr_create", &l.attr, nil}} {
		if *v.to, err = l.make(v.name, v.args...); err != nil {
			return nil, err
		}
	}
	if l.stream, err = l.make("dnnl_stream_create", l.engine, inOrder); err != nil {
		return nil, err
	}
	if err := l.call("dnnl_primitive_attr_set_scratchpad_mode", l.attr, scratchOfOurs); err != nil {
		return nil, err
	}
	if f, err := so.Find("dnnl_primitive_attr_set_deterministic"); err == nil { // older ones have no other way
		f.Call(l.attr, 1)
	}
	return l, nil
}

// errRefused: our kernels may do it.
var errRefused = errors.New("not done by oneDNN")

// call calls a function that answers a status.
func (l *library) call(name string, args ...uintptr) error {
	status, err := l.so.Status(name, params[name], args...)
	if err == nil && status != 0 {
		err = fmt.Errorf("%s: %d: %w", name, status, errRefused)
	}
	return err
}

// make calls a function that writes a handle where its first parameter points.
func (l *library) make(name string, args ...uintptr) (uintptr, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := l.call(name, append([]uintptr{out.Addr()}, args...)...)
	return uintptr(binary.LittleEndian.Uint64(out.Bytes())), err
}

// withThreads calls f while OpenMP starts as many threads as we may have. The number is a thread's own, and an operation is made for it.
func (l *library) withThreads(f func()) {
	if l.set != nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if old := l.get.Call(); int(int32(old)) != l.threads {
			l.set.Call(uintptr(l.threads))
			defer l.set.Call(old)
		}
	}
	f()
}

// Prepare finds or makes the operation.
func (p *Provider) Prepare(w *nn.Work) func() {
	key, ok := keyOf(w)
	if !ok {
		return nil
	}
	l := p.open()
	if l == nil {
		return nil
	}
	op, known := l.find(key)
	if !known {
		var err error
		l.withThreads(func() { op, err = l.prepare(w) })
		if err != nil {
			logx.Debugf("%v", err)
		}
		op = l.keep(key, op)
	}
	if op == nil {
		return nil
	}
	at := [...]uint64{w.X.Addr, w.W.Addr, w.Y.Addr}
	return func() { l.withThreads(func() { op.run(at) }) }
}

func (l *library) find(key string) (*operation, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	op, known := l.kept[key]
	return op, known
}

// keep is the operation that counts: another thread may have made it too. The oldest are forgotten; the garbage collector ends them, as
// work that is queued may still have them.
func (l *library) keep(key string, op *operation) *operation {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other, known := l.kept[key]; known {
		return other
	}
	l.kept[key] = op
	if l.list = append(l.list, key); len(l.list) > most {
		delete(l.kept, l.list[0])
		l.list = l.list[1:]
	}
	return op
}

// types are those of elements.
var types = map[nn.Elem]uintptr{nn.F16: 1, nn.BF16: 2, nn.F32: 3}

// keyOf is what an operation is known by: everything but addresses. Not ok: no library has it. Both operands are of one type, and a result
// is of that or of f32.
func keyOf(w *nn.Work) (string, bool) {
	in, out := []nn.Tensor{w.X, w.W}, w.Y
	switch w.Kind {
	case nn.WorkData:
		in, out = []nn.Tensor{w.Y, w.W}, w.X
	case nn.WorkFilter:
		in, out = []nn.Tensor{w.X, w.Y}, w.W
	case nn.WorkSoftmax:
		in = in[:1]
	case nn.WorkForward, nn.WorkProduct:
	}
	e := in[0].Type
	for _, t := range in {
		if types[t.Type] == 0 || t.Type != e {
			return "", false
		}
	}
	if out.Type != e && out.Type != nn.F32 || w.Conv.Flip {
		return "", false
	}
	if w.Kind == nn.WorkSoftmax && e != nn.F32 { // it rounds the exponentials to bf16 before it divides them
		return "", false
	}
	key := fmt.Append(nil, w.Kind, w.Conv, w.Mode, w.Axis)
	for _, t := range append(in, out) {
		for i, d := range t.Dim {
			if d > 1 && t.Stride[i] <= 0 {
				return "", false
			}
		}
		key = fmt.Append(key, t.Type, t.Dim, t.Stride)
	}
	return string(key), true
}
