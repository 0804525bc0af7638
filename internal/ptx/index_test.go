package ptx

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

const sliceModule = header + `
.file 1 "one.cu"
.file 7 "seven.cu"
.global .b32 unused = 3;
.global .b32 a, b[2] = {1, 2}, c;
.global .b64 pb = generic(b);
.func leaf () { ret; }
.func (.param .b32 r) even (.param .b32 n);
.func (.param .b32 r) odd (.param .b32 n)
{
	.param .b32 x, y;
	call (y), even, (x);
	ret;
}
.func (.param .b32 r) even (.param .b32 n)
{
	.param .b32 x, y;
	call (y), odd, (x);
	ret;
}
.visible .entry first (.param .u64 p)
{
	.reg .b64 d<3>;
	mov.u64 d0, leaf; // an address taken is a call that may be
	ret;
}
.visible .entry second (.param .u32 n, .param .u64 p) .maxntid 64, 1, 1
{
	.reg .b64 d<3>;
	.param .b32 x, y;
	.loc 7 3 1
	ld.global.u64 d1, [pb];
	call (y), even, (x);
	ret;
}
`

func TestIndex(t *testing.T) {
	x, err := IndexModule(sliceModule)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range x.Kernels() {
		names = append(names, k.Name)
	}
	if got := strings.Join(names, " "); got != "first second" {
		t.Errorf("kernels: %s", got)
	}
	k := x.Func("second")
	if len(k.Params) != 2 || k.Params[1].Offset != 8 || k.Perf[0].Name != "maxntid" || k.Perf[0].Nums[0] != 64 {
		t.Errorf("second: %+v", k.Func)
	}
	if !strings.HasPrefix(x.Text[k.Start:k.End], ".visible .entry second") || x.Text[k.End-1] != '}' || x.Text[k.Open] != '{' {
		t.Errorf("range of second: %q", x.Text[k.Start:k.End])
	}
	vars, err := x.Vars()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*Var{}
	for _, v := range vars {
		byName[v.Name] = v
	}
	if b := byName["b"]; b == nil || string(b.Init.Bytes) != "\x01\x00\x00\x00\x02\x00\x00\x00" {
		t.Errorf("b: %+v", b)
	}
	if r := byName["pb"].Init.Relocs; len(r) != 1 || r[0].Symbol != "b" || !r[0].Generic {
		t.Errorf("pb: %+v", r)
	}
}

func TestSlice(t *testing.T) {
	x, err := IndexModule(sliceModule)
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.Slice("second")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"b[2] = {1, 2};", "pb = generic(b);", ".func (.param .b32 r) odd", "seven.cu"} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("slice lacks %q:\n%s", want, s.Text)
		}
	}
	for _, not := range []string{"unused", "leaf", "first", "one.cu", " a;", " c;"} {
		if strings.Contains(s.Text, not) {
			t.Errorf("slice has %q:\n%s", not, s.Text)
		}
	}
	m, err := ParseModule(s.Text)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Text)
	}
	in := m.Func("second").Body.Insts[0]
	line, _ := m.Position(in.Pos)
	if got, want := strings.Split(sliceModule, "\n")[s.Line(line)-1], "\tld.global.u64 d1, [pb];"; got != want {
		t.Errorf("line map: %q, want %q", got, want)
	}
	if one, err := x.Slice("first"); err != nil || !strings.Contains(one.Text, ".func leaf") {
		t.Errorf("address-taken function: %v", err)
	}
	var none errNoKernel
	if _, err := x.Slice("third"); !errors.As(err, &none) {
		t.Errorf("unknown kernel: %v", err)
	}
}

// TestSliceIsPlaceless moves a kernel about in its module: the slice's text, which is a cache key, must stay.
func TestSliceIsPlaceless(t *testing.T) {
	kernel := ".visible .entry moved (.param .u64 p)\n{\n.reg .b64 d;\nmov.u64 d, v;\nret;\n}\n"
	other := ".entry o%d () { ret; }\n"
	texts := []string{
		header + ".global .b32 v;\n" + kernel + other,
		header + "// a comment\n\n.global .b32 w;\n.global .b32 v;\n" + other + kernel,
	}
	var first string
	for i, text := range texts {
		x, err := IndexModule(strings.ReplaceAll(text, "%d", "x"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := x.Slice("moved")
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = s.Text
		} else if s.Text != first {
			t.Errorf("slices differ:\n%s\n%s", first, s.Text)
		}
	}
}

// TestIndexAgreesWithParser: on the good files the index and the parser find the same things.
func TestIndexAgreesWithParser(t *testing.T) {
	data, err := os.ReadFile("testdata/good/language.ptx")
	if err != nil {
		t.Fatal(err)
	}
	x, err := IndexModule(string(data))
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseModule(string(data))
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Funcs) != len(m.Funcs) {
		t.Fatalf("%d functions in the index, %d in the tree", len(x.Funcs), len(m.Funcs))
	}
	for i, f := range m.Funcs {
		g := x.Funcs[i]
		if f.Name != g.Name || f.Linkage != g.Linkage || len(f.Params) != len(g.Params) || int(f.End) != g.End {
			t.Errorf("%s: %+v in the index", f.Name, g)
		}
	}
	if _, err := x.Check("kernel"); err != nil {
		t.Error(err)
	}
}

