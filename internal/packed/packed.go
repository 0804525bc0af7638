// Package packed keeps PTX of ours compressed in the image. A text is unpacked when it is first asked for: most processes need none of
// them, and the others few.
//
// A file is lines, then data: a line that says who wrote it, for each text its name, its size and its compressed size, and an
// empty line; then the texts as LZ4 blocks, in that order.
package packed

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// Texts is the content of one file.
type Texts struct {
	file []byte

	mu    sync.Mutex
	index map[string]block  // guarded by mu; nil until something is asked for
	ready map[string]string // guarded by mu; what was unpacked
}

type block struct {
	size int
	data []byte
}

// New is the content of a file that Pack wrote. Nothing is read yet.
func New(file []byte) *Texts { return &Texts{file: file} }

// Lazy is Text of a name, for whoever needs it later.
func (t *Texts) Lazy(name string) func() string { return func() string { return t.Text(name) } }

// Text is a text by its name. The file is part of the image, so that a name it does not have is a bug.
func (t *Texts) Text(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text, ok := t.ready[name]; ok {
		return text
	}
	if t.index == nil {
		index, err := read(t.file)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		t.index, t.ready = index, map[string]string{}
	}
	b, ok := t.index[name]
	if !ok {
		panic("BUG: no packed text " + name)
	}
	text, err := b.unpack()
	if err != nil {
		panic("BUG: packed text " + name + ": " + err.Error())
	}
	t.ready[name] = text
	return text
}

func (b block) unpack() (string, error) {
	out := make([]byte, b.size)
	n, err := lz4.UncompressBlock(b.data, out)
	if err == nil && n != b.size {
		err = fmt.Errorf("%d bytes, %d declared", n, b.size)
	}
	return text(out), err
}

// read finds the blocks of a file.
func read(file []byte) (map[string]block, error) {
	_, rest, _ := bytes.Cut(file, []byte("\n"))
	head, data, ok := bytes.Cut(rest, []byte("\n\n"))
	if !ok {
		return nil, fmt.Errorf("packed texts without an index")
	}
	index := map[string]block{}
	for line := range strings.Lines(string(head)) {
		var name string
		var size, packed int
		if _, err := fmt.Sscanf(line, "%s %d %d", &name, &size, &packed); err != nil || size < 0 || packed < 0 || packed > len(data) {
			return nil, fmt.Errorf("packed texts: line %q", line)
		}
		index[name] = block{size, data[:packed]}
		data = data[packed:]
	}
	return index, nil
}

// Unpack is everything in a file.
func Unpack(file []byte) (map[string]string, error) {
	index, err := read(file)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for name, b := range index {
		if texts[name], err = b.unpack(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return texts, nil
}

// Pack writes texts, by name, into a file whose first line is header.
func Pack(header string, texts map[string]string) ([]byte, error) {
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	var head, data bytes.Buffer
	head.WriteString(header + "\n")
	for _, name := range names {
		out := make([]byte, lz4.CompressBlockBound(len(texts[name])))
		n, err := lz4.CompressBlockHC([]byte(texts[name]), out, lz4.Level9, nil, nil)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%s: %d bytes do not shrink: %w", name, len(texts[name]), err)
		}
		fmt.Fprintf(&head, "%s %d %d\n", name, len(texts[name]), n)
		data.Write(out[:n])
	}
	head.WriteByte('\n')
	head.Write(data.Bytes())
	return head.Bytes(), nil
}
