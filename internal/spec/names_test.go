package spec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The names that NVIDIA's libraries export, by release: read from the libraries, or of the driver and NVML, of which no package
// has the library, from the headers and a driver's export list. Our own table; none of their files is kept.
const namesFile = "testdata/names.gz"

var namesFrom = flag.String("names", "", "make the table of the files in this folder, called SONAME@RELEASE: a library, a header (.h) or a list (.txt)")

// notExported are names of the table that we do not export, with the reason.
var notExported = map[string]string{
	"cuGetProcAddress_v2_ptsz": "an inline function of the header",
	"nvmlEventTypeAll":         "a macro",
	"nvmlClocksEventReasonAll": "a macro",
}

// smallFiles are tables of libraries with few names, in the same form but not packed.
const smallFiles = "testdata/names_*.txt"

// names reads the tables: "# SONAME RELEASE", then its names.
func names(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open(namesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	tables := []io.Reader{z}
	small, err := filepath.Glob(smallFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range small {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, bytes.NewReader(text))
	}
	all, of := map[string][]string{}, ""
	for s := bufio.NewScanner(io.MultiReader(tables...)); s.Scan(); {
		if head, ok := strings.CutPrefix(s.Text(), "# "); ok {
			of = head
		} else {
			all[of] = append(all[of], s.Text())
		}
	}
	return all
}

// TestNames: our libraries have every name that the vendor's have, in every release of the table.
func TestNames(t *testing.T) {
	if *namesFrom != "" {
		packNames(t, *namesFrom)
	}
	ours := map[string]map[string]bool{}
	for _, name := range Names() {
		api, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, lib := range api.Libraries {
			ours[lib.Soname] = map[string]bool{}
			for _, s := range api.Symbols(lib) {
				ours[lib.Soname][s.Name] = true
			}
		}
	}
	seen, unused := map[string]bool{}, maps.Clone(notExported)
	for of, list := range names(t) {
		soname, release, _ := strings.Cut(of, " ")
		seen[soname] = true
		for _, n := range list {
			switch {
			case notExported[n] != "":
				delete(unused, n)
			case !ours[soname][n]:
				t.Errorf("%s of %s exports %s, ours does not", soname, release, n)
			}
		}
	}
	for soname := range ours {
		if !seen[soname] {
			t.Errorf("no names of %s", soname)
		}
	}
	for n := range unused {
		t.Errorf("%s is no name of the table", n)
	}
}

// packNames writes the table.
func packNames(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*@*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files SONAME@RELEASE in %s: %v", dir, err)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		soname, release, _ := strings.Cut(filepath.Base(file), "@")
		release = strings.TrimSuffix(strings.TrimSuffix(release, ".h"), ".txt")
		fmt.Fprintf(z, "# %s %s\n", soname, release)
		for _, n := range namesIn(t, file) {
			fmt.Fprintln(z, n)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(namesFile, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

var (
	comment  = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	declared = regexp.MustCompile(`\b((?:cu|nvml)[A-Z]\w*)\s*\(`)
)

// namesIn lists what a library exports, a header declares or a list names.
func namesIn(t *testing.T, file string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(file) {
	case ".h":
		for _, m := range declared.FindAllSubmatch(comment.ReplaceAll(text, nil), -1) {
			list = append(list, string(m[1]))
		}
	case ".txt":
		for n := range strings.FieldsSeq(string(text)) {
			n, _, _ = strings.Cut(n, "@")
			list = append(list, n)
		}
	default:
		f, err := elf.NewFile(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		syms, err := f.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range syms {
			if s.Section != elf.SHN_UNDEF && s.Section != elf.SHN_ABS {
				list = append(list, s.Name)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
