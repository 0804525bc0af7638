package emit

import (
	"errors"
	"testing"
)

func TestWrap(t *testing.T) {
	if On() != nil {
		t.Fatal("something records")
	}
	var got []Event
	now := uint64(100)
	Start(&Recorder{Now: func() uint64 { now += 10; return now }, Current: func() uint64 { return 7 }, Write: func(e *Event) { got = append(got, *e) }})
	defer Start(nil)
	want := errors.New("x")
	shape := Shape([3]uint32{1, 2, 3}, [3]uint32{4, 5, 6}, 7, Optimised)
	if shape != [4]uint64{1 | 2<<32, 3 | 4<<32, 5 | 6<<32, 7 | 2<<32} {
		t.Errorf("%#x", shape)
	}
	fn := On().Wrap(Kernel, Place{3, 9}, shape, "k", func() error { now += 100; return want })
	if err := fn(); err != want {
		t.Error(err)
	}
	if len(got) != 2 || got[0].Type != Enqueue || got[1] != (Event{Kernel, 7, 120, 230, 3, 9, shape, "k"}) {
		t.Errorf("%+v", got)
	}
}

func BenchmarkOff(b *testing.B) {
	for b.Loop() {
		if On() != nil {
			b.Fatal()
		}
	}
}
