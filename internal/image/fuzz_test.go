package image

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzParse checks that nothing hostile panics or allocates without bound, also behind a right checksum: half of the
// inputs get one, because the fuzzer would never find it.
func FuzzParse(f *testing.F) {
	seed := Image{Machine: X86_64, Code: bytes.Repeat([]byte{0xc3}, 64), Text: 64, Meta: Meta{
		Kernel: "k", Vars: []string{"v"}, Lines: []Line{{0, 1}, {7, 3}, {9, 2}},
	}}
	b, err := seed.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, true)
	f.Add(b[:100], false)
	f.Add([]byte(magic), true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal && len(b) >= headerSize {
			b = bytes.Clone(b)
			sum := checksum(b)
			copy(b[sumOffset:], sum[:])
		}
		im, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("untyped error %v", err)
			}
			return
		}
		if im.Entry >= im.Text || int(im.Text) > len(im.Code) {
			t.Errorf("accepted entry %d, text %d, code %d", im.Entry, im.Text, len(im.Code))
		}
		for _, l := range im.Meta.Lines {
			im.Meta.Line(l.Offset)
		}
		// What is accepted is canonical enough to be written again and read back.
		again, err := im.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(again); err != nil {
			t.Errorf("written again: %v", err)
		}
	})
}

// FuzzBuild checks that a damaged object is an error, not a panic.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = Build(b, "f", Meta{})
	})
}
