package nvcc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kudzu/internal/cudacc"
)

// Launches with spaces. nvcc reads "<< <" and ">> >" on one line as the signs of a launch; editors that know C++ only write them so.
// clang wants them whole. The files that have them are shown to clang whole, by an overlay of its file system, under their own names.

// joinAll makes the overlays of the sources.
func (b *build) joinAll() error {
	b.overlays = map[string]*cudacc.Overlay{}
	for i, in := range b.files {
		if in.kind != "cu" {
			continue
		}
		over := &cudacc.Overlay{Base: filepath.Join(b.temp, fmt.Sprintf("overlay%d", i))}
		b.overlays[in.path] = over
		err := b.eachHeader(in, func(path string, text []byte) error {
			if joined := joinLaunches(text); joined != nil {
				over.Show(path, joined)
				text = joined
			}
			if spaced := cudacc.SpaceLinkage(text); spaced != nil {
				over.Show(path, spaced)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// overlay is clang's option for the overlay of a source, nothing where it is empty.
func (b *build) overlay(in input) ([]string, error) {
	b.showing.Lock()
	defer b.showing.Unlock()
	list, err := b.overlays[in.path].Write()
	if err != nil || list == "" {
		return nil, err
	}
	return []string{"-ivfsoverlay", list}, nil
}

// reshow changes the overlay of a source where clang has refused something (cudacc.Amend). It reports whether it could.
func (b *build) reshow(in input, refused cudacc.Refused) bool {
	b.showing.Lock()
	defer b.showing.Unlock()
	over, changed := b.overlays[in.path], false
	for name, at := range refused {
		path, err := filepath.Abs(name)
		if err != nil {
			continue
		}
		text, err := over.Read(path)
		if err != nil {
			continue
		}
		if text = cudacc.Amend(text, at); text != nil {
			over.Show(path, text)
			changed = true
		}
	}
	return changed
}

// colours are a terminal's.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*[mK]`)

// maxShown bounds how often a source is compiled anew: variables in templates come to light one after the other.
const maxShown = 8

// front starts clang for a source, and once more where the overlay can help it.
func (b *build) front(in input, args ...string) error {
	var before []byte   // what clang said when no call was postponed
	var warned []string // what it said of host functions whose calls are wrapped
	for n := 1; ; n++ {
		over, err := b.overlay(in)
		if err != nil {
			return err
		}
		var said bytes.Buffer
		if screen, ok := b.errs.(*os.File); ok {
			if st, err := screen.Stat(); err == nil && st.Mode()&os.ModeCharDevice != 0 {
				over = append(over, "-fcolor-diagnostics")
			}
		}
		err = b.startTo(&said, b.clang, slices.Concat(over, args, []string{in.path})...)
		refused := cudacc.ReadRefused(colours.ReplaceAllLiteralString(said.String(), ""))
		if err != nil && n < maxShown && b.reshow(in, refused) {
			warned = append(warned, b.hostCalls(refused, said.String())...)
			if before == nil && refused.Names() {
				before = said.Bytes()
			}
			continue
		}
		if err == nil || before == nil {
			before = said.Bytes()
		}
		if err == nil && len(warned) > 0 {
			before = append([]byte(strings.Join(warned, "\n")+"\n"), before...)
		}
		_, _ = b.errs.Write(before) // as a program's own messages
		return err
	}
}

// hostCalls are warnings of host functions that functions for both sides call, of the messages in which clang refused them. CCCL, which
// has them behind if (false), does not want to hear of them.
func (b *build) hostCalls(refused cudacc.Refused, said string) []string {
	if b.has(optQuiet) {
		return nil
	}
	var list []string
	for name, at := range refused {
		for _, r := range at {
			begin := fmt.Sprintf("%s:%d:%d: ", name, r.Line, r.Column)
			for line := range strings.Lines(said) {
				what, ok := strings.CutPrefix(strings.TrimSpace(line), begin+"error: ")
				if ok && r.Host && !ofLibrary(name) {
					list = append(list, begin+"warning: "+what+"; device code stops there")
					break
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// ofLibrary reports a header of CCCL.
func ofLibrary(name string) bool {
	text, err := os.ReadFile(name)
	return err == nil && (bytes.Contains(text, []byte("CUB_RUNTIME_FUNCTION")) || bytes.Contains(text, []byte("_CCCL_")) || bytes.Contains(text, []byte("THRUST_")))
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
