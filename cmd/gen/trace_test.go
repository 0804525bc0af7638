package main

import (
	"strings"
	"testing"

	"kudzu/internal/spec"
)

// TestTraceShape: what the recorder's rules do not cover is an error here, not a wrong argument in a trace.
func TestTraceShape(t *testing.T) {
	const head = "library l.so versions 12 package rt room cudart prefix cuda\n" +
		"struct pair\n\tx float\n\ty float\nstruct mixed\n\tx double\n\tn int\nstruct four\n\tv [4]float\n" +
		"struct around\n\tn int\n\tp pair\nstruct large\n\tv double\n\tn [8]int\nstruct twin align 16\n\tx double\n\ty double\n"
	for _, r := range []struct{ params, want string }{
		{"in a pair, in b pair, in c pair, in d pair", "F8F8F8F8"},
		{"in a pair, in b pair, in c pair, in d pair, in e pair", "error"},
		{"in a float, in b float, in c float, in d float, in e float, in f float, in p pair", "ffffffF8"},
		{"in a float, in b float, in c float, in d float, in e float, in f float, in g float, in p pair", "error"},
		{"in a float, in b float, in c float, in d float, in e float, in f float, in g float, in z twin", "error"},
		{"in z twin, in n int, in y twin", "D16wD16"},
		{"in m mixed", "error"},
		{"in m around", "error"},
		{"in m four", "error"},
		{"in a large, in b large", "I40I40"},
		{"in a large, in b large, in c large", "error"},
	} {
		api, err := spec.Parse("cudart", head+"cudaF("+r.params+") int\n")
		if err != nil {
			t.Fatal(err)
		}
		got, err := traceShape(api, api.Funcs[0])
		if _, got, _ = strings.Cut(got, "_"); err != nil {
			got = "error"
		}
		if got != r.want {
			t.Errorf("%s is %s (%v), want %s", r.params, got, err, r.want)
		}
	}
}
