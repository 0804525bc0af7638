package config

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../"

// product is where the product's code lies; tests, their helpers and generators read what they like.
func product(path string) bool {
	for _, not := range []string{"internal/testkit/", "internal/config/", "cmd/gen/", "testdata/"} {
		if strings.Contains(path, not) {
			return false
		}
	}
	ext := filepath.Ext(path)
	return (ext == ".go" && !strings.HasSuffix(path, "_test.go")) || ext == ".c" || ext == ".h"
}

var (
	literal = regexp.MustCompile(`"(KUDZU_[A-Z0-9_]+)`)
	named   = regexp.MustCompile(`\bconfig\.([A-Z]\w*)`)
	rows    = regexp.MustCompile(`(?m)^\t(\w+)\s+= "(KUDZU_\w+)"$`)
)

// TestNames: every variable that product code names is in the table, Go code names it by its constant, and every row is read.
func TestNames(t *testing.T) {
	text, err := os.ReadFile("config.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{}
	for _, m := range rows.FindAllSubmatch(text, -1) {
		constants[string(m[1])] = string(m[2])
	}
	known, read := map[string]bool{}, map[string]bool{}
	for _, g := range Groups {
		for _, s := range g.Settings {
			if known[s.Name] || s.Values == "" || s.Does == "" {
				t.Errorf("%s: twice, or without a word", s.Name)
			}
			known[s.Name] = true
		}
	}
	for name, variable := range constants {
		if !known[variable] {
			t.Errorf("%s (%s) is in no group", name, variable)
		}
	}
	for _, dir := range []string{"cmd", "internal", "c"} {
		err := filepath.WalkDir(root+dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !product(filepath.ToSlash(path)) {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range literal.FindAllSubmatch(b, -1) {
				name := string(m[1])
				if read[name] = true; !known[name] {
					t.Errorf("%s reads %s, which config does not have", path, name)
				} else if filepath.Ext(path) == ".go" {
					t.Errorf("%s names %s in a string: it is in package config", path, name)
				}
			}
			for _, m := range named.FindAllSubmatch(b, -1) {
				read[constants[string(m[1])]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range known {
		if !read[name] {
			t.Errorf("nobody reads %s", name)
		}
	}
}

// TestREADME: the README's section is the table.
func TestREADME(t *testing.T) {
	b, err := os.ReadFile(root + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	if now, err := InREADME(b); err != nil || !bytes.Equal(now, b) {
		t.Errorf("README.md's settings are not current (%v): run make gen", err)
	}
}
