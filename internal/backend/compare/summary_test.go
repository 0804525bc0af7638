package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSummary: a kernel counts once, by its worst launch, over several reports; what a program launched in all is added up.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, lines ...string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := put("a", `{"text":"1","kernel":"k","outcome":"same","touched":64}`, `{"text":"2","kernel":"l","outcome":"skipped","why":"time"}`, `{"outcome":"ran","launches":10}`)
	b := put("b", `{"text":"1","kernel":"k","outcome":"explained","why":"order: 2^-20"}`, `{"text":"3","kernel":"_Z5scaleIfLi4EEvPT_i","function":"void scale<float, 4>(float*, int)","outcome":"different"}`, `{"outcome":"ran","launches":7}`)
	s, err := Summarise(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Counts(), (Counts{Launches: 3, Ran: 17, Kernels: 2, Wrote: 1, Explained: 1, Different: 1, Skipped: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := strings.Join(s.Reasons(), ","); got != "     1 explained: order,     1 skipped: time" {
		t.Errorf("%q", got)
	}
	if _, err := Summarise(put("c", `{"text":"1","kernel":"k","outcome":"fine"}`)); err == nil || !strings.Contains(err.Error(), `"fine" is not known`) {
		t.Errorf("an outcome that is none: %v", err)
	}
	var out strings.Builder
	s.Tell(&out, "interp")
	for _, want := range []string{"3 launches of 2 different kernels compared with interp", "; there were 17 launches\n", "DIFFERENT 3 scale<float, 4>, grid"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, out.String())
		}
	}
}

// TestReportNames: a line has both names of a kernel, and its C++ name only where it is another one.
func TestReportNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	r := NewReporter(path)
	r.Add(&Line{Kernel: "_Z5scaleIfLi4EEvPT_i", Outcome: Same})
	r.Add(&Line{Kernel: "plain", Outcome: Same})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.Contains(got, `"kernel":"_Z5scaleIfLi4EEvPT_i","function":"void scale\u003cfloat, 4\u003e(float*, int)"`) || strings.Count(got, "function") != 1 {
		t.Error(got)
	}
}
