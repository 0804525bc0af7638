package ir

import (
	"os"
	"strings"
	"testing"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTextRoundTrip(t *testing.T) {
	text := readFile(t, "testdata/all.ir")
	m, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.String(); got != text {
		a, b := strings.Split(got, "\n"), strings.Split(text, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("line %d:\n got %s\nwant %s", i+1, a[i], b[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(a), len(b))
	}
	if err := Verify(m); err != nil {
		t.Fatal(err)
	}
}

func TestShapesAreComments(t *testing.T) {
	m, err := Read(readFile(t, "testdata/all.ir"))
	if err != nil {
		t.Fatal(err)
	}
	plain := m.String()
	m.Funcs[0].Blocks[0].Insts[1].Results[0].Shape = Shape{Kind: Affine, Stride: 4, Align: 16, NoWrap: true}
	text := m.String()
	if !strings.Contains(text, "sreg tid.x @13  ; affine(4)s*16\n") {
		t.Errorf("no shape in\n%s", text)
	}
	again, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != plain {
		t.Error("the comment was not dropped")
	}
}

// Every word must have one meaning, and every operation a row and a signature.
func TestWords(t *testing.T) {
	seen := map[string]string{}
	word := func(row, w string) {
		if w == "" {
			t.Errorf("%s has an empty word", row)
		}
		if other, ok := seen[w]; ok {
			t.Errorf("%q is of %s and of %s", w, other, row)
		}
		seen[w] = row
	}
	for _, x := range attributes {
		if x.read != nil {
			word(x.name, x.name)
		}
		for _, w := range x.words {
			word(x.name, w)
		}
	}
	names := map[string]bool{}
	for op := Invalid + 1; op < NumOps; op++ {
		if op.String() == "" || names[op.String()] {
			t.Errorf("operation %d has no name of its own: %q", op, op)
		}
		names[op.String()] = true
		if !strings.Contains(sigs[op], "=") {
			t.Errorf("%v has no signature", op)
		}
		s := parsedSigs()[op]
		if n := op.Row().Args; n >= 0 && len(s.args) != int(n) {
			t.Errorf("%v: row says %d arguments, signature %q", op, n, sigs[op])
		}
		if n := op.Row().Results; n >= 0 && len(s.results) != int(n) {
			t.Errorf("%v: row says %d results, signature %q", op, n, sigs[op])
		}
	}
}

func TestReadErrors(t *testing.T) {
	head := "module \"k\"\nfunc \"k\" kernel {\nb0:\n"
	for _, c := range []struct{ text, want string }{
		{"", "no module line"},
		{"func \"k\" kernel {\n", "no closing brace"},
		{head + "  %0:i32 = frob i32:1\n}\n", "line 4: unknown operation \"frob\""},
		{head + "  %0:i33 = copy i32:1\n}\n", "unknown type \"i33\""},
		{head + "  %0:i32 = copy %7\n  exit\n}\n", "line 4: %7 is never defined"},
		{head + "  %0:i32 = copy i32:1\n  %0:i32 = copy i32:1\n}\n", "line 5: second definition of %0"},
		{head + "  br -> b9\n}\n", "block b9 of k is never defined"},
		{head + "  exit extra\n}\n", "unknown attribute \"extra\""},
		{head + "  exit align 4\n}\n", "expected \"=\""},
		{head + "  exit align=256\n}\n", "bad number \"256\" of align"},
		{head + "  exit )\n}\n", "too much"},
		{head + "b0:\n}\n", "second block"},
		{head + "  %0:i64 = varaddr sym=\"abc\n}\n", "unclosed string"},
		{head + "  %0:f16 = copy f16:1.5\n}\n", "hexadecimal"},
		{"module \"k\"\nwhat\n", "line 2: expected module"},
	} {
		_, err := Read(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(readFuzzSeed())
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Read(text)
		if err != nil {
			return
		}
		one := m.String()
		m2, err := Read(one)
		if err != nil {
			t.Fatalf("own text: %v\n%s", err, one)
		}
		if two := m2.String(); two != one {
			t.Fatalf("not stable:\n%s\n%s", one, two)
		}
		_ = Verify(m) // must not panic
	})
}

func readFuzzSeed() string {
	b, _ := os.ReadFile("testdata/all.ir")
	return string(b)
}

func TestVerifyErrors(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"b0:\n  %0:i32 = copy i32:1\n", "has no terminator"},
		{"b0:\n  exit\n  exit\n", "terminator in the middle"},
		{"b0:\n  %0:i32 = add i32:1, i64:2\n  exit\n", "argument 1 is i64, not i32"},
		{"b0:\n  %0:i32 = add i32:1\n  exit\n", "needs more"},
		{"b0:\n  %0:f32 = add f32:1.0, f32:1.0\n  exit\n", "cannot be f32"},
		{"b0:\n  %0:i32 = copy %1\n  %1:i32 = copy i32:1\n  exit\n", "used before it is defined"},
		{"b0:\n  condbr i1:1 -> b1, b2\nb1:\n  %0:i32 = copy i32:1\n  br -> b2\nb2:\n  %1:i32 = copy %0\n  exit\n", "used before"},
		{"b0:\n  condbr i1:1 -> b1, b2\nb1:\n  br -> b2\nb2:\n  %1:i32 = phi [b0 i32:1]\n  exit\n", "1 incoming blocks, the block 2"},
		{"b0:\n  condbr i1:1 -> b1, b2\nb1:\n  br -> b2\nb2:\n  %1:i32 = phi [b0 i32:1], [b2 i32:1]\n  exit\n", "not exactly one"},
		{"b0:\n  br -> b1\nb1:\n  %1:i32 = phi [b0 i64:1]\n  exit\n", "argument 0 is i64"},
		{"b0:\n  br -> b0\n", "the entry has predecessors"},
		{"b0:\n  condbr i1:1 -> b1\nb1:\n  exit\n", "has 1 targets"},
		{"b0:\n  %0:i32 = add i32:1, i32:2 mask=i1:1\n  exit\n", "mask on an operation without effects"},
		{"b0:\n  %0:i64 = varaddr sym=\"x\"\n  exit\n", "no symbol \"x\""},
		{"b0:\n  %0:i64 = sharedaddr\n  exit\n", "no dynamic shared"},
		{"b0:\n  store const i64:0, i32:1\n  exit\n", "read-only space"},
		{"b0:\n  %0:i64 = bitcast i32:1\n  exit\n", "32 bits become 64"},
		{"b0:\n  %0:i32 = zext i64:1\n  exit\n", "does not widen"},
		{"b0:\n  call sym=\"g\"\n  exit\n", "no function"},
		{"b0:\n  %0:i32 = add ftz i32:1, i32:2\n  exit\n", "add takes no attribute ftz"},
		{"b0:\n  br -> b1\nb1:\n  %1:i32 = phi global [b0 i32:1]\n  exit\n", "phi takes no attribute space"},
		{"b0:\n  %0:f32 = fadd eitherftz f32:1.0, f32:2.0\n  exit\n", "eitherftz without ftz"},
		{"b0:\n  keep.begin iters=1\n  exit\n", "keep.begin without keep"},
		{"b0:\n  %0:i32 = keep i32:1\n  exit\n", "keep without keep.begin"},
		{"b0:\n  keep.begin iters=1\n  keep.begin iters=1\n  %0:i32 = keep i32:1\n  exit\n", "before the keep of another"},
		{"b0:\n  keep.begin iters=1\n  %0:i32 = add i32:1, i32:1\n  %1:i32 = keep %0\n  %2:i32 = add %0, %1\n  exit\n", "lies before keep in b0"},
		{"b0:\n  keep.begin iters=1\n  %0:i1 = icmp eq i32:1, i32:1\n  %1:i32 = keep i32:1\n  store global i64:0, %1 mask=%0\n  exit\n", "lies before keep in b0"},
		{"b0:\n  keep.begin iters=1\n  %0:i32 = add i32:1, i32:1\n  %1:i32 = keep %0\n  br -> b1\nb1:\n  %2:i32 = phi [b0 %0]\n  exit\n", "lies before keep in b0"},
		{"b0:\n  %0:i32 = dp4a s.u.hi i32:1, i32:2, i32:3\n  exit\n", "dp4a has no halves"},
	} {
		m, err := Read("module \"k\"\nfunc \"k\" kernel {\n" + c.body + "}\n")
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		if err := Verify(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.body, err, c.want)
		}
	}
}

