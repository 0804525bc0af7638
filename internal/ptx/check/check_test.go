package check

import (
	"strings"
	"testing"

	"kudzu/internal/ptx"
)

const two = `.version 9.0
.target sm_80
.address_size 64
.entry good() { ret; }
.entry bad(.param .u64 p) {
	.reg .b32 r<3>; .reg .f32 f<3>;
	nonsense;
	add.u32 r0, f0, r1;
	bra nowhere;
	add.bf16 r0, r1, r2;
	ld.shared.u32 r0, [p];
	setp.lt.b32 r0, r1, r2;
}
`

// Every fault in one go, the parser's and the checker's, in the order of the text.
func TestAllFaults(t *testing.T) {
	_, err := Text(two)
	list, _ := err.(ptx.ErrorList)
	var got []string
	for _, e := range list {
		got = append(got, e.Detail())
	}
	want := []string{
		"7:2: Not a name of any known instruction: 'nonsense'",
		"8:2: Arguments mismatch for instruction 'add'",
		"9:6: Unknown symbol 'nowhere'",
		"10:2: Feature 'add' requires .target sm_90 or higher",
		"11:20: State space mismatch",
		"12:2: Arguments mismatch for instruction 'setp'",
	}
	for i, w := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], w) {
			t.Fatalf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d faults: %q", len(got), got)
	}
}

func TestKernel(t *testing.T) {
	x, err := ptx.IndexModule(two)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Kernel(x, "good"); err != nil {
		t.Error(err)
	}
	_, err = Kernel(x, "bad")
	if list, _ := err.(ptx.ErrorList); len(list) == 0 || list[0].Line != 7 {
		t.Errorf("%v", err)
	}
}

