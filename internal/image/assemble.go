package image

import (
	"fmt"
	"slices"
)

// Assemble makes an image of code that is flat already: instructions up to text, then constants, every reference relative to itself.
// meta.Lines are those of the code.
func Assemble(m Machine, code []byte, text, entry uint32, meta Meta) ([]byte, error) {
	switch {
	case uint64(text) > uint64(len(code)) || entry >= text:
		return nil, fmt.Errorf("code of %d bytes has no entry at %d in its %d bytes of text", len(code), entry, text)
	case !slices.IsSortedFunc(meta.Lines, func(a, b Line) int { return int(int64(a.Offset) - int64(b.Offset)) }):
		return nil, fmt.Errorf("lines of the code are not in order")
	case len(meta.Lines) > 0 && meta.Lines[len(meta.Lines)-1].Offset >= text:
		return nil, fmt.Errorf("a line begins at %d, behind %d bytes of text", meta.Lines[len(meta.Lines)-1].Offset, text)
	}
	meta.Lines = squeeze(meta.Lines)
	im := Image{Meta: meta, Machine: m, Code: code, Text: text, Entry: entry}
	return im.encode()
}
