// Package rocfft does cuFFT's transforms with rocFFT on AMD GPUs. The library is opened when the first transform
// comes; what of it stands in for what of cuFFT is internal/spec/rocfft.api (docs/zamd_libraries.md). What it makes
// no plan for our kernels do.
package rocfft

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/shim/abroad"
	"kudzu/internal/shim/cufft"
	"kudzu/internal/spec/rocfft"
)

// Config makes a provider.
type Config struct {
	Library string // the path of librocfft; "" looks for it
	Env     func(string) string
}

// Provider is rocFFT.
type Provider struct {
	lib   *abroad.Library
	once  sync.Once
	ready bool // rocfft_setup was called
}

var _ cufft.Provider = (*Provider)(nil)

// Variable names the library outright, or is "none".
const Variable = config.ROCFFTLibrary

// New returns the provider; nothing is opened.
func New(cfg Config) *Provider {
	first := rocfft.Rows[rocfft.Rocfft_plan_create].Name
	return &Provider{lib: abroad.ROCm("cuFFT", "rocFFT", cfg.Library, Variable, cfg.Env, first, "librocfft.so.1", "librocfft.so.0")}
}

// Name is the library's.
func (p *Provider) Name() string { return "rocFFT" }

// Serves: only devices of AMD's have streams that rocFFT takes.
func (p *Provider) Serves(d *driver.Thread) bool { return d.AnyAbroad() }

// Library says in one line which library there is, and how much of what we call it has.
func (p *Provider) Library() (string, error) {
	version := ""
	if p.lib.Open() != nil {
		const room = 64
		buf := dl.Alloc(room)
		defer buf.Free()
		if p.call(rocfft.Rocfft_get_version_string, buf.Addr(), room) == nil {
			version, _, _ = strings.Cut(string(buf.Bytes()), "\x00")
		}
	}
	var names []string
	for _, r := range rocfft.Rows {
		names = append(names, r.Name)
	}
	return p.lib.About(version, names)
}

// open opens the library and sets it up, once.
func (p *Provider) open() bool {
	p.once.Do(func() { p.ready = p.lib.Open() != nil && p.call(rocfft.Rocfft_setup) == nil })
	return p.ready
}

// errRefused: nothing has happened, and our kernels may do it.
var errRefused = errors.New("not done by rocFFT")

// call calls a function of the library.
func (p *Provider) call(f rocfft.Func, args ...uintptr) error {
	row := &rocfft.Rows[f]
	status := p.lib.Call(row.Name, row.Params, args...)
	if status == abroad.Missing {
		return errRefused
	}
	return cufft.Answered(rocfft.ToCufftResult(status))
}

// make calls a function that writes a handle where its first parameter points.
func (p *Provider) make(f rocfft.Func, args ...uintptr) (uintptr, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := p.call(f, append([]uintptr{out.Addr()}, args...)...)
	return uintptr(binary.LittleEndian.Uint64(out.Bytes())), err
}

// shape is what a plan of rocFFT's is made for, beside what cuFFT's plan says.
type shape struct{ inPlace, inverse bool }

// plan is a plan of rocFFT's.
type plan struct {
	at   uintptr // 0: it could not be made
	info uintptr
	work uint64
	area driver.DevPtr // memory of our own, where cuFFT's work area is too small
}

// kept are the plans for one of cuFFT's. It is locked meanwhile.
type kept map[shape]*plan

// Transform does a transform if the stream is one of an AMD GPU's and rocFFT makes a plan for it.
func (p *Provider) Transform(d *driver.Thread, t *cufft.Transform) (bool, error) {
	if precisions[t.Type] < 0 {
		return false, nil
	}
	plans, _ := (*t.Kept).(kept)
	if plans == nil {
		plans = kept{}
		*t.Kept = plans
	}
	s := shape{t.From == t.To, t.Inverse}
	x := plans[s]
	if x == nil {
		abroad, err := d.Abroad(t.Stream, "rocfft_plan_create", func(w backend.Where) error {
			if w.Runtime == "hip" && p.open() {
				x = p.plan(t)
			}
			return nil
		})
		if err != nil {
			return true, err
		}
		if !abroad || x == nil {
			return false, nil
		}
		plans[s] = x
	}
	if x.at == 0 {
		return false, nil
	}
	area := uintptr(t.Area)
	if t.Area == 0 || t.Size < x.work {
		if x.work > 0 && x.area == 0 { // before the stream is held: it may have to wait
			at, err := d.TakeMemory(x.work)
			if err != nil {
				return false, nil
			}
			x.area = at
		}
		area = uintptr(x.area)
	}
	status := errRefused
	abroad, err := d.Abroad(t.Stream, "rocfft_execute", func(w backend.Where) error {
		status = p.execute(x, t, area, w.Stream)
		return nil
	})
	if err != nil {
		return true, err
	}
	if !abroad || errors.Is(status, errRefused) {
		return false, nil
	}
	return true, status
}

