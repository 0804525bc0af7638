package demangle

import "strings"

// expression is a form with a % or, for an operand, a # for each of its parts; @ takes all that are left, with commas.
type expression struct {
	form string
	of   []node
}

func (e *expression) left(p *printer) {
	of := e.of
	for i := 0; i < len(e.form); i++ {
		switch e.form[i] {
		case '%':
			if len(of) > 0 {
				p.both(of[0])
				of = of[1:]
			}
		case '#':
			if len(of) > 0 {
				p.operand(of[0])
				of = of[1:]
			}
		case '@':
			p.list(of)
		default:
			p.text(e.form[i : i+1])
		}
	}
}
func (e *expression) right(p *printer) {}

// operand prints a name as it is, and everything else in parentheses.
func (p *printer) operand(n node) {
	switch n.(type) {
	case word, *scoped:
		p.both(n)
		return
	}
	p.text("(")
	p.both(n)
	p.text(")")
}

// value is a literal.
type value string

func (v value) left(p *printer)  { p.text(string(v)) }
func (v value) right(p *printer) {}

// binding is what a structured binding is called.
type binding struct{ names []node }

func (b *binding) left(p *printer) {
	p.text("[")
	p.list(b.names)
	p.text("]")
}
func (b *binding) right(p *printer) {}

type operator struct {
	text string
	args int
}

var operators = map[string]operator{
	"nw": {"new", 3}, "na": {"new[]", 3}, "dl": {"delete", 1}, "da": {"delete[]", 1}, "ps": {"+", 1}, "ng": {"-", 1}, "ad": {"&", 1}, "de": {"*", 1},
	"co": {"~", 1}, "pl": {"+", 2}, "mi": {"-", 2}, "ml": {"*", 2}, "dv": {"/", 2}, "rm": {"%", 2}, "an": {"&", 2}, "or": {"|", 2}, "eo": {"^", 2},
	"aS": {"=", 2}, "pL": {"+=", 2}, "mI": {"-=", 2}, "mL": {"*=", 2}, "dV": {"/=", 2}, "rM": {"%=", 2}, "aN": {"&=", 2}, "oR": {"|=", 2}, "eO": {"^=", 2},
	"ls": {"<<", 2}, "rs": {">>", 2}, "lS": {"<<=", 2}, "rS": {">>=", 2}, "eq": {"==", 2}, "ne": {"!=", 2}, "lt": {"<", 2}, "gt": {">", 2},
	"le": {"<=", 2}, "ge": {">=", 2}, "ss": {"<=>", 2}, "nt": {"!", 1}, "aa": {"&&", 2}, "oo": {"||", 2}, "pp": {"++", 1}, "mm": {"--", 1},
	"cm": {",", 2}, "pm": {"->*", 2}, "pt": {"->", 2}, "cl": {"()", 2}, "ix": {"[]", 2}, "qu": {"?", 3},
}

// operator reads the name of one.
func (r *reader) operator(s *state) node {
	if len(r.in) < 2 {
		return r.fail()
	}
	if r.take("cv") {
		if s != nil {
			s.plain = true
		}
		return &prefixed{"operator ", r.typ()}
	}
	if r.take("li") {
		return &prefixed{"operator\"\" ", r.source()}
	}
	op, ok := operators[r.in[:2]]
	if !ok {
		return r.fail()
	}
	r.in = r.in[2:]
	space := ""
	if op.text[0] >= 'a' && op.text[0] <= 'z' {
		space = " "
	}
	return word("operator" + space + op.text)
}

