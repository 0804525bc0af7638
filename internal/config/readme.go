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
)

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
	b.WriteString("\n")
	b.WriteString(end)
	b.Write(after)
	return b.Bytes(), nil
}
