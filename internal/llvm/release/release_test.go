package release

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestMajors(t *testing.T) {
	all := Majors()
	if !slices.Equal(all[:len(Tested)], Tested) {
		t.Errorf("%v does not begin with the tested %v", all, Tested)
	}
	if rest := all[len(Tested):]; !slices.IsSorted(rest) {
		t.Errorf("the others are not in order: %v", rest)
	}
	slices.Sort(all)
	for i, v := range all {
		if v != Oldest+i {
			t.Fatalf("%v has a hole, or one twice, at %d", all, v)
		}
	}
}

// The script that installs a library reads the table out of the source.
func TestSetupReadsTested(t *testing.T) {
	out, err := exec.Command("../../../scripts/setup.sh", "tested").Output()
	if want := strings.Trim(fmt.Sprint(Tested), "[]"); err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("setup.sh tested: %q, %v; want %q", out, err, want)
	}
}
