package devrt

import (
	"encoding/binary"
	"strings"
	"testing"
)

// ringWith is a mailbox whose ring begins at tail and holds records.
func ringWith(tail uint32, records ...[]byte) (State, []byte) {
	ring := make([]byte, 256)
	head := tail
	for _, r := range records {
		for _, c := range r {
			ring[head%256] = c
			head++
		}
	}
	b := NewMailbox(256)
	binary.LittleEndian.PutUint32(b[headAt:], head)
	binary.LittleEndian.PutUint32(b[TailAt:], tail)
	s, ok := ReadState(b, 256)
	if !ok {
		panic("BUG: a mailbox of the test's own")
	}
	return s, ring
}

func newRecord(kind uint32, parts string) []byte {
	n := (recordHead + len(parts) + 7) &^ 7
	b := make([]byte, n)
	binary.LittleEndian.PutUint32(b, kind)
	binary.LittleEndian.PutUint32(b[4:], uint32(n))
	copy(b[recordHead:], parts)
	return b
}

func TestDrain(t *testing.T) {
	one := newRecord(kindPrint, "%s is %d%%\n\x00\x01half\x00"+"\x32\x00\x00\x00\x00\x00\x00\x00")
	assertion := newRecord(kindAssertion, "\x11\x00\x00\x00"+strings.Repeat("\x02\x00\x00\x00", 6)+"a < b\x00f.cu\x00kernel\x00")
	unfinished := newRecord(0, "later")
	for _, tail := range []uint32{0, 232, 1<<32 - 16} { // plain, around the ring's end, around the counter's
		s, ring := ringWith(tail, one, assertion, unfinished)
		list, from, to := s.Drain(ring)
		if len(list) != 2 || from != tail || to != tail+uint32(len(one)+len(assertion)) {
			t.Fatalf("tail %d: %d records, %d to %d", tail, len(list), from, to)
		}
		if list[0] != (Message{Text: "half is 50%\n"}) {
			t.Errorf("%+v", list[0])
		}
		if list[1] != (Message{"f.cu:17: kernel: block: [2,2,2], thread: [2,2,2] Assertion `a < b` failed.", true}) {
			t.Errorf("%+v", list[1])
		}
	}
}

// TestDrainNonsense: whatever is in the ring, reading it ends, and the tail moves on or stays.
func TestDrainNonsense(t *testing.T) {
	for _, n := range []uint32{0, 4, 8, 12, 248, 256, 264, 1 << 31, 1<<32 - 8} {
		r := newRecord(kindPrint, "%s%s%s%d%*d%")
		binary.LittleEndian.PutUint32(r[4:], n)
		s, ring := ringWith(8, r)
		_, _, to := s.Drain(ring)
		if to != s.tail+uint32(len(r)) && to != s.tail+n {
			t.Errorf("length %d: tail %d", n, to)
		}
	}
	s, _ := ringWith(0, newRecord(9, "unknown"))
	if _, _, to := s.Drain(nil); to != 0 {
		t.Error("a ring of no bytes was read")
	}
	for _, b := range [][]byte{nil, make([]byte, HeadBytes), NewMailbox(128)} {
		if _, ok := ReadState(b, 256); ok {
			t.Errorf("%d bytes are a mailbox", len(b))
		}
	}
}

// TestDefine: lines keep their numbers, a function is defined once, and what the module defines itself stays.
func TestDefine(t *testing.T) {
	const text = ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func (.param .b64 r) malloc\n(\n.param .b64 p\n);\n.extern .func free (.param .b64 p);\n"
	got := Define(text, []string{"malloc", "free"})
	want := strings.ReplaceAll(text, ".extern", ".visible")
	if !strings.HasPrefix(got, want) || strings.Count(got, ".version") != 1 || strings.Count(got, "malloc_param_0\n)") != 1 || strings.Count(got, "\n{") != 2 {
		t.Errorf("%s", got)
	}
	if Define(text, nil) != text {
		t.Error("nothing to define, and the text changed")
	}
}
