package check

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
)

// verdictFile holds the vendor assembler's word on each line: "= version target" begins a profile, then "+line" is accepted,
// "-line" refused. KUDZU_PTXAS=path go test -run TestRecord ./internal/ptx/check writes it anew
// (and the assembler's reasons into the file named by KUDZU_PTXAS_LOG).
const verdictFile = "../../../testdata/isa/verdicts.txt.gz"

// exceptionFile lists the lines on which we knowingly differ.
const exceptionFile = "../../../testdata/isa/verdicts-differ.txt"

// module wraps lines, one a line, and tells the line number of the first.
func module(p spell.Profile, lines []string) (text string, first int) {
	pro := spell.Prologue(p)
	return pro + strings.Join(lines, "\n") + "\n" + spell.Epilogue, strings.Count(pro, "\n") + 1
}

// ours judges lines with our parser and checker.
func ours(p spell.Profile, lines []string) []string {
	out := make([]string, len(lines))
	const batch = 300 // fewer than the parser's limit of errors
	for from := 0; from < len(lines); from += batch {
		part := lines[from:min(from+batch, len(lines))]
		text, first := module(p, part)
		bad := func(err error) bool {
			var list ptx.ErrorList
			if !errors.As(err, &list) {
				return false
			}
			for _, e := range list {
				if i := e.Line - first; i >= 0 && i < len(part) && out[from+i] == "" {
					out[from+i] = e.Msg
				}
			}
			return len(list) > 0
		}
		m, err := ptx.ParseModule(text)
		if err != nil {
			bad(err)
			var good []string // the checker only sees modules that parse
			var at []int
			for i, l := range part {
				if out[from+i] == "" {
					good = append(good, l)
					at = append(at, from+i)
				}
			}
			text, first := module(p, good)
			if m, err = ptx.ParseModule(text); err != nil {
				panic(fmt.Sprintf("still does not parse: %v", err))
			}
			var list ptx.ErrorList
			if errors.As(Module(m), &list) {
				for _, e := range list {
					if i := e.Line - first; i >= 0 && i < len(at) && out[at[i]] == "" {
						out[at[i]] = e.Msg
					}
				}
			}
			continue
		}
		bad(Module(m))
	}
	return out
}

var ptxasLine = regexp.MustCompile(`line (\d+); (error|fatal)\s*: (.*)`)

// crashed marks a line that the assembler dies of; such lines are not recorded.
const crashed = "crash"

// ptxas judges lines with the vendor's assembler; an empty string is acceptance.
func ptxas(t *testing.T, tool string, p spell.Profile, lines []string) []string {
	t.Helper()
	out := make([]string, len(lines))
	var judge func(at []int)
	judge = func(at []int) {
		for len(at) > 0 { // again without the line that ended the run
			part := make([]string, len(at))
			for i, n := range at {
				part[i] = lines[n]
			}
			msgs, fatal, dead := ptxasOnce(t, tool, p, part)
			switch {
			case dead && len(at) == 1:
				out[at[0]] = crashed
				return
			case dead:
				judge(at[:len(at)/2])
				at = at[len(at)/2:]
				continue
			}
			for i, m := range msgs {
				if out[at[i]] == "" {
					out[at[i]] = m
				}
			}
			if fatal < 0 {
				return
			}
			at = append(at[:fatal:fatal], at[fatal+1:]...)
		}
	}
	const batch = 400
	for from := 0; from < len(lines); from += batch {
		var at []int
		for i := from; i < min(from+batch, len(lines)); i++ {
			at = append(at, i)
		}
		judge(at)
	}
	return out
}

// ptxasOnce runs the assembler: a message for each refused line, the line that ended the run early or -1, and whether it died.
func ptxasOnce(t *testing.T, tool string, p spell.Profile, part []string) (msgs []string, fatal int, dead bool) {
	t.Helper()
	msgs = make([]string, len(part))
	text, first := module(p, part)
	file := filepath.Join(t.TempDir(), "v.ptx")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	arch := strings.Replace(p.Target, "sm_", "compute_", 1)
	if n, _ := strconv.Atoi(strings.Trim(arch, "compute_af")); n < 75 {
		arch = "compute_75"
	}
	log, err := exec.Command(tool, "-arch", arch, file, "-o", os.DevNull).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err != nil && !strings.Contains(string(log), "Ptx assembly aborted due to errors") {
		return nil, -1, true
	}
	fatal = -1
	for _, m := range ptxasLine.FindAllStringSubmatch(string(log), -1) {
		n, _ := strconv.Atoi(m[1])
		i := n - first
		if i < 0 || i >= len(part) { // a fault without a place: find its line by halving
			if len(part) > 1 {
				return nil, -1, true
			}
			i = 0
		}
		if msgs[i] == "" {
			msgs[i] = m[3]
		}
		if m[2] == "fatal" {
			fatal = i
		}
	}
	return msgs, fatal, false
}

