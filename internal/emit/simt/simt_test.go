package simt

import (
	"errors"
	"strings"
	"testing"

	"kudzu/internal/ir"
)

// TestTable: every operation has a way, common or a target's own, and the tables agree on what is missing.
func TestTable(t *testing.T) {
	for op := ir.Invalid; op < ir.NumOps; op++ {
		if emitters[op] == nil {
			t.Errorf("no common way for %s", op)
		}
		for _, own := range []struct {
			name string
			fn   emitFn
			way  Way
		}{{"nvptx", nvptxOwn[op], nvptxWays[op]}, {"amdgcn", amdgcnOwn[op], amdgcnWays[op]}} {
			if own.fn != nil && (own.way == Common || own.way >= Missing) || own.fn == nil && own.way != Common {
				t.Errorf("%s writes %s in its own way: %v", own.name, op, own.way)
			}
		}
	}
}

// missing is what each target has no way for; the list only shrinks.
var missing = map[string][]ir.Op{
	"gfx1100": {ir.TexRead, ir.TexWrite, ir.Tensor, ir.LdMatrix, ir.StMatrix, ir.MovMatrix, ir.GridSync, ir.Asm, ir.AsmPure},
	"sm_90":   {ir.FExp2, ir.FLog2, ir.TexRead, ir.TexWrite, ir.Tensor, ir.LdMatrix, ir.StMatrix, ir.MovMatrix, ir.GridSync},
}

func TestMissing(t *testing.T) {
	for target, list := range missing {
		want := map[ir.Op]bool{}
		for _, op := range list {
			want[op] = true
		}
		for op := ir.Invalid + 1; op < ir.NumOps; op++ {
			w, err := WayOf(target, op)
			if err != nil {
				t.Fatal(err)
			}
			if (w == Missing) != want[op] {
				t.Errorf("%s: %s is %v", target, op, w)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, name := range []string{"", "cpu", "sm_", "sm_20", "sm_999", "gfx", "gfx0", "gfx11000000000000", "sm_90\n", "gfx1100\x00"} {
		if Known(name) {
			t.Errorf("%q is known", name)
		}
		if _, err := Emit(nil, Config{Target: name}); err == nil || !strings.Contains(err.Error(), "target") {
			t.Errorf("%q: %v", name, err)
		}
	}
	f := &ir.Func{Name: "k", Kernel: true}
	b := &ir.Builder{Func: f, Block: f.NewBlock("")}
	b.Line = 7
	b.EmitN(ir.GridSync, nil, ir.Attr{})
	b.Terminate(ir.Exit, ir.Attr{}, nil)
	m := &ir.Module{Kernel: "k", Funcs: []*ir.Func{f}}
	_, err := Emit([]Kernel{{IR: m}}, Config{Target: "sm_90"})
	var form *ErrForm
	if !errors.As(err, &form) || form.Line != 7 || !strings.Contains(err.Error(), "gridsync") {
		t.Errorf("gridsync: %v", err)
	}
}
