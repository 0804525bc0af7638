package main

import (
	"path"
	"slices"
	"strings"

	"kudzu/internal/spec"
)

// house is one interface that we answer: what its library row says, and who answers it.
type house struct {
	*spec.Answered
	api  string // the table, internal/spec/<api>.api
	doc  string // what it is, for the package comment
	recv string // package whose type Thread has the methods
}

// houses are all interfaces that we answer, by name. Their order is that of the numbers stubs give the door.
func (w *world) houses() []house {
	var all []house
	for _, name := range sortedKeys(w.apis) {
		if w.apis[name].Answered != nil {
			all = append(all, w.house(name))
		}
	}
	return all
}

func (w *world) house(api string) house {
	a := w.apis[api]
	if a == nil || a.Answered == nil {
		panic("BUG: " + api + ".api has no library row")
	}
	return house{a.Answered, api, a.About, module + "/internal/" + a.Answered.Room}
}

// code is the Go expression for the result code of err.
func (h house) code() string { return path.Base(h.recv) + ".Code(err)" }

// called is an interface that we call and do not answer: a library of another vendor.
type called struct {
	*spec.Called
	api  string // the table, and the package of its Go view
	what string
}

// callees are all of them, in the order of what they stand in for.
func (w *world) callees() []called {
	var all []called
	for _, name := range sortedKeys(w.apis) {
		if a := w.apis[name]; a.Called != nil {
			all = append(all, called{a.Called, name, a.About})
		}
	}
	slices.SortStableFunc(all, func(a, b called) int { return strings.Compare(a.For[0], b.For[0]) })
	return all
}
