package demangle

// qualified is a type with const, volatile or a vendor's word behind it.
type qualified struct {
	of   node
	with string // " const"
}

func (q *qualified) left(p *printer) {
	switch of := p.plain(q.of).(type) {
	case *function: // of a member
		of.left(p)
	case *array: // of such elements
		p.left(of.of)
		p.text(q.with)
		of.space(p)
	default:
		p.left(q.of)
		p.text(q.with)
	}
}

func (q *qualified) right(p *printer) {
	p.right(q.of)
	if _, ok := p.plain(q.of).(*function); ok {
		p.text(q.with)
	}
}

// pointer is *, & or && to something.
type pointer struct {
	of   node
	mark string
}

// target follows references to references: & wins.
func (x *pointer) target(p *printer) (node, string) {
	of, mark := x.of, x.mark
	for i := 0; mark != "*" && i < maxDepth; i++ {
		in, ok := p.plain(of).(*pointer)
		if !ok || in.mark == "*" {
			break
		}
		of = in.of
		if in.mark == "&" {
			mark = "&"
		}
	}
	return of, mark
}

func (x *pointer) left(p *printer) {
	of, mark := x.target(p)
	p.left(of)
	if p.around(of) {
		p.text("(")
	}
	p.text(mark)
}

func (x *pointer) right(p *printer) {
	of, _ := x.target(p)
	if p.around(of) {
		p.text(")")
		if _, ok := p.bare(of).(*array); ok {
			p.text(" ")
		}
	}
	p.right(of)
}

// member is a pointer to a member of a class.
type member struct{ class, of node }

func (m *member) left(p *printer) {
	p.left(m.of)
	if p.around(m.of) {
		p.text("(")
	} else {
		p.text(" ")
	}
	p.both(m.class)
	p.text("::*")
}

func (m *member) right(p *printer) {
	if p.around(m.of) {
		p.text(")")
	}
	p.right(m.of)
}

// function is a function's type.
type function struct {
	result node
	params []node
	after  string
}

func (f *function) left(p *printer) {
	p.left(f.result)
	if !p.after(" ") {
		p.text(" ")
	}
}

func (f *function) right(p *printer) {
	p.text("(")
	p.list(f.params)
	p.text(")" + f.after)
	p.right(f.result)
}

// array is an array's type.
type array struct {
	of   node
	size node // nil: unknown
}

func (a *array) left(p *printer) {
	p.left(a.of)
	a.space(p)
}

func (a *array) space(p *printer) {
	if _, ok := p.bare(a.of).(*array); !ok {
		p.text(" ")
	}
}

func (a *array) right(p *printer) {
	p.text("[")
	p.both(a.size)
	p.text("]")
	p.right(a.of)
}

// vector is GCC's.
type vector struct{ of, size node }

func (v *vector) left(p *printer) {
	p.both(v.of)
	p.text(" __vector(")
	p.both(v.size)
	p.text(")")
}
func (v *vector) right(p *printer) {}

// parameter is an argument of the template that a function is of: T_. Which one is known when it is printed, because a part of the name of
// another function may be used again. In the type of a closure it is auto.
type parameter struct {
	is node // where it was read; nil: in a closure's type
	n  int
}

// scope is a function that is being printed, and those that it is in.
type scope struct {
	args []node
	up   *scope
}

// means is what a parameter stands for, nil for auto, and where that is from.
func (p *printer) means(t *parameter) (node, *scope) {
	switch {
	case t.is == nil && p.auto:
		return nil, nil
	case p.scope != nil && t.n < len(p.scope.args):
		return p.scope.args[t.n], p.scope.up
	}
	return t.is, p.scope
}

func (t *parameter) left(p *printer) {
	if is, _ := p.means(t); is == nil {
		p.text("auto:" + itoa(t.n+1))
		return
	}
	t.print(p, p.left)
}

func (t *parameter) right(p *printer) { t.print(p, p.right) }

func (t *parameter) print(p *printer, side func(node)) {
	is, from := p.means(t)
	if is == nil {
		return
	}
	if k, ok := is.(*pack); ok && p.pack >= 0 && p.pack < len(k.of) {
		is = k.of[p.pack]
	}
	saved := p.scope
	p.scope = from
	side(is)
	p.scope = saved
}

// pack is any number of arguments.
type pack struct{ of []node }

func (k *pack) left(p *printer)  { p.list(k.of) }
func (k *pack) right(p *printer) {}

// expansion is a pattern for every element of the packs in it.
type expansion struct{ of node }

func (e *expansion) left(p *printer) {
	k := p.packIn(e.of)
	if k == nil {
		p.both(e.of)
		p.text("...")
		return
	}
	saved, begin := p.pack, len(p.b)
	for i := 0; i < len(k.of) && !p.failed; i++ {
		p.pack = i
		p.item(e.of, begin)
	}
	p.pack = saved
}
func (e *expansion) right(p *printer) {}

// plain follows parameters of templates to what they are.
func (p *printer) plain(n node) node {
	for i := 0; i < maxDepth; i++ {
		switch x := n.(type) {
		case *parameter:
			is, _ := p.means(x)
			if is == nil {
				return n
			}
			n = is
		case *pack:
			if p.pack < 0 || p.pack >= len(x.of) {
				return n
			}
			n = x.of[p.pack]
		default:
			return n
		}
	}
	return n
}

// bare is plain, without const.
func (p *printer) bare(n node) node {
	for i := 0; i < maxDepth; i++ {
		n = p.plain(n)
		q, ok := n.(*qualified)
		if !ok {
			break
		}
		n = q.of
	}
	return n
}

// around reports types that need parentheses around a declarator.
func (p *printer) around(n node) bool {
	switch p.bare(n).(type) {
	case *function, *array:
		return true
	}
	return false
}

// packIn finds the first pack in a pattern.
func (p *printer) packIn(n node) *pack {
	left := maxDepth
	return p.findPack(n, &left)
}

// findPack looks at no more than left nodes.
func (p *printer) findPack(n node, left *int) *pack {
	if *left--; n == nil || *left < 0 {
		return nil
	}
	each := func(nodes ...node) *pack {
		for _, n := range nodes {
			if k := p.findPack(n, left); k != nil {
				return k
			}
		}
		return nil
	}
	switch x := n.(type) {
	case *pack:
		return x
	case *parameter:
		is, _ := p.means(x)
		return each(is)
	case *qualified:
		return each(x.of)
	case *pointer:
		return each(x.of)
	case *member:
		return each(x.class, x.of)
	case *function:
		return each(append([]node{x.result}, x.params...)...)
	case *array:
		return each(x.of, x.size)
	case *vector:
		return each(x.of, x.size)
	case *scoped:
		return each(x.scope, x.name)
	case *template:
		return each(append([]node{x.name}, x.args...)...)
	case *expression:
		return each(x.of...)
	case *prefixed:
		return each(x.of)
	}
	return nil
}
