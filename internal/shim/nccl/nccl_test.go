package nccl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/cudart"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/softfloat"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
	"kudzu/internal/spec/rt"
)

// start opens the devices once: a process has one driver. Nothing is compiled.
var start = sync.OnceValue(func() error {
	if os.Getenv("KUDZU_DEVICES") == "" {
		_ = os.Setenv("KUDZU_DEVICES", "5")
	}
	driver.Start([]backend.Backend{devices.CPU(devices.Config{Compiler: []string{os.Args[0], "none"}, Strict: true})})
	return new(driver.Thread).Init(0)
})

var threads atomic.Uint64

// newThread is a thread of a program, on a device.
func newThread(t testing.TB, device int) *Thread {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	th := new(Thread)
	th.ID = threads.Add(1)
	if err := (*cudart.Thread)(th).SetDevice(int32(device)); err != nil {
		t.Fatal(err)
	}
	return th
}

// actor is one rank with a stream.
type actor struct {
	*Thread
	rank   int
	comm   ncclapi.NcclComm_t
	stream rt.CudaStream_t
	mem    []driver.DevPtr
	ops    int // that were tried
}

// actors are n ranks of one communicator in this process, each on a device of its own: freeing memory waits for all work of a device,
// also for that of a rank which waits for this one.
func actors(t *testing.T, n int) []*actor {
	t.Helper()
	return actorsOn(t, n, 5)
}

// actorsOn are n ranks on so many devices.
func actorsOn(t *testing.T, n, several int) []*actor {
	t.Helper()
	list := make([]*actor, n)
	main := newThread(t, 0)
	devices := make([]int32, n)
	for i := range devices {
		devices[i] = int32(i % several)
	}
	handles := make([]uint64, n)
	if err := main.CommInitAll(hostmem.Of(&handles[0]), int32(n), hostmem.Of(&devices[0])); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i] = newActor(t, i, handles[i], int(devices[i]))
	}
	t.Cleanup(func() {
		for _, a := range list {
			_ = a.CommDestroy(a.comm)
		}
	})
	return list
}

func newActor(t *testing.T, rank int, comm uint64, device int) *actor {
	t.Helper()
	a := &actor{Thread: newThread(t, device), rank: rank, comm: ncclapi.NcclComm_t(comm)}
	s, err := a.driver().StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	if err != nil {
		t.Fatal(err)
	}
	a.stream = rt.CudaStream_t(s)
	t.Cleanup(func() { a.free(); _ = a.driver().StreamDestroy(s) })
	return a
}

func (a *actor) free() {
	for _, p := range a.mem {
		_ = a.driver().MemFree(p)
	}
	a.mem = nil
}

// buffer is device memory with some bytes.
func (a *actor) buffer(data []byte) hostmem.Ptr {
	p, err := a.driver().MemAlloc(uint64(max(1, len(data))))
	if err != nil {
		panic(err)
	}
	a.mem = append(a.mem, p)
	copy(hostmem.Bytes(hostmem.Ptr(p), uint64(len(data))), data)
	return hostmem.Ptr(p)
}

func (a *actor) sync() error { return a.driver().StreamSynchronize(cu.CUstream(a.stream)) }

// all runs f for each rank on a goroutine of its own, and waits for its stream.
func all(t *testing.T, list []*actor, f func(a *actor) error) {
	t.Helper()
	var wg sync.WaitGroup
	for _, a := range list {
		wg.Go(func() {
			if err := f(a); err != nil {
				t.Errorf("rank %d: %v", a.rank, err)
			}
			if err := a.sync(); err != nil {
				t.Errorf("rank %d: %v", a.rank, err)
			}
		})
	}
	wg.Wait()
}

var formats = map[ncclapi.NcclDataType_t]*softfloat.Format{
	ncclapi.NcclFloat16: softfloat.F16, ncclapi.NcclBfloat16: softfloat.BF16, ncclapi.NcclFloat32: softfloat.F32, ncclapi.NcclFloat64: softfloat.F64,
	ncclapi.NcclFloat8e4m3: softfloat.E4M3, ncclapi.NcclFloat8e5m2: softfloat.E5M2,
}

var signed = map[ncclapi.NcclDataType_t]bool{ncclapi.NcclInt8: true, ncclapi.NcclInt32: true, ncclapi.NcclInt64: true}

