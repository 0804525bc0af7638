package packed

import (
	"bytes"
	"maps"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	want := map[string]string{"one": strings.Repeat("add.f32 %f1, %f2, %f3;\n", 1000), "two": strings.Repeat("\x00\n\n\xff", 50)}
	file, err := Pack("# header", want)
	if err != nil {
		t.Fatal(err)
	}
	if len(file) > 1000 {
		t.Errorf("%d bytes are packed in %d", len(want["one"]), len(file))
	}
	got, err := Unpack(file)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("unpacked: %v, %v", got, err)
	}
	texts := New(file)
	for name := range want {
		if texts.Text(name) != want[name] || texts.Lazy(name)() != want[name] {
			t.Errorf("%s is not what was packed", name)
		}
	}
	if again, err := Pack("# header", want); err != nil || !bytes.Equal(again, file) {
		t.Error("packing twice differs")
	}
}

// TestLazy: nothing is unpacked before it is asked for, and only that.
func TestLazy(t *testing.T) {
	file, err := Pack("# header", map[string]string{"one": strings.Repeat("1", 100), "two": strings.Repeat("2", 100)})
	if err != nil {
		t.Fatal(err)
	}
	texts := New(file)
	if texts.index != nil {
		t.Error("the index is read at once")
	}
	texts.Text("one")
	if len(texts.ready) != 1 {
		t.Errorf("%d texts are unpacked", len(texts.ready))
	}
}

func TestDamaged(t *testing.T) {
	file, err := Pack("# header", map[string]string{"one": strings.Repeat("1", 100)})
	if err != nil {
		t.Fatal(err)
	}
	whole := string(file)
	for name, text := range map[string]string{
		"nothing": "", "no index": "# header\n", "cut": whole[:len(whole)-1], "line": strings.Replace(whole, "one 100", "one x", 1),
		"size": strings.Replace(whole, "one 100", "one 101", 1),
	} {
		if _, err := Unpack([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzUnpack: a file of any content is unpacked or refused, and never to more than a small multiple of what it says.
func FuzzUnpack(f *testing.F) {
	file, err := Pack("# header", map[string]string{"one": strings.Repeat("add.f32 %f1, %f2, %f3;\n", 100), "two": "2"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = Unpack(b) })
}
