package demangle

import "strings"

// reader reads a mangled name. After something that it does not know it has failed, and what it returns means nothing.
type reader struct {
	in     string // what is left
	failed bool
	depth  int
	subs   []node // what S_ stands for
	args   []node // of the template that a function is of: T_
	lambda int    // inside the parameters of so many closures, whose own parameters may be auto
}

func (r *reader) fail() node {
	r.failed = true
	r.in = ""
	return word("")
}

// enter counts names in names; false: too many, or it has failed.
func (r *reader) enter() bool {
	r.depth++
	if r.depth > maxDepth {
		r.fail()
	}
	return !r.failed
}

func (r *reader) peek(s string) bool { return strings.HasPrefix(r.in, s) }

func (r *reader) take(s string) bool {
	if !r.peek(s) {
		return false
	}
	r.in = r.in[len(s):]
	return true
}

func (r *reader) want(s string) {
	if !r.take(s) {
		r.fail()
	}
}

// next takes a letter.
func (r *reader) next() byte {
	if r.in == "" {
		r.fail()
		return 0
	}
	c := r.in[0]
	r.in = r.in[1:]
	return c
}

func (r *reader) digit() bool { return r.in != "" && r.in[0] >= '0' && r.in[0] <= '9' }

// digits takes decimal digits.
func (r *reader) digits() string {
	n := 0
	for n < len(r.in) && r.in[n] >= '0' && r.in[n] <= '9' {
		n++
	}
	s := r.in[:n]
	r.in = r.in[n:]
	return s
}

// number is a small one.
func (r *reader) number() int {
	n := 0
	for _, c := range r.digits() {
		if n = 10*n + int(c-'0'); n > maxName {
			r.fail()
			return 0
		}
	}
	return n
}

// count reads [number] _: 0 for none, 1 for 0 and so on.
func (r *reader) count() int {
	if r.take("_") {
		return 0
	}
	if !r.digit() {
		r.fail()
		return 0
	}
	n := r.number() + 1
	r.want("_")
	return n
}

func (r *reader) add(n node) node {
	if len(r.subs) > maxName {
		return r.fail()
	}
	r.subs = append(r.subs, n)
	return n
}

// state is what a name says about the function that it names.
type state struct {
	after    string // const, &
	template bool   // it ends with arguments
	plain    bool   // a constructor, a conversion: its result is not part of the name
}

// encoding reads a function, a variable or a special name.
func (r *reader) encoding() node {
	defer func() { r.depth-- }()
	if !r.enter() {
		return r.fail()
	}
	if r.peek("T") || r.peek("GV") || r.peek("GR") {
		return r.special()
	}
	saved := r.args
	defer func() { r.args = saved }()
	r.args = nil
	var s state
	name := r.name(&s)
	e := &encoding{name: name, after: s.after}
	if r.failed || end(r.in) || r.in[0] == 'E' {
		return e
	}
	e.fn = true
	if s.template && !s.plain {
		e.result = r.typ()
	}
	e.params = r.params()
	e.args = r.args
	return e
}

// special reads names that are not the program's own.
func (r *reader) special() node {
	for _, row := range [...]struct{ code, text string }{
		{"TV", "vtable for "}, {"TT", "VTT for "}, {"TI", "typeinfo for "}, {"TS", "typeinfo name for "},
	} {
		if r.take(row.code) {
			return &prefixed{row.text, r.typ()}
		}
	}
	if r.take("GV") {
		return &prefixed{"guard variable for ", r.name(&state{})}
	}
	return r.fail()
}

// params reads types up to the end.
func (r *reader) params() []node {
	if r.take("v") {
		return nil
	}
	all := []node{}
	for !r.failed && !end(r.in) && r.in[0] != 'E' && r.in[0] != 'Q' {
		all = append(all, r.typ())
	}
	return all
}

