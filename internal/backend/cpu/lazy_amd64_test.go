package cpu

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/ptx"
)

// Functions of a table, by what a list in memory says. Each uses the kernel's shared memory; ring waits for another block; half is called by
// half of the block.
const lazyPTX = header + `
.global .u32 flags[256];
.shared .align 4 .b8 sh[512];
.extern .shared .align 16 .b8 dyn[];
.func turn() {
	.reg .u32 %t, %n, %a, %v;
	mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x;
	mov.u32 %a, sh; mad.lo.u32 %v, %t, 4, %a;
	st.shared.u32 [%v], %t;
	bar.sync 1;
	add.u32 %t, %t, 1; rem.u32 %t, %t, %n; mad.lo.u32 %v, %t, 4, %a;
	ld.shared.u32 %v, [%v];
	mov.u32 %t, %tid.x; mov.u32 %a, dyn; mad.lo.u32 %a, %t, 4, %a;
	ld.shared.u32 %t, [%a]; add.u32 %t, %t, %v; st.shared.u32 [%a], %t;
	ret;
}
.func ring() { // PAD
	.reg .u32 %t, %n, %v; .reg .u64 %f, %o; .reg .pred %p; .local .align 4 .b8 keep[4];
	mov.u32 %t, %tid.x; st.local.u32 [keep], %t;
	setp.ne.u32 %p, %t, 0; @%p bra OUT;
	mov.u32 %t, %ctaid.x; mov.u32 %n, %nctaid.x; mov.u64 %f, flags;
	mul.wide.u32 %o, %t, 4; add.u64 %o, %o, %f; st.volatile.global.u32 [%o], 1;
	add.u32 %t, %t, 1; rem.u32 %t, %t, %n; mul.wide.u32 %o, %t, 4; add.u64 %o, %o, %f;
WAIT:	ld.volatile.global.u32 %v, [%o]; setp.eq.u32 %p, %v, 0; @%p bra WAIT;
OUT:	bar.sync 0; ld.local.u32 %v, [keep];
	mov.u32 %t, %tid.x; mov.u32 %n, dyn; mad.lo.u32 %n, %t, 4, %n;
	ld.shared.u32 %t, [%n]; mad.lo.u32 %t, %v, 1000, %t; st.shared.u32 [%n], %t;
	ret;
}
.func bad() {
	.reg .u64 %a; mov.u64 %a, 0x40; st.global.u32 [%a], 1; ret;
}
.func half() { ret; }
.global .u64 table[4] = {turn, ring, bad, half};
.visible .entry k(.param .u64 p, .param .u32 n) {
	.reg .u64 %p, %l, %f, %o; .reg .u32 %i, %n, %c, %d, %t; .reg .pred %q, %r;
	ld.param.u64 %p, [p]; ld.param.u32 %n, [n]; add.u64 %l, %p, 0; mov.u32 %i, 0;
	mov.u32 %t, %tid.x; mov.u32 %d, dyn; mad.lo.u32 %d, %t, 4, %d; st.shared.u32 [%d], %i;
LOOP:	setp.ge.u32 %q, %i, %n; @%q bra DONE;
	ld.global.u32 %c, [%l]; mov.u64 %f, table; mul.wide.u32 %o, %c, 8; add.u64 %f, %f, %o; ld.global.u64 %f, [%f];
	setp.eq.u32 %q, %c, 3; setp.ge.and.u32 %r, %t, 32, %q; @%r bra NEXT;
	{ proto: .callprototype ()_ (); call (), %f, (), proto; }
NEXT:	add.u32 %i, %i, 1; add.u64 %l, %l, 4; bra LOOP;
DONE:	ld.shared.u32 %c, [%d]; mad.lo.u32 %c, %i, 1000000, %c;
	mov.u32 %n, %ctaid.x; mov.u32 %i, %ntid.x; mad.lo.u32 %n, %n, %i, %t; mul.wide.u32 %o, %n, 4; add.u64 %p, %p, %o;
	st.global.u32 [%p+64], %c;
	ret;
}`

