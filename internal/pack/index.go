package pack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"kudzu/internal/fatbin"
)

// head is the first line of an index.
const head = "kudzu pack 1"

// ErrFormat is in the chain of every error about a damaged pack.
var ErrFormat = errors.New("damaged pack")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Name is what a pack is for.
type Name struct{ Library, Version string }

// String is for messages.
func (n Name) String() string { return n.Library + " " + n.Version }

// module is a PTX text of a pack: where it is in the data, its kernels and variables.
type module struct {
	at, packed, size uint64
	kernels, vars    []symbol
}

// symbol is a kernel with its parameters, "0:8 8:4", or a variable with its size.
type symbol struct{ name, layout string }

// index is what a pack holds.
type index struct {
	name    Name
	from    string // the file that it was made of
	modules []module
}

// write is the index as text: a line for each module, and behind it one for each of its names.
func (x *index) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\n%s\t%s\t%s\n", head, x.name.Library, x.name.Version, oneLine(x.from))
	for _, m := range x.modules {
		fmt.Fprintf(b, "m\t%d\t%d\t%d\n", m.at, m.packed, m.size)
		for _, s := range m.kernels {
			fmt.Fprintf(b, "k\t%s\t%s\n", s.name, s.layout)
		}
		for _, s := range m.vars {
			fmt.Fprintf(b, "v\t%s\t%s\n", s.name, s.layout)
		}
	}
	return b.Flush()
}

func oneLine(s string) string { return strings.NewReplacer("\t", " ", "\n", " ").Replace(s) }

// readIndex reads what write wrote.
func readIndex(text string) (*index, error) {
	first, rest, _ := strings.Cut(text, "\n")
	if first != head {
		return nil, bad("it does not begin with %q", head)
	}
	line, rest, _ := strings.Cut(rest, "\n")
	words := strings.Split(line, "\t")
	if len(words) != 3 {
		return nil, bad("no name")
	}
	x := &index{name: Name{words[0], words[1]}, from: words[2]}
	for rest != "" {
		line, rest, _ = strings.Cut(rest, "\n")
		if err := x.line(line); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *index) line(line string) error {
	kind, rest, _ := strings.Cut(line, "\t")
	switch kind {
	case "m":
		var n [3]uint64
		words := strings.Split(rest, "\t")
		if len(words) != len(n) {
			return bad("module %.80q", rest)
		}
		for i, word := range words {
			v, err := strconv.ParseUint(word, 10, 40)
			if err != nil {
				return bad("module %.80q", rest)
			}
			n[i] = v
		}
		if n[2] > fatbin.MaxText {
			return bad("a module of %d bytes", n[2])
		}
		x.modules = append(x.modules, module{at: n[0], packed: n[1], size: n[2]})
		return nil
	case "k", "v":
		name, layout, ok := strings.Cut(rest, "\t")
		if !ok || len(x.modules) == 0 {
			return bad("line %.80q", line)
		}
		m := &x.modules[len(x.modules)-1]
		if kind == "k" {
			m.kernels = append(m.kernels, symbol{name, layout})
		} else {
			m.vars = append(m.vars, symbol{name, layout})
		}
		return nil
	}
	return bad("line %.80q", line)
}
