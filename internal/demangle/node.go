package demangle

import "strings"

// node is a part of a name. Declarators stand around what they declare, so that types have a part to the left of it and one to the right.
type node interface {
	left(p *printer)
	right(p *printer)
}

// printer makes text of nodes.
type printer struct {
	b      []byte
	failed bool
	depth  int
	form   form
	pack   int  // which element of packs is meant, -1: all
	auto   bool // in the parameters of a closure
	scope  *scope
	steps  int
}

func (p *printer) text(s string) {
	if len(p.b)+len(s) > maxText {
		p.failed = true
		return
	}
	p.b = append(p.b, s...)
}

// enter counts nodes in nodes; false: too many.
func (p *printer) enter() bool {
	p.depth++
	p.steps++
	if p.depth > 4*maxDepth || p.steps > maxSteps {
		p.failed = true
	}
	return !p.failed
}

func (p *printer) both(n node) {
	p.left(n)
	p.right(n)
}

func (p *printer) left(n node) {
	if p.enter() && n != nil {
		n.left(p)
	}
	p.depth--
}

func (p *printer) right(n node) {
	if p.enter() && n != nil {
		n.right(p)
	}
	p.depth--
}

// list prints nodes with commas, as declarations. Packs may be empty: then there is no comma either.
func (p *printer) list(nodes []node) {
	saved := p.form
	p.form = declaration
	begin := len(p.b)
	for _, n := range nodes {
		if p.failed {
			break
		}
		p.item(n, begin)
	}
	p.form = saved
}

// item prints one of a list that begins at a place.
func (p *printer) item(n node, begin int) {
	before := len(p.b)
	if before > begin {
		p.text(", ")
	}
	at := len(p.b)
	p.both(n)
	if len(p.b) == at {
		p.b = p.b[:before]
	}
}

// after reports whether the text so far ends with s.
func (p *printer) after(s string) bool {
	return strings.HasSuffix(string(p.b[max(0, len(p.b)-len(s)):]), s)
}

// word is a name, or a builtin type.
type word string

func (w word) left(p *printer)  { p.text(string(w)) }
func (w word) right(p *printer) {}

// anonymous is the namespace of what only one file sees.
type anonymous struct{}

func (anonymous) left(p *printer)  { p.text("(anonymous namespace)") }
func (anonymous) right(p *printer) {}

// scoped is a name in a namespace, a class or a function.
type scoped struct{ scope, name node }

func (s *scoped) left(p *printer) {
	if p.form == short && s.name == node(anonymous{}) {
		p.both(s.scope)
		return
	}
	if p.form != short || s.scope != node(anonymous{}) {
		p.both(s.scope)
		p.text("::")
	}
	p.both(s.name)
}
func (s *scoped) right(p *printer) {}

// template is a name with arguments.
type template struct {
	name node
	args []node
}

func (t *template) left(p *printer) {
	p.both(t.name)
	if p.form == short {
		return
	}
	if p.after("<") {
		p.text(" ") // operator<
	}
	p.text("<")
	p.list(t.args)
	if p.after(">") {
		p.text(" ")
	}
	p.text(">")
}
func (t *template) right(p *printer) {}

// tagged is a name with one of the ABI's tags.
type tagged struct {
	name node
	tag  string
}

func (t *tagged) left(p *printer) {
	p.both(t.name)
	if p.form != short {
		p.text("[abi:" + t.tag + "]")
	}
}
func (t *tagged) right(p *printer) {}

// encoding is a function with its parameters.
type encoding struct {
	name   node
	result node // nil: not part of the name
	params []node
	fn     bool
	after  string // const
	args   []node // of the template
}

func (e *encoding) left(p *printer) {
	if p.form != declaration || !e.fn {
		p.both(e.name)
		return
	}
	saved := p.scope
	defer func() { p.scope = saved }()
	if e.args != nil {
		p.scope = &scope{e.args, saved}
	}
	if e.result != nil {
		p.left(e.result)
		if !p.after(" ") {
			p.text(" ")
		}
	}
	p.both(e.name)
	p.text("(")
	p.list(e.params)
	p.text(")")
	p.text(e.after)
	if e.result != nil {
		p.right(e.result)
	}
}
func (e *encoding) right(p *printer) {}

// local is what a function has inside.
type local struct {
	in    node
	name  node
	after string
}

func (l *local) left(p *printer) {
	if e, ok := l.in.(*encoding); ok && e.result != nil {
		without := *e
		without.result = nil
		p.both(&without)
	} else {
		p.both(l.in)
	}
	p.text("::")
	p.both(l.name)
}
func (l *local) right(p *printer) {}

// lambda is a closure's type; params nil: a type without a name.
type lambda struct {
	params []node
	number string
	plain  bool
}

func (l *lambda) left(p *printer) {
	switch {
	case l.plain:
		p.text("{unnamed type#" + l.number + "}")
	case p.form == short:
		p.text("{lambda#" + l.number + "}")
	default:
		p.text("{lambda(")
		saved := p.auto
		p.auto = true
		p.list(l.params)
		p.auto = saved
		p.text(")#" + l.number + "}")
	}
}
func (l *lambda) right(p *printer) {}

// prefixed is a constructor's or a destructor's class, or a special name: vtable for.
type prefixed struct {
	before string
	of     node
}

func (x *prefixed) left(p *printer) {
	p.text(x.before)
	p.both(x.of)
}
func (x *prefixed) right(p *printer) {}
