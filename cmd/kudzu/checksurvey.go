package main

import (
	"runtime"
	"strings"
	"sync"
	"time"

	"kudzu/internal/fatbin"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// surveyOver is the PTX above which not every kernel is parsed. A kernel is lowered if it has an instruction, as it is spelled, that no
// lowered kernel had; what lowering cannot do is nearly always an instruction. Frameworks have gigabytes of PTX in tens of thousands of
// kernels, which are instances of a few templates.
const surveyOver = 256 << 20

// survey looks at many modules at once, each by its index and the words of its kernels.
type survey struct {
	r  *checkReport
	mu sync.Mutex
	ok map[string]bool // words of kernels that were lowered without a fault; guarded by mu
}

// surveyed is what a module came to.
type surveyed struct {
	bytes        int
	target       string
	kernels      []*checked
	index, parse time.Duration
	err          error
}

// survey takes the file's entries with PTX, as many at a time as there are processors.
func (r *checkReport) survey(data []byte) {
	s := &survey{r: r, ok: map[string]bool{}}
	p := newPool(runtime.NumCPU())
	var all []*surveyed
	for c := range fatBinaries(data) {
		r.loads.container(c)
		for i := range c.Entries {
			e := &c.Entries[i]
			if !r.wants(e) {
				continue
			}
			m := &surveyed{}
			all = append(all, m)
			p.do(func() {
				m.err = s.module(e, m)
				r.bar.draw(e.Name, 1)
			})
		}
	}
	p.wait()
	for _, m := range all {
		r.modules++
		r.bytes += m.bytes
		r.index, r.parse = r.index+m.index, r.parse+m.parse
		if m.err != nil {
			r.errors = append(r.errors, m.err.Error())
			continue
		}
		r.targets[m.target]++
		r.all = append(r.all, m.kernels...)
	}
}

func (s *survey) module(e *fatbin.Entry, m *surveyed) error {
	b, err := e.Text()
	if err != nil {
		return err
	}
	text := strings.TrimRight(string(b), "\x00")
	m.bytes = len(text)
	start := time.Now()
	x, err := ptx.IndexModule(text)
	if err != nil {
		return err
	}
	w := &wordSet{known: map[string]int{}}
	for _, f := range x.Funcs { // what a kernel may reach counts as each kernel's that calls
		if f.Kind != ptx.Entry && f.Open >= 0 {
			w.read(text[f.Open:f.End])
		}
	}
	called := w.take()
	var look []*checked
	for _, k := range x.Kernels() {
		c := &checked{name: k.Name}
		m.kernels = append(m.kernels, c)
		if w.read(text[k.Open:k.End]); w.calls {
			w.add(called)
		}
		words := w.take()
		if c.assumed = s.all(words); c.assumed {
			continue
		}
		c.words = words
		look = append(look, c)
	}
	m.target = x.Target.String()
	m.index = time.Since(start)
	for _, c := range look {
		if c.assumed = s.all(c.words); c.assumed { // by now
			continue
		}
		if err := s.kernel(x, c, m); err != nil {
			return err
		}
	}
	return nil
}

// kernel parses, checks and lowers one kernel. The error is the module's: PTX that is not valid.
func (s *survey) kernel(x *ptx.Index, c *checked, m *surveyed) error {
	start := time.Now()
	one, err := check.Kernel(x, c.name)
	m.parse += time.Since(start)
	if err != nil {
		return err
	}
	start = time.Now()
	c.err = s.r.compile(one, c.name, nil)
	c.took = time.Since(start)
	if c.err == nil {
		s.mu.Lock()
		for _, w := range c.words {
			s.ok[w] = true
		}
		s.mu.Unlock()
	}
	c.words = nil
	return nil
}

// all says whether all words are those of kernels that were lowered.
func (s *survey) all(words []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range words {
		if !s.ok[w] {
			return false
		}
	}
	return true
}

// wordSet collects the instructions of bodies, each as it is spelled, with an @ before those that have a guard.
type wordSet struct {
	known map[string]int // a word's place in words; guarded ones have the @
	words []string
	round []int // the round in which a word was last met
	now   int
	met   []int
	calls bool
}

// read adds the words of a body. It reads the beginnings of statements only, as the index does.
func (w *wordSet) read(body string) {
	for i := 0; i < len(body); {
		c := body[i]
		end := byte(';')
		switch {
		case c <= ' ', c == '{', c == '}', c == ';':
			i++
			continue
		case c == '/':
			n := strings.IndexByte(body[i:], '\n')
			if strings.HasPrefix(body[i:], "/*") {
				n = strings.Index(body[i:], "*/")
			}
			if n < 0 {
				return
			}
			i += n + 1
			continue
		case c == '.':
			if strings.HasPrefix(body[i:], ".loc") || strings.HasPrefix(body[i:], ".file") {
				end = '\n'
			}
		default:
			i = w.instruction(body, i)
			if i < len(body) && body[i] == ':' {
				i++
				continue
			}
		}
		n := strings.IndexByte(body[i:], end)
		if n < 0 {
			return
		}
		i += n + 1
	}
}

// instruction adds the word at i, behind a guard where there is one, and returns the place after it. A label is none.
func (w *wordSet) instruction(body string, i int) int {
	start, guarded := i, body[i] == '@'
	if guarded {
		for i < len(body) && body[i] > ' ' {
			i++
		}
		for i < len(body) && body[i] <= ' ' {
			i++
		}
		start = i
	}
	for i < len(body) && body[i] > ' ' && body[i] != ';' && (body[i] != ':' || i+1 < len(body) && body[i+1] == ':') {
		if body[i] == ':' {
			i++
		}
		i++
	}
	if i < len(body) && body[i] == ':' {
		return i
	}
	if strings.HasPrefix(body[start:i], "call") { // what is called counts
		if n := strings.IndexByte(body[i:], ';'); n >= 0 {
			i += n
		}
	}
	w.word(body[start:i], guarded)
	return i
}

func (w *wordSet) word(name string, guarded bool) {
	at, ok := w.known[name]
	if !ok { // two places: without and with a guard
		name = strings.Clone(name)
		at = len(w.words)
		w.known[name] = at
		w.words = append(w.words, name, "@"+name)
		w.round = append(w.round, 0, 0)
	}
	if guarded {
		at++
	}
	if w.round[at] != w.now+1 {
		w.round[at] = w.now + 1
		w.met = append(w.met, at)
		w.calls = w.calls || strings.HasPrefix(name, "call")
	}
}

func (w *wordSet) add(words []string) {
	for _, name := range words {
		plain, guarded := strings.CutPrefix(name, "@")
		w.word(plain, guarded)
	}
}

// take are the words since the last call.
func (w *wordSet) take() []string {
	words := make([]string, len(w.met))
	for i, at := range w.met {
		words[i] = w.words[at]
	}
	w.met, w.calls = w.met[:0], false
	w.now++
	return words
}