// values are n elements of a type: of floats, moderate numbers and all kinds of others.
func values(r *rand.Rand, typ ncclapi.NcclDataType_t, n int) []byte {
	var out []byte
	for range n {
		bits := r.Uint64()
		if f := formats[typ]; f != nil && r.IntN(16) > 0 {
			bits = softfloat.F64.Convert(f, math.Float64bits(r.NormFloat64()), softfloat.Env{SatFinite: true})
		}
		out = appendElement(out, typ, bits)
	}
	return out
}

func appendElement(b []byte, typ ncclapi.NcclDataType_t, bits uint64) []byte {
	return append(b, binary.LittleEndian.AppendUint64(nil, bits)[:typeSizes[typ]]...)
}

func element(b []byte, typ ncclapi.NcclDataType_t, i int) uint64 {
	var raw [8]byte
	size := int(typeSizes[typ])
	copy(raw[:], b[i*size:(i+1)*size])
	return binary.LittleEndian.Uint64(raw[:])
}

// reference reduces element by element, in plain arithmetic.
func reference(typ ncclapi.NcclDataType_t, red int, sources [][]byte, scale []uint64) []byte {
	var out []byte
	for i := range len(sources[0]) / int(typeSizes[typ]) {
		list := make([]uint64, len(sources))
		for r, s := range sources {
			list[r] = element(s, typ, i)
		}
		if f := formats[typ]; f != nil {
			out = appendElement(out, typ, reduceFloats(f, red, list, scale))
		} else {
			out = appendElement(out, typ, reduceInts(typ, red, list, scale))
		}
	}
	return out
}

func reduceFloats(f *softfloat.Format, red int, list, scale []uint64) uint64 {
	g := f
	if f != softfloat.F64 {
		g = softfloat.F32
	}
	var acc uint64
	for r, bits := range list {
		x := f.Convert(g, bits, softfloat.Env{})
		if red == scaled {
			x = g.Mul(x, scale[r], softfloat.Env{})
		}
		switch {
		case r == 0:
			acc = x
		case red == int(ncclapi.NcclProd):
			acc = g.Mul(acc, x, softfloat.Env{})
		case red == int(ncclapi.NcclMax):
			acc = g.Max(acc, x, softfloat.MinMax{})
		case red == int(ncclapi.NcclMin):
			acc = g.Min(acc, x, softfloat.MinMax{})
		default:
			acc = g.Add(acc, x, softfloat.Env{})
		}
	}
	if red == int(ncclapi.NcclAvg) {
		acc = g.Div(acc, g.FromInt(uint64(len(list)), 32, false, softfloat.Env{}), softfloat.Env{})
	}
	return g.Convert(f, acc, softfloat.Env{SatFinite: f == softfloat.E4M3 || f == softfloat.E5M2})
}

func extend(v uint64, bits uint64, signed bool) int64 {
	if signed {
		return int64(v<<(64-bits)) >> (64 - bits)
	}
	return int64(v << (64 - bits) >> (64 - bits))
}

func reduceInts(typ ncclapi.NcclDataType_t, red int, list, scale []uint64) uint64 {
	bits, s := 8*typeSizes[typ], signed[typ]
	less := func(a, b int64) bool {
		if s {
			return a < b
		}
		return uint64(a) < uint64(b)
	}
	var acc int64
	for r, v := range list {
		x := extend(v, bits, s)
		if red == scaled {
			x *= int64(scale[r])
		}
		switch {
		case r == 0:
			acc = x
		case red == int(ncclapi.NcclProd):
			acc *= x
		case red == int(ncclapi.NcclMax):
			if less(acc, x) {
				acc = x
			}
		case red == int(ncclapi.NcclMin):
			if less(x, acc) {
				acc = x
			}
		default:
			acc += x
		}
	}
	if red == int(ncclapi.NcclAvg) {
		acc = extend(uint64(acc), bits, s)
		if s {
			return uint64(acc / int64(len(list)))
		}
		return uint64(acc) / uint64(len(list))
	}
	return uint64(acc)
}

// sameNumbers compares results; one NaN is as good as another.
func sameNumbers(typ ncclapi.NcclDataType_t, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	for i := range len(want) / int(typeSizes[typ]) {
		g, w := element(got, typ, i), element(want, typ, i)
		f := formats[typ]
		if g == w || f != nil && f.IsNaN(g) && f.IsNaN(w) || f != nil && f.IsZero(g) && f.IsZero(w) {
			continue
		}
		return fmt.Errorf("element %d of type %d is %#x, not %#x", i, typ, g, w)
	}
	return nil
}

