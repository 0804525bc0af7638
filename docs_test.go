package kudzu_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted   = regexp.MustCompile("`([A-Za-z0-9_.<>*{},/-]+)`")
	linked   = regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)
	variable = regexp.MustCompile(`<[^>]*>`)
	ends     = regexp.MustCompile(`\.(go|c|h|S|sh|md|py|api|txt|gz|json|tsv|map|inc|want|mjs|cu|ptx)$|/$`)
)

// example is a library that docs/add-a-library.md adds.
const example = "nvrtc"

// madeLater are files that builds make.
var madeLater = []string{"dist/", ".build/", "bundle/", "bin/", "lib/"}

// TestPaths: every file and folder that the documents name is there. A path is written from the root or from internal/; <x>
// and * stand for anything.
func TestPaths(t *testing.T) {
	docs, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("docs/bench/*.md")
	for _, file := range append(append(docs, more...), "ARCHITECTURE.md", "README.md", "CONTRIBUTING.md") {
		if strings.HasPrefix(filepath.Base(file), "z") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linked.FindAllStringSubmatch(string(b), -1) {
			if path := filepath.Join(filepath.Dir(file), m[1]); !there(path) {
				t.Errorf("%s: the link %s leads nowhere", file, m[1])
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(string(b), -1) {
			if path := m[1]; strings.Contains(path, "/") && path[0] != '/' && ends.MatchString(path) && !named(path, filepath.Dir(file)) {
				t.Errorf("%s: there is no %s", file, path)
			}
		}
	}
}

// named reports a path as documents write them.
func named(path, dir string) bool {
	for _, p := range madeLater {
		if strings.HasPrefix(path, p) || strings.Contains(path, "/"+example) {
			return true
		}
	}
	for _, root := range []string{".", "internal", dir, "internal/backend", "testdata"} {
		if there(filepath.Join(root, path)) {
			return true
		}
	}
	return false
}

func there(path string) bool {
	path = variable.ReplaceAllString(path, "*")
	alternatives := []string{path}
	if before, rest, ok := strings.Cut(path, "{"); ok {
		inner, after, _ := strings.Cut(rest, "}")
		alternatives = nil
		for _, a := range strings.Split(inner, ",") {
			alternatives = append(alternatives, before+a+after)
		}
	}
	for _, a := range alternatives {
		if found, err := filepath.Glob(a); err != nil || len(found) == 0 {
			return false
		}
	}
	return true
}
