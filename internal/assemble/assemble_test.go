package assemble

import (
	"strings"
	"testing"

	"kudzu/internal/ptx/check"
)

const head = ".version 8.8\n.target sm_80\n.address_size 64\n"

// TestTargets: which text is taken for which target.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		text string
		o    Options
		ok   bool
	}{
		{"sm_80", Options{SM: 80}, true}, {"sm_80", Options{SM: 90, Suffix: "a"}, true}, {"sm_90", Options{SM: 80}, false},
		{"sm_90a", Options{SM: 90, Suffix: "a"}, true}, {"sm_90a", Options{SM: 90}, false}, {"sm_90a", Options{SM: 100, Suffix: "a"}, false},
		{"sm_100f", Options{SM: 103, Suffix: "f"}, true}, {"sm_100f", Options{SM: 100, Suffix: "a"}, true}, {"sm_100f", Options{SM: 120, Suffix: "f"}, false},
		{"sm_100f", Options{SM: 103}, false},
	} {
		_, err := Text(strings.Replace(head, "sm_80", c.text, 1), c.o)
		if (err == nil) != c.ok {
			t.Errorf("%s for %+v: %v", c.text, c.o, err)
		}
	}
}

// TestNeeds: a kernel needs what it and the functions that it calls do.
func TestNeeds(t *testing.T) {
	f, err := Text(head+`
.shared .align 4 .b8 s[100];
.func g() { .local .align 8 .b8 l[12]; .reg .b32 %r<2>; mov.u32 %r1, s; bar.sync 3; ret; }
.visible .entry k(.param .align 8 .b8 p[24], .param .u32 q) .reqntid 32 { call g; ret; }
.visible .entry wide() { .reg .b64 %d<40>; .reg .pred %p;
 mov.b64 %d1, 1; mov.b64 %d2, 2; mov.b64 %d3, 3;
L: add.s64 %d4, %d1, 1; add.s64 %d5, %d4, 1; setp.eq.s64 %p, %d5, 0; @%p bra L;
 st.global.b64 [%d2], %d3; ret; }
`+"\x00", Options{SM: 80})
	if err != nil {
		t.Fatal(err)
	}
	k, w := f.Kernels[0], f.Kernels[1]
	if k.Shared != 100 || k.Local != 16 || k.Barriers != 4 || k.ReqThreads != [3]uint32{32, 1, 1} || k.ParamBytes() != 28 {
		t.Errorf("%+v", k)
	}
	// Three that live over the loop, and two in it.
	if w.Registers != 2*5+reserved {
		t.Errorf("%d registers", w.Registers)
	}
}

func TestFaults(t *testing.T) {
	for want, c := range map[string]struct {
		text string
		o    Options
	}{
		"ptxas fatal   : Unresolved extern function 'f'": {head + ".extern .func f();\n.visible .entry k() { call f; ret; }", Options{SM: 80}},
		"":                                   {head + ".extern .func f();\n.visible .entry k() { call f; ret; }", Options{SM: 80, Relocatable: true}},
		"ptxas fatal   : Unknown function f": {head + ".func f() { ret; }", Options{SM: 80, Entries: []string{"f"}}},
		"ptxas fatal   : 32-Bit compilation is no longer supported":                                     {strings.Replace(head, "64", "32", 1), Options{SM: 80}},
		check.SizeError("File uses too much global constant data (0x11170 bytes, 0x10000 max)").Error(): {head + ".const .b8 c[70000];", Options{SM: 80}},
	} {
		got := ""
		if _, err := Text(c.text, c.o); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