// modern is a late header on which the form exists.
func modern(f *isa.Form) spell.Profile {
	n := isa.Need{PTX: f.PTX, SM: f.SM, Arch: f.Arch}
	for _, t := range []string{"sm_100a", "sm_90a", "sm_120a", "sm_103a"} {
		x, _ := isa.TargetOf(t)
		if n.Met(x.SM, x.Suffix) {
			return spell.Profile{Target: t, Version: "9.4"}
		}
	}
	return spell.Profile{Target: "sm_110a", Version: "9.4"}
}

// versions are headers for the question since when, and where, a form exists.
var versions = []spell.Profile{
	{Target: "sm_20", Version: "2.3"}, {Target: "sm_35", Version: "3.2"}, {Target: "sm_53", Version: "4.3"}, {Target: "sm_61", Version: "5.0"},
	{Target: "sm_70", Version: "6.0"}, {Target: "sm_70", Version: "6.4"}, {Target: "sm_75", Version: "6.5"}, {Target: "sm_80", Version: "7.0"},
	{Target: "sm_80", Version: "7.4"}, {Target: "sm_89", Version: "7.8"}, {Target: "sm_89", Version: "8.1"}, {Target: "sm_90", Version: "8.0"}, {Target: "sm_90a", Version: "8.3"},
	{Target: "sm_100", Version: "8.6"}, {Target: "sm_100a", Version: "8.6"}, {Target: "sm_100f", Version: "8.8"}, {Target: "sm_103a", Version: "8.8"},
	{Target: "sm_120", Version: "8.7"}, {Target: "sm_120a", Version: "8.7"}, {Target: "sm_121f", Version: "9.0"}, {Target: "sm_110f", Version: "9.0"},
	{Target: "sm_90", Version: "9.4"}, {Target: "sm_103f", Version: "9.4"}, {Target: "sm_75", Version: "9.4"},
}

// allCases are the lines to record, by profile.
func allCases() map[spell.Profile][]string {
	by := map[spell.Profile][]string{}
	seen := map[string]bool{}
	add := func(p spell.Profile, line string) {
		if key := p.Target + p.Version + line; !seen[key] {
			seen[key] = true
			by[p] = append(by[p], line)
		}
	}
	for _, line := range spell.Extra() {
		add(spell.Profile{Target: "sm_90a", Version: "9.4"}, line)
	}
	for _, c := range isa.Chapters() {
		for _, f := range c.Forms {
			if f.Op == isa.Call || f.Op == isa.Bra || f.Op == isa.Brx {
				continue // they need labels and functions; syntax tests have them
			}
			p := modern(f)
			for _, c := range spell.Cases(f, 24) {
				add(p, c.Line)
			}
			short := spell.Pairwise(f, 3)
			for _, v := range versions {
				add(v, spell.Line(f, short[0], false, -1))
			}
			for _, mods := range short[1:] {
				line := spell.Line(f, mods, true, -1)
				for i, v := range versions {
					if (i+len(line))%6 == 0 {
						add(v, line)
					}
				}
			}
		}
	}
	return by
}

func sortedProfiles[T any](by map[spell.Profile]T) []spell.Profile {
	var ps []spell.Profile
	for p := range by {
		ps = append(ps, p)
	}
	sort.Slice(ps, func(i, j int) bool {
		return ps[i].Version+" "+ps[i].Target < ps[j].Version+" "+ps[j].Target
	})
	return ps
}

