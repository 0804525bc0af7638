package image_test

import (
	"bytes"
	"testing"

	"kudzu/internal/image"
)

// What is assembled is an image like one that was built: the same code, entry, lines and description.
func TestAssemble(t *testing.T) {
	code := []byte{0x90, 0x31, 0xc0, 0xc3, 0, 0, 0, 0, 42}
	meta := image.Meta{Kernel: "k", Block: [3]uint32{32, 1, 1}, FrameWarp: 128, Vars: []string{"v"},
		Lines: []image.Line{{Offset: 0, Line: 3}, {Offset: 1, Line: 3}, {Offset: 3, Line: 5}}}
	b, err := image.Assemble(image.X86_64, code, 4, 1, meta)
	if err != nil {
		t.Fatal(err)
	}
	im, err := image.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(im.Code, code) || im.Text != 4 || im.Entry != 1 || im.Machine != image.X86_64 || im.Meta.FrameWarp != 128 {
		t.Errorf("got %+v", im)
	}
	if len(im.Meta.Lines) != 2 || im.Meta.Line(2) != 3 || im.Meta.Line(3) != 5 {
		t.Errorf("lines %v", im.Meta.Lines)
	}
	for name, bad := range map[string]struct {
		text, entry uint32
		lines       []image.Line
	}{
		"text beyond the code": {10, 0, nil}, "entry behind the text": {4, 4, nil}, "nothing": {0, 0, nil},
		"line behind the text": {4, 0, []image.Line{{Offset: 4, Line: 1}}}, "lines out of order": {4, 0, []image.Line{{Offset: 2, Line: 1}, {Offset: 1, Line: 2}}},
	} {
		meta.Lines = bad.lines
		if _, err := image.Assemble(image.X86_64, code, bad.text, bad.entry, meta); err == nil {
			t.Errorf("%s: assembled", name)
		}
	}
}
