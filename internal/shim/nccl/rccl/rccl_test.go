package rccl_test

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/cudart"
	"kudzu/internal/devices"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/nccl"
	"kudzu/internal/shim/nccl/rccl"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/ncclapi"
	"kudzu/internal/spec/rt"
	"kudzu/internal/testkit/hipdouble"
)

// Numbers of the double's counters.
const (
	allReduces = 1
	inits      = 11
	aborts     = 12
	destroys   = 13
	groups     = 14
)

// rig is two devices of the double of HIP, 0 and 1, and two of the CPU, 2 and 3.
type rig struct {
	*testing.T
	lib *dl.Library
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) calls(kind int) int {
	f, err := r.lib.Find("kz_calls")
	r.ok(err)
	return int(int32(f.Call(uintptr(kind))))
}

func (r *rig) want(what string, kind, n int) {
	r.Helper()
	if got := r.calls(kind); got != n {
		r.Errorf("%s: %d calls, not %d", what, got, n)
	}
}

var once sync.Once

// TestOperations runs everything in one process: a process has one driver.
func TestOperations(t *testing.T) {
	first := false
	once.Do(func() { first = true })
	if !first {
		t.Skip("once a process: -count starts no second driver")
	}
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx90a,gfx90a")
	t.Setenv("KUDZU_DEVICES", "2")
	t.Setenv("KUDZU_BACKEND", "hip,cpu")
	lib := hipdouble.Build(t)
	t.Setenv("KUDZU_DOUBLE_HIP", lib)
	out := filepath.Join(t.TempDir(), "librccl.so.1")
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skipf("no C compiler: %v", err)
	}
	if text, err := exec.Command(cc, "-O1", "-g", "-shared", "-fPIC", "-Wall", "-Wno-parentheses", "-Werror", "-o", out, "testdata/rccl.c", "-lpthread", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	driver.Start([]backend.Backend{hip.New(hip.Config{Compiler: hipdouble.NewInterpreted(t, lib), Library: lib}),
		devices.CPU(devices.Config{Compiler: []string{os.Args[0], "none"}, Strict: true})})
	r := &rig{T: t}
	r.lib, err = dl.Open(out)
	r.ok(err)
	for _, test := range []struct {
		name    string
		library string
		devices []int32
		lent    bool
	}{{"rccl", out, []int32{0, 1}, true}, {"no rccl", "none", []int32{0, 1}, false}, {"mixed", out, []int32{2, 0, 3, 1}, false}, {"cpu", out, []int32{2, 3}, false}} {
		t.Run(test.name, func(t *testing.T) {
			r := &rig{t, r.lib}
			nccl.Vendors.Add(rccl.New(rccl.Config{Library: test.library}))
			defer nccl.Vendors.Clear()
			r.run(test.devices, test.lent)
		})
	}
	t.Run("abort", func(t *testing.T) {
		r := &rig{t, r.lib}
		nccl.Vendors.Add(rccl.New(rccl.Config{Library: out}))
		defer nccl.Vendors.Clear()
		r.abort()
	})
}

// rank is one rank with a stream.
type rank struct {
	*nccl.Thread
	r      *rig
	rank   int
	comm   ncclapi.NcclComm_t
	stream rt.CudaStream_t
}

var threads uint64 = 100

func (r *rig) ranks(list []int32) []*rank {
	r.Helper()
	threads++
	main := &nccl.Thread{ID: threads}
	r.ok((*cudart.Thread)(main).SetDevice(list[0]))
	handles := make([]uint64, len(list))
	r.ok(main.CommInitAll(hostmem.Of(&handles[0]), int32(len(list)), hostmem.Of(&list[0])))
	var all []*rank
	for i, device := range list {
		threads++
		a := &rank{Thread: &nccl.Thread{ID: threads}, r: r, rank: i, comm: ncclapi.NcclComm_t(handles[i])}
		r.ok((*cudart.Thread)(a.Thread).SetDevice(device))
		s, err := a.driver().StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
		r.ok(err)
		a.stream = rt.CudaStream_t(s)
		all = append(all, a)
	}
	return all
}

func (a *rank) driver() *driver.Thread { return (*driver.Thread)(a.Thread) }

