package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/dump"
	"kudzu/internal/shrink"
)

// ErrSame says that two backends leave the same memory.
var ErrSame = errors.New("the two leave the same memory")

// reducer looks for a smaller launch on which two backends still differ.
type reducer struct {
	a, b  *Runner
	tol   dump.Tolerance
	tries int
	used  int
}

// Reduce takes away what it can of a launch on which two backends differ, at most tries times: blocks, lines of PTX, memory. The result's
// memory afterwards is the reference's, which is opts' second. Both must run without a fault: a launch that is broken by what was taken
// away tells nothing.
func Reduce(f *dump.File, opts, reference Options, tol dump.Tolerance, tries int) (*dump.File, int, error) {
	a, err := Open(f, opts)
	if err != nil {
		return nil, 0, err
	}
	defer a.Close()
	b, err := Open(f, reference)
	if err != nil {
		return nil, 0, err
	}
	defer b.Close()
	r := &reducer{a: a, b: b, tol: tol, tries: tries + 1}
	n := *f
	n.Regions, n.Before, n.After = slices.Clone(f.Regions), slices.Clone(f.Before), slices.Clone(f.After)
	if ok, err := r.differs(&n); err != nil {
		return nil, r.used, err
	} else if !ok {
		return nil, r.used, ErrSame
	}
	r.grid(&n)
	for was := len(n.PTX) + 1; len(n.PTX) < was; { // a declaration can go when what needs it is gone
		was = len(n.PTX)
		r.text(&n)
	}
	r.memory(&n)
	r.grid(&n)
	res, err := b.Run(&n, 1)
	if err != nil {
		return nil, r.used, err
	}
	if res.Fault != nil { // what was the same before is not always
		return nil, r.used, fmt.Errorf("the reduced launch runs on %s at one time and not at another: %w", b.name, res.Fault)
	}
	n.After, n.Fault, n.Kind, n.Unread = res.After, "", 0, false
	n.Backend, n.Device = b.name, b.dev.Info().Name
	return &n, r.used, nil
}

// differs runs both.
func (r *reducer) differs(f *dump.File) (bool, error) {
	r.used++
	want, err := r.b.Run(f, 1)
	if err != nil || want.Fault != nil {
		return false, errors.Join(err, faultError(want))
	}
	got, err := r.a.Run(f, 1)
	if err != nil || got.Fault != nil {
		return false, errors.Join(err, faultError(got))
	}
	_, words := compare(f, want.After, got.After, r.tol)
	return words > 0, nil
}

func faultError(res *Result) error {
	if res == nil || res.Fault == nil {
		return nil
	}
	return res.Fault
}

// try says whether a changed launch still differs.
func (r *reducer) try(f *dump.File) bool {
	if r.used >= r.tries {
		return false
	}
	ok, err := r.differs(f)
	return ok && err == nil
}

// grid halves the numbers of blocks, then of threads.
func (r *reducer) grid(f *dump.File) {
	for i := range 3 {
		step := max(1, f.Cluster[i])
		for f.Grid[i] > step {
			n := *f
			if n.Grid[i] = step; !r.try(&n) {
				if n.Grid[i] = max(step, f.Grid[i]/2/step*step); n.Grid[i] == f.Grid[i] || !r.try(&n) {
					break
				}
			}
			f.Grid = n.Grid
		}
	}
	for i := range 3 {
		for f.Block[i] > 1 {
			n := *f
			if n.Block[i] /= 2; !r.try(&n) {
				break
			}
			f.Block = n.Block
		}
	}
}

// text drops lines of the functions' bodies.
func (r *reducer) text(f *dump.File) {
	lines := strings.Split(f.PTX, "\n")
	var body []int // lines that may go
	depth := 0
	for i, s := range lines {
		code, _, _ := strings.Cut(s, "//")
		t := strings.TrimSpace(code)
		if depth > 0 && t != "" && strings.Count(t, "{") == strings.Count(t, "}") || t == "" && s != "" {
			body = append(body, i)
		}
		depth += strings.Count(code, "{") - strings.Count(code, "}")
	}
	with := func(kept []int) string {
		keep := map[int]bool{}
		for _, i := range kept {
			keep[i] = true
		}
		var out []string
		for i, s := range lines {
			if _, may := slices.BinarySearch(body, i); !may || keep[i] {
				out = append(out, s)
			}
		}
		return strings.Join(out, "\n")
	}
	kept := shrink.List(body, func(kept []int) bool {
		n := *f
		n.PTX = with(kept)
		return r.try(&n)
	})
	f.PTX = with(kept)
}

// missed reports a region that a launch which needs it cannot do without: one of the two faults. Memory that was moved, or that only
// GPUs have, would still be there.
func (r *reducer) missed(g *dump.Region) bool {
	here := func(m dump.Region) bool { return m.Base == g.Base }
	return g.Var != "" || slices.ContainsFunc(r.a.mapped, here) || slices.ContainsFunc(r.b.mapped, here)
}

// memory clears contents, then drops regions and the ends of those that are left.
func (r *reducer) memory(f *dump.File) {
	for i := 0; i < len(f.Regions); i++ {
		n := *f
		n.Before = slices.Clone(f.Before)
		n.Before[i] = make([]byte, f.Regions[i].Size)
		if !bytes.Equal(n.Before[i], f.Before[i]) && r.try(&n) {
			f.Before = n.Before
		}
	}
	for i := len(f.Regions) - 1; i >= 0; i-- {
		n := *f
		n.Regions, n.Before, n.After = slices.Delete(slices.Clone(f.Regions), i, i+1), slices.Delete(slices.Clone(f.Before), i, i+1), slices.Delete(slices.Clone(f.After), i, i+1)
		if r.missed(&f.Regions[i]) && len(f.Textures) == 0 && r.try(&n) {
			*f = n
		}
	}
	for i := range f.Regions {
		for f.Regions[i].Size > 256 && f.Regions[i].Var == "" && r.missed(&f.Regions[i]) && len(f.Textures) == 0 {
			n := *f
			n.Regions, n.Before, n.After = slices.Clone(f.Regions), slices.Clone(f.Before), slices.Clone(f.After)
			half := f.Regions[i].Size / 2
			n.Regions[i].Size, n.Before[i], n.After[i] = half, n.Before[i][:half], n.After[i][:half]
			if !r.try(&n) {
				break
			}
			*f = n
		}
	}
}
