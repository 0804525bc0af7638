package fatbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/cubin"
)

func ptx(target string) []byte {
	return []byte("//\n/* made by hand */ .version 8.0\n.target " + target + "\n.address_size 64\n.visible .entry k() { ret; }\n" + strings.Repeat("// filler\n", 200))
}

func mustWrite(t testing.TB, parts ...Part) []byte {
	t.Helper()
	b, err := Write(parts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	for _, flags := range []uint64{0, FlagLZ4, FlagZstd} {
		for _, head := range []int{64, 80, 112} {
			want := ptx("sm_80")
			b := mustWrite(t, Part{Kind: ELF, SM: 90, Data: []byte("\x7fELF something")}, Part{Kind: PTX, SM: 80, Major: 8, Flags: flags, Header: head, Data: want})
			c, err := Parse(append(b, "what follows in .nv_fatbin"...))
			if err != nil || len(c.Entries) != 2 {
				t.Fatal(c, err)
			}
			e := &c.Entries[1]
			got, err := e.Text()
			if err != nil || !bytes.Equal(got, want) || e.SM != 80 || e.Major != 8 || e.Kind != PTX {
				t.Fatalf("flags %#x: %d bytes of %d, %v", flags, len(got), len(want), err)
			}
		}
	}
}

// TestSmall has contents below zstd's smallest window.
func TestSmall(t *testing.T) {
	for n := range 64 {
		want := bytes.Repeat([]byte{'x'}, n*24+1)
		c, err := Parse(mustWrite(t, Part{Kind: PTX, SM: 80, Flags: FlagZstd, Data: want}))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Entries[0].Text(); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes: %v", len(want), err)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		have []string
		sm   int
		want string
	}{
		{[]string{"sm_50", "sm_80", "sm_70"}, 90, "sm_80"},
		{[]string{"sm_50", "sm_90", "sm_100"}, 90, "sm_90"},
		{[]string{"sm_90", "sm_90a"}, 90, "sm_90a"},
		{[]string{"sm_90a", "sm_80"}, 100, "sm_80"},
		{[]string{"sm_100f", "sm_80"}, 103, "sm_100f"},
		{[]string{"sm_100f", "sm_80"}, 120, "sm_80"},
		{nil, 90, ""},
		// Nothing is for the device: newer plain text, the nearest first; that of other chips last, older ones before newer ones.
		{[]string{"sm_100"}, 90, "sm_100 against"},
		{[]string{"sm_121", "sm_100", "sm_120"}, 90, "sm_100 against"},
		{[]string{"sm_100a", "sm_120"}, 90, "sm_120 against"},
		{[]string{"sm_90a", "sm_121"}, 120, "sm_121 against"},
		{[]string{"sm_100f"}, 120, "sm_100f against"},
		{[]string{"sm_121a", "sm_100a", "sm_90a"}, 120, "sm_100a against"},
		{[]string{"sm_121a", "sm_103a", "sm_120a"}, 90, "sm_103a against"},
		{[]string{"sm_120a", "sm_50"}, 90, "sm_50"},
		{[]string{"sm_90a", "sm_120", "sm_80"}, 90, "sm_90a"},
	} {
		parts := []Part{{Kind: ELF, SM: 86, Data: []byte("x")}}
		for _, h := range c.have {
			tg, _ := parseTarget([]byte(h))
			parts = append(parts, Part{Kind: PTX, SM: tg.SM, Flags: FlagZstd, Data: ptx(h)})
		}
		cs, err := FromBytes(mustWrite(t, parts...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Choose(cs, c.sm)
		var none *NoCode
		switch {
		case c.want == "" && (!errors.As(err, &none) || !strings.Contains(err.Error(), "ELF sm_86")):
			t.Errorf("%v: %v", c.have, err)
		case c.want != "":
			if word := map[bool]string{true: " against"}; err != nil || got.Target.String()+word[got.Against] != c.want {
				t.Errorf("%v on %d: %v, %v; want %s", c.have, c.sm, got, err, c.want)
			}
		}
	}
}

func TestTargets(t *testing.T) {
	for _, s := range []string{"", ".version 7.0", "/* open", ".target", ".target compute_90", ".entry k()", "// only a comment"} {
		if tg, ok := PTXTarget([]byte(s)); ok {
			t.Errorf("%q has target %v", s, tg)
		}
	}
	if tg, ok := PTXTarget([]byte(".version 8.7\n.target sm_90a, debug")); !ok || tg != (Target{90, "a"}) {
		t.Error(tg, ok)
	}
}

// Each row breaks one thing in a good container; the answer is an error that says which, and no panic.
func TestHostile(t *testing.T) {
	le := binary.LittleEndian
	for _, c := range []struct {
		name   string
		mangle func(b []byte) []byte
		want   string
	}{
		{"empty", func(b []byte) []byte { return nil }, "header of 0 bytes"},
		{"magic", func(b []byte) []byte { b[0]++; return b }, "magic"},
		{"version", func(b []byte) []byte { b[4] = 9; return b }, "version 9"},
		{"header size", func(b []byte) []byte { b[6] = 3; return b }, "header size 3"},
		{"huge", func(b []byte) []byte { le.PutUint64(b[8:], 1<<63); return b }, "size"},
		{"cut", func(b []byte) []byte { return b[:len(b)-9] }, "container of"},
		{"short entry", func(b []byte) []byte { le.PutUint64(b[8:], 20); return b }, "left for an entry"},
		{"entry version", func(b []byte) []byte { b[19] = 7; return b }, "entry version"},
		{"entry header small", func(b []byte) []byte { le.PutUint32(b[20:], 0); return b }, "entry header of 0"},
		{"entry header big", func(b []byte) []byte { le.PutUint32(b[20:], 1<<31); return b }, "entry header of"},
		{"payload", func(b []byte) []byte { le.PutUint64(b[24:], ^uint64(0)); return b }, "payload of"},
		{"compressed size", func(b []byte) []byte { le.PutUint32(b[32:], 1<<31); return b }, "payload of"},
	} {
		b := c.mangle(mustWrite(t, Part{Kind: PTX, SM: 80, Flags: FlagLZ4, Data: ptx("sm_80")}))
		_, err := Parse(b)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestHostileCompression(t *testing.T) {
	bomb := bytes.Repeat([]byte{'x'}, 32<<20)
	for _, flags := range []uint64{FlagLZ4, FlagZstd} {
		b := mustWrite(t, Part{Kind: PTX, SM: 80, Flags: flags, Data: bomb})
		c, _ := Parse(b)
		for _, declared := range []uint64{100, 1 << 20, 33 << 20, MaxText + 1, ^uint64(0)} {
			e := c.Entries[0]
			e.FullSize = declared
			if out, err := e.Text(); !errors.Is(err, ErrFormat) {
				t.Errorf("flags %#x declared %d: %d bytes, %v", flags, declared, len(out), err)
			}
		}
		e := c.Entries[0]
		e.FullSize = 0 // left out by the producer
		if out, err := e.Text(); err != nil || !bytes.Equal(out, bomb) {
			t.Errorf("flags %#x without a size: %d bytes, %v", flags, len(out), err)
		}
		e.Payload = e.Payload[:len(e.Payload)/2]
		if _, err := e.Text(); !errors.Is(err, ErrFormat) {
			t.Errorf("flags %#x cut: %v", flags, err)
		}
		e.Payload = nil
		e.FullSize = 10
		if _, err := e.Text(); !errors.Is(err, ErrFormat) {
			t.Errorf("flags %#x empty: %v", flags, err)
		}
	}
}

func TestWrapper(t *testing.T) {
	w, err := ParseWrapper(WriteWrapper(0x1000))
	if err != nil || w != (Wrapper{Version: 1, Data: 0x1000}) {
		t.Fatal(w, err)
	}
	for _, b := range [][]byte{nil, make([]byte, 24), WriteWrapper(0), append(WriteWrapper(1)[:4:4], make([]byte, 20)...)} {
		if _, err := ParseWrapper(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%x: %v", b, err)
		}
	}
}

func TestImages(t *testing.T) {
	for s, want := range map[string]Format{"": FormatPTX, "\x7fEL": FormatPTX, "\x7fELF": FormatELF, "!<arch>\n": FormatArchive,
		string(WriteWrapper(1)): FormatWrapper, string(mustWrite(t)): FormatFatbin, ".version": FormatPTX} {
		if got := Sniff([]byte(s)); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
	h := make([]byte, 64)
	copy(h, "\x7fELF\x02\x01")
	le := binary.LittleEndian
	le.PutUint64(h[32:], 500)
	le.PutUint64(h[40:], 300)
	le.PutUint16(h[54:], 56)
	le.PutUint16(h[56:], 2)
	le.PutUint16(h[58:], 64)
	le.PutUint16(h[60:], 4)
	if n, err := ELFSize(h); err != nil || n != 612 {
		t.Error(n, err)
	}
	le.PutUint64(h[40:], 1<<62)
	if _, err := ELFSize(h); err == nil {
		t.Error("ELF with tables at 2^62")
	}
}

func FuzzParse(f *testing.F) {
	for _, flags := range []uint64{0, FlagLZ4, FlagZstd} {
		f.Add(mustWrite(f, Part{Kind: PTX, SM: 80, Flags: flags, Data: ptx("sm_80")}, Part{Kind: ELF, SM: 90, Data: []byte("elf")}))
	}
	f.Add([]byte("\x50\xed\x55\xba\x01\x00\x10\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		cs, err := FromBytes(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		for _, c := range cs {
			for i := range c.Entries {
				e := &c.Entries[i]
				if out, err := e.Text(); err == nil && e.FullSize != 0 && uint64(len(out)) > e.FullSize {
					t.Fatalf("%d bytes, %d declared", len(out), e.FullSize)
				}
			}
		}
		_, _ = Choose(cs, 90)
		_, _ = ELFSize(b)
		_ = fmt.Sprint(Sniff(b))
	})
}

// TestOptionsOfPTX: NVIDIA's driver follows the offset of the options of every entry with PTX; an H200's dies where it is 0.
func TestOptionsOfPTX(t *testing.T) {
	b, err := Write([]Part{{Kind: PTX, SM: 80, Data: []byte(".version 8.0\n.target sm_80\n")}})
	if err != nil {
		t.Fatal(err)
	}
	entry := b[HeaderSize:]
	at := binary.LittleEndian.Uint32(entry[20:])
	if at < entryMin || int(at)+8 > len(entry) {
		t.Fatalf("options at %d of %d bytes", at, len(entry))
	}
	if text, n := binary.LittleEndian.Uint32(entry[at:]), binary.LittleEndian.Uint32(entry[at+4:]); text != at+8 || n != 0 {
		t.Errorf("%d bytes of options at %d", n, text)
	}
}

// The beginning of an entry is that of its whole content, however it is packed, and damage is an error.
func TestHead(t *testing.T) {
	long := []byte(strings.Repeat("a line of text, and again ", 40_000))
	for i := range 30_000 { // what does not repeat, so that there are literals, too
		long = append(long, byte(i*i>>3), byte(i))
	}
	for _, flags := range []uint64{0, FlagLZ4, FlagZstd} {
		for _, data := range [][]byte{[]byte(strings.Repeat("x", 40)), long, long[len(long)-50_000:]} {
			if flags == FlagLZ4 && !Shrinks(data) {
				continue
			}
			c, err := Parse(mustWrite(t, Part{Kind: ELF, SM: 86, Flags: flags, Data: data}))
			if err != nil {
				t.Fatal(err)
			}
			e := &c.Entries[0]
			for _, n := range []int{1, 16, 256, 5000, len(data)} {
				got, err := e.head(n)
				if err != nil || len(got) < min(n, len(data)) || !bytes.HasPrefix(append(data, make([]byte, 8)...), got) {
					t.Errorf("flags %#x, %d of %d bytes: %d bytes, %v", flags, n, len(data), len(got), err)
				}
			}
			for cut := range min(len(e.Payload), 300) {
				short := *e
				short.Payload = e.Payload[:cut]
				if got, err := short.head(len(data)); err == nil && len(got) >= len(data) {
					t.Errorf("flags %#x: all of the content in %d bytes", flags, cut)
				}
			}
		}
	}
}

// Files of our assembler are found among machine code, packed or not.
func TestAssembledAmongOthers(t *testing.T) {
	const text = ".version 8.0\n.target sm_86\n.address_size 64\n.visible .entry k() { ret; }\n"
	ours, err := (&cubin.File{SM: 86, Text: text, Kernels: []cubin.Kernel{{Name: "k"}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !cubin.Begins(ours[:cubin.HeadSize]) || cubin.Begins(ours[:70]) {
		t.Error("our file is not known by its beginning")
	}
	other := append([]byte("\x7fELF"), strings.Repeat("machine code", 1000)...)
	for _, flags := range []uint64{0, FlagLZ4, FlagZstd} {
		cs, err := FromBytes(mustWrite(t, Part{Kind: ELF, SM: 80, Flags: flags, Data: other}, Part{Kind: ELF, SM: 86, Flags: flags, Data: ours},
			Part{Kind: PTX, SM: 100, Data: ptx("sm_100")}))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Choose(cs, 89); err != nil || got.Own() != text || got.Against {
			t.Errorf("flags %#x: %v, %v", flags, got, err)
		}
	}
}

// The text stays when the container's memory is used for something else.
func TestOwn(t *testing.T) {
	for _, flags := range []uint64{0, FlagLZ4, FlagZstd} {
		b := mustWrite(t, Part{Kind: PTX, SM: 80, Flags: flags, Data: ptx("sm_80")})
		cs, err := FromBytes(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Choose(cs, 89)
		if err != nil {
			t.Fatal(err)
		}
		text := got.Own()
		clear(b)
		if text != string(ptx("sm_80")) {
			t.Errorf("flags %#x: the text changed", flags)
		}
	}
}