// buffer is device memory with some floats, or bytes.
func (a *rank) buffer(b []byte) hostmem.Ptr {
	p, err := a.driver().MemAlloc(uint64(len(b)))
	a.must(err)
	a.must(a.driver().MemcpyHtoD(p, hostmem.Of(&b[0]), uint64(len(b))))
	return hostmem.Ptr(p)
}

func (a *rank) must(err error) {
	if err != nil {
		panic(err)
	}
}

func (a *rank) bytes(p hostmem.Ptr, n int) []byte {
	b := make([]byte, n)
	a.must(a.driver().StreamSynchronize(cu.CUstream(a.stream)))
	a.must(a.driver().MemcpyDtoH(hostmem.Of(&b[0]), driver.DevPtr(p), uint64(n)))
	return b
}

func (a *rank) floats(p hostmem.Ptr, n int) []float32 {
	var out []float32
	for b := range slices.Chunk(a.bytes(p, 4*n), 4) {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return out
}

// f is n floats, each from its number.
func f(n int, of func(i int) float32) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(of(i)))
	}
	return b
}

// each runs fn for all ranks at once.
func each(all []*rank, fn func(a *rank)) {
	var wg sync.WaitGroup
	for _, a := range all {
		wg.Go(func() { fn(a) })
	}
	wg.Wait()
}

func (a *rank) compare(what string, got []float32, of func(i int) float32) {
	for i, v := range got {
		if v != of(i) {
			a.r.Errorf("%s: rank %d: element %d is %v, not %v", what, a.rank, i, v, of(i))
			return
		}
	}
}

const count = 3000