func lazyModule(t *testing.T) *backend.Module {
	text := strings.Replace(lazyPTX, "// PAD", "/*"+strings.Repeat("-", 1<<20)+"*/", 1)
	x, err := ptx.IndexModule(text)
	if err != nil {
		t.Fatal(err)
	}
	m := &backend.Module{Name: "lazy", Text: text, Options: backend.Options{OptLevel: -1}, Kernels: []backend.KernelDecl{{Name: "k", ParamBytes: 12}}}
	m.Vars = []backend.VarDecl{{Name: "flags", Size: 1024, Align: 4}, {Name: "table", Size: 32, Align: 8, Init: make([]byte, 32)}}
	names := x.Lazy("k")
	if strings.Join(names, " ") != "turn ring bad half" {
		t.Fatalf("lazy functions: %v", names)
	}
	for i, name := range names {
		m.Vars[1].Relocs = append(m.Vars[1].Relocs, backend.VarReloc{Offset: uint64(8 * i), Size: 8, Symbol: name})
	}
	m.Lazy = func(kernel string) *backend.Lazy {
		return &backend.Lazy{Functions: names, Slice: func(f string) (string, string, func(int) int, error) {
			s, err := x.SliceLazy(kernel, f)
			if err != nil {
				return "", "", nil, err
			}
			entry := kernel
			if f != "" {
				entry = ptx.LazyEntry + f
			}
			return entry, s.Text, s.Line, nil
		}}
	}
	m.Slice = func(string) (string, func(int) int, error) {
		return "", nil, errors.New("the whole text is not wanted")
	}
	return m
}

// A kernel's functions are compiled when they are first called, each once, and only those; they share its shared memory and wait for
// other blocks.
func TestLazyFunctions(t *testing.T) {
	for _, tier := range []compile.Tier{compile.Optimised, compile.Baseline} {
		t.Run(tier.String(), func(t *testing.T) {
			t.Setenv(config.Tier, tier.String())
			d := compiled(t)
			p, k := load(t, d, lazyModule(t))
			before := d.b.stats.compiled.Load()
			const grid, block = 64, 96
			for round, list := range [][]uint32{{0}, {0, 1, 0}, {1, 0, 0, 0}} {
				got, err := runLazy(t, d, k, grid, block, list)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range got {
					thread := uint32(i % block)
					want := 1000000 * uint32(len(list))
					for _, c := range list {
						if c == 0 {
							want += (thread + 1) % block
						} else {
							want += 1000 * thread
						}
					}
					if v != want {
						t.Fatalf("round %d, thread %d: %d, want %d", round, i, v, want)
					}
				}
				if n := d.b.stats.compiled.Load() - before; n != uint64(min(2+round, 3)) {
					t.Errorf("round %d: %d compilations", round, n)
				}
			}
			if _, err := runLazy(t, d, k, 4, block, []uint32{3}); err == nil || !strings.Contains(err.Error(), "kernel k: illegal address") {
				t.Errorf("a call by half of a block: %v", err)
			}
			var f *backend.Fault
			if _, err := runLazy(t, d, k, 4, block, []uint32{0, 2}); !errors.As(err, &f) || !strings.Contains(err.Error(), "bad: illegal address 0x40") {
				t.Errorf("a fault in a function: %v", err)
			}
			if got, err := runLazy(t, d, k, 2, block, []uint32{0}); err != nil || got[0] != 1000001 {
				t.Errorf("after faults: %v %v", got[:1], err)
			}
			if err := p.Unload(); err != nil {
				t.Error(err)
			}
		})
	}
}

func runLazy(t *testing.T, d *Device, k *Kernel, grid, block uint32, list []uint32) ([]uint32, error) {
	t.Helper()
	a, err := d.mem.Alloc(uint64(64+4*grid*block), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.mem.Free(a)
	b, _ := d.mem.Bytes(a, uint64(64+4*grid*block))
	clear(b)
	for i, c := range list {
		binary.LittleEndian.PutUint32(b[4*i:], c)
	}
	at, n, err := k.p.Var("flags")
	if err != nil {
		t.Fatal(err)
	}
	flags, _ := d.mem.Bytes(uint64(at), n)
	clear(flags)
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	params := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, a), uint32(len(list)))
	l := &backend.Launch{Grid: [3]uint32{grid, 1, 1}, Block: [3]uint32{block, 1, 1}, DynamicShared: 4 * block, Params: params}
	if err := q.Launch(k, l); err != nil {
		t.Fatal(err)
	}
	err = q.Close()
	var out []uint32
	for i := range grid * block {
		out = append(out, binary.LittleEndian.Uint32(b[64+4*i:]))
	}
	return out, err
}
