package cpu

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"kudzu/internal/backend"
)

// familyPTX has kernels of one parameter, an address: each thread of parent launches count, three threads that each add one,
// careless launches a kernel that faults, and trapped one before it traps itself.
const familyPTX = header + `
.extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.visible .entry count(.param .u64 p) {
	.reg .b64 %p;
	ld.param.u64 %p, [p];
	red.global.add.u64 [%p], 1;
	ret;
}
.visible .entry bad(.param .u64 p) {
	.reg .b64 %p;
	mov.u64 %p, 0x40;
	st.global.u64 [%p], 1;
	ret;
}
.func child(.param .b64 f, .param .b64 p, .param .b32 n) {
	.reg .b64 %f, %p, %b; .reg .b32 %n;
	ld.param.b64 %f, [f]; ld.param.b64 %p, [p]; ld.param.b32 %n, [n];
	{
		.param .b64 k; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
		st.param.b64 [k], %f;
		st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
		st.param.b32 [b], %n; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
		st.param.b32 [s], 0;
		call (r), cudaGetParameterBufferV2, (k, g, b, s);
		ld.param.b64 %b, [r];
	}
	st.global.b64 [%b], %p;
	{
		.param .b64 b; .param .b64 s; .param .b32 r;
		st.param.b64 [b], %b; st.param.b64 [s], 0;
		call (r), cudaLaunchDeviceV2, (b, s);
	}
	ret;
}
.visible .entry parent(.param .u64 p) {
	.reg .b64 %f, %p;
	ld.param.u64 %p, [p];
	mov.u64 %f, count;
	{ .param .b64 f; .param .b64 p; .param .b32 n; st.param.b64 [f], %f; st.param.b64 [p], %p; st.param.b32 [n], 3; call child, (f, p, n); }
	ret;
}
.visible .entry careless(.param .u64 p) {
	.reg .b64 %f, %p;
	ld.param.u64 %p, [p];
	mov.u64 %f, bad;
	{ .param .b64 f; .param .b64 p; .param .b32 n; st.param.b64 [f], %f; st.param.b64 [p], %p; st.param.b32 [n], 1; call child, (f, p, n); }
	ret;
}
.visible .entry trapped(.param .u64 p) {
	.reg .b64 %f, %p;
	ld.param.u64 %p, [p];
	mov.u64 %f, count;
	{ .param .b64 f; .param .b64 p; .param .b32 n; st.param.b64 [f], %f; st.param.b64 [p], %p; st.param.b32 [n], 1; call child, (f, p, n); }
	trap;
}
`

func loadFamily(t *testing.T, d *Device) backend.Program {
	t.Helper()
	m := &backend.Module{
		Name: "family", Text: familyPTX, Options: backend.Options{OptLevel: -1},
		Slice: func(string) (string, func(int) int, error) { return familyPTX, nil, nil },
	}
	for _, name := range []string{"count", "bad", "parent", "careless", "trapped"} {
		m.Kernels = append(m.Kernels, backend.KernelDecl{Name: name, ParamBytes: 8})
	}
	p, err := d.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Whatever is in the queue behind a grid waits for all that it launched, whether its kernel was there when it was launched or not.
func TestChildren(t *testing.T) {
	d := compiled(t)
	const grid, block, each = 40, 32, 3
	for _, ahead := range []bool{false, true} {
		p := loadFamily(t, d)
		q, err := d.NewQueue(0)
		if err != nil {
			t.Fatal(err)
		}
		a, value := word(t, d)
		b, copied := word(t, d)
		k, err := p.Kernel("parent")
		if err != nil {
			t.Fatal(err)
		}
		want := uint64(0)
		for range 3 {
			if ahead {
				if err := k.(backend.Starter).Start([3]uint32{block, 1, 1}); err != nil {
					t.Fatal(err)
				}
			}
			if err := q.Launch(k, &backend.Launch{Grid: [3]uint32{grid, 1, 1}, Block: [3]uint32{block, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, uint64(a))}); err != nil {
				t.Fatal(err)
			}
			if err := q.Copy(b, a, 8); err != nil {
				t.Fatal(err)
			}
			want += grid * block * each
		}
		if err := q.Close(); err != nil || value() != want || copied() != want {
			t.Errorf("ahead %v: %v: %d, copied %d, want %d", ahead, err, value(), copied(), want)
		}
		if n := d.b.Stats().Fallbacks; n != 0 {
			t.Errorf("%d kernels were interpreted", n)
		}
		if err := p.Unload(); err != nil {
			t.Error(err)
		}
	}
}

// A child's fault is the queue's; a grid that faults launches nothing.
func TestChildrenFault(t *testing.T) {
	d := compiled(t)
	for name, want := range map[string]string{"careless": "kernel bad: illegal address 0x40", "trapped": "kernel trapped: trap"} {
		p := loadFamily(t, d)
		q, err := d.NewQueue(0)
		if err != nil {
			t.Fatal(err)
		}
		a, value := word(t, d)
		k, err := p.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, uint64(a))}); err != nil {
			t.Fatal(err)
		}
		var f *backend.Fault
		if err := q.Close(); !errors.As(err, &f) || !strings.HasPrefix(f.Error(), want) || value() != 0 {
			t.Errorf("%s: %v, %d, want %s", name, err, value(), want)
		}
		if err := p.Unload(); err != nil {
			t.Error(err)
		}
	}
}