// name reads <name>. s is nil where what it says is not of the function that is read.
func (r *reader) name(s *state) node {
	defer func() { r.depth-- }()
	if !r.enter() {
		return r.fail()
	}
	switch {
	case r.peek("N"):
		return r.nested(s)
	case r.peek("Z"):
		return r.local(s)
	}
	var n node
	if r.peek("S") && !r.peek("St") {
		n = r.substitution()
		if !r.peek("I") {
			return r.fail()
		}
	} else {
		if r.take("St") {
			n = &scoped{word("std"), r.unqualified(s, nil)}
		} else {
			n = r.unqualified(s, nil)
		}
		if r.peek("I") {
			r.add(n)
		}
	}
	if r.peek("I") {
		n = &template{n, r.arguments(s)}
		if s != nil {
			s.template = true
		}
	}
	return n
}

// nested reads N … E.
func (r *reader) nested(s *state) node {
	r.want("N")
	after := r.qualifiers()
	switch {
	case r.take("R"):
		after += " &"
	case r.take("O"):
		after += " &&"
	}
	if s != nil {
		s.after = after
	}
	var n node
	for !r.failed && !r.take("E") {
		if s != nil {
			s.template = false
		}
		switch {
		case r.peek("I"):
			if n == nil {
				return r.fail()
			}
			n = &template{n, r.arguments(s)}
			if s != nil {
				s.template = true
			}
		case r.peek("S") && !r.peek("St"):
			if n != nil {
				return r.fail()
			}
			n = r.substitution()
			continue
		case r.take("St"):
			if n != nil {
				return r.fail()
			}
			n = &scoped{word("std"), r.unqualified(s, nil)}
		case r.peek("T"):
			if n != nil {
				return r.fail()
			}
			n = r.parameter()
		case r.peek("Dt") || r.peek("DT"):
			if n != nil {
				return r.fail()
			}
			n = r.decltype()
		default:
			r.take("L") // internal linkage
			name := r.unqualified(s, n)
			if n == nil {
				n = name
			} else {
				n = &scoped{n, name}
			}
		}
		if !r.peek("E") {
			r.add(n)
		}
	}
	if n == nil {
		return r.fail()
	}
	return n
}

// local reads Z <function> E <what is in it>.
func (r *reader) local(s *state) node {
	r.want("Z")
	in := r.encoding()
	r.want("E")
	if r.take("s") {
		r.discriminator()
		return &local{in: in, name: word("string literal")}
	}
	if r.take("d") {
		n := r.count()
		name := r.name(s)
		return &local{in: in, name: &prefixed{"{default arg#" + itoa(n+1) + "}::", name}}
	}
	name := r.name(s)
	r.discriminator()
	return &local{in: in, name: name}
}

func (r *reader) discriminator() {
	if r.take("__") {
		r.digits()
		r.want("_")
	} else if len(r.in) > 1 && r.in[0] == '_' && r.in[1] >= '0' && r.in[1] <= '9' {
		r.in = r.in[2:]
	}
}

// unqualified reads a name's last part. of is what it is in.
func (r *reader) unqualified(s *state, of node) node {
	r.take("L")
	var n node
	switch {
	case r.digit():
		n = r.source()
	case r.peek("C") || r.peek("D") && !r.peek("DC"):
		n = r.structor(s, of)
	case r.take("Ut"):
		n = &lambda{plain: true, number: itoa(r.count() + 1)}
	case r.take("Ul"):
		n = r.closure()
	case r.take("DC"): // structured binding
		var names []node
		for !r.failed && !r.take("E") {
			names = append(names, r.source())
		}
		n = &binding{names}
	default:
		n = r.operator(s)
	}
	for r.take("B") {
		tag, _ := r.source().(word)
		n = &tagged{n, string(tag)}
	}
	return n
}

// closure reads the rest of a lambda's name.
func (r *reader) closure() node {
	r.lambda++
	saved := r.args
	r.args = nil
	l := &lambda{}
	if !r.take("v") {
		for !r.failed && !r.peek("E") {
			l.params = append(l.params, r.typ())
		}
	}
	r.lambda--
	r.args = saved
	r.want("E")
	l.number = itoa(r.count() + 1)
	return l
}

// source reads a name that the program has: its length and it.
func (r *reader) source() node {
	if !r.digit() {
		return r.fail()
	}
	n := r.number()
	if n == 0 || n > len(r.in) {
		return r.fail()
	}
	name := r.in[:n]
	r.in = r.in[n:]
	if internal(name) {
		return anonymous{}
	}
	return word(name)
}

