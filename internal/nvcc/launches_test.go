package nvcc

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJoinLaunches: nvcc 13.0 takes the launches of these for launches, and clang does when they are joined.
func TestJoinLaunches(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"k << <1, 32 >> > (0);", "k <<< 1, 32 >>>  (0);"},
		{"t<3><<\t<1, 1>>  >(0);", "t<3><<< 1, 1>>>  (0);"},
		{"k<<<1, 2 >> >(0); k << <1, 2>>>(0);", "k<<<1, 2 >>> (0); k <<< 1, 2>>>(0);"},
		{"a << <\\\n", "a <<< \\\n"},
		{"std::vector<std::vector<std::vector<int>> > v;", ""},
		{"friend S& operator<< <T>(S&, T); friend S& operator << <>(S&);", ""},
		{`// k << <1>> >` + "\n/* k << <1\n>> >*/" + ` "k << <1>> >" '<' "\"<< <"`, ""},
		{"int n = 1'000; k << <1, 1>> >(n); char c = '\\''; // << <", "int n = 1'000; k <<< 1, 1>>> (n); char c = '\\''; // << <"},
		{"k <<\n < 1, 1 >>\n >(0);", ""}, // nvcc refuses it, too
	} {
		if got := string(joinLaunches([]byte(c.text))); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// TestOverlay: a header that the source names in quotes is read, too, and what needs nothing is not in the overlay.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.cu": "#include \"plain.h\"\n#include \"sub/far.h\"\n#include \"missing.h\"\nvoid f() { k << <1, 1 >> >(); }\n", "plain.h": "__global__ void k();\n",
		"inc/sub/far.h": "#include \"near.h\"\n", "inc/sub/near.h": "#include \"far.h\"\ninline void g() { k << <2, 2 >> >(); }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &build{options: &options{set: map[string][]string{optPath: {filepath.Join(dir, "inc")}}}, temp: t.TempDir(), files: []input{{filepath.Join(dir, "a.cu"), "cu"}}}
	if err := b.joinAll(); err != nil {
		t.Fatal(err)
	}
	args, err := b.overlay(b.files[0])
	if err != nil || len(args) != 2 || args[0] != "-ivfsoverlay" {
		t.Fatalf("options %q, %v", args, err)
	}
	list, err := os.ReadFile(args[1])
	if err != nil || strings.Count(string(list), dir) != 2 || !strings.Contains(string(list), "a.cu") || !strings.Contains(string(list), "near.h") {
		t.Errorf("%v\n%s", err, list)
	}
	near, err := os.ReadFile(args[1] + ".1")
	if err != nil || !bytes.Contains(near, []byte("k <<< 2, 2 >>> ()")) {
		t.Errorf("%v\n%s", err, near)
	}
}