// TestRecord asks the assembler named by KUDZU_PTXAS about every case and writes the record.
func TestRecord(t *testing.T) {
	tool := os.Getenv("KUDZU_PTXAS")
	if tool == "" {
		t.Skip("KUDZU_PTXAS names no assembler")
	}
	var raw, reasons bytes.Buffer
	total, accepted := 0, 0
	by := allCases()
	for _, p := range sortedProfiles(by) {
		fmt.Fprintf(&raw, "= %s %s\n", p.Version, p.Target)
		for i, msg := range ptxas(t, tool, p, by[p]) {
			if msg == crashed {
				continue
			}
			total++
			if msg == "" {
				accepted++
				fmt.Fprintf(&raw, "+%s\n", by[p][i])
			} else {
				fmt.Fprintf(&raw, "-%s\n", by[p][i])
			}
			fmt.Fprintf(&reasons, "%s %s: %s  # %s\n", p.Version, p.Target, by[p][i], msg)
		}
	}
	if err := os.MkdirAll(filepath.Dir(verdictFile), 0o755); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := w.Write(raw.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(verdictFile, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if log := os.Getenv("KUDZU_PTXAS_LOG"); log != "" {
		if err := os.WriteFile(log, reasons.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lines, %d accepted, %d bytes", total, accepted, packed.Len())
}

// readVerdicts reads the record.
func readVerdicts(t *testing.T) (by map[spell.Profile][]string, want map[spell.Profile]map[string]bool) {
	t.Helper()
	f, err := os.Open(verdictFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	want = map[spell.Profile]map[string]bool{}
	by = map[spell.Profile][]string{}
	var p spell.Profile
	sc := bufio.NewScanner(io.LimitReader(z, 64<<20))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		switch line[0] {
		case '=':
			w := strings.Fields(line)
			p = spell.Profile{Version: w[1], Target: w[2]}
			want[p] = map[string]bool{}
		default:
			by[p] = append(by[p], line[1:])
			want[p][line[1:]] = line[0] == '+'
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return by, want
}

// TestEveryFormPrints: what the assembler accepts prints and reads back.
func TestEveryFormPrints(t *testing.T) {
	by, want := readVerdicts(t)
	for p, lines := range by {
		var good []string
		for i, msg := range ours(p, lines) {
			if msg == "" && want[p][lines[i]] {
				good = append(good, lines[i])
			}
		}
		text, _ := module(p, good)
		m, err := ptx.ParseModule(text)
		if err != nil {
			t.Errorf("%v: %v", p, err)
			continue
		}
		once := m.String()
		again, err := Text(once)
		if err != nil {
			t.Errorf("%v: printed: %.500v", p, err)
			continue
		}
		if again.String() != once {
			t.Errorf("%v: printing is not stable", p)
		}
	}
}

// TestVerdicts compares our verdicts with the record: at least 99 % must agree, and every other line must be listed.
func TestVerdicts(t *testing.T) {
	by, want := readVerdicts(t)
	listed := exceptions(t)
	total, differ := 0, 0
	var list strings.Builder
	for _, p := range sortedProfiles(by) {
		for i, msg := range ours(p, by[p]) {
			line := by[p][i]
			total++
			if (msg == "") == want[p][line] {
				continue
			}
			differ++
			key := fmt.Sprintf("%s %s: %s", p.Version, p.Target, line)
			word := "refused by us: " + msg
			if msg == "" {
				word = "accepted by us"
			}
			fmt.Fprintf(&list, "%s  # %s\n", key, word)
			if !listed[key] && os.Getenv("KUDZU_VERDICTS") == "" {
				t.Errorf("%s: %s", key, word)
			}
		}
	}
	t.Logf("%d lines, %d differ (%.2f %% agree)", total, differ, 100-100*float64(differ)/float64(total))
	if out := os.Getenv("KUDZU_VERDICTS"); out != "" { // rewrite the list of exceptions
		if err := os.WriteFile(out, []byte(exceptionHead+list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if total < 5000 || differ*100 > total {
		t.Errorf("agreement is under 99 %% of at least 5000")
	}
}

const exceptionHead = `# Lines of verdicts.txt.gz on which the checker knowingly differs from the vendor's assembler, with our word. Most are leniencies
# of the assembler (a .f16x2 register as a predicate, a constant as a destination, a word twice, .aligned left out of wgmma).
# KUDZU_VERDICTS=testdata/isa/verdicts-differ.txt go test -run TestVerdicts ./internal/ptx/check rewrites this list.
`

func exceptions(t *testing.T) map[string]bool {
	data, err := os.ReadFile(exceptionFile)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), "  #")
		listed[key] = true
	}
	return listed
}
