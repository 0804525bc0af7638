// Package demangle reads names that C++ compilers give functions (Itanium C++ ABI, chapter 5), as far as names of kernels need it. What
// it cannot read stays as it is.
package demangle

import "strings"

// Limits: a name is what a program says it is.
const (
	maxName  = 1 << 16 // bytes of a mangled name
	maxText  = 1 << 15 // bytes of what is made of it
	maxDepth = 256     // names in names
	maxSteps = 1 << 16 // names that are printed
)

// Name is a function as C++ declares it: void scale<float, 4>(float*, int). A name that is not mangled, or cannot be read, stays as it is.
func Name(mangled string) string { return text(mangled, declaration) }

// Function is the name without types of result and parameters: scale<float, 4>.
func Function(mangled string) string { return text(mangled, plainName) }

// Short is that without arguments of templates and anonymous namespaces: scale.
func Short(mangled string) string { return text(mangled, short) }

// Column is Function for a column of a table: at most n characters, with the middle left out.
func Column(mangled string, n int) string {
	s := []rune(Function(mangled))
	if len(s) <= n || n < 8 {
		return string(s)
	}
	tail := (n - 1) / 3
	return string(s[:n-1-tail]) + "…" + string(s[len(s)-tail:])
}

// form is how much of a name is printed.
type form int

const (
	declaration form = iota
	plainName
	short
)

func text(mangled string, f form) string {
	if s, ok := read(mangled, f); ok && s != "" {
		return s
	}
	return mangled
}

// read parses a name and prints it.
func read(mangled string, f form) (string, bool) {
	body := symbol(mangled)
	if body == "" || len(body) > maxName {
		return "", false
	}
	r := &reader{in: body}
	e := r.encoding()
	if r.failed || !end(r.in) {
		return "", false
	}
	p := &printer{form: f, pack: -1}
	p.both(e)
	if p.failed {
		return "", false
	}
	return string(p.b), true
}

// symbol is what follows _Z. Compilers of device code put names of their own before it, for functions of one file.
func symbol(mangled string) string {
	if rest, ok := strings.CutPrefix(mangled, "__nv_static_"); ok {
		if _, s, ok := strings.Cut(rest, "__Z"); ok {
			return s
		}
	}
	rest, _ := strings.CutPrefix(mangled, "_Z")
	if len(rest) == len(mangled) {
		return ""
	}
	return rest
}

// end reports whether a rest adds nothing: a copy of a function that a compiler made (.constprop.0), or a suffix for functions of one file.
func end(rest string) bool {
	return rest == "" || rest[0] == '.' || strings.HasPrefix(rest, "__intern__") || strings.HasPrefix(rest, "__static__")
}
