package main

import (
	"fmt"
	"path"
	"strings"

	"kudzu/internal/spec"
)

// forwards is the table of the library that calls of an interface may be forwarded to one by one, "" if there is none.
func (w *world) forwards(api string) string {
	for _, c := range w.callees() {
		if c.Alike && c.For[0] == api {
			return c.api
		}
	}
	return ""
}

// partnerOf finds the function of a provider that a row may be forwarded to, with the name the provider knows the call by.
// A 64-bit row is forwarded as the plain one: the provider refuses numbers that do not fit.
func (w *world) partnerOf(provider, api string, f *spec.Func) (name string, ok bool, err error) {
	name = strings.TrimSuffix(f.Name, "_64")
	var to *spec.Func
	for _, g := range w.apis[provider].Funcs {
		if g.For == name && !g.Opaque && g.Group != "handles" {
			to = g
		}
	}
	if to == nil {
		return "", false, nil
	}
	if to.Go == byHand {
		return name, true, nil
	}
	if len(to.Params) != len(f.Params) {
		return "", false, fmt.Errorf("%s.api: %s has %d parameters, %s has %d", provider, to.Name, len(to.Params), f.Name, len(f.Params))
	}
	for i, p := range f.Params {
		q := to.Params[i]
		a, b := w.class(api, p.Type), w.class(provider, q.Type)
		if strings.HasSuffix(f.Name, "_64") && b == "int" {
			b = a // numbers that fit go over; a place for 64 bits is no place for 32
			if p.Type.Ptr || a != "int64" {
				return "", false, nil
			}
		}
		if strings.HasSuffix(f.Name, "_64") && b == "pointer to int" {
			return "", false, nil
		}
		if a != b {
			return "", false, fmt.Errorf("%s.api: %s of %s is %s, %s of %s is %s", provider, q.Name, to.Name, b, p.Name, f.Name, a)
		}
	}
	return name, true, nil
}

// class is what a parameter is, in the same words for both interfaces. An enumeration is CUDA's.
func (w *world) class(api string, t *spec.Type) string {
	scope := w.apis[api].Scope(13)
	if t.Ptr {
		if e := scope.Underlying(t.Elem); !t.Elem.Ptr && e.Name == "int" {
			return "pointer to int"
		}
		return "pointer"
	}
	if t.Name == "cublasHandle_t" || t.Name == "rocblas_handle" {
		return "handle"
	}
	for _, from := range sortedKeys(w.apis) {
		for _, e := range w.apis[from].Enums {
			if e.Name == t.Name {
				if e.For != "" {
					return e.For
				}
				return e.Name
			}
		}
	}
	switch u := scope.Underlying(t).Name; u {
	case "long long", "int64_t", "long long int":
		return "int64"
	default:
		return u
	}
}

// forward writes the question whether something other than our kernels does the call.
func (b *binding) forward(o *out, name string) {
	var args []string
	for i, p := range b.fn.Params {
		field := "a." + argField(i, p)
		if u := b.scope.Underlying(p.Type); !p.Type.Ptr && u.Name == "int" {
			field = "int32(" + field + ")"
		}
		args = append(args, "uint64("+field+")")
	}
	thread := "(*" + path.Base(b.house.recv) + ".Thread)(thread)"
	o.f("if %[1]s.Elsewhere() {\nif done, err := %[1]s.Forward(%[2]q, %[3]s); done {\nif err != nil {\nreturn %[4]s\n}\nreturn 0\n}\n}\n", thread, name, strings.Join(args, ", "), b.house.code())
}
