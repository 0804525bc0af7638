package demangle

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

var builtins = map[byte]string{
	'v': "void", 'w': "wchar_t", 'b': "bool", 'c': "char", 'a': "signed char", 'h': "unsigned char", 's': "short", 't': "unsigned short",
	'i': "int", 'j': "unsigned int", 'l': "long", 'm': "unsigned long", 'x': "long long", 'y': "unsigned long long", 'n': "__int128",
	'o': "unsigned __int128", 'f': "float", 'd': "double", 'e': "long double", 'g': "__float128", 'z': "...",
}

var builtins2 = map[byte]string{
	'd': "decimal64", 'e': "decimal128", 'f': "decimal32", 'h': "half", 'i': "char32_t", 's': "char16_t", 'u': "char8_t", 'a': "auto",
	'c': "decltype(auto)", 'n': "decltype(nullptr)",
}

// typ reads a type.
func (r *reader) typ() node {
	defer func() { r.depth-- }()
	if !r.enter() {
		return r.fail()
	}
	if r.in == "" {
		return r.fail()
	}
	c := r.in[0]
	if text, ok := builtins[c]; ok && c != 'r' {
		r.in = r.in[1:]
		return word(text)
	}
	switch c {
	case 'r', 'V', 'K':
		q := r.qualifiers()
		return r.add(&qualified{r.typ(), q})
	case 'P':
		r.next()
		return r.add(&pointer{r.typ(), "*"})
	case 'R':
		r.next()
		return r.add(&pointer{r.typ(), "&"})
	case 'O':
		r.next()
		return r.add(&pointer{r.typ(), "&&"})
	case 'F':
		return r.add(r.function())
	case 'A':
		return r.add(r.array())
	case 'M':
		r.next()
		class := r.typ()
		return r.add(&member{class, r.typ()})
	case 'T':
		n := r.add(r.parameter())
		if r.peek("I") {
			n = r.add(&template{n, r.arguments(nil)})
		}
		return n
	case 'u':
		r.next()
		return r.add(r.source())
	case 'U':
		r.next()
		q, _ := r.source().(word)
		return r.add(&qualified{r.typ(), " " + string(q)})
	case 'D':
		return r.longType()
	case 'S':
		if !r.peek("St") {
			n := r.substitution()
			if r.peek("I") {
				n = r.add(&template{n, r.arguments(nil)})
			}
			return n
		}
	case 'C', 'G':
		return r.fail()
	}
	return r.add(r.name(nil))
}

// longType reads those that begin with D.
func (r *reader) longType() node {
	switch {
	case r.peek("Dt") || r.peek("DT"):
		return r.add(r.decltype())
	case r.take("Dp"):
		return r.add(&expansion{r.typ()})
	case r.take("Dv"):
		var size node
		if r.digit() {
			size = word(r.digits())
		} else {
			r.want("_")
			size = r.expression()
		}
		r.want("_")
		return r.add(&vector{r.typ(), size})
	case r.take("DF16b"):
		return word("std::bfloat16_t")
	case r.take("DF"):
		bits := r.digits()
		r.want("_")
		return word("_Float" + bits)
	case r.take("Do"):
		f, ok := r.function().(*function)
		if !ok {
			return r.fail()
		}
		f.after += " noexcept"
		return r.add(f)
	}
	r.next()
	text, ok := builtins2[r.next()]
	if !ok {
		return r.fail()
	}
	return word(text)
}

func (r *reader) decltype() node {
	r.next()
	r.next()
	e := r.expression()
	r.want("E")
	return &expression{form: "decltype (%)", of: []node{e}}
}

func (r *reader) function() node {
	r.want("F")
	r.take("Y") // extern "C"
	f := &function{result: r.typ(), params: []node{}}
	if r.take("v") {
		r.ref(f)
		r.want("E")
		return f
	}
	for !r.failed && !r.peek("E") {
		if (r.peek("RE") || r.peek("OE")) && len(r.in) > 1 {
			r.ref(f)
			break
		}
		f.params = append(f.params, r.typ())
	}
	r.want("E")
	return f
}

func (r *reader) ref(f *function) {
	switch {
	case r.take("R"):
		f.after = " &"
	case r.take("O"):
		f.after = " &&"
	}
}

func (r *reader) array() node {
	r.want("A")
	a := &array{}
	switch {
	case r.digit():
		a.size = word(r.digits())
	case !r.peek("_"):
		a.size = r.expression()
	}
	r.want("_")
	a.of = r.typ()
	return a
}
