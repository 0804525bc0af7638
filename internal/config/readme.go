package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

const (
	begin = "<!-- settings: generated from internal/config, by cmd/gen -->\n"
	end   = "<!-- end of settings -->\n"

	lineLength = 118 // of pages
)

// secureNames are the variables that count everywhere, as Markdown.
func secureNames() []string {
	var names []string
	for s := range All {
		if s.Secure {
			names = append(names, "`"+s.Name+"`")
		}
	}
	return names
}

// InREADME gives the README with the settings of today in their section.
func InREADME(text []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return nil, errors.New("README.md has no section for the settings")
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(begin)
	for _, g := range Groups {
		fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", g.Title)
		for _, s := range g.Settings {
			fmt.Fprintf(&b, "| `%s=%s` | %s |\n", s.Name, strings.ReplaceAll(s.Values, "|", `\|`), s.Does)
		}
	}
	words := strings.Fields("Programs with more rights than their user (setuid, setgid) have no cache and take only " +
		strings.Join(secureNames(), ", ") + " ([docs/security.md](docs/security.md)).")
	for column := lineLength; len(words) > 0; words = words[1:] {
		if column += 1 + len(words[0]); column > lineLength {
			b.WriteString("\n")
			column = len(words[0])
		} else {
			b.WriteString(" ")
		}
		b.WriteString(words[0])
	}
	b.WriteString("\n\n")
	b.WriteString(end)
	b.Write(after)
	return b.Bytes(), nil
}
