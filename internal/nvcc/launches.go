package nvcc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Launches with spaces. nvcc reads "<< <" and ">> >" on one line as the signs of a launch; editors that know C++ only write them so.
// clang wants them whole. The files that have them are shown to clang whole, by an overlay of its file system, under their own names.

// overlayFile is a file of an overlay: what clang finds under the name is in another file.
type overlayFile struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Contents string `json:"external-contents"`
}

// joinAll makes the overlays of the sources.
func (b *build) joinAll() error {
	b.overlays = map[string][]string{}
	for i, in := range b.files {
		if in.kind != "cu" {
			continue
		}
		args, err := b.overlay(in, filepath.Join(b.temp, fmt.Sprintf("overlay%d", i)))
		if err != nil {
			return err
		}
		b.overlays[in.path] = args
	}
	return nil
}

// overlay is clang's option for a source and its headers, nothing where no launch has spaces.
func (b *build) overlay(in input, list string) ([]string, error) {
	var files []overlayFile
	err := b.eachHeader(in, func(path string, text []byte) error {
		joined := joinLaunches(text)
		if joined == nil {
			return nil
		}
		contents := fmt.Sprintf("%s.%d", list, len(files))
		files = append(files, overlayFile{"file", path, contents})
		return write(contents, joined)
	})
	if err != nil || len(files) == 0 {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"version": 0, "use-external-names": false, "roots": files})
	if err != nil {
		return nil, err
	}
	return []string{"-ivfsoverlay", list}, write(list, text)
}

// quoted are the headers that a text includes in quotes. It is no regular expression: a library has megabytes of headers.
func quoted(text []byte) []string {
	var names []string
	for rest := text; ; {
		_, after, ok := bytes.Cut(rest, []byte("include"))
		if !ok {
			return names
		}
		if sign := bytes.TrimRight(rest[:len(rest)-len(after)-len("include")], " \t"); bytes.HasSuffix(sign, []byte("#")) {
			line, _, _ := bytes.Cut(after, []byte("\n"))
			line = bytes.TrimLeft(line, " \t")
			if name, _, ok := bytes.Cut(bytes.TrimPrefix(line, []byte(`"`)), []byte(`"`)); ok && line[0] == '"' {
				names = append(names, string(name))
			}
		}
		rest = after
	}
}

// eachHeader calls do for a source and the headers that it and they name in quotes, as far as they are found. What is not there is
// clang's to say.
func (b *build) eachHeader(in input, do func(path string, text []byte) error) error {
	first, err := filepath.Abs(in.path)
	if err != nil {
		return err
	}
	files := []string{first}
	for i := 0; i < len(files); i++ {
		text, err := os.ReadFile(files[i])
		if err != nil {
			continue
		}
		if err := do(files[i], text); err != nil {
			return err
		}
		for _, name := range quoted(text) {
			for _, dir := range append([]string{filepath.Dir(files[i])}, b.set[optPath]...) {
				path, err := filepath.Abs(filepath.Join(dir, name))
				if err != nil || !exists(path) {
					continue
				}
				if !slices.Contains(files, path) {
					files = append(files, path)
				}
				break
			}
		}
	}
	return nil
}

// spaced are the tokens that count: what may hide signs (comments, strings, characters), whole signs, and signs with spaces. A quote
// after a digit separates digits.
var spaced = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|R"\([^"]*?\)"|"(?:\\.|[^"\\\n])*"|\d'\d|'(?:\\.|[^'\\\n])+'|\boperator[ \t]*(?:<<|>>)|<<<|>>>|<<[ \t]+<|>>[ \t]+>`)

// hasSpaced is a quick look for what joinLaunches changes, if it is no comment and no string.
func hasSpaced(text []byte) bool {
	for _, sign := range []string{"<<", ">>"} {
		for rest := text; ; {
			_, after, ok := bytes.Cut(rest, []byte(sign))
			if !ok {
				break
			}
			if end := bytes.TrimLeft(after, " \t"); len(end) < len(after) && len(end) > 0 && end[0] == sign[0] {
				return true
			}
			rest = after
		}
	}
	return false
}

// joinLaunches is a source with the signs of its launches whole, every other character where it was; nil if there is nothing to do.
func joinLaunches(text []byte) []byte {
	if !hasSpaced(text) {
		return nil
	}
	open, changed := 0, false
	joined := spaced.ReplaceAllFunc(text, func(token []byte) []byte {
		switch {
		case bytes.HasPrefix(token, []byte("<<")):
			open++
		case bytes.HasPrefix(token, []byte(">>")) && open > 0:
			open--
		default:
			return token
		}
		if len(token) == 3 {
			return token
		}
		changed = true
		sign := bytes.Repeat(token[:1], 3)
		return append(sign, bytes.Repeat([]byte(" "), len(token)-3)...)
	})
	if !changed {
		return nil
	}
	return joined
}
