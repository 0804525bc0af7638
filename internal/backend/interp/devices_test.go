package interp

import "testing"

// TestDevices: KUDZU_DEVICES is heard, and nonsense in it is an error.
func TestDevices(t *testing.T) {
	t.Setenv("KUDZU_DEVICES", "3")
	all, err := New(Config{}).Open()
	if err != nil || len(all) != 3 {
		t.Fatal(len(all), err)
	}
	if all[0].Info().UUID == all[2].Info().UUID {
		t.Error("two devices have one UUID")
	}
	for _, bad := range []string{"0", "-1", "x", "65"} {
		t.Setenv("KUDZU_DEVICES", bad)
		if _, err := New(Config{}).Open(); err == nil {
			t.Errorf("KUDZU_DEVICES=%s is taken", bad)
		}
	}
}

// TestClmad: products of polynomials over two elements; x·x is x² and nothing is carried.
func TestClmad(t *testing.T) {
	for _, r := range []struct{ a, b, c, lo, hi uint64 }{
		{3, 3, 0, 5, 0}, {1 << 63, 2, 0, 0, 1}, {1 << 63, 1 << 63, 7, 7, 1<<62 ^ 7}, {^uint64(0), ^uint64(0), 0, 0x5555555555555555, 0x5555555555555555}, {0x0123456789abcdef, 0, 9, 9, 9},
	} {
		if lo, hi := clmad(r.a, r.b, r.c, false), clmad(r.a, r.b, r.c, true); lo != r.lo || hi != r.hi {
			t.Errorf("clmad of %#x, %#x, %#x is %#x, %#x", r.a, r.b, r.c, lo, hi)
		}
	}
}
