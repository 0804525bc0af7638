package truth

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"kudzu/internal/backend/interp"
	"kudzu/internal/compile"
	"kudzu/internal/testkit"
)

// TestNewer compares compiled kernels with the interpreter on lines that no card has answered. KUDZU_FULL=1 takes all of them.
func TestNewer(t *testing.T) {
	lines := Newer(spellings)
	if *onlyLines != "" {
		rx := regexp.MustCompile(*onlyLines)
		lines = slices.DeleteFunc(lines, func(l *Line) bool { return !rx.MatchString(l.Text) })
	} else if len(lines) < 300 {
		t.Errorf("only %d lines", len(lines))
	}
	c := compiledFor(t, compile.Target{})
	if os.Getenv("KUDZU_FULL") == "" && *onlyLines == "" {
		lines = sample(lines, 1)
	}
	oracle, err := interp.New(interp.Config{}).Open()
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Device: oracle[0], Host: testkit.NewHostPage(t, HostBytes), Module: describe}
	want := map[string][]byte{}
	for _, l := range lines {
		if want[l.Text], err = r.Run(l); err != nil {
			t.Fatalf("%s: %v", l.Text, err)
		}
	}
	devs, err := c.backend.Open()
	if err != nil {
		t.Fatal(err)
	}
	c.sample = 1
	c.report(t, lines, c.judge(t, devs[0], lines, want), openList{})
}