// Sets and maps of blocks and values go by their numbers: each has its own, and Verify leaves them as they are.
func TestVerifyNumbers(t *testing.T) {
	const kernel = "module \"k\"\nfunc \"k\" kernel {\nb0:\n  %0:i32 = sreg tid.x\n  %1:i32 = add %0, %0\n  br -> b1\nb1:\n  exit\n}\n"
	for _, c := range []struct {
		change func(f *Func)
		want   string
	}{
		{func(f *Func) { f.Blocks[1].ID = 0 }, "another block's number"},
		{func(f *Func) { f.Blocks[0].Insts[1].Results[0].ID = 0 }, "another value's number"},
		{func(f *Func) {
			f.nextValue, f.nextBlock = 20, 20
			f.Blocks[1].ID = 7
			f.Blocks[0].Insts[1].Results[0].ID = 9
		}, ""},
	} {
		m, err := Read(kernel)
		if err != nil {
			t.Fatal(err)
		}
		c.change(m.Funcs[0])
		id := m.Funcs[0].Blocks[1].ID
		if err := Verify(m); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if m.Funcs[0].Blocks[1].ID != id {
			t.Error("renumbered")
		}
	}
}

func TestGraph(t *testing.T) {
	// b1 is a loop header with an inner loop b2; b4 leaves from inside; b5 ends.
	m, err := Read(`module "k"
func "k" kernel {
b0:
  br -> b1
b1:
  condbr i1:1 -> b2, b5
b2:
  condbr i1:1 -> b2, b3
b3:
  condbr i1:1 -> b1, b4
b4:
  br -> b5
b5:
  exit
}
`)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Funcs[0]
	b := f.Blocks
	dom := Dominators(f)
	if dom.Idom(b[5]) != b[1] || dom.Idom(b[3]) != b[2] || dom.Idom(b[0]) != nil || !dom.Dominates(b[1], b[4]) || dom.Dominates(b[4], b[5]) {
		t.Error("dominators")
	}
	pdom := PostDominators(f)
	if pdom.Idom(b[1]) != b[5] || pdom.Idom(b[2]) != b[3] || pdom.Idom(b[5]) != nil || !pdom.Dominates(b[5], b[0]) {
		t.Error("postdominators")
	}
	li := Loops(f, dom)
	if len(li.Loops) != 2 || li.Irreducible {
		t.Fatalf("%d loops", len(li.Loops))
	}
	outer, inner := li.Loops[0], li.Loops[1]
	if outer.Header != b[1] || inner.Header != b[2] || inner.Parent != outer || inner.Depth != 2 || len(outer.Blocks) != 3 || len(outer.Exits) != 2 {
		t.Error("loops")
	}
	if li.Innermost(b[2]) != inner || li.Innermost(b[3]) != outer || li.Innermost(b[4]) != nil {
		t.Error("innermost")
	}
}
