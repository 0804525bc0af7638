package isa

import (
	"strings"
	"sync"
)

// chapters is the table, in the manual's order. Rows are made when something is first looked up: they cost a millisecond.
var chapters = [...]struct {
	Name string
	Rows func() []Form
}{
	{"integer", integerForms},
	{"float", floatForms},
	{"half", halfForms},
	{"compare", compareForms},
	{"logic", logicForms},
	{"move", moveForms},
	{"convert", convertForms},
	{"memory", memoryForms},
	{"async", asyncForms},
	{"mbarrier", mbarrierForms},
	{"texture", textureForms},
	{"surface", surfaceForms},
	{"control", controlForms},
	{"sync", syncForms},
	{"atomic", atomicForms},
	{"warp", warpForms},
	{"matrix", matrixForms},
	{"wgmma", wgmmaForms},
	{"tcgen05", tcgen05Forms},
	{"video", videoForms},
}

// bucket holds the forms that share a first word, compiled when first asked for.
type bucket struct {
	once  sync.Once
	forms []*Form
}

// rows are the forms of each chapter.
var rows = sync.OnceValue(func() *[len(chapters)][]Form {
	var all [len(chapters)][]Form
	for i := range chapters {
		all[i] = chapters[i].Rows()
	}
	return &all
})

// buckets finds the forms by their first word.
var buckets = sync.OnceValue(func() map[string]*bucket {
	index := make(map[string]*bucket, 256)
	for _, forms := range rows() {
		for i := range forms {
			word, _, _ := strings.Cut(forms[i].Op.String(), ".")
			b := index[word]
			if b == nil {
				b = &bucket{}
				index[word] = b
			}
			b.forms = append(b.forms, &forms[i])
		}
	}
	return index
})

func bucketOf(first string) *bucket {
	b := buckets()[first]
	if b != nil {
		b.once.Do(func() {
			for _, f := range b.forms {
				f.compile()
			}
		})
	}
	return b
}

// Chapter is one chapter of the table.
type Chapter struct {
	Name  string
	Forms []*Form
}

// Chapters is the whole table. It is for tests, tools and documents; the parser uses Lookup.
func Chapters() []Chapter {
	var all []Chapter
	for i, forms := range rows() {
		c := Chapter{Name: chapters[i].Name}
		for j := range forms {
			f := &forms[j]
			word, _, _ := strings.Cut(f.Op.String(), ".")
			bucketOf(word)
			c.Forms = append(c.Forms, f)
		}
		all = append(all, c)
	}
	return all
}

// Candidate is a form whose dotted words fit a spelling, with the words in its slots.
type Candidate struct {
	Form *Form
	Mods []Mod
}

// Spelling is a mnemonic with its dotted words, looked up: the forms it may be, in table order. Operands decide among them.
type Spelling struct {
	Text  string
	Cands []Candidate
	Words []Mod  // the dotted words after the first; 0 for a word the table does not know
	Bad   string // no candidate: the first word that is unknown, or "" if all words are known
}

// Known reports whether the first word is an instruction at all.
func Known(first string) bool { return bucketOf(first) != nil }

// spellings remembers what was looked up: real modules repeat a few hundred spellings millions of times. It is bounded,
// because the text may be hostile.
var spellings struct {
	sync.RWMutex
	m map[string]*Spelling
}

const (
	maxSpellings = 1 << 14
	maxWords     = 32
)

// Lookup finds the forms that text ("add.rn.f32") may spell. The result is shared: do not change it.
func Lookup(text string) *Spelling {
	spellings.RLock()
	s := spellings.m[text]
	spellings.RUnlock()
	if s != nil {
		return s
	}
	s = lookup(strings.Clone(text))
	spellings.Lock()
	if spellings.m == nil {
		spellings.m = make(map[string]*Spelling, 512)
	}
	if len(spellings.m) < maxSpellings && len(text) < 256 {
		spellings.m[s.Text] = s
	}
	spellings.Unlock()
	return s
}

func lookup(text string) *Spelling {
	s := &Spelling{Text: text}
	first, rest, dotted := strings.Cut(text, ".")
	b := bucketOf(first)
	if b == nil {
		s.Bad = first
		return s
	}
	var words []string
	for dotted {
		var w string
		at := len(text) - len(rest) - 1
		w, rest, dotted = strings.Cut(rest, ".")
		words = append(words, text[at:at+1+len(w)])
		if len(words) > maxWords {
			s.Bad = text
			return s
		}
	}
	for _, w := range words {
		m := ModOf(w)
		if m == 0 && s.Bad == "" && !b.inMnemonic(w) {
			s.Bad = w
		}
		s.Words = append(s.Words, m)
	}
	for _, f := range b.forms {
		if mods := f.match(words, s.Words); mods != nil {
			s.Cands = append(s.Cands, Candidate{f, mods})
		}
	}
	if len(s.Cands) > 0 {
		s.Bad = ""
	}
	return s
}

// inMnemonic reports whether the word is part of a mnemonic of the bucket, as .async in cp.async.
func (b *bucket) inMnemonic(w string) bool {
	for _, f := range b.forms {
		for _, p := range f.compiled.words {
			if p == w {
				return true
			}
		}
	}
	return false
}

// match puts the words into the form's slots. As the vendor's assembler does, it takes them in any order after the
// mnemonic, types in order among themselves, and source and destination spaces too. It returns nil if they do not fit.
func (f *Form) match(text []string, words []Mod) []Mod {
	c := f.compiled
	if len(text) < len(c.words) {
		return nil
	}
	for i, w := range c.words {
		if text[i] != w {
			return nil
		}
	}
	words = words[len(c.words):]
	if len(words) < c.required || len(words) > len(c.slots) {
		return nil
	}
	mods := make([]Mod, len(c.slots))
	if c.inOrder(words, mods) {
		return mods
	}
	clear(mods)
	if c.anyOrder(words, mods) {
		return mods
	}
	return nil
}

func (s *Slot) takes(m Mod) bool {
	for _, w := range s.Words {
		if w == m {
			return true
		}
	}
	return false
}

func (c *compiled) inOrder(words, mods []Mod) bool {
	i := 0
	for j := range c.slots {
		s := &c.slots[j]
		switch {
		case i < len(words) && words[i] != 0 && s.takes(words[i]):
			mods[j] = words[i]
			i++
		case !s.Optional:
			return false
		}
	}
	return i == len(words)
}

func (c *compiled) anyOrder(words, mods []Mod) bool {
	filled, lastType := 0, -1
next:
	for i, w := range words {
		if w == 0 {
			return false
		}
		for j := range c.slots {
			if mods[j] == 0 && c.slots[j].takes(w) {
				if j == 0 && i > 0 && c.fixedMode {
					return false
				}
				if name := c.slots[j].Name; w.Type() != TypeNone || name == "dst" || name == "src" {
					if j < lastType {
						return false
					}
					lastType = j
				}
				mods[j] = w
				if !c.slots[j].Optional {
					filled++
				}
				continue next
			}
		}
		return false
	}
	return filled == c.required
}