// internal reports what compilers call the namespace of things that only one file sees: _GLOBAL__N_1, and with the name of the file and
// numbers _GLOBAL__N__c0ffee_4_a_cu and _INTERNAL_c0ffee_4_a_cu.
func internal(name string) bool {
	if rest, ok := strings.CutPrefix(name, "_GLOBAL_"); ok {
		return len(rest) > 1 && (rest[0] == '_' || rest[0] == '.' || rest[0] == '$') && rest[1] == 'N'
	}
	return strings.HasPrefix(name, "_INTERNAL_")
}

// structor reads constructors and destructors.
func (r *reader) structor(s *state, of node) node {
	kind := r.next()
	inherits := kind == 'C' && r.take("I")
	if c := r.next(); r.failed || c < '0' || c > '5' || of == nil {
		return r.fail()
	}
	if inherits {
		r.typ()
	}
	if s != nil {
		s.plain = true
	}
	name := last(of, 0)
	if kind == 'D' {
		return &prefixed{"~", name}
	}
	return name
}

// last is a class's own name.
func last(n node, depth int) node {
	if depth > maxDepth {
		return n
	}
	switch x := n.(type) {
	case *scoped:
		return last(x.name, depth+1)
	case *template:
		return last(x.name, depth+1)
	case *tagged:
		return last(x.name, depth+1)
	case *local:
		return last(x.name, depth+1)
	case *parameter:
		return last(x.is, depth+1)
	}
	return n
}

// qualifiers reads const and the like.
func (r *reader) qualifiers() string {
	var restrict, volatile, constant string
	for {
		switch {
		case r.take("r"):
			restrict = " restrict"
		case r.take("V"):
			volatile = " volatile"
		case r.take("K"):
			constant = " const"
		default:
			return constant + volatile + restrict
		}
	}
}

// abbreviations of the ABI.
var abbreviations = map[byte]string{
	't': "std", 'a': "std::allocator", 'b': "std::basic_string", 's': "std::string", 'i': "std::istream", 'o': "std::ostream", 'd': "std::iostream",
}

// substitution reads S….
func (r *reader) substitution() node {
	r.want("S")
	if r.in != "" {
		if text, ok := abbreviations[r.in[0]]; ok {
			r.in = r.in[1:]
			var n node = word(text)
			for r.take("B") {
				tag, _ := r.source().(word)
				n = r.add(&tagged{n, string(tag)})
			}
			return n
		}
	}
	at := 0
	if !r.take("_") {
		n := 0
		for r.in != "" && r.in[0] != '_' {
			c := r.next()
			switch {
			case c >= '0' && c <= '9':
				n = 36*n + int(c-'0')
			case c >= 'A' && c <= 'Z':
				n = 36*n + int(c-'A') + 10
			default:
				return r.fail()
			}
			if n > maxName {
				return r.fail()
			}
		}
		r.want("_")
		at = n + 1
	}
	if at >= len(r.subs) {
		return r.fail()
	}
	return r.subs[at]
}

// arguments reads those of a template, I … E. With s they are what T_ means from now on.
func (r *reader) arguments(s *state) []node {
	defer func() { r.depth-- }()
	if !r.enter() {
		r.fail()
		return nil
	}
	r.want("I")
	if s != nil {
		r.args = nil
	}
	all := []node{}
	for !r.failed && !r.take("E") {
		a := r.argument()
		all = append(all, a)
		if s != nil {
			r.args = append(r.args[:len(r.args):len(r.args)], a)
		}
	}
	return all
}

func (r *reader) argument() node {
	defer func() { r.depth-- }()
	if !r.enter() {
		return r.fail()
	}
	switch {
	case r.take("X"):
		e := r.expression()
		r.want("E")
		return e
	case r.peek("L"):
		return r.literal()
	case r.take("J"):
		k := &pack{}
		for !r.failed && !r.take("E") {
			k.of = append(k.of, r.argument())
		}
		return k
	}
	return r.typ()
}

// parameter reads T_.
func (r *reader) parameter() node {
	r.want("T")
	if r.take("L") { // of an outer level
		return r.fail()
	}
	n := r.count()
	if r.lambda > 0 && r.args == nil {
		return &parameter{n: n}
	}
	if n >= len(r.args) {
		return r.fail()
	}
	return &parameter{r.args[n], n}
}
