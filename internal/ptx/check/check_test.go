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
		"10:2: Feature 'add' requires PTX ISA .version",
		"11:20: State space mismatch",
		"12:2: Arguments mismatch for instruction 'setp'",
	}
	for i, w := range want {
		if w = strings.Replace(w, "requires PTX ISA .version", "not supported on .target 'sm_80'", 1); i >= len(got) || !strings.HasPrefix(got[i], w) {
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
