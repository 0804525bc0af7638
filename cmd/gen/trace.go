package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/spec"
)

// traceShape tells the recorder of `kudzu trace` where a function's arguments are, and what lies behind its pointers: its result, an
// underscore, and its parameters, in the words of c/base/trace.h.
func traceShape(api *spec.API, f *spec.Func) (string, error) {
	if f.Opaque {
		return "u_", nil
	}
	scopes := scopesOf(api, f)
	var b strings.Builder
	result, err := traceResult(api, scopes[0], f.Result)
	if err != nil {
		return "", err
	}
	b.WriteString(result + "_")
	for i := range f.Params {
		letter, err := traceParam(api, scopes, f, i)
		if err != nil {
			return "", err
		}
		if result != "i" && (letter[0] == 'o' || letter[0] == 'c') {
			letter = "w" // nothing tells whether it was written
		}
		b.WriteString(letter)
	}
	return b.String(), traceFits(b.String())
}

var traceWord = regexp.MustCompile(`([a-zA-Z])(\d*)(?:n\d+)?`)

// traceFits refuses a shape whose arguments the recorder would look for in the wrong place (read_shape in c/base/trace.c): its rules
// are those of the ABIs for what the libraries pass, and no more.
func traceFits(shape string) error {
	result, params, _ := strings.Cut(shape, "_")
	if size, _ := strconv.Atoi(result[1:]); size > 16 && result[0] != 'I' {
		return fmt.Errorf("%s: a result of more than two floats or doubles", shape)
	}
	floats, pairs, large, words := 0, 0, 0, 0 // floats: registers of arm64
	for _, p := range traceWord.FindAllStringSubmatch(params, -1) {
		size, _ := strconv.Atoi(p[2])
		switch letter := p[1]; letter {
		case "f", "d":
			floats++
			words++
		case "F", "D":
			members := size / map[string]int{"F": 4, "D": 8}[letter]
			if members > 2 {
				return fmt.Errorf("%s: a structure of more than two floats or doubles", shape)
			}
			if letter == "F" && members == 2 {
				pairs++
			}
			if pairs > 4 || floats+members > 8 { // on the stack: packed on arm64, a double2 at a multiple of 16
				return fmt.Errorf("%s: more pairs of floats or doubles than the recorder finds", shape)
			}
			floats += members
			words += (size + 7) / 8
		case "I":
			if size > 16 {
				large++
			}
			words += (size + 7) / 8
		default: // a word
			words++
		}
	}
	if large > 2 || words > 48 {
		return fmt.Errorf("%s: %d words, %d structures that are passed in memory; the recorder has room for 48, 2", shape, words, large)
	}
	return nil
}

// scopesOf are the names that a row means, in every major version that has it.
func scopesOf(api *spec.API, f *spec.Func) []*spec.Scope {
	var all []*spec.Scope
	for _, l := range api.Libraries {
		if f.In(l.Major) {
			all = append(all, api.Scope(l.Major))
		}
	}
	return all
}

// largest is how much is kept of what a pointer leads to; what is larger is cut off.
const largest = 1024

// traceParam is the word of one parameter.
func traceParam(api *spec.API, scopes []*spec.Scope, f *spec.Func, i int) (string, error) {
	sc, p := scopes[0], f.Params[i]
	if !sc.Pointer(p.Type) {
		return traceValue(sc, p.Type)
	}
	u := sc.Underlying(p.Type)
	if !u.Ptr {
		return "w", nil
	}
	if word := traceSpecial(f, i); word != "" {
		return word, nil
	}
	if p.Mode == spec.Host {
		return traceHost(api, scopes, f, i), nil
	}
	elem := sc.Underlying(u.Elem)
	if !elem.Ptr && elem.Name == "char" && !p.Mode.IsOut() {
		return "s", nil
	}
	size := sizeBehind(scopes, u.Elem)
	switch {
	case size == 0:
		return "w", nil
	case p.Mode.IsOut():
		return fmt.Sprintf("o%d", size), nil
	}
	return fmt.Sprintf("p%d", size), nil
}

// sizeBehind is the size of a type in the version where it is smallest: a program may have made no more room. It is 0 for memory
// without a type.
func sizeBehind(scopes []*spec.Scope, t *spec.Type) int {
	size := largest
	for _, sc := range scopes {
		n, _, err := sc.Size(t)
		if err != nil {
			return 0
		}
		size = min(size, n)
	}
	return size
}

// traceValue is the word of what is passed by value.
func traceValue(sc *spec.Scope, t *spec.Type) (string, error) {
	u := sc.Underlying(t)
	if st := sc.Struct(t); st != nil {
		size, align, err := sc.Size(t)
		class := traceClass(sc, st)
		if err == nil && class == "I" && (align > 8 || size <= 16 && hasFloats(sc, st)) {
			err = fmt.Errorf("%s by value: the recorder does not know in which registers it is", t)
		}
		return fmt.Sprintf("%s%d", class, size), err
	}
	switch u.Name {
	case "float":
		return "f", nil
	case "double":
		return "d", nil
	}
	if size, _, err := sc.Size(t); err != nil || size > 8 {
		return "", fmt.Errorf("a parameter of type %s: %v", t, err)
	}
	return "w", nil
}

// traceClass says in which registers a structure travels: F and D where all members are float, or double, I otherwise.
func traceClass(sc *spec.Scope, st *spec.Struct) string {
	names := map[string]bool{}
	for _, f := range st.Fields {
		if f.Inner != nil || sc.Pointer(f.Type) {
			return "I"
		}
		names[sc.Underlying(f.Type).Name] = true
	}
	switch {
	case len(names) == 1 && names["float"]:
		return "F"
	case len(names) == 1 && names["double"]:
		return "D"
	}
	return "I"
}

// hasFloats reports whether a part of a structure may travel in a register for floats.
func hasFloats(sc *spec.Scope, st *spec.Struct) bool {
	return slices.ContainsFunc(st.Fields, func(f *spec.Field) bool {
		if f.Inner != nil {
			return hasFloats(sc, f.Inner)
		}
		if sc.Pointer(f.Type) {
			return false
		}
		u := sc.Underlying(f.Type)
		for u.Elem != nil && !u.Ptr {
			u = sc.Underlying(u.Elem)
		}
		inner := sc.Struct(u)
		return u.Name == "float" || u.Name == "double" || inner != nil && hasFloats(sc, inner)
	})
}

// traceResult is v for nothing, i for a result code, where 0 is success, w for any other word, f and d, or a structure.
func traceResult(api *spec.API, sc *spec.Scope, t *spec.Type) (string, error) {
	if t.Name == "void" && !t.Ptr {
		return "v", nil
	}
	if e := sc.Enum(t); e != nil && slices.ContainsFunc(e.Values, func(v spec.EnumValue) bool { return v.Value == 0 && isSuccess(v.Name) }) {
		return "i", nil
	}
	if sc.Pointer(t) {
		return "w", nil
	}
	return traceValue(sc, t)
}

// isSuccess knows the enumerators of success: every library spells it in its own way.
func isSuccess(name string) bool { return strings.HasSuffix(strings.ToLower(name), "success") }
