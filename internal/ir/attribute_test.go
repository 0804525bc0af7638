package ir

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// oneOf is an Attr in which field i alone is not zero.
func oneOf(t *testing.T, i int) *Attr {
	a := new(Attr)
	switch f := reflect.ValueOf(a).Elem().Field(i); f.Kind() {
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Uint8, reflect.Uint32:
		f.SetUint(1)
	case reflect.Int64:
		f.SetInt(-1)
	case reflect.String:
		f.SetString("s")
	case reflect.Pointer:
		f.Set(reflect.ValueOf(&Matrix{M: 16, N: 8, K: 16}))
	default:
		t.Fatalf("field %s is %s", reflect.TypeFor[Attr]().Field(i).Name, f.Kind())
	}
	return a
}

// Every field of Attr is one row of the table, and some operation takes it.
func TestAttributeRows(t *testing.T) {
	rows := map[string]bool{}
	for i := range reflect.TypeFor[Attr]().NumField() {
		name := reflect.TypeFor[Attr]().Field(i).Name
		a := oneOf(t, i)
		got := a.strays(Invalid)
		if len(got) != 1 || rows[got[0]] {
			t.Errorf("field %s is seen as %q", name, got)
			continue
		}
		rows[got[0]] = true
		taken := false
		for op := Invalid + 1; op < NumOps; op++ {
			taken = taken || len(a.strays(op)) == 0
		}
		if !taken {
			t.Errorf("no operation takes %s", got[0])
		}
	}
	if len(rows) != len(attributes) {
		t.Errorf("%d rows for %d fields", len(attributes), len(rows))
	}
	if len(attributes) > 64 {
		t.Error("parsedTakes has too few bits")
	}
}

// Of each operation: what the table lists reads back and is accepted, everything else reads back and is rejected.
func TestAttributesOfOperations(t *testing.T) {
	for op := Invalid + 1; op < NumOps; op++ {
		listed := strings.Fields(takes[op])
		for i := range reflect.TypeFor[Attr]().NumField() {
			a := oneOf(t, i)
			name := a.strays(Invalid)[0]
			in := &Inst{Op: op, Attr: *a}
			text := in.String()
			m, err := Read("module \"k\"\nfunc \"k\" kernel {\nb0:\n  " + text + "\n}\n")
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			back := m.Funcs[0].Blocks[0].Insts[0]
			if !reflect.DeepEqual(back.Attr, *a) {
				t.Errorf("%s reads back as %s", text, back)
			}
			v := &verifier{f: &Func{Name: "k"}}
			v.attributes(nil, in)
			want := fmt.Sprintf("%s takes no attribute %s", op, name)
			if rejected := len(v.errs) > 0 && strings.Contains(v.errs[0].Error(), want); rejected == slices.Contains(listed, name) {
				t.Errorf("%s: %v", text, v.errs)
			}
		}
	}
}
