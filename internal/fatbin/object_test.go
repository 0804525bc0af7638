package fatbin

import (
	"bytes"
	"fmt"
	"testing"
)

func archive(members ...Member) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.Name, 0, 0, 0, 0o644, len(m.Data))
		b.Write(m.Data)
		if len(m.Data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func TestMembers(t *testing.T) {
	long := []byte("a_name_that_is_too_long.o/\nanother_one_of_these.o/\n")
	b := archive(Member{"/", []byte("symbols")}, Member{"//", long}, Member{"a.o/", []byte("odd")}, Member{"/27", []byte("even")}, Member{"/0", nil})
	got, err := Members(b)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	for i, want := range []Member{{"a.o", []byte("odd")}, {"another_one_of_these.o", []byte("even")}, {"a_name_that_is_too_long.o", nil}} {
		if got[i].Name != want.Name || !bytes.Equal(got[i].Data, want.Data) {
			t.Errorf("member %d is %q %q, want %q %q", i, got[i].Name, got[i].Data, want.Name, want.Data)
		}
	}
	for n := range len(b) { // cut anywhere: an error or fewer members, nothing else
		if m, err := Members(b[:n]); err == nil && len(m) > 3 {
			t.Errorf("%d bytes have %d members", n, len(m))
		}
	}
	for i := range b { // and with any byte changed
		c := bytes.Clone(b)
		c[i] ^= 0x15
		_, _ = Members(c)
	}
	if _, err := Members([]byte("!<arch>")); err == nil {
		t.Error("half a magic number was taken")
	}
}

func TestFromObjectGarbage(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("\x7fELF"), append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)} {
		if cs, err := FromObject(b); err == nil && len(cs) > 0 {
			t.Errorf("%d bytes have %d containers", len(b), len(cs))
		}
	}
}

// FuzzObject: archives and host objects of any content are read or refused.
func FuzzObject(f *testing.F) {
	fat := mustWrite(f, Part{Kind: PTX, SM: 80, Flags: FlagLZ4, Data: ptx("sm_80")})
	f.Add(archive(Member{"//", []byte("a_name_that_is_too_long.o/\n")}, Member{"/0", fat}, Member{"b.o/", []byte("odd")}))
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		list, err := Members(b)
		if err != nil {
			list = []Member{{"", b}}
		}
		for _, m := range list {
			if cs, err := FromObject(m.Data); err == nil {
				_, _ = Choose(cs, 90)
			}
		}
		_, _ = ParseWrapper(b)
	})
}
