package check_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// TestWarpgroupWords: wrong products of a warpgroup are refused in the assembler's words.
func TestWarpgroupWords(t *testing.T) {
	text, err := os.ReadFile("testdata/wgmma.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	var order []string
	for line := range strings.Lines(string(text)) {
		switch {
		case line[0] == '#':
		case line[0] == '\t':
			want[order[len(order)-1]] += line
		default:
			order = append(order, line)
		}
	}
	if len(order) < 45 {
		t.Errorf("%d instructions", len(order))
	}
	for _, line := range order {
		m, err := ptx.ParseModule(".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n" +
			".reg .b32 %a<256>; .reg .f32 %f<256>; .reg .b64 %d<4>; .reg .pred %p; .reg .b16 %h<8>;\n" + line + "ret;\n}\n")
		if err == nil {
			err = check.Module(m)
		}
		var list ptx.ErrorList
		if !errors.As(err, &list) {
			t.Errorf("%s%v", line, err)
			continue
		}
		got := ""
		for _, e := range list {
			got += "\t" + e.Msg + "\n"
		}
		if got != want[line] {
			t.Errorf("%s%swant\n%s", line, got, want[line])
		}
	}
}
