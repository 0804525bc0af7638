package tap

import (
	"testing"
	"time"

	"kudzu/internal/backend"
)

// endless is a queue with a kernel that never ends.
type endless struct {
	backend.Queue
	ends bool
}

func (q *endless) Done() (bool, error) { return q.ends, nil }

// Only one launch waits for work that does not end.
func TestDrained(t *testing.T) {
	b := New(nil, nil)
	work := &endless{}
	q := &Queue{Queue: work, d: &Device{b: b}}
	b.queues[q], b.patience = true, 50*time.Millisecond
	taken, passed := 0, 0
	quiet := func() time.Duration {
		begin := time.Now()
		if err := q.Quiet(func() error { taken++; return nil }, func() error { passed++; return nil }); err != nil {
			t.Fatal(err)
		}
		return time.Since(begin)
	}
	if took := quiet(); took < 50*time.Millisecond || passed != 1 {
		t.Errorf("%v, %d passed", took, passed)
	}
	least := time.Hour
	for range 10 {
		least = min(least, quiet())
	}
	if least > 25*time.Millisecond || passed != 11 {
		t.Errorf("%v, %d passed", least, passed)
	}
	if work.ends = true; quiet() < 0 || taken != 1 {
		t.Errorf("%d taken", taken)
	}
}

// Textures are a device's: another may have others with the same handles.
func TestShown(t *testing.T) {
	b := New(nil, nil)
	one, two := &Device{b: b, shown: map[uint64]backend.Texture{}}, &Device{b: b, shown: map[uint64]backend.Texture{}}
	one.note(7, &backend.Texture{Channels: 1})
	two.note(7, &backend.Texture{Channels: 2})
	if one.shown[7].Channels != 1 || two.shown[7].Channels != 2 {
		t.Errorf("%+v %+v", one.shown, two.shown)
	}
}
