package driver

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFamilies: every file is of a family that doc.go names, and every family has files.
func TestFamilies(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var families []string
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z]+)_ `).FindAllStringSubmatch(string(doc), -1) {
		families = append(families, m[1])
	}
	seen := map[string]bool{"doc": true}
	for _, f := range files {
		family, _, _ := strings.Cut(strings.TrimSuffix(f, ".go"), "_")
		if f != "doc.go" && !slices.Contains(families, family) {
			t.Errorf("%s is of no family", f)
		}
		seen[family] = true
	}
	for _, f := range families {
		if !seen[f] {
			t.Errorf("the family %s_ has no file", f)
		}
	}
}
