package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Transcripts of the driver API (testdata/transcripts): C programs that make calls and print the answers, compared with what
// a real driver (an H200, driver 580) printed. Groups where we still answer otherwise are listed in open.txt.

const transcripts = "testdata/transcripts"

// openGroup is a line of open.txt: how many lines differ, and why.
type openGroup struct {
	lines int
	why   string
}

// readOpen reads open.txt: "group lines reason", a group a line; # begins a comment.
func readOpen(t *testing.T) map[string]openGroup {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, transcripts, "open.txt"))
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]openGroup{}
	for _, line := range lines(string(text)) {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 3 {
			t.Fatalf("open.txt: %q is not a group, a number of lines and a reason", line)
		}
		n, err := strconv.Atoi(f[1])
		if err != nil || n < 1 {
			t.Fatalf("open.txt: %q: %v", line, err)
		}
		open[f[0]] = openGroup{n, strings.Join(f[2:], " ")}
	}
	return open
}

// transcriptPrograms compiles the programs and gives each group its program.
func transcriptPrograms(t *testing.T) map[string]string {
	t.Helper()
	libs := appLibraries(t)
	dir := t.TempDir()
	sources, err := filepath.Glob(filepath.Join(repository, transcripts, "*.c"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no transcript programs: %v", err)
	}
	groups := map[string]string{}
	for _, src := range sources {
		exe := filepath.Join(dir, strings.TrimSuffix(filepath.Base(src), ".c"))
		args := []string{"-std=gnu11", "-O0", "-Wall", "-Werror", "-I" + filepath.Join(repository, "include"), src, "-o", exe, "-L" + libs, "-lcuda", "-lpthread"}
		if out, err := exec.Command(appCompiler(), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", src, err, out)
		}
		for _, g := range lines(newApp(t, "", exe).run().stdout) {
			if groups[g] != "" {
				t.Fatalf("two groups are called %s", g)
			}
			groups[g] = exe
		}
	}
	return groups
}

// TestTranscripts runs every group in a process of its own.
func TestTranscripts(t *testing.T) {
	open := readOpen(t)
	groups := transcriptPrograms(t)
	cache := privateDir(t)
	for g := range open {
		if groups[g] == "" {
			t.Errorf("open.txt names %s, which no program has", g)
		}
	}
	for g, exe := range groups {
		t.Run(g, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join(repository, transcripts, "want", g+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			a := newApp(t, "cpu", exe, g).set("KUDZU_COMPUTE_CAPABILITY", recordedOn)
			a.cache = cache
			r := a.run()
			if d := compareTranscripts(lines(string(want)), lines(r.stdout)); len(d) > open[g].lines {
				t.Errorf("%d lines differ, %d are known\n%s\nstderr: %s", len(d), open[g].lines, strings.Join(d, "\n"), r.stderr)
			} else if o := open[g]; len(d) < o.lines {
				t.Errorf("%d lines differ, open.txt says %d: %s", len(d), o.lines, o.why)
			}
		})
	}
}

// compareTranscripts gives the lines that differ: - the real driver's, + ours. Where the real driver died or hung, only what
// it said before counts, but we may do neither.
func compareTranscripts(want, got []string) []string {
	ended := func(l []string) bool {
		last := l[len(l)-1]
		return last == "crash" || last == "timeout"
	}
	if ended(want) {
		want = want[:len(want)-1]
		if !ended(got) {
			got = got[:min(len(got), len(want))]
		}
	}
	return lineDiff(want, got)
}

// lineDiff is the shortest list of lines to take out (-) and put in (+).
func lineDiff(a, b []string) []string {
	n := make([][]int, len(a)+1) // n[i][j]: lines in common of a[i:] and b[j:]
	for i := range n {
		n[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	var d []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && n[i+1][j] >= n[i][j+1]:
			d = append(d, fmt.Sprintf("%3d - %s", i+1, a[i]))
			i++
		default:
			d = append(d, fmt.Sprintf("%3d + %s", i+1, b[j]))
			j++
		}
	}
	return d
}

// TestCompareTranscripts: the comparison finds what differs, and lets a crash of the real driver be.
func TestCompareTranscripts(t *testing.T) {
	for _, c := range []struct {
		want, got string
		lines     int
	}{
		{"a b c", "a b c", 0}, {"a b c", "a x c", 2}, {"a b c", "a c", 1}, {"a b c", "a b c d", 1},
		{"a b crash", "a b c d", 0}, {"a b crash", "a x c d", 2}, {"a b crash", "a b crash", 1}, {"a b crash", "a", 1}, {"a", "timeout", 2},
	} {
		if d := compareTranscripts(strings.Fields(c.want), strings.Fields(c.got)); len(d) != c.lines {
			t.Errorf("%q against %q: %q, want %d lines", c.want, c.got, d, c.lines)
		}
	}
}
