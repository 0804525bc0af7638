package testkit

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// procAnswer is what cuGetProcAddress_v2 answers from a version on: "result/status/symbol".
type procAnswer struct {
	from   int
	answer string
}

// parseProc reads a transcript of procaddr.c: by name and flags, the answers in the order of versions.
func parseProc(text string) (map[string][]procAnswer, error) {
	all := map[string][]procAnswer{}
	for _, line := range lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 || !strings.HasPrefix(f[0], "cu") {
			continue // the program also prints attributes and errors
		}
		for _, word := range f[2:] {
			from, answer, ok := strings.Cut(word, ":")
			n, err := strconv.Atoi(from)
			if !ok || err != nil {
				return nil, fmt.Errorf("%q", line)
			}
			all[f[0]+" "+f[1]] = append(all[f[0]+" "+f[1]], procAnswer{n, answer})
		}
	}
	return all, nil
}

// at is the answer for a version.
func at(list []procAnswer, version int) string {
	s := ""
	for _, a := range list {
		if a.from <= version {
			s = a.answer
		}
	}
	return s
}

// unanswered reads the list of driver functions that are not implemented from the coverage page.
func unanswered(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repository, "docs/zcoverage_cuda.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(b), "## libcuda.so.1")
	if !ok {
		t.Fatal("no section on libcuda.so.1 in the coverage page")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	_, section, ok = strings.Cut(section, "\nNot yet, by reason:\n")
	if !ok {
		t.Fatal("no list of what is not answered in the coverage page")
	}
	not := map[string]bool{}
	for _, m := range regexp.MustCompile("`(cu\\w+)`").FindAllStringSubmatch(section, -1) {
		not[m[1]] = true
	}
	return not
}

// TestAppProcAddress asks for every name with every flag and version, and compares with driver 580: the same symbol, status
// and result where we implement what the real driver hands out, and "not found" where we do not.
func TestAppProcAddress(t *testing.T) {
	exe := appProgram(t, "procaddr", "-w", "-lcuda", "-ldl")
	f, err := os.Open(filepath.Join(repository, "testdata/apps/procaddr.want.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	real, err := parseProc(string(text))
	if err != nil {
		t.Fatal(err)
	}
	const leastRows = 1400
	if len(real) < leastRows {
		t.Fatalf("the record has %d rows, expected at least %d", len(real), leastRows)
	}
	names := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(names, []byte(strings.Join(procNames(real), "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newApp(t, "interp", exe, names).set("KUDZU_DRIVER_VERSION", "13.0").run() // the record's
	if r.code != 0 {
		t.Fatalf("%v\n%s", r.err, r.stderr)
	}
	got, err := parseProc(r.stdout)
	if err != nil {
		t.Fatal(err)
	}
	if n := compareProc(t, real, got, unanswered(t)); n < 500 {
		t.Errorf("only %d answers were compared with the real driver's", n)
	}
}

// procNames are the names to look up, and the symbols that may be answered.
func procNames(real map[string][]procAnswer) []string {
	set := map[string]bool{}
	for key, list := range real {
		name, _, _ := strings.Cut(key, " ")
		set[name] = true
		for _, a := range list {
			if symbol := a.answer[strings.LastIndexByte(a.answer, '/')+1:]; strings.HasPrefix(symbol, "cu") {
				set[symbol] = true
			}
		}
	}
	var names []string
	for n := range set {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// compareProc returns how many functions that were handed out are the real driver's.
func compareProc(t *testing.T, real, got map[string][]procAnswer, not map[string]bool) int {
	same := 0
	for key, list := range real {
		for _, a := range slices.Concat(list, got[key]) {
			want, have := at(list, a.from), at(got[key], a.from)
			symbol, found := strings.CutPrefix(want, "0/0/")
			plain := strings.TrimSuffix(strings.TrimSuffix(symbol, "_ptsz"), "_ptds")
			if found && not[plain] {
				want = "0/1/NULL" // not implemented: not found
			}
			if have != want {
				t.Errorf("%s, version %d: %q, want %q", key, a.from, have, want)
			} else if found && !not[plain] {
				same++
			}
		}
	}
	return same
}
