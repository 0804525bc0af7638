package dl

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Look says how to find a library.
type Look struct {
	What     string              // what is missing when it is missing, for messages
	Path     string              // the file outright; "" asks the variable, then tries the names
	Variable string              // of the environment: the file outright, or "none": do without
	Env      func(string) string // what the environment says
	Names    []string            // sonames, the best first
	Folders  []string            // where the vendor puts it, after the loader's own
	Symbol   string              // a function that it must have: a file of that name may be something else
}

// Open loads the first library that answers. Files that are not there are passed over in silence; one that is there and does
// not load is what the error tells of.
func (l *Look) Open() (*Library, error) {
	path := l.Path
	if path == "" && l.Variable != "" {
		path = l.Env(l.Variable)
	}
	if path == "none" {
		return nil, fmt.Errorf("%s: %s=none", l.What, l.Variable)
	}
	list := l.Names
	for _, dir := range l.Folders {
		for _, n := range l.Names {
			list = append(list[:len(list):len(list)], dir+n)
		}
	}
	if path != "" {
		list = []string{path}
	}
	err := errors.New("no " + enumerate(l.Names) + " found")
	for _, p := range list {
		if strings.HasPrefix(p, "/") {
			if _, e := os.Stat(p); e != nil {
				if path != "" {
					err = e
				}
				continue
			}
		}
		lib, e := Open(p)
		if e == nil {
			if _, e = lib.Find(l.Symbol); e == nil {
				return lib, nil
			}
		}
		if path != "" || !strings.Contains(e.Error(), "No such file") {
			err = e
		}
	}
	return nil, fmt.Errorf("%s: %w", l.What, err)
}

// enumerate writes libx.so.7, .6 or .5; a name that differs in more than its end is written whole.
func enumerate(names []string) string {
	var s strings.Builder
	base := ""
	for i, n := range names {
		end := max(strings.LastIndexByte(n, '.'), 0)
		same := end > 0 && n[:end] == base
		base = n[:end]
		switch {
		case i == 0:
			s.WriteString(n)
			continue
		case i == len(names)-1:
			s.WriteString(" or ")
		default:
			s.WriteString(", ")
		}
		if same {
			n = n[end:]
		}
		s.WriteString(n)
	}
	return s.String()
}
