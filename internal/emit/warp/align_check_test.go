package warp

import (
	"testing"

	"kudzu/internal/ir"
)

// Both ways into %11 are %4 and a multiple of 8, but %4 is one of two pointers: %11 decides for itself. That %4 has no one root must not
// be forgotten on the second way.
func TestAlignRoot(t *testing.T) {
	m, err := ir.Read(`module "k" params=48
func "k" kernel {
b0:
  %0:i64 = param
  %1:i64 = param off=8
  %2:i64 = param off=16
  %3:i1 = icmp eq %2, i64:0
  condbr %3 -> b1, b2
b1:
  br -> b3
b2:
  br -> b3
b3:
  %4:i64 = phi [b1 %0], [b2 %1]
  %5:i64 = phi [b1 %0], [b2 %0]
  %6:i64 = shl %2, i32:3
  condbr %3 -> b4, b5
b4:
  %7:i64 = add %4, %6
  %8:i64 = add %5, %6
  br -> b6
b5:
  %9:i64 = add %4, %6
  %10:i64 = add %5, i64:16
  br -> b6
b6:
  %11:i64 = phi [b4 %7], [b5 %9]
  %12:i64 = phi [b4 %8], [b5 %10]
  br -> b7
b7:
  %13:i64 = phi [b6 %12], [b7 %15]
  %14:i64 = phi [b6 %12], [b7 %16]
  %15:i64 = add %13, i64:8
  %16:i64 = add %14, i64:4
  condbr %3 -> b7, b8
b8:
  exit
}
`)
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	values := map[int]*ir.Value{}
	for _, b := range m.Funcs[0].Blocks {
		for _, in := range b.Insts {
			for _, r := range in.Results {
				r.Shape.Kind = ir.BlockUniform
				values[r.ID] = r
			}
		}
	}
	for v, want := range map[int]int{4: 4, 5: 0, 7: 4, 8: 0, 11: 11, 12: 0, 13: 0, 14: 14, 15: 0} {
		if root, ok := alignRoot(values[v], 8); !ok || root != values[want] {
			t.Errorf("the root of %s is %s, %v, not %s", values[v], root, ok, values[want])
		}
	}
	if root, ok := alignRoot(values[6], 8); !ok || root != nil {
		t.Errorf("%s is a multiple of 8, but has the root %s", values[6], root)
	}
}
