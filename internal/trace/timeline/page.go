package timeline

import (
	"bufio"
	"bytes"
	"compress/flate"
	"embed"
	"encoding/base64"
	"html"
	"io"
	"strings"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS string

//go:embed page/core.js
var pageCore string

// The page's parts are one function: what one declares the others use.
//
//go:embed page/layout.js page/draw.js page/select.js page/statistics.js page/search.js page/input.js
var pageParts embed.FS

var partNames = []string{"layout", "draw", "select", "statistics", "search", "input"}

// pageView joins the parts.
func pageView() string {
	var b strings.Builder
	b.WriteString("\"use strict\";\n(async () => {\n")
	for _, name := range partNames {
		text, err := pageParts.ReadFile("page/" + name + ".js")
		if err != nil {
			panic("BUG: the page lacks " + name)
		}
		b.Write(text)
	}
	b.WriteString("})();\n")
	return b.String()
}

// HTML writes the timeline as one page that needs nothing else. The data are base64 of deflate: no text of the program
// can be taken for markup, and 200,000 calls are some MiB.
func (t *Timeline) HTML(w io.Writer) error {
	t.finish()
	raw, err := encode(t)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := flate.NewWriter(&packed, 6)
	if err != nil {
		return err
	}
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	fill := map[string]func() error{
		"TITLE": func() error { _, err := out.WriteString(html.EscapeString(clean(t.Title))); return err },
		"CSS":   func() error { _, err := out.WriteString(pageCSS); return err },
		"CORE":  func() error { _, err := out.WriteString(pageCore); return err },
		"VIEW":  func() error { _, err := out.WriteString(pageView()); return err },
		"DATA": func() error {
			e := base64.NewEncoder(base64.StdEncoding, out)
			if _, err := e.Write(packed.Bytes()); err != nil {
				return err
			}
			return e.Close()
		},
	}
	for rest := pageHTML; rest != ""; {
		before, after, found := strings.Cut(rest, "@@")
		if _, err := out.WriteString(before); err != nil {
			return err
		}
		if !found {
			break
		}
		name, tail, ok := strings.Cut(after, "@@")
		f := fill[name]
		if !ok || f == nil {
			panic("BUG: page.html names " + name)
		}
		if err := f(); err != nil {
			return err
		}
		rest = tail
	}
	return out.Flush()
}
