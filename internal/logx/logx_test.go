package logx

import (
	"io"
	"os"
	"strings"
	"testing"
)

func capture(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = w
	f()
	os.Stderr = old
	_ = w.Close()
	b, _ := io.ReadAll(r)
	return string(b)
}

func TestLevels(t *testing.T) {
	SetLevel(Warn)
	seen.Clear()
	got := capture(t, func() {
		Errorf("a %d", 1)
		Infof("silent")
		Once("k", "two\nlines")
		Once("k", "again")
		Warnf("%s", strings.Repeat("x", 5000))
	})
	want := "kudzu: a 1\nkudzu: two; lines\nkudzu: " + strings.Repeat("x", maxLine) + " ...\n"
	if got != want {
		t.Errorf("got %q", got)
	}
}

func TestEnv(t *testing.T) {
	for env, want := range map[string]Level{"": Warn, "debug": Debug, "ERROR": Error, "loud": Warn} {
		t.Setenv("KUDZU_LOG", env)
		out := capture(t, fromEnv)
		if Level(level.Load()) != want || (out != "") != (env == "loud") {
			t.Errorf("%q: level %d, said %q", env, level.Load(), out)
		}
	}
}
