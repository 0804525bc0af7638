package ptx

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var wantError = regexp.MustCompile(`// ERROR "((?:[^"\\]|\\.)*)"`)

// TestSyntaxErrors parses the files of testdata/syntax: every line marked // ERROR "rx" has a fault that matches, and no other
// line has one.
func TestSyntaxErrors(t *testing.T) {
	files, _ := filepath.Glob("testdata/syntax/*.ptx")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]*regexp.Regexp{}
		for i, line := range strings.Split(string(data), "\n") {
			if m := wantError.FindStringSubmatch(line); m != nil {
				want[i+1] = regexp.MustCompile(m[1])
			}
		}
		_, err = ParseModule(string(data))
		list, _ := err.(ErrorList)
		seen := map[int]bool{}
		for _, e := range list {
			rx := want[e.Line]
			switch {
			case rx == nil:
				t.Errorf("%s:%s: unexpected", name, e.Detail())
			case rx.MatchString(e.Msg):
				seen[e.Line] = true
			}
		}
		for line, rx := range want {
			if !seen[line] {
				t.Errorf("%s:%d: no error that matches %q", name, line, rx)
			}
		}
	}
}

func TestErrorFormat(t *testing.T) {
	_, err := ParseModule(".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {\n  add.u32 a, b, c;\n  foo;\n}\n")
	want := `ptxas application ptx input, line 5; error   : Unknown symbol 'a'
ptxas application ptx input, line 5; error   : Unknown symbol 'b'
ptxas application ptx input, line 5; error   : Unknown symbol 'c'
ptxas application ptx input, line 6; error   : Not a name of any known instruction: 'foo'
ptxas fatal   : Ptx assembly aborted due to errors`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if e := err.(ErrorList)[1]; e.Line != 5 || e.Col != 14 || e.Near != "b" {
		t.Errorf("place of the second: %+v", *e)
	}
}

// TestPrintRoundTrip prints the good files and reads them back: a second printing changes nothing, and the trees agree.
func TestPrintRoundTrip(t *testing.T) {
	files, _ := filepath.Glob("testdata/good/*.ptx")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ParseModule(string(data))
		if err != nil {
			t.Errorf("%s:\n%v", name, err)
			continue
		}
		once := m.String()
		again, err := ParseModule(once)
		if err != nil {
			t.Errorf("%s: printed text:\n%v\n%s", name, err, once)
			continue
		}
		if twice := again.String(); twice != once {
			t.Errorf("%s: printing is not stable:\n%s\n---\n%s", name, once, twice)
		}
		sameTree(t, name, m, again)
	}
}

// sameTree compares what the executors use.
func sameTree(t *testing.T, name string, a, b *Module) {
	t.Helper()
	for _, f := range a.Funcs {
		g := b.Func(f.Name)
		if g == nil {
			t.Errorf("%s: function %s lost", name, f.Name)
			continue
		}
		if f.Body == nil {
			continue
		}
		if len(f.Body.Insts) != len(g.Body.Insts) || len(f.Body.Labels) != len(g.Body.Labels) {
			t.Errorf("%s: %s has %d instructions, then %d", name, f.Name, len(f.Body.Insts), len(g.Body.Insts))
			continue
		}
		for i := range f.Body.Insts {
			x, y := &f.Body.Insts[i], &g.Body.Insts[i]
			if x.Form != y.Form || len(x.Args) != len(y.Args) || (x.Pred < 0) != (y.Pred < 0) || x.Not != y.Not {
				t.Errorf("%s: %s, instruction %d: %v, then %v", name, f.Name, i, x, y)
				continue
			}
			for j := range x.Args {
				if x.Args[j].Kind != y.Args[j].Kind || x.Args[j].Imm != y.Args[j].Imm || x.Args[j].Elem != y.Args[j].Elem {
					t.Errorf("%s: %s, instruction %d, operand %d differs", name, f.Name, i, j)
				}
			}
		}
	}
	for _, v := range a.Vars {
		w := b.Var(v.Name)
		if w == nil || v.Size != w.Size || v.Align != w.Align || (v.Init == nil) != (w.Init == nil) {
			t.Errorf("%s: variable %s differs", name, v.Name)
			continue
		}
		if v.Init != nil && string(v.Init.Bytes) != string(w.Init.Bytes) {
			t.Errorf("%s: initialiser of %s: %x, then %x", name, v.Name, v.Init.Bytes, w.Init.Bytes)
		}
	}
}

func TestConstants(t *testing.T) {
	m, err := ParseModule(header + `
.global .s64 a = 1 + 2 * 3;
.global .s64 b = (1 << 40) - 3;
.global .u64 c = (.u64)-1 / 2;
.global .s64 d = -1 / 2;
.global .s64 e = 5 > 3 ? 10 : 20;
.global .s64 f = 0x1F + 017 + 0b11 + 12U;
.global .s64 g = -7 >> 1;
.global .u64 h = 0xFFFFFFFFFFFFFFFF >> 60;
.global .s64 i = WARP_SZ;
.global .s64 j = !0 + !5 + ~0;
.global .f64 k = 1.5e1;
.global .f32 l = -0f3F800000;
.global .s32 m = -1 < 0U;
`)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{
		"a": 7, "b": 1<<40 - 3, "c": 1<<63 - 1, "d": 0, "e": 10, "f": 31 + 15 + 3 + 12, "g": ^uint64(3), "h": 15, "i": 32, "j": 0,
		"k": 0x402e000000000000, "l": 0xbf800000, "m": 0,
	} {
		v := m.Var(name)
		var got uint64
		for i, x := range v.Init.Bytes {
			got |= uint64(x) << (8 * i)
		}
		if got != want {
			t.Errorf("%s = %#x, want %#x", name, got, want)
		}
	}
}
