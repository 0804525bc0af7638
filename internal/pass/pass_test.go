package pass

import (
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
