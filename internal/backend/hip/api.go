package hip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/spec/hip"
)

// Result is a hipError_t other than success.
type Result uint32

var _ backend.Coded = Result(0)

// Error is the code.
func (r Result) Error() string { return fmt.Sprintf("HIP error %d", uint32(r)) }

// CUDA is what a program that speaks CUDA is told (docs/zamd_enums.md).
func (r Result) CUDA() int32 {
	if n, ok := hip.ToCUresult(int64(r)); ok {
		return int32(n)
	}
	unknown, _ := hip.ToCUresult(hip.HipErrorUnknown)
	return int32(unknown)
}

// faults are the codes after which a device is of no use, with the kind a backend reports.
var faults = map[Result]backend.FaultKind{
	hip.HipErrorIllegalAddress: backend.FaultAddress, hip.HipErrorLaunchTimeOut: backend.FaultTimeout, hip.HipErrorAssert: backend.FaultAssert,
	hip.HipErrorLaunchFailure: backend.FaultTrap, hip.HipErrorECCNotCorrectable: backend.FaultTrap,
}

// api calls functions of the library.
type api struct {
	lib     *dl.Library
	version int // of the runtime, as HIP counts: 60300000 is 6.3
}

// has reports whether this release of the library has a function.
func (a *api) has(f hip.Func) bool {
	_, err := a.lib.Find(hip.Rows[f].Name)
	return err == nil
}

func (a *api) call(f hip.Func, args ...uintptr) error {
	row := &hip.Rows[f]
	r, err := a.lib.Status(row.Name, row.Params, args...)
	if err == nil && r != 0 {
		err = fmt.Errorf("%s: %w", row.Name, Result(r))
	}
	return err
}

// getPtr calls a function whose first parameter is a pointer to a word it writes.
func (a *api) getPtr(f hip.Func, args ...uintptr) (uintptr, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := a.call(f, append([]uintptr{out.Addr()}, args...)...)
	return uintptr(word(out, 0)), err
}

// getInt calls a function whose first parameter is a pointer to an int it writes.
func (a *api) getInt(f hip.Func, args ...uintptr) (int, error) {
	p, err := a.getPtr(f, args...)
	return int(int32(p)), err
}

// milliseconds calls hipEventElapsedTime.
func (a *api) milliseconds(start, stop uintptr) (float64, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := a.call(hip.HipEventElapsedTime, out.Addr(), start, stop)
	return float64(math.Float32frombits(uint32(word(out, 0)))), err
}

// named adds HIP's name of the code to an error, for messages.
func (a *api) named(err error) error {
	var r Result
	if !errors.As(err, &r) {
		return err
	}
	fn, e := a.lib.Find(hip.Rows[hip.HipGetErrorName].Name)
	if e != nil {
		return err
	}
	p := fn.Call(uintptr(r))
	if p == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, cstring(p))
}

func word(b *dl.Buffer, off int) uint64 { return binary.LittleEndian.Uint64(b.Bytes()[off:]) }
func put(b []byte, off int, v uint64)   { binary.LittleEndian.PutUint64(b[off:], v) }

func newCString(s string) *dl.Buffer {
	b := dl.Alloc(len(s) + 1)
	copy(b.Bytes(), s)
	return b
}
