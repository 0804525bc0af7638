package warp_test

import (
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ebitengine/purego"

	"kudzu/internal/emit/warp"
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/llvm"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// The tests here run kernels for real: PTX or IR text, passes, LLVM, an image, a call.

// testPasses is what the compiler process uses.
const testPasses = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm)),rel-lookup-table-converter"

var library = sync.OnceValues(func() (*llvm.Lib, error) { return llvm.Open("") })

func lib(t testing.TB) *llvm.Lib {
	l, err := library()
	if err != nil {
		t.Skip(err)
	}
	return l
}

// kernel is a compiled one.
type kernel struct {
	meta    image.Meta
	mapping *image.Mapping
	block   [3]uint32
	text    string
	asm     string
}

func fromPTX(t testing.TB, text, name string) *ir.Module {
	t.Helper()
	m, err := ptx.ParseModule(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := check.Module(m); err != nil {
		t.Fatal(err)
	}
	k, err := lower.Kernel(m, name, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func compile(t testing.TB, m *ir.Module, block [3]uint32, features string) *kernel {
	t.Helper()
	code := emit(t, m, block, features)
	l := lib(t)
	o := options(l, features)
	if f := os.Getenv("KZ_LL"); f != "" {
		os.WriteFile(f, []byte(code.LLVM), 0o644)
	}
	obj, err := l.Compile(code.LLVM, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, numbered(code.LLVM))
	}
	k := &kernel{meta: code.Meta, block: block, text: code.LLVM}
	if f := os.Getenv("KZ_ASM"); f != "" {
		k.asm, _ = l.Assembly(code.LLVM, o)
		os.WriteFile(f, []byte(k.asm), 0o644)
	}
	names, err := image.Undefined(obj)
	if err != nil {
		t.Fatal(err)
	}
	var helpers [][]byte
	if text, _ := llvm.Helpers(names); text != "" {
		h, err := l.Compile(text, o)
		if err != nil {
			t.Fatal(err)
		}
		helpers = append(helpers, h)
	}
	b, err := image.Build(obj, code.Entry, code.Meta, helpers...)
	if err != nil {
		t.Fatal(err)
	}
	im, err := image.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if k.mapping, err = im.Map(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.mapping.Unmap() })
	return k
}

func options(l *llvm.Lib, features string) llvm.Options {
	triple, cpu, host := l.Host()
	o := llvm.Options{Triple: triple, CPU: cpu, Features: host, Passes: testPasses, OptLevel: 2}
	if features == "avx2" {
		o.CPU, o.Features = "haswell", "+avx2,+fma,+f16c,+bmi,+bmi2"
	}
	return o
}

func emit(t testing.TB, m *ir.Module, block [3]uint32, features string) *warp.Code {
	t.Helper()
	if err := pass.Run(m, pass.Config{Block: block, Verify: true, Dump: os.Getenv("KZ_DUMP"), DumpTo: os.Stderr}); err != nil {
		t.Fatal(err)
	}
	o := options(lib(t), features)
	code, err := warp.Emit(m, warp.Config{Block: block, CPU: o.CPU, Features: o.Features})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func numbered(s string) string {
	if len(s) > 20000 {
		s = s[:20000]
	}
	return strings.TrimSpace(s)
}

// params packs arguments as a kernel's parameter block: slices as addresses, numbers at their size.
func params(args ...any) []byte {
	var b []byte
	put := func(n int, v uint64) {
		for len(b)%n != 0 {
			b = append(b, 0)
		}
		b = binary.LittleEndian.AppendUint64(b, v)[:len(b)+n]
	}
	for _, a := range args {
		switch a := a.(type) {
		case []float32:
			put(8, address(a))
		case []int32:
			put(8, address(a))
		case []uint32:
			put(8, address(a))
		case []uint64:
			put(8, address(a))
		case []float64:
			put(8, address(a))
		case []byte:
			put(8, address(a))
		case int32:
			put(4, uint64(uint32(a)))
		case uint32:
			put(4, uint64(a))
		case uint64:
			put(8, a)
		case float32:
			put(4, uint64(bitsOf(a)))
		default:
			panic("argument type")
		}
	}
	return b
}

var (
	sink  []any
	yield uint64 // the runtime entry that tests offer
)

// launch runs the whole grid on this thread and gives the code's answer.
func (k *kernel) launch(t testing.TB, grid [3]uint32, block [3]uint32, dynamic uint32, args ...any) uint32 {
	t.Helper()
	return k.prepare(grid, block, dynamic, args...)()
}

// prepare sets a launch up; the function it gives runs it.
func (k *kernel) prepare(grid [3]uint32, block [3]uint32, dynamic uint32, args ...any) func() uint32 {
	sink = args // on the heap: stacks move
	p := params(args...)
	if len(p) == 0 {
		p = make([]byte, 8)
	}
	threads := block[0] * block[1] * block[2]
	warps := (threads + 31) / 32
	total := k.meta.SharedStatic + dynamic
	shared := aligned(int(total) + 256)
	frame := aligned(int(k.meta.FrameBlock) + int(k.meta.FrameWarp)*int(threads) + 64)
	local := aligned(int(k.meta.LocalThread)*int(threads) + 64)
	var rt [image.NumRt]uint64
	rt[image.RtYield] = yield
	l := make([]byte, image.LaunchSize)
	w := make([]byte, image.WorkerSize)
	le := binary.LittleEndian
	vars := make([]uint64, len(k.meta.Vars)+1)
	rts := rt[:]
	sink = append(sink, p, shared, frame, local, l, w, vars, rts)
	le.PutUint64(l[image.LaunchParams:], address(p))
	le.PutUint64(l[image.LaunchVars:], address(vars))
	le.PutUint64(l[image.LaunchRT:], address(rts))
	for i := range grid {
		le.PutUint32(l[image.LaunchGrid+4*i:], grid[i])
		le.PutUint32(l[image.LaunchBlock+4*i:], block[i])
	}
	le.PutUint32(l[image.LaunchSharedDynamic:], dynamic)
	le.PutUint32(l[image.LaunchSharedTotal:], total)
	le.PutUint32(l[image.LaunchWarps:], warps)
	le.PutUint32(l[image.LaunchThreads:], threads)
	le.PutUint64(w[image.WorkerShared:], address(shared))
	le.PutUint64(w[image.WorkerFrame:], address(frame))
	le.PutUint64(w[image.WorkerLocal:], address(local))
	le.PutUint64(w[image.WorkerSharedWindow:], address(shared))
	n := uint64(grid[0]) * uint64(grid[1]) * uint64(grid[2])
	run := func(first, count uint64) uint32 {
		r, _, _ := purego.SyscallN(k.mapping.Entry(), uintptr(address(l)), uintptr(address(w)), uintptr(first), uintptr(count))
		runtime.KeepAlive([]any{p, shared, frame, local, l, w, vars, rts, args})
		return uint32(r)
	}
	return func() uint32 {
		r := run(0, n)
		for r == image.StopYield { // the block was left: it goes on, then those behind it
			at := le.Uint64(w[image.WorkerBlock:])
			le.PutUint32(w[image.WorkerResume:], 1)
			if r = run(at, 1); r == 0 && at+1 < n {
				r = run(at+1, n-at-1)
			}
		}
		return r
	}
}
