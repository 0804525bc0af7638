package worker

import (
	"errors"
	"os"
	"strings"
	"testing"

	"kudzu/internal/compile"
)

func saxpyPTX(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/saxpy.ptx")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Invalid PTX is the program's fault, with every line named; the texts are those a user could send.
func TestBadPTX(t *testing.T) {
	good := saxpyPTX(t)
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {"", ""},
		"garbage":             {"\x00\x01\xffnot PTX at all", "line 1"},
		"unknown instruction": {strings.Replace(good, "fma.rn.f32", "fmb.rn.f32", 1), "line 34"},
		"two mistakes":        {strings.Replace(strings.Replace(good, "fma.rn.f32", "fmb.rn.f32", 1), "mov.u32 \t%r3", "mov.u33 \t%r3", 1), "line 21"},
		"truncated":           {good[:700], "line"},
		"open comment":        {good + "/* no end", "line"},
		"type":                {strings.Replace(good, "%rd6, %rd4", "%rd6, %f1", 1), "line 32"},
		"unknown register":    {strings.Replace(good, "%f2, %f3", "%f2, %f9", 1), "line 34"},
		"another kernel":      {strings.ReplaceAll(good, "saxpy", "daxpy"), "no kernel saxpy"},
	} {
		_, err := toIR(&compile.Request{PTX: c.text, Kernel: "saxpy"}, newClock(), map[string]string{})
		var e *compile.PTXError
		if !errors.As(err, &e) || len(e.List) == 0 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %T %v, want %q", name, err, err, c.want)
		}
		if name == "two mistakes" && e != nil && len(e.List) != 2 {
			t.Errorf("%s: %d in the list: %v", name, len(e.List), e)
		}
	}
}

// What a person may ask to see of the first half.
func TestTexts(t *testing.T) {
	emitted := map[string]string{}
	req := &compile.Request{PTX: saxpyPTX(t), Kernel: "saxpy", Block: [3]uint32{256, 1, 1}, Emit: []string{"ptx", "ir"}, Dump: "linearize"}
	if _, err := toIR(req, newClock(), emitted); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{"ptx": ".entry saxpy", "ir": "fma", "dump": "; after linearize"} {
		if !strings.Contains(emitted[what], want) {
			t.Errorf("%s: no %q in\n%s", what, want, emitted[what])
		}
	}
	req.Dump = "no such pass"
	var f *compile.Failed
	if _, err := toIR(req, newClock(), emitted); !errors.As(err, &f) || !strings.Contains(f.Text, "linearize") {
		t.Errorf("unknown pass: %v", err)
	}
}