func (r *rig) run(list []int32, lent bool) {
	all := r.ranks(list)
	n := len(list)
	sum := float32(n * (n - 1) / 2)
	f32, u8 := ncclapi.NcclFloat32, ncclapi.NcclUint8
	mine := func(a *rank) func(i int) float32 { return func(i int) float32 { return float32(100*a.rank + i%50) } }
	total := func(i int) float32 { return 100*sum + float32(n*(i%50)) }
	r.calls(groups)
	each(all, func(a *rank) {
		c, s := a.comm, a.stream
		in, out := a.buffer(f(n*count, mine(a))), a.buffer(make([]byte, 4*n*count))
		a.must(a.AllReduce(in, out, count, f32, ncclapi.NcclSum, c, s))
		a.compare("AllReduce", a.floats(out, count), total)
		a.must(a.AllReduce(in, out, count, f32, ncclapi.NcclAvg, c, s))
		a.compare("Avg", a.floats(out, count), func(i int) float32 { return total(i) / float32(n) })
		a.must(a.ReduceScatter(in, out, count, f32, ncclapi.NcclSum, c, s))
		a.compare("ReduceScatter", a.floats(out, count), func(i int) float32 { return total(a.rank*count + i) })
		a.must(a.Reduce(in, out, count, f32, ncclapi.NcclMax, 1, c, s))
		if a.rank == 1 {
			a.compare("Reduce", a.floats(out, count), func(i int) float32 { return float32(100*(n-1) + i%50) })
		}
		a.must(a.Broadcast(in, out, count, f32, 1, c, s))
		a.compare("Broadcast", a.floats(out, count), func(i int) float32 { return float32(100 + i%50) })
		a.must(a.AllGather(in, out, count, f32, c, s))
		ranks := func(i int) float32 { return float32(100*(i/count) + i%count%50) }
		a.compare("AllGather", a.floats(out, n*count), ranks)
		a.must(a.Gather(in, out, count, f32, 0, c, s))
		if a.rank == 0 {
			a.compare("Gather", a.floats(out, n*count), ranks)
		}
		part := func(from int) func(i int) float32 {
			return func(i int) float32 { return float32(100*from + (a.rank*count+i)%50) }
		}
		a.must(a.Scatter(in, out, count, f32, 1, c, s))
		a.compare("Scatter", a.floats(out, count), part(1))
		parts := func(i int) float32 { return part(i / count)(i % count) }
		a.must(a.AlltoAll(in, out, count, f32, c, s))
		a.compare("AlltoAll", a.floats(out, n*count), parts)
		same := a.buffer(f(n*count, mine(a)))
		a.must(a.AlltoAll(same, same, count, f32, c, s))
		a.compare("AlltoAll in place", a.floats(same, n*count), parts)

		factor := float32(a.rank + 1)
		for where, at := range map[ncclapi.NcclScalarResidence_t]hostmem.Ptr{
			ncclapi.NcclScalarHostImmediate: hostmem.Of(&factor), ncclapi.NcclScalarDevice: a.buffer(f(1, func(int) float32 { return factor }))} {
			op, err := a.RedOpCreatePreMulSum(at, f32, where, c)
			a.must(err)
			ones := a.buffer(f(count, func(int) float32 { return 1 }))
			a.must(a.AllReduce(ones, out, count, f32, op, c, s))
			a.compare("PreMulSum", a.floats(out, count), func(int) float32 { return float32(n * (n + 1) / 2) })
			a.must(a.RedOpDestroy(op, c))
		}
		// Sums of eight bits: RCCL's may be of another format, so they are ours.
		bits := a.buffer(slices.Repeat([]byte{0x38}, 64)) // 1 in e4m3
		a.must(a.AllReduce(bits, bits, 64, ncclapi.NcclFloat8e4m3, ncclapi.NcclSum, c, s))
		if b := a.bytes(bits, 64); b[63] != map[int]byte{2: 0x40, 4: 0x48}[n] {
			a.r.Errorf("e4m3: rank %d: %#x", a.rank, b[63])
		}
		// A group: a ring of sends, and a sum.
		a.must(a.GroupStart())
		a.must(a.Send(in, 4*count, u8, int32((a.rank+1)%n), c, s))
		a.must(a.Recv(out, 4*count, u8, int32((a.rank+n-1)%n), c, s))
		a.must(a.AllReduce(same, same, count, f32, ncclapi.NcclMin, c, s))
		a.must(a.GroupEnd())
		a.compare("Recv", a.floats(out, count), func(i int) float32 { return float32(100*((a.rank+n-1)%n) + i%50) })
	})
	// One thread for all ranks.
	buf := make([]hostmem.Ptr, n)
	for i, a := range all {
		buf[i] = a.buffer(f(count, mine(a)))
	}
	r.ok(all[0].GroupStart())
	for i, a := range all {
		r.ok(all[0].AllReduce(buf[i], buf[i], count, f32, ncclapi.NcclSum, a.comm, a.stream))
	}
	r.ok(all[0].GroupEnd())
	for i, a := range all {
		a.compare("one thread", a.floats(buf[i], count), total)
	}
	each(all, func(a *rank) { a.must(a.CommDestroy(a.comm)) })
	if !lent {
		r.want("init", inits, 0)
		r.want("AllReduce", allReduces, 0)
		return
	}
	r.want("init", inits, n)
	r.want("AllReduce", allReduces, 6*n) // sum, average, two factors, in a group, of one thread
	r.want("destroy", destroys, n)
	r.want("abort", aborts, 0)
}

// abort: a rank whose operation no other rank comes to is woken, and the other one hears of it.
func (r *rig) abort() {
	all := r.ranks([]int32{0, 1})
	a := all[0]
	p := a.buffer(make([]byte, 400))
	ended := make(chan error, 1)
	go func() {
		ended <- a.AllReduce(p, p, 100, ncclapi.NcclFloat32, ncclapi.NcclSum, a.comm, a.stream)
	}()
	time.Sleep(50 * time.Millisecond)
	other := &nccl.Thread{ID: 99}
	r.ok(other.CommAbort(a.comm))
	select {
	case err := <-ended:
		if err == nil {
			r.Error("an operation without the other rank succeeded")
		}
	case <-time.After(10 * time.Second):
		r.Fatal("the operation still waits")
	}
	if code, err := all[1].CommGetAsyncError(all[1].comm); err != nil || code == ncclapi.NcclSuccess {
		r.Errorf("the other rank: code %d, %v", code, err)
	}
	r.want("abort", aborts, 2)
	r.ok(all[1].CommDestroy(all[1].comm))
}
