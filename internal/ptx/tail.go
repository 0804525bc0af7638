package ptx

import "strings"

// CutTail takes off what follows the end of a module. Programs hand over text without its length and without a NUL behind
// it, so that it goes on with whatever lies in memory there. The module ends where, after a whole item, something stands
// that cannot begin one; ok says that there is such a place. Before it there must be a kernel or function; where one comes
// after it, it is no remnant but a mistake in the text, which its errors explain better.
//
// It is for texts that IndexModule or Parse has refused: of a good one there is nothing to take off.
func CutTail(text string) (module string, ok bool) {
	p := newParser(text)
	p.index = &Index{Text: text, byName: map[string]int{}}
	p.module()
	if p.stray <= 0 || len(p.index.Funcs) == 0 || int(p.index.Funcs[0].Start) > p.stray {
		return text, false
	}
	if rest := text[p.stray:]; strings.Contains(rest, ".entry") || strings.Contains(rest, ".func") {
		return text, false
	}
	return text[:p.stray], true
}
