package fatbin

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/cubin"
)

// Target is the architecture a PTX text is written for.
type Target struct {
	SM     int
	Suffix string // "a": that chip only; "f": that family
}

// String spells the target as PTX does.
func (t Target) String() string { return fmt.Sprintf("sm_%d%s", t.SM, t.Suffix) }

// Runs reports whether code for t may be compiled for a device of compute capability sm (90 for 9.0).
func (t Target) Runs(sm int) bool {
	switch t.Suffix {
	case "a":
		return t.SM == sm
	case "f":
		return t.SM <= sm && t.SM/10 == sm/10
	}
	return t.SM <= sm
}

// PTXTarget finds the .target directive of a text. It reads only as far as it must, and skips comments.
func PTXTarget(text []byte) (Target, bool) {
	for len(text) > 0 {
		text = bytes.TrimLeft(text, " \t\r\n\f\v")
		switch {
		case bytes.HasPrefix(text, []byte("//")):
			_, text, _ = bytes.Cut(text, []byte("\n"))
		case bytes.HasPrefix(text, []byte("/*")):
			_, text, _ = bytes.Cut(text[2:], []byte("*/"))
		case bytes.HasPrefix(text, []byte(".target")):
			return parseTarget(bytes.TrimLeft(text[len(".target"):], " \t\r\n"))
		case bytes.HasPrefix(text, []byte(".version")):
			text = bytes.TrimLeft(text[len(".version"):], " \t0123456789.")
		default:
			return Target{}, false
		}
	}
	return Target{}, false
}

func parseTarget(b []byte) (t Target, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte("sm_"))
	i := 0
	for ; i < len(b) && i < 4 && b[i] >= '0' && b[i] <= '9'; i++ {
		t.SM = t.SM*10 + int(b[i]-'0')
	}
	if i < len(b) && (b[i] == 'a' || b[i] == 'f') {
		t.Suffix = string(b[i : i+1])
	}
	return t, ok && i > 0
}

// Choice is the PTX taken from a container.
type Choice struct {
	Entry   *Entry
	Target  Target
	Text    []byte
	Against bool // no text is for the device asked about: a real one would refuse this too
}

// NoCode says that nothing in the containers can run on the device, and what there is.
type NoCode struct {
	SM   int
	Have []string // "ELF sm_80", "PTX sm_120"
}

// Error lists what there is.
func (n *NoCode) Error() string {
	have := "nothing"
	if len(n.Have) > 0 {
		have = strings.Join(n.Have, ", ")
	}
	return fmt.Sprintf("no PTX that compute capability %d.%d can use; the image holds %s", n.SM/10, n.SM%10, have)
}

// Choose picks the PTX for a device of compute capability sm: the highest target that such a device would take; if there is
// none, text for newer devices, the nearest first; text for other chips or families (sm_100a, sm_100f) last, because it may
// use what no other device has. Of equals the first is taken. Choice.Against says that it is not text for the device.
//
// Machine code (ELF) is never usable here, so CUDA_FORCE_PTX_JIT, which tells the driver to pass over it, changes nothing. ELF
// files of our own assembler hold PTX; they are looked into where the container has no PTX for the device besides.
// The error is a *NoCode, or an ErrFormat if the only candidates are damaged.
func Choose(cs []*Container, sm int) (*Choice, error) {
	none := &NoCode{SM: sm}
	var texts, files []*Entry
	for _, c := range cs {
		for i := range c.Entries {
			e := &c.Entries[i]
			none.add(e)
			switch e.Kind {
			case PTX:
				texts = append(texts, e)
			case ELF:
				files = append(files, e)
			}
		}
	}
	best, err := chooseText(texts, sm, (*Entry).Text)
	if best == nil || best.Against {
		if file, _ := chooseText(files, sm, (*Entry).assembled); file != nil && (best == nil || !file.Against) {
			best = file
		}
	}
	switch {
	case best != nil:
		return best, nil
	case err != nil:
		return nil, err
	}
	return nil, none
}

var errForeign = errors.New("a file of another assembler")

// assembled is the PTX in a file of our assembler. Others are passed over by their first bytes: a library may have machine code for
// ten devices, and unpacking all of it took half a second of CuPy's start.
func (e *Entry) assembled() ([]byte, error) {
	begin, err := e.head(cubin.HeadSize)
	if err != nil {
		return nil, err
	}
	if !cubin.Begins(begin) {
		return nil, errForeign
	}
	file, err := e.Text()
	if err != nil {
		return nil, err
	}
	text, err := cubin.Text(file)
	return []byte(text), err
}

// chooseText picks among entries whose PTX read gives; nil, and what was wrong with them, if there is none.
func chooseText(texts []*Entry, sm int, read func(*Entry) ([]byte, error)) (*Choice, error) {
	// By what the headers say, which have no room for a suffix: most texts need not be decompressed to be passed over.
	slices.SortStableFunc(texts, func(a, b *Entry) int { return Target{SM: a.SM}.compare(Target{SM: b.SM}, sm) })
	var damaged error
	var best *Choice
	for _, e := range texts {
		if best != nil && best.Target.compare(Target{SM: e.SM}, sm) < 0 {
			break // a suffix only moves a text back, except among those of the device's own capability
		}
		text, err := read(e)
		if err != nil {
			damaged = errors.Join(damaged, fmt.Errorf("PTX entry for sm_%d: %w", e.SM, err))
			continue
		}
		t, ok := PTXTarget(text)
		if !ok { // the parser's to refuse
			t = Target{SM: e.SM}
		}
		if best == nil || t.compare(best.Target, sm) < 0 {
			best = &Choice{Entry: e, Target: t, Text: text, Against: !t.Runs(sm)}
		}
	}
	return best, damaged
}

// compare orders targets by how well they suit a device: negative if t is the better one.
func (t Target) compare(u Target, sm int) int {
	if c := cmp.Compare(t.rank(sm), u.rank(sm)); c != 0 {
		return c
	}
	if t.SM > sm || u.SM > sm { // the nearest; of one rank, older ones come first
		return cmp.Compare(t.SM, u.SM)
	}
	if c := cmp.Compare(u.SM, t.SM); c != 0 {
		return c
	}
	return cmp.Compare(len(u.Suffix), len(t.Suffix)) // the more specific one
}

// rank is the group that a target belongs to on a device: text for it, text for newer ones, text for other chips.
func (t Target) rank(sm int) int {
	switch {
	case t.Runs(sm):
		return 0
	case t.Suffix == "":
		return 1
	}
	return 2
}

// add notes what an entry is; a message with hundreds of them helps nobody.
func (n *NoCode) add(e *Entry) {
	s := fmt.Sprintf("%s sm_%d", e.Kind, e.SM)
	for _, h := range n.Have {
		if h == s {
			return
		}
	}
	if len(n.Have) < 16 {
		n.Have = append(n.Have, s)
	}
}
