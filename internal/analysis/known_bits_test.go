package analysis

import (
	"testing"

	"kudzu/internal/ir"
)

func TestZeros(t *testing.T) {
	f := read(t, `module "k" params=8
func "k" kernel {
b0:
  %0:i32 = param
  %1:i32 = and %0, i32:255
  %2:i32 = shl %1, i32:4
  %3:i32 = shr.u %0, i32:28
  %4:i32 = or %2, %3
  %5:i64 = zext %4
  %6:i16 = trunc %5
  %7:i32 = add %1, %1
  %8:i32 = and %0, i32:3840
  %9:i32 = shl %8, i32:1
  exit
}
`)
	want := map[int]uint64{0: 0, 1: 0xffffff00, 2: 0xfffff00f, 3: 0xfffffff0, 4: 0xfffff000, 5: 0xfffffffffffff000, 6: 0xf000, 7: 0, 8: 0xfffff0ff, 9: 0xffffe1ff}
	for _, in := range f.Blocks[0].Insts {
		for _, r := range in.Results {
			if got := Zeros(r); got != want[r.ID] {
				t.Errorf("%%%d: %#x, want %#x", r.ID, got, want[r.ID])
			}
		}
	}
	if got := Zeros(ir.ConstInt(ir.I8, 0x0f)); got != 0xf0 {
		t.Errorf("constant: %#x", got)
	}
}