// TestReductions: every type and reduction, on sizes of both ways to reduce, in place and not.
func TestReductions(t *testing.T) {
	list := actors(t, 3)
	r := rand.New(rand.NewPCG(1, 2))
	for typ := range ncclapi.NcclNumTypes {
		for red := range scaled + 1 {
			for _, n := range []int{1, 1000, 24_001} {
				testReduction(t, list, r, ncclapi.NcclDataType_t(typ), red, n)
			}
		}
	}
}

func testReduction(t *testing.T, list []*actor, r *rand.Rand, typ ncclapi.NcclDataType_t, red, n int) {
	t.Helper()
	sources, scale := make([][]byte, len(list)), make([]uint64, len(list))
	factors := make([][]byte, len(list))
	for i := range list {
		sources[i] = values(r, typ, n)
		factors[i] = values(r, typ, 1)
		scale[i] = readScalar(hostmem.Of(&factors[i][0]), typ)
	}
	if n > 997 { // what is long is made of something short: the reference is slow
		for i := range sources {
			short := bytes.Clone(sources[i][:997*typeSizes[typ]])
			for at := 0; at < len(sources[i]); {
				at += copy(sources[i][at:], short)
			}
		}
	}
	want := reference(typ, red, shorten(sources, 997*int(typeSizes[typ])), scale)
	all(t, list, func(a *actor) error {
		defer a.free()
		op := ncclapi.NcclRedOp_t(red)
		if red == scaled {
			where, at := ncclapi.NcclScalarHostImmediate, hostmem.Of(&factors[a.rank][0])
			if n%2 == 0 {
				where, at = ncclapi.NcclScalarDevice, a.buffer(factors[a.rank])
			}
			var err error
			if op, err = a.RedOpCreatePreMulSum(at, typ, where, a.comm); err != nil {
				return err
			}
			defer func() { _ = a.RedOpDestroy(op, a.comm) }()
		}
		send := a.buffer(sources[a.rank])
		recv := send
		if n%3 == 1 {
			recv = a.buffer(make([]byte, len(sources[a.rank])))
		}
		if err := a.AllReduce(send, recv, uint64(n), typ, op, a.comm, a.stream); err != nil {
			return err
		}
		if err := a.sync(); err != nil {
			return err
		}
		got := hostmem.Bytes(recv, uint64(len(sources[a.rank])))
		for at := 0; at < len(got); at += len(want) {
			part := got[at:min(len(got), at+len(want))]
			if err := sameNumbers(typ, part, want[:len(part)]); err != nil {
				return fmt.Errorf("reduction %d of %d: from %d: %w", red, n, at, err)
			}
		}
		return nil
	})
	if t.Failed() {
		t.FailNow()
	}
}

func shorten(list [][]byte, n int) [][]byte {
	out := make([][]byte, len(list))
	for i, b := range list {
		out[i] = b[:min(n, len(b))]
	}
	return out
}

// TestSlot: a rank that came twice, or that counts otherwise, gets an error; the ranks that are there do not hear of it.
func TestSlot(t *testing.T) {
	th := newThread(t, 0)
	id, err := th.GetUniqueId()
	if err != nil {
		t.Fatal(err)
	}
	var first uint64
	started := make(chan error)
	other := newThread(t, 1)
	go func() { started <- other.CommInitRank(hostmem.Of(&first), 2, id, 0) }()
	u, err := readID(&id)
	if err != nil {
		t.Fatal(err)
	}
	for h := findHub(u.key); ; { // until it sits
		h.mu.Lock()
		there := h.joined == 1
		h.mu.Unlock()
		if there {
			break
		}
		time.Sleep(time.Millisecond)
	}
	var h uint64
	if err := th.CommInitRank(hostmem.Of(&h), 2, id, 0); Code(err) != int32(ncclapi.NcclInvalidUsage) {
		t.Errorf("rank 0 again: %v", err)
	}
	if err := th.CommInitRank(hostmem.Of(&h), 5, id, 4); Code(err) != int32(ncclapi.NcclInvalidArgument) {
		t.Errorf("rank 4 of 5: %v", err)
	}
	if err := errors.Join(th.CommInitRank(hostmem.Of(&h), 2, id, 1), <-started); err != nil {
		t.Error(err)
	}
	for _, c := range []uint64{first, h} {
		if err := th.CommDestroy(ncclapi.NcclComm_t(c)); err != nil {
			t.Error(err)
		}
	}
}