// precisions by the type of numbers; what is not there is none of rocFFT's.
var precisions = map[string]int{"f32": rocfft.Rocfft_precision_single, "f64": rocfft.Rocfft_precision_double, "f16": rocfft.Rocfft_precision_half, "bf16": -1}

// array copies numbers to memory of C's, the last first: rocFFT counts axes from the fastest.
func array[T int64 | uint64](list []T) *dl.Buffer {
	b := dl.Alloc(8 * len(list))
	for i, v := range list {
		binary.LittleEndian.PutUint64(b.Bytes()[8*(len(list)-1-i):], uint64(v))
	}
	return b
}

// plan makes one; without an address if rocFFT refuses. The device is current.
func (p *Provider) plan(t *cufft.Transform) *plan {
	x := &plan{}
	kinds := [2]uintptr{rocfft.Rocfft_array_type_complex_interleaved, rocfft.Rocfft_array_type_complex_interleaved}
	what := uintptr(rocfft.Rocfft_transform_type_complex_forward)
	if t.Real {
		kinds = [2]uintptr{rocfft.Rocfft_array_type_real, rocfft.Rocfft_array_type_hermitian_interleaved}
		what = rocfft.Rocfft_transform_type_real_forward
	}
	if t.Inverse {
		kinds[0], kinds[1] = kinds[1], kinds[0]
		what++ // each inverse is behind its forward transform
	}
	placement := uintptr(rocfft.Rocfft_placement_notinplace)
	if t.From == t.To {
		placement = rocfft.Rocfft_placement_inplace
	}
	desc, err := p.make(rocfft.Rocfft_plan_description_create)
	if err != nil {
		return x
	}
	defer func() { _ = p.call(rocfft.Rocfft_plan_description_destroy, desc) }()
	in, out, lengths := array(t.In.Strides), array(t.Out.Strides), array(t.Lengths)
	defer in.Free()
	defer out.Free()
	defer lengths.Free()
	rank := uintptr(len(t.Lengths))
	if p.call(rocfft.Rocfft_plan_description_set_data_layout, desc, kinds[0], kinds[1], 0, 0, rank, in.Addr(), uintptr(t.In.Distance), rank, out.Addr(), uintptr(t.Out.Distance)) != nil {
		return x
	}
	at, err := p.make(rocfft.Rocfft_plan_create, placement, what, uintptr(precisions[t.Type]), rank, lengths.Addr(), uintptr(t.Batch), desc)
	if err != nil {
		return x
	}
	size := dl.Alloc(8)
	defer size.Free()
	err = p.call(rocfft.Rocfft_plan_get_work_buffer_size, at, size.Addr())
	if err == nil {
		x.info, err = p.make(rocfft.Rocfft_execution_info_create)
	}
	if err != nil {
		_ = p.call(rocfft.Rocfft_plan_destroy, at)
		return x
	}
	x.at, x.work = at, binary.LittleEndian.Uint64(size.Bytes())
	return x
}

// execute puts a transform into a stream of HIP's.
func (p *Provider) execute(x *plan, t *cufft.Transform, area, stream uintptr) error {
	if err := p.call(rocfft.Rocfft_execution_info_set_stream, x.info, stream); err != nil {
		return err
	}
	if x.work > 0 {
		if err := p.call(rocfft.Rocfft_execution_info_set_work_buffer, x.info, area, uintptr(x.work)); err != nil {
			return err
		}
	}
	lists := array([]uint64{uint64(t.To), uint64(t.From)})
	defer lists.Free()
	return p.call(rocfft.Rocfft_execute, x.at, lists.Addr(), lists.Addr()+8, x.info)
}

// Drop ends the plans. rocFFT waits for their work when it frees their memory.
func (p *Provider) Drop(d *driver.Thread, state any) {
	for _, x := range state.(kept) {
		if x.at == 0 {
			continue
		}
		_ = p.call(rocfft.Rocfft_execution_info_destroy, x.info) // nobody is left to hear of a failure
		_ = p.call(rocfft.Rocfft_plan_destroy, x.at)
		if x.area != 0 {
			_ = d.GiveMemory(x.area)
		}
	}
}
