package pass

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"kudzu/internal/ir"
)

func TestOrder(t *testing.T) {
	at := map[string]int{}
	for i, p := range passes {
		if _, twice := at[p.Name]; twice || p.Name == "" || p.Why == "" {
			t.Errorf("pass %d %q: names are unique and have a reason", i, p.Name)
		}
		at[p.Name] = i
	}
	for _, o := range order {
		b, ok := at[o.before]
		a, ok2 := at[o.after]
		if !ok || !ok2 || b >= a {
			t.Errorf("%q must stand before %q: %s", o.before, o.after, o.why)
		}
	}
}

func TestDump(t *testing.T) {
	name := os.Getenv("KZ_IR")
	if name == "" {
		t.Skip("KZ_IR names no file")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.Read(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	err = Run(m, Config{Block: [3]uint32{256, 1, 1}, Dump: os.Getenv("KZ_DUMP"), DumpTo: &b, Verify: true})
	t.Log(b.String())
	if err != nil {
		t.Fatal(err)
	}
}

// A pass that keeps less than the table says is found: of the graph, of values, and where it says that it did nothing.
func TestKeeps(t *testing.T) {
	const kernel = `module "k" params=8
func "k" kernel {
b0:
  %0:i64 = param
  %1:i32 = sreg tid.x
  br -> b1
b1:
  %2:i32 = phi [b0 %1], [b1 %3]
  %3:i32 = add %2, i32:4
  %4:i1 = icmp lt %3, i32:99
  condbr %4 -> b1, b2
b2:
  store global align=4 %0, %3
  exit
}
`
	skip := func(st *state) error { // the loop is no loop any more
		b := st.f.Blocks[1]
		dropPred(b, b)
		setTerm(st.f, b, ir.Br, nil, st.f.Blocks[2])
		return nil
	}
	add := func(st *state) error { // lanes differ by less, and the step is another
		in := st.f.Blocks[1].Insts[1]
		in.Args = []*ir.Value{in.Args[0], in.Args[0]}
		return nil
	}
	for _, c := range []struct {
		name  string
		run   func(*state) error
		keeps aspects
		want  string
	}{
		{"nothing is kept", skip, nothing, ""},
		{"the graph is not", skip, graph, "loops"},
		{"values are not", add, graph, ""},
		{"values are said to be", add, all, "induction variables"},
		{"it is said to have done nothing", func(st *state) error { return errors.Join(skip(st), st.unchanged()) }, nothing, "loops"},
		{"it says so itself", func(st *state) error { skip(st); st.changed(graph); return st.unchanged() }, nothing, ""},
	} {
		m, err := ir.Read(kernel)
		if err != nil {
			t.Fatal(err)
		}
		m.Width = 32
		st := &state{m: m, f: m.Funcs[0], cfg: Config{Block: [3]uint32{64, 1, 1}, Verify: true}}
		st.shapes()
		st.postDominators()
		st.induction(st.loops().Loops[0]).Var(st.f.Blocks[1].Insts[0])
		err = st.run(&Pass{Name: c.name, Run: c.run, Keeps: c.keeps})
		if got := fmt.Sprint(err); (err != nil) != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
