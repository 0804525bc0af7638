package check

import (
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/ptx"
)

// Sizes at and past the limits of an H200; the words are the driver's (testdata/transcripts/want/size_*.txt).
func TestSizes(t *testing.T) {
	l := Limits{Shared: 232448, Const: 65536}
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n"
	for _, c := range []struct{ text, want string }{
		{".entry k() { .shared .b8 s[232448]; st.shared.u8 [s], 1; ret; }", ""},
		{".entry k() { .shared .b8 s[232449]; st.shared.u8 [s], 1; ret; }", "Entry function 'k' uses too much shared data (0x38c01 bytes, 0x38c00 max)"},
		{".entry k() { .shared .b8 s[4294967312]; st.shared.u8 [s], 1; ret; }", "Entry function 'k' uses too much shared data (0x100000010 bytes, 0x38c00 max)"},
		{".shared .b8 s[200000]; .shared .b8 t[200000]; .entry j() { st.shared.u8 [s], 1; ret; } .entry k() { st.shared.u8 [t], 1; ret; }", ""},
		{".shared .b8 s[200000]; .func f() { .shared .b8 t[200000]; st.shared.u8 [t], 1; ret; } .entry k() { st.shared.u8 [s], 1; call f; ret; }", "Entry function 'k' uses too much shared data (0x61a80 bytes, 0x38c00 max)"},
		{".const .b8 c[65536]; .entry k() { ret; }", ""},
		{".const .b8 c[65535]; .const .align 16 .b8 d[1]; .entry k() { ret; }", "File uses too much global constant data (0x10001 bytes, 0x10000 max)"},
		{".const .b8 c[65536]; .entry k() { .const .b8 d[1]; ret; }", "File uses too much global constant data (0x10001 bytes, 0x10000 max)"},
	} {
		m, err := Text(head + c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := ""
		if err := Sizes(m, l); err != nil {
			got = strings.TrimPrefix(err.Error(), "ptxas error   : ")
		}
		if got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.text, got, c.want)
		}
	}
}

func TestParamBytes(t *testing.T) {
	for _, c := range []struct {
		version, target string
		bytes, faults   int
	}{
		{"8.0", "sm_80", 4352, 0}, {"8.0", "sm_80", 4353, 2}, {"8.1", "sm_80", 32764, 0}, {"8.1", "sm_80", 32765, 1}, {"8.1", "sm_60", 4353, 1},
	} {
		_, err := Text(fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n.entry k(.param .b8 q[%d]) { ret; }", c.version, c.target, c.bytes))
		if list, _ := err.(ptx.ErrorList); len(list) != c.faults {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