// expression reads one. Forms are those of c++filt.
func (r *reader) expression() node {
	defer func() { r.depth-- }()
	if !r.enter() || len(r.in) < 2 {
		return r.fail()
	}
	switch {
	case r.peek("L"):
		return r.literal()
	case r.peek("T"):
		return r.parameter()
	case r.peek("fp") || r.peek("fL"):
		return r.functionParameter()
	case r.take("sr"):
		scope := r.typ()
		return &scoped{scope, r.simple()}
	case r.take("st"):
		return &expression{"sizeof (%)", []node{r.typ()}}
	case r.take("sz"):
		return &expression{"sizeof (%)", []node{r.expression()}}
	case r.take("sZ"):
		return r.packSize()
	case r.take("sp"):
		return &expansion{r.expression()}
	case r.take("cl"):
		f := r.expression()
		return &expression{"#(@)", append([]node{f}, r.rest()...)}
	case r.take("cv"):
		t := r.typ()
		if r.take("_") {
			return &expression{"(%)(@)", append([]node{t}, r.rest()...)}
		}
		return &expression{"(%)#", []node{t, r.expression()}}
	case r.take("tl"):
		t := r.typ()
		return &expression{"%{@}", append([]node{t}, r.rest()...)}
	case r.take("qu"):
		return &expression{"#?# : #", []node{r.expression(), r.expression(), r.expression()}}
	case r.take("dt"):
		e := r.expression()
		return &expression{"#.%", []node{e, r.simple()}}
	case r.digit() || r.peek("on"):
		return r.simple()
	}
	op, ok := operators[r.in[:2]]
	if !ok {
		return r.fail()
	}
	r.in = r.in[2:]
	text := op.text
	switch {
	case op.text == "%":
		a := r.expression()
		return &modulo{a, r.expression()}
	case op.text == "&" && op.args == 1:
		e := r.expression()
		if f, ok := e.(*encoding); ok { // the address of a function that is told by its name
			if _, ok := f.name.(*scoped); ok || !f.fn {
				e = f.name
			}
		}
		return &expression{"&#", []node{e}}
	case op.args == 1:
		return &expression{text + "#", []node{r.expression()}}
	case op.args == 2:
		a := r.expression()
		form := "(%)" + text + "#"
		if text == ">" {
			form = "(#>#)"
		}
		return &expression{form, []node{a, r.expression()}}
	}
	return r.fail()
}

// modulo has the letter that forms give a meaning to.
type modulo struct{ a, b node }

func (m *modulo) left(p *printer) {
	p.operand(m.a)
	p.text("%")
	p.operand(m.b)
}
func (m *modulo) right(p *printer) {}

// rest reads expressions up to the end.
func (r *reader) rest() []node {
	var all []node
	for !r.failed && !r.take("E") {
		all = append(all, r.expression())
	}
	return all
}

// simple reads a name in an expression.
func (r *reader) simple() node {
	var n node
	if r.take("on") {
		n = r.operator(nil)
	} else {
		n = r.source()
	}
	if r.peek("I") {
		n = &template{n, r.arguments(nil)}
	}
	return n
}

func (r *reader) functionParameter() node {
	if r.take("fL") {
		r.number()
		r.want("p")
	} else {
		r.want("fp")
	}
	r.qualifiers()
	if r.take("T") {
		return word("this")
	}
	return word("{parm#" + itoa(r.count()+1) + "}")
}

// packSize reads sizeof....
func (r *reader) packSize() node {
	if r.peek("T") {
		return &counted{r.parameter()}
	}
	return &expression{"sizeof...(%)", []node{r.functionParameter()}}
}

// counted is how many elements a pack has.
type counted struct{ of node }

func (c *counted) left(p *printer) {
	if k := p.packIn(c.of); k != nil {
		p.text(itoa(len(k.of)))
		return
	}
	p.text("sizeof...(")
	p.both(c.of)
	p.text(")")
}
func (c *counted) right(p *printer) {}

// suffixes of literals.
var suffixes = map[string]string{"int": "", "unsigned int": "u", "long": "l", "unsigned long": "ul", "long long": "ll", "unsigned long long": "ull"}

// literal reads L … E.
func (r *reader) literal() node {
	r.want("L")
	if r.take("_Z") {
		e := r.encoding()
		r.want("E")
		return e
	}
	t := r.typ()
	sign := ""
	if r.take("n") {
		sign = "-"
	}
	i := strings.IndexByte(r.in, 'E')
	if i < 0 {
		return r.fail()
	}
	digits := r.in[:i]
	r.in = r.in[i+1:]
	name, _ := t.(word)
	suffix, plain := suffixes[string(name)]
	switch {
	case digits == "":
		return t
	case plain:
		return value(sign + digits + suffix)
	case name == "bool" && digits == "0":
		return value("false")
	case name == "bool" && digits == "1":
		return value("true")
	case name == "float" || name == "double" || name == "long double":
		digits = "[" + digits + "]"
	}
	return &expression{"(%)" + clean(sign+digits), []node{t}}
}

// clean takes out what means something in a form.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '%' || c == '#' || c == '@' {
			return -1
		}
		return c
	}, s)
}
