package lockrank

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table in docs/locks.md")

const page = "../../docs/locks.md"

// TestPage: the table in docs/locks.md is Order.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| lock | where | guards | |\n|---|---|---|---|\n")
	for _, r := range Order() {
		var notes []string
		if r.Waits {
			notes = append(notes, "waits")
		}
		if r.Nests {
			notes = append(notes, "nests")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Lock.Name(), r.Where, r.Guards, strings.Join(notes, ", "))
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- Order -->\n", "<!-- end -->\n"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/locks.md has no place for the table")
	}
	want := head + begin + b.String() + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Error("docs/locks.md has another order: go test ./internal/lockrank -update")
	}
}

// TestNoOthers: no room of the runtime has a mutex without a place in the order, and every place is some lock's.
func TestNoOthers(t *testing.T) {
	plain := regexp.MustCompile(`\bsync\.(RW)?Mutex\b`)
	place := regexp.MustCompile(`\blockrank\.([A-Z]\w+)\]`)
	used := map[string]bool{}
	rooms := []string{"backend", "cache", "cudart", "devices", "dl", "driver", "engine", "handle", "pack", "roster", "shim", "compile"}
	for _, room := range rooms {
		err := filepath.WalkDir(filepath.Join("..", room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "worker" { // another process
				return fs.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			for line := range strings.Lines(string(text)) {
				code, _, _ := strings.Cut(line, "//")
				if plain.MatchString(code) {
					t.Errorf("%s: %s: say its place, lockrank.Mutex[…]", path, strings.TrimSpace(code))
				}
				for _, m := range place.FindAllStringSubmatch(code, -1) {
					used[m[1]] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range Order() {
		if !used[r.Lock.Name()] {
			t.Errorf("%s is no lock's", r.Lock.Name())
		}
	}
	if dup := slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, r := range Order() {
			if !yield(r.Lock.Name()) {
				return
			}
		}
	})); len(dup) != len(Order()) {
		t.Error("a lock is in the order twice")
	}
}
