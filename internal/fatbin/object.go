package fatbin

import (
	"bytes"
	"debug/elf"
	"strconv"
	"strings"
)

// Host objects and archives of them, as nvcc -rdc=true writes them: the fat binaries are in sections of their own.

// Member is one file of an archive.
type Member struct {
	Name string
	Data []byte
}

// arHeader is the length of the line before each member.
const arHeader = 60

// Members lists the files of an archive, without its own tables. Data is part of b.
func Members(b []byte) ([]Member, error) {
	const magic = "!<arch>\n"
	if !bytes.HasPrefix(b, []byte(magic)) {
		return nil, bad("no archive")
	}
	var list []Member
	var names string // the table of names longer than a header has room for
	for b = b[len(magic):]; len(b) >= arHeader; {
		h := string(b[:arHeader])
		size, err := strconv.ParseUint(strings.TrimSpace(h[48:58]), 10, 63)
		if err != nil || h[58:] != "`\n" || size > uint64(len(b)-arHeader) {
			return nil, bad("archive member %d has a bad header", len(list)+1)
		}
		data := b[arHeader : arHeader+size]
		name := strings.TrimRight(h[:16], " ")
		switch {
		case name == "/" || name == "/SYM64/": // symbols
		case name == "//":
			names = string(data)
		default:
			list = append(list, Member{memberName(name, names), data})
		}
		b = b[min(arHeader+size+size%2, uint64(len(b))):]
	}
	return list, nil
}

func memberName(name, names string) string {
	if at, err := strconv.Atoi(strings.TrimPrefix(name, "/")); strings.HasPrefix(name, "/") && err == nil && at >= 0 && at < len(names) {
		name, _, _ = strings.Cut(names[at:], "\n")
	}
	return strings.TrimSuffix(name, "/")
}

// FromObject finds the containers in a host object, nil if it has none.
func FromObject(b []byte) ([]*Container, error) {
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return nil, bad("not an object: %v", err)
	}
	var all []*Container
	for _, s := range f.Sections {
		if s.Name != ".nv_fatbin" && s.Name != "__nv_relfatbin" || s.Offset >= uint64(len(b)) || s.FileSize == 0 {
			continue
		}
		cs, err := FromBytes(b[s.Offset : s.Offset+min(s.FileSize, uint64(len(b))-s.Offset)])
		if err != nil {
			return nil, err
		}
		all = append(all, cs...)
	}
	return all, nil
}