// A call may stand under a guard; what it takes and gives may not, as the vendor's assembler has it. Parameters of the
// function itself may.
func TestGuardedParameters(t *testing.T) {
	text := func(store, call, load, own string) string {
		return `.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 a; .reg .pred p; setp.ne.u32 p, 1, 0;
	` + own + ` ld.param.b32 a, [x]; ` + own + ` st.param.b32 [r], a; ret; }
.entry k() { .reg .pred p; .reg .b32 a; setp.ne.u32 p, 1, 0;
	{ .param .b32 in; .param .b32 out;
	` + store + ` st.param.b32 [in], a;
	` + call + ` call (out), f, (in);
	` + load + ` ld.param.b32 a, [out];
	} ret; }
`
	}
	rows := []struct{ store, call, load, own, want string }{
		{"", "", "", "", ""},
		{"", "@p", "", "@p", ""},
		{"@p", "", "", "", "Illegal to predicate instruction 'st.param' with operand 'in'"},
		{"", "", "@!p", "", "Illegal to predicate instruction 'ld.param' with operand 'out'"},
	}
	for _, r := range rows {
		_, err := Text(text(r.store, r.call, r.load, r.own))
		if (err == nil) != (r.want == "") || err != nil && !strings.Contains(err.Error(), r.want) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// Where vector registers, their components and sums of a register and a constant may stand, as the vendor's assembler has it.
func TestVectorRegisters(t *testing.T) {
	const head = `.version 8.3
.target sm_90
.address_size 64
.func (.reg .v2 .b32 r) swap(.reg .v2 .b32 a) { mov.b32 r.x, a.y; mov.b32 r.y, a.x; ret; }
.func (.reg .b32 r) one(.reg .b32 a) { mov.b32 r, a; ret; }
.entry k(.param .u64 o) {
	.reg .b64 rd, d; .reg .b32 x, y; .reg .f32 f; .reg .b16 h; .reg .pred p; .reg .b128 o128;
	.reg .v2 .b16 h2; .reg .v4 .b8 c4; .reg .v2 .b32 v, w; .reg .v4 .b32 q; .reg .v4 .f32 fq; .reg .v2 .f32 f2; .reg .v2 .b64 d2; .reg .v2 .b8 c2;
	`
	good := []string{
		"mov.b32 h2, x;", "mov.b32 x, c4;", "mov.b64 d, w;", "mov.b64 f2, d;", "mov.b16 c2, h;", "mov.b16 h, c2;", "mov.b128 o128, d2;", "mov.b128 q, o128;",
		"mov.v2.b32 v, w;", "mov.v2.f32 f2, v;", "mov.v2.b32 {x, y}, w;", "mov.v2.b32 w, {x, 1};", "mov.v2.b32 w, 5;", "mov.v4.u32 q, %tid;", "mov.b64 d, {%tid.x, %tid.y};",
		"mov.u32 q.a, q.x;", "add.f32 fq.x, q.y, fq.b;", "mov.b64 {_, q.y}, d;", "ld.global.v2.f32 w, [rd];", "ld.global.v2.s8 w, [rd];", "ld.global.v2.b32 {w.x, x}, [rd];",
		"st.global.v4.b32 [rd], q;", "st.global.v2.b8 [rd], w;", "tex.2d.v4.f32.f32 fq, [rd, f2];", "tex.3d.v4.f32.f32 fq, [rd, fq];", "suld.b.2d.v2.b32.trap w, [rd, v];",
		"ldmatrix.sync.aligned.m8n8.x4.shared.b16 q, [x];", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [x], w;", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 fq, q, w, fq;",
		"call (w), swap, (v);", "call (_), swap, (f2);", "call (x), one, (y);",
		"st.global.u32 [rd], x+4;", "st.global.b8 [rd], x+-4;", "st.global.b64 [rd], d+(3*4)+1;", "add.u32 y, x+4, x+5;", "setp.eq.u32 p, x+4, y;", "shl.b32 y, x+1, x+2;",
		"atom.global.cas.b32 x, [rd], y+4, x+1;", "bar.sync 0, x+32;", "cvt.u64.u32 d, x+8;",
	}
	bad := []string{
		"mov.f64 d, w;", "mov.u64 w, d;", "mov.b32 v, w;", "mov.b64 v, w;", "mov.b64 w, {x, y};", "mov.u32 q, %tid;", "mov.v2.u32 w, %tid;", "mov.v2.b32 w, d;",
		"ld.global.v2.u32 f2, [rd];", "ld.global.v4.f32 w, [rd];", "ld.global.v2.f32 fq, [rd];", "ld.global.b64 w, [rd];", "ld.global.v2.b32 {w, x}, [rd];", "ld.global.v4.b32 {w, v}, [rd];",
		"st.global.v2.b32 [rd], q;", "st.global.b64 [rd], w;", "st.global.v2.b32 [rd], 5;", "add.u32 w, v, v;", "add.f16x2 h2, h2, h2;", "and.b32 w, v, v;", "shfl.sync.down.b32 w, w, 1, 31, -1;",
		"call (w), one, (x);", "call (x), swap, (v);", "call (w), swap, ({x, y});",
		"st.global.b32 [rd], x-4;", "st.global.b32 [rd], f+1.0;", "st.global.u32 [rd], f+4;", "st.global.b32 [rd], w.x+4;", "st.global.v2.b32 [rd], {x+4, y};", "mov.b32 x+4, y;",
		".param .v2 .b32 pa;", ".global .texref t;",
	}
	for _, s := range good {
		if _, err := Text(head + s + " ret; }\n"); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range bad {
		if _, err := Text(head + s + " ret; }\n"); err == nil {
			t.Errorf("%s: taken", s)
		}
	}
}

// What versions and targets of the past leave unsaid, as the vendor's assembler and an H200's driver take it.
func TestOlderModules(t *testing.T) {
	const inside, listed = ".entry k { .param .u64 o; ", ".entry k(.param .u64 o) { "
	const regs = ".reg .u64 rd; .reg .f32 f, g; .reg .f64 a, b; .reg .u32 x; ld.param.u64 rd, [o]; "
	rows := []struct {
		version, target, open, inst string
		good                        bool
	}{
		{"1.0", "sm_10", inside, "mad.f32 f, f, g, g;", true},
		{"1.3", "sm_13", inside, "mad.f32 f, f, g, g;", true},
		{"1.4", "sm_13", listed, "mad.f32 f, f, g, g;", true},
		{"8.0", "sm_13", listed, "mad.sat.f32 f, f, g, g;", true},
		{"3.1", "sm_35", listed, "mad.ftz.f32 f, f, g, g;", true},
		{"3.2", "sm_20", listed, "mad.f32 f, f, g, g;", false},
		{"8.0", "sm_80", listed, "mad.f32 f, f, g, g;", false},
		{"1.4", "sm_13", listed, "mad.rn.f32 f, f, g, g;", false},
		{"1.4", "sm_13", listed, "fma.rn.f32 f, f, g, g;", false},
		{"1.3", "sm_13", inside, "div.f32 f, f, g;", true},
		{"1.4", "sm_13", listed, "div.f32 f, f, g;", false},
		{"1.3", "sm_13", inside, "div.approx.f32 f, f, g;", false},
		{"1.3", "sm_13", inside, "div.rn.f32 f, f, g;", false},
		{"1.3", "sm_13", inside, "sin.f32 f, f;", true},
		{"1.4", "sm_13", listed, "sin.f32 f, f;", false},
		{"1.3", "sm_13", inside, "mad.f64 a, a, b, b;", true},
		{"1.4", "sm_13", listed, "mad.f64 a, a, b, b;", false},
		{"1.3", "sm_13", inside, "sqrt.f64 a, b;", true},
		{"1.3", "sm_13", inside, "cvt.s32.f32 x, f;", false},
		{"8.0", "sm_80", listed, "cvt.u32.u16 x, %tid.x;", true},
		{"8.0", "sm_80", listed, "add.u32 x, %tid.x, x;", false},
	}
	for _, r := range rows {
		_, err := Text(".version " + r.version + "\n.target " + r.target + "\n" + r.open + regs + r.inst + " exit; }\n")
		if (err == nil) != r.good {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// What the assembler says of constants of wgmma.
func TestWgmmaConstants(t *testing.T) {
	for line, want := range map[string]string{
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, d0, d1, p0, 2, 1, 0, 0;":           "Argument 4 of instruction 'wgmma.mma_async with floating point types': unexpected value '2', expected to be -1 or 1",
		"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {f0, f1, f2, f3}, d0, d1, p0, 1, 0;":               "Argument 5 of instruction 'wgmma.mma_async with FP8 types': unexpected value '0', expected to be -1 or 1",
		"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {f0, f1, f2, f3}, d0, d1, r4, 2, p0, 1, 1, 0, 0;": "Argument 4 of instruction 'Sparse wgmma.mma_async with floating point types': unexpected value '2', expected to be 0 or 1",
		"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {f0, f1, f2, f3}, d0, d1, r4, 1, p0, 1, 1;":     "Argument 4 of instruction 'Sparse wgmma.mma_async with FP8 types': unexpected value '1', expected to be 0",
		"wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {r0, r1, r2, r3}, d0, d1, r4, 1, p0;":               "Argument 4 of instruction 'Sparse wgmma.mma_async with integer types': unexpected value '1', expected to be 0",
		"wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 {f0, f1, f2, f3}, d0, d1, r4, 1, p0, 1, -1;":    "",
		"wgmma.wait_group.sync.aligned -1;":                                             "Argument 0 of instruction 'wgmma.wait_group': unexpected value '-1', expected to be non-negative integer",
		"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {r0, r1, r2, r3}, d0, d1, p0;": "Feature 'WGMMA with mixed integer types' requires PTX ISA .version 8.4 or later",
		"wgmma.wait_group.sync.aligned 8;":                                              "",
	} {
		_, err := Text(".version 8.2\n.target sm_90a\n.address_size 64\n.entry k() {\n.reg .b32 r<8>;\n.reg .f32 f<8>;\n.reg .b64 d<2>;\n.reg .pred p<1>;\n" + line + "\nret;\n}\n")
		got := ""
		if list, _ := err.(ptx.ErrorList); len(list) > 0 {
			_, got, _ = strings.Cut(list[0].Detail(), ": ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Which conversions from and to .bf16 the assembler (12.9) has at 8.0, and what it says of the others.
func TestBrainConversions(t *testing.T) {
	for _, r := range []struct{ version, target, inst, want string }{
		{"7.1", "sm_80", "cvt.f32.bf16 f, h;", ""},
		{"7.8", "sm_89", "cvt.ftz.f32.bf16 f, h;", ""},
		{"7.0", "sm_80", "cvt.f32.bf16 f, h;", "Feature 'cvt with .f32.bf16' requires PTX ISA .version 7.1 or later"},
		{"7.8", "sm_75", "cvt.f32.bf16 f, h;", "Feature '.bf16' requires .target sm_80 or higher"},
		{"7.0", "sm_80", "cvt.rn.ftz.bf16.f32 h, f;", ""},
		{"7.8", "sm_80", "cvt.rzi.s32.bf16 x, h;", "Feature 'cvt with .s32.bf16' requires .target sm_90 or higher"},
		{"7.8", "sm_89", "cvt.rn.bf16.f16 h, h;", "Feature 'cvt with .bf16.f16' requires .target sm_90 or higher"},
		{"7.8", "sm_90", "cvt.rn.bf16.f16 h, h;", ""},
	} {
		_, err := Text(".version " + r.version + "\n.target " + r.target + "\n.entry k() {\n.reg .b16 h; .reg .b32 x; .reg .f32 f;\n" + r.inst + "\nexit;\n}\n")
		got := ""
		if list, _ := err.(ptx.ErrorList); len(list) > 0 {
			got = list[0].Msg
		}
		if got != r.want {
			t.Errorf("%+v: %q", r, got)
		}
	}
}
