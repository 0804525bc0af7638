package kudzu_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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

const maxColumns = 120

// documents are the hand-written pages.
func documents(t *testing.T) map[string]string {
	t.Helper()
	text := map[string]string{}
	for _, f := range tracked(t) {
		if filepath.Ext(f) != ".md" || isGenerated(f) {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			continue // deleted in the working tree
		}
		text[f] = string(b)
	}
	return text
}

// TestPaths: every file and folder that the documents name is there. A path is written from the root or from internal/;
// <x> and * stand for anything.
func TestPaths(t *testing.T) {
	for file, text := range documents(t) {
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			if path := filepath.Join(filepath.Dir(file), m[1]); !there(path) {
				t.Errorf("%s: the link %s leads nowhere", file, m[1])
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			if path := m[1]; strings.Contains(path, "/") && path[0] != '/' && ends.MatchString(path) && !named(path, filepath.Dir(file)) {
				t.Errorf("%s: there is no %s", file, path)
			}
		}
	}
}

// TestLineLength: prose and tables fit a screen. What a fence encloses is output or code, and stays as it is.
func TestLineLength(t *testing.T) {
	for file, text := range documents(t) {
		fenced := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			if n := utf8.RuneCountInString(line); n > maxColumns && !fenced {
				t.Errorf("%s:%d has %d characters, at most %d fit", file, i+1, n, maxColumns)
			}
		}
	}
}

// named reports a path as documents write them.
func named(path, dir string) bool {
	if strings.Contains(path, "/"+example) {
		return true
	}
	if slices.ContainsFunc(madeLater, func(p string) bool { return strings.HasPrefix(path, p) }) {
		return true
	}
	return slices.ContainsFunc([]string{".", "internal", dir, "internal/backend", "testdata"}, func(root string) bool {
		return there(filepath.Join(root, path))
	})
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