func TestCheckMapsLines(t *testing.T) {
	text := header + strings.Repeat(".entry other%() { ret; }\n", 1) + ".entry bad() {\n\tret;\n\tnonsense;\n}\n"
	text = strings.Replace(text, "other%", "other", 1)
	x, err := IndexModule(text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = x.Check("bad")
	list, _ := err.(ErrorList)
	if len(list) != 1 || list[0].Line != 7 {
		t.Errorf("%v", err)
	}
	if _, err := x.Check("other"); err != nil {
		t.Error(err)
	}
}

// Variables of functions are the module's, whatever their names; a slice has its own of them under the same names.
func TestFunctionVariables(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.global .u32 x = 1;
.func f() { // a comment with { and ;
	.reg .b32 %r; .global .u32 x = 2; ld.global.u32 %r, [x]; ret; }
.entry plain() { .reg .b32 %r; ld.global.u32 %r, [x]; ret; }
.entry k()
{
	.reg .b32 %r;
	.loc 1 2 3
	.const .u64 at[2] = {x, generic(x)+4};
AT: .global .u32 x[2] = {3, 4};
	{ .global .u32 x; ld.global.u32 %r, [x]; }
	call f;
	.const .u64 there = x;
	ret;
}
`
	x, err := IndexModule(text)
	if err != nil {
		t.Fatal(err)
	}
	vars, err := x.Vars()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	byName := map[string]*Var{}
	for _, v := range vars {
		names = append(names, v.LinkName())
		byName[v.LinkName()] = v
	}
	if got, want := strings.Join(names, " "), "x f$x$0 k$at$0 k$x$1 k$x$2 k$there$3"; got != want {
		t.Fatalf("variables: %s, want %s", got, want)
	}
	if r := byName["k$at$0"].Init.Relocs; len(r) != 2 || r[0].Target() != "x" || r[1].Target() != "x" || r[1].Addend != 4 {
		t.Errorf("at names %+v", r)
	}
	if r := byName["k$there$3"].Init.Relocs; len(r) != 1 || r[0].Target() != "k$x$1" {
		t.Errorf("there names %+v", r)
	}
	m, err := x.Check("k")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range m.Func("k").Body.Vars {
		if v.LinkName() != names[2+i] {
			t.Errorf("variable %d of the slice is %s, of the module %s", i, v.LinkName(), names[2+i])
		}
	}
	if _, err := IndexModule(text + ".global .u32 k$x$1;\n"); err == nil {
		t.Error("a variable of the module with the name of a function's")
	}
}

// TestIndexGrowth: functions with variables of their own, and the parameters of old kernels, take time in proportion to their number.
func TestIndexGrowth(t *testing.T) {
	const n = 60_000
	var funcs, params strings.Builder
	funcs.WriteString(header)
	params.WriteString(".version 1.3\n.target sm_13\n.entry f {\n")
	for i := range n {
		fmt.Fprintf(&funcs, ".func f%d() { .global .u32 v; ret; }\n", i)
		fmt.Fprintf(&params, ".param .u32 p%d;\n", i)
	}
	params.WriteString("ret; }\n")
	for _, text := range []string{funcs.String(), params.String()} {
		begin := time.Now()
		x, err := IndexModule(text)
		if took := time.Since(begin); took > 10*time.Second { // a second; half a minute were it quadratic
			t.Errorf("%.40q… took %v", text, took)
		}
		if err != nil {
			t.Fatal(err)
		}
		if p := x.Funcs[0].Params; len(p) > 0 && (len(p) != n || p[n-1].Offset != 4*(n-1)) {
			t.Errorf("%d parameters, the last one at %d", len(p), p[len(p)-1].Offset)
		}
	}
}
