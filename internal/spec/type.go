package spec

import (
	"fmt"
	"strconv"
	"strings"
)

// Type is a C type. Exactly one shape holds: a pointer (Ptr), an array (Len > 0) or a name.
type Type struct {
	Ptr   bool
	Len   int
	Elem  *Type // of a pointer or array
	Name  string
	Const bool
}

// maxLength is far above any array of the tables.
const maxLength = 1 << 16

// parseType reads the prefix notation of the tables: "*const char", "[16]int".
func parseType(s string) (*Type, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return nil, fmt.Errorf("type missing")
	case s[0] == '*':
		elem, err := parseType(s[1:])
		if err != nil {
			return nil, err
		}
		return &Type{Ptr: true, Elem: elem}, nil
	case s[0] == '[':
		n, rest, ok := strings.Cut(s[1:], "]")
		count, err := strconv.Atoi(n)
		if !ok || err != nil || count <= 0 || count > maxLength {
			return nil, fmt.Errorf("array length %q", n)
		}
		elem, err := parseType(rest)
		if err != nil {
			return nil, err
		}
		return &Type{Len: count, Elem: elem}, nil
	case strings.HasPrefix(s, "const "):
		t, err := parseType(s[len("const "):])
		if err != nil {
			return nil, err
		}
		t.Const = true
		return t, nil
	}
	for _, r := range s {
		if r != ' ' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return nil, fmt.Errorf("type name %q", s)
		}
	}
	return &Type{Name: s}, nil
}

// String is the notation of the tables.
func (t *Type) String() string {
	c := ""
	if t.Const {
		c = "const "
	}
	switch {
	case t.Ptr:
		return c + "*" + t.Elem.String()
	case t.Len > 0:
		return fmt.Sprintf("%s[%d]%s", c, t.Len, t.Elem)
	}
	return c + t.Name
}

// C writes a declaration of name with this type as C spells it; name may be empty.
func (t *Type) C(name string) string {
	switch {
	case t.Ptr:
		inner := "*" + name
		if t.Const {
			inner = strings.TrimSpace("*const " + name)
		}
		return t.Elem.C(inner)
	case t.Len > 0:
		return t.Elem.C(fmt.Sprintf("%s[%d]", name, t.Len))
	}
	c := ""
	if t.Const {
		c = "const "
	}
	if name == "" {
		return c + t.Name
	}
	return c + t.Name + " " + name
}

// Equal reports whether two types are spelled the same.
func (t *Type) Equal(o *Type) bool { return t.String() == o.String() }
