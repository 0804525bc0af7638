package ptx

import (
	"os"
	"path/filepath"
	"testing"
)

func seeds(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.ptx", "testdata/syntax/*.ptx"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(data))
		}
	}
	f.Add(sliceModule)
}

// FuzzParse: what parses prints, and what is printed parses to the same text.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseModule(text)
		if err != nil {
			if len(err.(ErrorList)) == 0 {
				t.Fatal("an empty list of errors")
			}
			return
		}
		once := m.String()
		again, err := ParseModule(once)
		if err != nil {
			t.Fatalf("printed text does not parse: %v\n%s", err, once)
		}
		if twice := again.String(); twice != once {
			t.Fatalf("printing is not stable:\n%s\n---\n%s", once, twice)
		}
	})
}

// FuzzIndex: a module that parses indexes to the same functions, and its slices parse.
func FuzzIndex(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		x, err := IndexModule(text)
		m, perr := ParseModule(text)
		if err != nil {
			if perr == nil {
				t.Fatalf("parses, but does not index: %v", err)
			}
			return
		}
		if _, err := x.Vars(); err != nil && perr == nil {
			t.Fatalf("parses, but its variables do not: %v", err)
		}
		for _, k := range x.Kernels() {
			_, err := x.Check(k.Name)
			if perr == nil && err != nil {
				s, _ := x.Slice(k.Name)
				t.Fatalf("parses, but its slice does not: %v\n%s", err, s.Text)
			}
		}
		if perr == nil && len(m.Funcs) != len(x.Funcs) {
			t.Fatalf("%d functions, %d in the index", len(m.Funcs), len(x.Funcs))
		}
	})
}

// FuzzScan: the scanner goes forward and ends.
func FuzzScan(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		s := scanner{text: text, bad: func(int, string, ...any) {}}
		for last := 0; ; last = s.end {
			s.next()
			if s.tok == tEOF {
				return
			}
			if s.start < last || s.end <= s.start {
				t.Fatalf("token %d at %d:%d after %d", s.tok, s.start, s.end, last)
			}
		}
	})
}
