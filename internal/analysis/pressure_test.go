package analysis

import "testing"

func TestPressure(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"nothing", "exit", 0},
		{"a 64-bit and a 32-bit value at once", `%0:i64 = param
  %1:i32 = sreg tid.x
  %2:i32 = add %1, i32:1
  store global align=4 %0, %2
  exit`, 3},
		{"one after the other", `%0:i64 = param
  %1:i32 = load global align=4 %0
  store global align=4 %0, %1
  %2:i32 = load global align=4 %0
  store global align=4 %0, %2
  exit`, 3},
		{"a value that a loop needs lives in all of it", `%0:i64 = param
  %1:i32 = load global align=4 %0
  br -> b1
b1:
  %2:i32 = phi [b0 i32:0], [b1 %5]
  %3:i32 = load global align=4 %0
  %4:i32 = add %3, %1
  store global align=4 %0, %4
  %5:i32 = add %2, i32:1
  %6:i1 = icmp lt %5, i32:9
  condbr %6 -> b1, b2
b2:
  exit`, 5},
	} {
		f := read(t, "module \"k\"\nfunc \"k\" kernel {\nb0:\n  "+c.text+"\n}\n")
		if got := Pressure(f); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
