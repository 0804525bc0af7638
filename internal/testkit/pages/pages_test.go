package pages

import (
	"flag"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/truth"
	"os"
	"testing"

	"kudzu/internal/backend/interp"
)

var update = flag.Bool("update", false, "write the pages")

// notInterpreted are the chapters, and the reasons in other chapters, for which a spelling may not be interpreted.
var notInterpreted = map[string]bool{"tcgen05": true, "arrays of several samples do not exist": true}

// TestCoverage: docs/zcoverage.md says what is true today, no form is unparsed, and every form that a CPU can execute is
// interpreted and compiled.
func TestCoverage(t *testing.T) {
	devs, err := interp.New(interp.Config{}).Open()
	if err != nil {
		t.Fatal(err)
	}
	all, err := coverage(devs[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, r := range c.rows {
			switch {
			case r.parsed < r.tried:
				t.Errorf("%s: %s: %d of %d spellings do not parse", c.name, r.form.Syntax, r.tried-r.parsed, r.tried)
			case r.accepted == 0:
				t.Errorf("%s: %s: no spelling is accepted", c.name, r.form.Syntax)
			case r.interp < r.accepted && !notInterpreted[c.name] && !notInterpreted[r.whyInterp]:
				t.Errorf("%s: %s: %d of %d spellings are not interpreted: %s", c.name, r.form.Syntax, r.accepted-r.interp, r.accepted, r.whyInterp)
			case r.cpu < r.interp:
				t.Errorf("%s: %s: %d of %d spellings are interpreted and not compiled: %s", c.name, r.form.Syntax, r.interp-r.cpu, r.interp, r.whyCPU)
			}
		}
	}
	same(t, "docs/zcoverage.md", coveragePage(all))
}

// TestSIMT: docs/zsimt.md says what code for GPUs can do today.
func TestSIMT(t *testing.T) {
	page, err := simtPage(simtCoverage())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "docs/zsimt.md", page)
}

// same compares a page with the file, or writes it.
func same(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(root+path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(root + path)
	if err != nil || string(old) != text {
		t.Errorf("%s is not current (%v): run make gen", path, err)
	}
}

// TestNumerics: docs/znumerics.md says what is measured today, and no approximation is past its bound.
func TestNumerics(t *testing.T) {
	devs, err := interp.New(interp.Config{}).Open()
	if err != nil {
		t.Fatal(err)
	}
	page, past, err := numericsPage(devs[0], testkit.NewHostPage(t, truth.HostBytes))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range past {
		t.Error(s)
	}
	same(t, "docs/znumerics.md", page)
}
