package ir

import (
	"strconv"
	"strings"
	"sync"
)

var opByName = sync.OnceValue(func() map[string]Op {
	m := map[string]Op{}
	for op := Invalid + 1; op < NumOps; op++ {
		m[op.String()] = op
	}
	return m
})

// attrWords maps every word that begins an attribute to what reads it.
var attrWords = sync.OnceValue(func() map[string]func(*reader, *Attr) {
	m := map[string]func(*reader, *Attr){}
	for _, x := range attributes {
		if x.read != nil {
			m[x.name] = x.read
		}
		for i, w := range x.words {
			m[w] = func(_ *reader, a *Attr) { x.set(a, uint64(i)) }
		}
	}
	return m
})

func (r *reader) readInst() *Inst {
	in := &Inst{}
	if r.isPunct(0, "%") {
		in.Results = r.defs()
		for i, v := range in.Results {
			v.Def, v.Index = in, i
		}
		r.expect("=")
	}
	name := r.word()
	op, ok := opByName()[name]
	if !ok {
		r.fail("unknown operation %q", name)
	}
	in.Op = op
	r.readAttrs(in)
	if op == Phi {
		for r.accept("[") {
			in.Targets = append(in.Targets, r.blockNamed(r.word()))
			in.Args = append(in.Args, r.arg())
			r.expect("]")
			if !r.accept(",") {
				break
			}
		}
	} else {
		r.readArgs(in)
	}
	if r.peek(0).text == "mask" && r.isPunct(1, "=") {
		r.at += 2
		in.Mask = r.arg()
	}
	if r.accept("@") {
		in.Line = int32(r.number())
	}
	return in
}

func (r *reader) readArgs(in *Inst) {
	if r.isPunct(0, "%") || r.peek(0).kind == tokWord && r.isPunct(1, ":") {
		in.Args = append(in.Args, r.arg())
		for r.accept(",") {
			in.Args = append(in.Args, r.arg())
		}
	}
	if r.accept("->") {
		in.Targets = append(in.Targets, r.blockNamed(r.word()))
		for r.accept(",") {
			in.Targets = append(in.Targets, r.blockNamed(r.word()))
		}
	}
}

// readAttrs reads the words before the first argument.
func (r *reader) readAttrs(in *Inst) {
	for r.peek(0).kind == tokWord && !r.isPunct(1, ":") {
		w := r.peek(0).text
		if w == "mask" && r.isPunct(1, "=") {
			return
		}
		r.at++
		read := attrWords()[w]
		if read == nil {
			r.fail("unknown attribute %q", w)
		}
		read(r, &in.Attr)
	}
}

func (r *reader) readMatrix() *Matrix {
	m := &Matrix{}
	r.expect("(")
	for i, p := range []*int{&m.M, &m.N, &m.K} {
		w := r.word()
		n, err := strconv.Atoi(strings.TrimPrefix(w, "mnk"[i:i+1]))
		if err != nil || len(w) < 2 {
			r.fail("bad shape %q", w)
		}
		*p = n
	}
	fields := m.fields()
	for r.peek(0).kind == tokWord {
		w := r.word()
		found := false
		for _, f := range fields {
			if f.name != w {
				continue
			}
			found = true
			switch p := f.at.(type) {
			case *string:
				r.expect("=")
				*p = r.str()
			case *bool:
				*p = true
			case *int:
				r.expect("=")
				*p = int(r.number())
			}
		}
		if !found {
			r.fail("unknown matrix word %q", w)
		}
	}
	r.expect(")")
	return m
}
