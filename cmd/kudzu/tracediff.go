package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/trace"
)

// runTraceDiff compares two traces. As diff does, it ends with 0 for the same, 1 for a difference and 2 for trouble.
func runTraceDiff(args []string, out io.Writer) error {
	o, paths, err := diffOptions(args)
	if err != nil {
		return err
	}
	same, err := diffTraces(paths[0], paths[1], o, out)
	var usage errUsage
	switch {
	case errors.As(err, &usage):
		return err
	case err != nil:
		fmt.Fprintf(os.Stderr, "kudzu: %v\n", err)
		return exitCode(2)
	case !same:
		return exitCode(1)
	}
	return nil
}

func diffOptions(args []string) (o trace.DiffOptions, paths []string, err error) {
	o.Context = 5
	polls := false
	var ignore []*regexp.Regexp
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		name, val, inline := strings.Cut(a, "=")
		if (name == "--ignore" || name == "-C") && !inline && len(args) > 0 {
			val, args = args[0], args[1:]
		}
		switch {
		case name == "--ignore":
			re, err := regexp.Compile("^(?:" + val + ")$")
			if err != nil || val == "" {
				return o, nil, errUsage{"--ignore needs a regular expression"}
			}
			ignore = append(ignore, re)
		case name == "-C":
			if o.Context, err = strconv.Atoi(val); err != nil || o.Context < 0 || o.Context > 10_000 {
				return o, nil, errUsage{"-C needs a number"}
			}
		case a == "--polls":
			polls = true
		case a == "--nested":
			o.Nested = true
		case a == "--mangled":
			o.Mangled = true
		case a == "--no-outs":
			o.NoOuts = true
		case strings.HasPrefix(a, "-"):
			return o, nil, errUsage{"unknown option " + a}
		default:
			paths = append(paths, a)
		}
	}
	if len(paths) != 2 {
		return o, nil, errUsage{"two traces are compared"}
	}
	o.Ignore = func(name string) bool {
		base := trace.Base(name)
		if !polls && trace.Polls[base] {
			return true
		}
		return slices.ContainsFunc(ignore, func(re *regexp.Regexp) bool { return re.MatchString(name) || re.MatchString(base) })
	}
	return o, paths, nil
}

func diffTraces(a, b string, o trace.DiffOptions, out io.Writer) (same bool, err error) {
	var trs [2]*trace.Trace
	for i, path := range []string{a, b} {
		if trs[i], err = trace.Open(path); err != nil {
			return false, err
		}
		defer trs[i].Close()
	}
	found, calls, err := trace.Diff(trs[0], trs[1], o)
	if err != nil {
		return false, err
	}
	if len(found) == 0 {
		_, err := fmt.Fprintf(out, "no difference in %s\n", plural(calls, "call"))
		return true, err
	}
	d := &found[0]
	fmt.Fprintf(out, "--- %s%s\n+++ %s%s\n", a, threadOf(d.A), b, threadOf(d.B))
	fmt.Fprintf(out, "first difference at call %d: %s\n", d.At+1, whatDiffers(d))
	for _, s := range d.Before {
		fmt.Fprintf(out, "  %s\n", s)
	}
	writeSide(out, "-", d.LeftA)
	writeSide(out, "+", d.LeftB)
	for i := range found[1:] {
		f := &found[i+1]
		th := f.A
		if th == nil {
			th = f.B
		}
		fmt.Fprintf(out, "also%s, at call %d: %s\n", threadOf(th), f.At+1, whatDiffers(f))
	}
	return false, nil
}

func threadOf(t *trace.Thread) string {
	switch {
	case t == nil:
		return " has no such thread"
	case len(t.Process.Threads) == 1:
		return ""
	}
	return fmt.Sprintf(" thread %d", t.Number)
}

func writeSide(out io.Writer, mark string, lines []string) {
	for _, s := range lines {
		fmt.Fprintf(out, "%s %s\n", mark, s)
	}
	if len(lines) == 0 {
		fmt.Fprintf(out, "%s (no more calls)\n", mark)
	}
}

// whatDiffers says in a few words what is different in the first call, or which calls the other trace has more.
func whatDiffers(d *trace.Divergence) string {
	switch {
	case len(d.LeftA) == 0:
		return "the first trace has no more calls"
	case len(d.LeftB) == 0:
		return "the second trace has no more calls"
	}
	x, y := d.LeftA[0], d.LeftB[0]
	nameX, restX, _ := strings.Cut(x, "(")
	nameY, restY, _ := strings.Cut(y, "(")
	if nameX != nameY {
		if i := slices.Index(d.LeftA, y); i > 0 {
			return fmt.Sprintf("the first trace has %s more", plural(i, "call"))
		}
		if i := slices.Index(d.LeftB, x); i > 0 {
			return fmt.Sprintf("the second trace has %s more", plural(i, "call"))
		}
		return nameX + " and " + nameY
	}
	argsX, resultX := cutResult(restX)
	argsY, resultY := cutResult(restY)
	if argsX == argsY {
		return fmt.Sprintf("%s answers %s and %s", nameX, resultX, resultY)
	}
	xs, ys := strings.Split(argsX, ", "), strings.Split(argsY, ", ")
	for i := range min(len(xs), len(ys)) {
		if xs[i] != ys[i] {
			return fmt.Sprintf("%s has %s and %s", nameX, xs[i], ys[i])
		}
	}
	return nameX + " has other arguments"
}

func cutResult(s string) (args, result string) {
	i := strings.LastIndex(s, ") = ")
	if i < 0 {
		return strings.TrimSuffix(s, ")"), "nothing"
	}
	return s[:i], s[i+len(") = "):]
}
