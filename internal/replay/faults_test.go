package replay_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/compare"
	"kudzu/internal/cache"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/dump"
	"kudzu/internal/ir"
	"kudzu/internal/replay"
)

// verb makes the test its own compiler process, with the fault that is named behind it.
const verb = "compiler:"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], verb) {
		if f := faultNamed(strings.TrimPrefix(os.Args[1], verb)); f != nil {
			worker.Planted.Before, worker.Planted.After = f.before, f.after
		}
		os.Exit(worker.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// fault is a compiler that gets one instruction wrong, and a program in which that shows: lines of PTX over the thread's index %i, two
// inputs of each width (%a, %b; %x, %y f32; %h0, %h1 f16), and a store each.
type fault struct {
	name          string
	before, after func(*ir.Module)
	code          string
	line          string // the store that shows it
	typ           string // what is there
}

// each calls fn for every instruction of an operation.
func each(op ir.Op, fn func(f *ir.Func, in *ir.Inst)) func(*ir.Module) {
	return func(m *ir.Module) {
		for _, f := range m.Funcs {
			for _, b := range f.Blocks {
				for _, in := range append([]*ir.Inst(nil), b.Insts...) {
					if in.Op == op {
						fn(f, in)
					}
				}
			}
		}
	}
}

// put has an instruction stand before another one of its block.
func put(f *ir.Func, at *ir.Inst, op ir.Op, t ir.Type, attr ir.Attr, args ...*ir.Value) *ir.Value {
	in := f.NewInst(op, []ir.Type{t}, args...)
	in.Attr, in.Line, in.Block = attr, at.Line, at.Block
	list := at.Block.Insts
	for i := range list {
		if list[i] == at {
			at.Block.Insts = append(list[:i:i], append([]*ir.Inst{in}, list[i:]...)...)
			break
		}
	}
	return in.Results[0]
}

var faults = []fault{
	{"add off by one in lane 31", each(ir.Sub, func(f *ir.Func, in *ir.Inst) { // the program's only subtraction
		lane := put(f, in, ir.SReg, ir.I32, ir.Attr{Sreg: ir.LaneID})
		last := put(f, in, ir.ICmp, ir.I1, ir.Attr{Cmp: ir.EQ}, lane, ir.ConstInt(ir.I32, 31))
		in.Args[0] = put(f, in, ir.Add, ir.I32, ir.Attr{}, in.Args[0], put(f, in, ir.ZExt, ir.I32, ir.Attr{}, last))
	}), nil, "sub.u32 %r, %a, %b;", "st.global.u32 [%out], %r;", "u32"},
	{"rounding of fma", each(ir.FFma, func(_ *ir.Func, in *ir.Inst) { in.Rnd = ir.RZ }), nil, "fma.rn.f32 %f, %x, %y, %x;", "st.global.f32 [%out], %f;", "f32"},
	{"min of a NaN", each(ir.FMin, func(_ *ir.Func, in *ir.Inst) { in.NaN = true }), nil, "min.f32 %f, %x, %nan;", "st.global.f32 [%out], %f;", "f32"},
	{"shfl off by one", each(ir.Shfl, func(f *ir.Func, in *ir.Inst) {
		in.Args[1] = put(f, in, ir.Add, ir.I32, ir.Attr{}, in.Args[1], ir.ConstInt(ir.I32, 1))
	}), nil, "shfl.sync.idx.b32 %r, %a, %b, 31, -1;", "st.global.b32 [%out], %r;", "u32"},
	{"mask of a store", each(ir.CondBr, func(_ *ir.Func, in *ir.Inst) {
		if c := in.Args[0].Def; c != nil && c.Op == ir.ICmp {
			c.Args[1] = ir.ConstInt(c.Args[1].Type, c.Args[1].Bits-1)
		}
	}), nil, "setp.gt.u32 %p, %i, 40; @%p bra past; mov.u32 %r, %a;", "st.global.u32 [%out], %r;\npast:", "u32"},
	{"rounding to f16", each(ir.FTrunc, func(_ *ir.Func, in *ir.Inst) { in.Rnd = ir.RZ }), nil, "cvt.rn.f16.f32 %h, %x;", "st.global.b16 [%out], %h;", "f16"},
	{"shift count not clamped", each(ir.Shl, func(f *ir.Func, in *ir.Inst) {
		if !in.Args[1].Const {
			in.Args[1] = put(f, in, ir.And, in.Args[1].Type, ir.Attr{}, in.Args[1], ir.ConstInt(in.Args[1].Type, 31))
		}
	}), nil, "shl.b32 %r, %a, %b;", "st.global.b32 [%out], %r;", "u32"},
	{"no sign extension", each(ir.SExt, func(_ *ir.Func, in *ir.Inst) { in.Op = ir.ZExt }), nil, "sub.u32 %r, %i, 40; cvt.s64.s32 %l, %r;", "st.global.u64 [%out], %l;", "u64"},
	{"mad.hi of signed numbers", each(ir.MulHiS, func(_ *ir.Func, in *ir.Inst) { in.Op = ir.MulHiU }), nil, "sub.u32 %r, %i, 40; mad.hi.s32 %r, %r, %a, %b;", "st.global.u32 [%out], %r;", "u32"},
	{"unordered comparison", each(ir.FCmp, func(_ *ir.Func, in *ir.Inst) {
		if in.Cmp == ir.LTU {
			in.Cmp = ir.LT
		}
	}), nil, "setp.ltu.f32 %p, %x, %nan; selp.u32 %r, %a, 7, %p;", "st.global.u32 [%out], %r;", "u32"},
}

func faultNamed(name string) *fault {
	for i := range faults {
		if faults[i].name == name {
			return &faults[i]
		}
	}
	return nil
}

// program is a kernel of several stores, of which one is the fault's.
func program(f *fault) (text string, line int) {
	text = fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 other)
{
	.reg .pred %%p;
	.reg .b16 %%h;
	.reg .b32 %%i, %%a, %%b, %%r, %%s;
	.reg .b64 %%l, %%in, %%out, %%other, %%off;
	.reg .f32 %%x, %%y, %%f, %%nan;
	mov.u32 %%i, %%tid.x;
	ld.param.u64 %%in, [in];
	ld.param.u64 %%out, [out];
	ld.param.u64 %%other, [other];
	mul.wide.u32 %%off, %%i, 8;
	add.u64 %%in, %%in, %%off;
	add.u64 %%out, %%out, %%off;
	add.u64 %%other, %%other, %%off;
	ld.global.v2.u32 {%%a, %%b}, [%%in];
	ld.global.v2.f32 {%%x, %%y}, [%%in+1024];
	mov.b32 %%nan, 0x7fc00000;
	and.b32 %%s, %%a, %%b;
	st.global.u32 [%%other], %%s;
	%s
	%s
	st.global.u32 [%%other+4], %%i;
	ret;
}
`, f.code, f.line)
	store, _, _ := strings.Cut(f.line, "\n")
	for i, s := range strings.Split(text, "\n") {
		if strings.TrimSpace(s) == store {
			line = i + 1
		}
	}
	return text, line
}

const lanes = 64

func input() []byte {
	b := make([]byte, 4096)
	for i := range lanes {
		binary.LittleEndian.PutUint32(b[8*i:], uint32(i*i*2654435761))
		binary.LittleEndian.PutUint32(b[8*i+4:], uint32(i)) // also a lane and a count of shifts
		binary.LittleEndian.PutUint32(b[1024+8*i:], math.Float32bits(float32(i)*1.3000001+0.1))
		binary.LittleEndian.PutUint32(b[1024+8*i+4:], math.Float32bits(1/(float32(i)+3)))
	}
	return b
}

// compared runs the program of a fault with every launch compared, and gives the lines of the report.
func compared(t *testing.T, name, text, dir string) *compare.Summary {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lim, err := compare.ParseLimits("1")
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(dir, "report")
	cpu := devices.CPU(devices.Config{Compiler: []string{self, verb + name}, Cache: cache.Open(cache.Config{Dir: t.TempDir()}), Strict: true})
	devs, err := devices.Compare(compare.Config{Device: cpu, Limits: lim, Report: report, Dump: dir}).Open()
	if err != nil {
		t.Fatal(err)
	}
	d := devs[0]
	m, err := driver.Describe("m", text, 80)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	for i := range 3 {
		a, err := d.Memory().Alloc(4096, 256)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4096)
		if i == 0 {
			b = input()
		}
		fill(uint64(a), b)
		params = binary.LittleEndian.AppendUint64(params, uint64(a))
	}
	l := &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{lanes, 1, 1}, Params: params}
	if err := q.Launch(k, l); err != nil {
		t.Fatal(err)
	}
	if err := q.Sync(); err != nil {
		t.Fatal(err)
	}
	sum, err := compare.Summarise(report)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestPlantedFaults: a comparison finds each of ten faults of the compiler, says which line stores what is wrong and of what type it is, and
// saves a launch that differs when it is replayed. The same programs without a fault are the same.
func TestPlantedFaults(t *testing.T) {
	t.Setenv("KUDZU_TIER", "baseline")
	for i := range faults {
		f := &faults[i]
		t.Run(f.name, func(t *testing.T) {
			text, line := program(f)
			if bad := compared(t, "", text, t.TempDir()).Different(); len(bad) > 0 {
				t.Fatalf("without the fault: %+v", bad[0])
			}
			bad := compared(t, f.name, text, t.TempDir()).Different()
			if len(bad) != 1 || bad[0].Dump == "" || len(bad[0].Where) != 1 || len(bad[0].Where[0].Places) == 0 {
				t.Fatalf("not found: %+v", bad)
			}
			file, err := dump.Open(bad[0].Dump, 1<<24)
			if err != nil {
				t.Fatal(err)
			}
			place := bad[0].Where[0].Places[0]
			d, ok := replay.At(file, place.Address, place.Device, place.Reference)
			if !ok {
				t.Fatalf("the dump has no memory at %#x", place.Address)
			}
			list := []replay.Difference{d}
			if err := replay.Explain(file, list, replay.Options{}, time.Minute); err != nil {
				t.Fatal(err)
			}
			d = list[0]
			t.Log(&d)
			if d.Store == nil || d.Store.Line != line || d.Type == nil || d.Type.Name != f.typ || !strings.Contains(d.Param, "parameter 1 (out)") {
				t.Errorf("%s; expected line %d, %s", &d, line, f.typ)
			}
		})
	}
}

// TestReduce: a launch with a fault of the compiler becomes a small one that still has it.
func TestReduce(t *testing.T) {
	t.Setenv("KUDZU_TIER", "baseline")
	f := faultNamed("mad.hi of signed numbers")
	text, _ := program(f)
	bad := compared(t, f.name, text, t.TempDir()).Different()
	if len(bad) != 1 {
		t.Fatalf("not found: %+v", bad)
	}
	file, err := dump.Open(bad[0].Dump, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	opts := replay.Options{Backend: "cpu:baseline", Devices: devices.Config{Compiler: []string{self, verb + f.name}, Cache: cache.Open(cache.Config{Dir: t.TempDir()}), Strict: true}}
	const base = 0x5_2000_0000 // elsewhere than in the memory of this process's devices
	for i := range file.Regions {
		at := uint64(base + i*1<<16)
		for off := 0; off < len(file.Values); off += 8 {
			if binary.LittleEndian.Uint64(file.Values[off:]) == file.Regions[i].Base {
				binary.LittleEndian.PutUint64(file.Values[off:], at)
			}
		}
		file.Regions[i].Base = at
	}
	small, tries, err := replay.Reduce(file, opts, replay.Options{Backend: "interp"}, nil, 300)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tries: block %v, %d bytes\n%s", tries, small.Block, small.Bytes(), small.PTX)
	if n := strings.Count(small.PTX, "\n"); small.Block[0] > 2 || n > 22 || small.Bytes() >= file.Bytes() || !strings.Contains(small.PTX, "mad.hi.s32") || strings.Contains(small.PTX, "and.b32") {
		t.Errorf("block %v, %d lines, %d bytes", small.Block, n, small.Bytes())
	}
	for _, o := range []replay.Options{opts, {Backend: "interp"}} { // it has all memory that it needs
		r, err := replay.Open(small, o)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := r.Run(small, 1); err != nil || res.Fault != nil {
			t.Errorf("%s: %v, %+v", o.Backend, err, res)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	good := opts
	good.Devices.Compiler, good.Devices.Cache = []string{self, verb}, cache.Open(cache.Config{Dir: t.TempDir()})
	if _, _, err := replay.Reduce(small, good, replay.Options{Backend: "interp"}, nil, 10); err != replay.ErrSame {
		t.Errorf("without the fault: %v", err)
	}
}
