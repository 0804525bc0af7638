package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"kudzu/internal/demangle"
	"kudzu/internal/trace"
)

// traceView is what the options of show, grep and stats ask for.
type traceView struct {
	recordFilter
	count   int // of lines; 0: all
	format  string
	noTime  bool
	all     bool // calls that found something not ready, too
	mangled bool // names of kernels as modules have them
}

// viewOptions reads options, which may stand anywhere before the last of the n other arguments.
func viewOptions(args []string, n int) (v traceView, rest []string, err error) {
	v.format = "text"
	takes := v.options()
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if !strings.HasPrefix(a, "-") || a == "-" {
			rest = append(rest, a)
			continue
		}
		if a == "--" {
			rest = append(rest, args...)
			break
		}
		name, val, inline := strings.Cut(a, "=")
		take, ok := takes[name]
		if !ok {
			return v, nil, errUsage{"unknown option " + a}
		}
		if take.what != "" && !inline && len(args) > 0 {
			val, args = args[0], args[1:]
		}
		if (take.what == "") != (val == "") {
			return v, nil, errUsage{name + " needs a " + take.what}
		}
		if err := take.put(&v, val); err != nil {
			return v, nil, err
		}
	}
	if len(rest) != n {
		return v, nil, errUsage{fmt.Sprintf("%d arguments, not %d", len(rest), n)}
	}
	return v, rest, nil
}

type viewOption struct {
	what string
	put  func(v *traceView, val string) error
}

func (*traceView) options() map[string]viewOption {
	return map[string]viewOption{
		"-n":        {"number", func(v *traceView, val string) error { return number(&v.count, val) }},
		"--thread":  {"number", func(v *traceView, val string) error { return number(&v.thread, val) }},
		"--time":    {"time", func(v *traceView, val string) error { return v.between(val) }},
		"--only":    {"regular expression", func(v *traceView, val string) error { return v.names(val) }},
		"--lib":     {"list of libraries", func(v *traceView, val string) error { v.libs = strings.Split(val, ","); return nil }},
		"--failed":  {"", func(v *traceView, _ string) error { v.failed = true; return nil }},
		"--no-time": {"", func(v *traceView, _ string) error { v.noTime = true; return nil }},
		"--mangled": {"", func(v *traceView, _ string) error { v.mangled = true; return nil }},
		"--all":     {"", func(v *traceView, _ string) error { v.all = true; return nil }},
		"--json":    {"", func(v *traceView, _ string) error { v.format = "json"; return nil }},
		"--format": {"text or json", func(v *traceView, val string) error {
			if val != "text" && val != "json" {
				return errUsage{fmt.Sprintf("no format %q; there are text, json", val)}
			}
			v.format = val
			return nil
		}},
	}
}

func number(dst *int, val string) error {
	n, err := strconv.Atoi(val)
	if err != nil || n <= 0 {
		return errUsage{fmt.Sprintf("%q is no number from 1 on", val)}
	}
	*dst = n
	return nil
}

// between reads FROM[,TO]: seconds, or with a unit as 20ms.
func (v *traceView) between(val string) error {
	from, to, both := strings.Cut(val, ",")
	for s, dst := range map[*string]*int64{&from: &v.from, &to: &v.to} {
		if *s == "" {
			continue
		}
		d, err := time.ParseDuration(*s)
		if err != nil {
			seconds, err := strconv.ParseFloat(*s, 64)
			if err != nil || seconds < 0 || seconds > 1e9 {
				return errUsage{fmt.Sprintf("%q is no time: seconds, or 20ms", *s)}
			}
			d = time.Duration(seconds * 1e9)
		}
		*dst = int64(d)
	}
	if both && v.to != 0 && v.to < v.from {
		return errUsage{"the time ends before it begins"}
	}
	return nil
}

func runTraceShow(args []string, out io.Writer) error {
	v, rest, err := viewOptions(args, 1)
	if err != nil {
		return err
	}
	_, err = v.show(rest[0], out, nil)
	return err
}

// runTraceGrep prints the lines in which an expression is found; like grep, it fails where there is none.
func runTraceGrep(args []string, out io.Writer) error {
	v, rest, err := viewOptions(args, 2)
	if err != nil {
		return err
	}
	re, err := regexp.Compile(rest[0])
	if err != nil {
		return errUsage{err.Error()}
	}
	n, err := v.show(rest[1], out, re)
	if err == nil && n == 0 {
		return exitCode(1)
	}
	return err
}

// show prints a trace, and how many lines that were. Lines without a match of re are left out.
func (v *traceView) show(path string, out io.Writer, re *regexp.Regexp) (int, error) {
	tr, err := trace.Open(path)
	if err != nil {
		return 0, err
	}
	defer tr.Close()
	d := trace.NewDecoder(tr.Dir)
	d.Mangled = v.mangled
	to := &grepped{w: out, re: re}
	var lines trace.Lines
	if p := trace.NewPrinter(to, d); v.format == "text" {
		p.NoTime, p.All = v.noTime, v.all
		lines = p
	} else {
		lines = trace.NewJSON(to, d)
	}
	var failed error
	err = tr.Each(func(r *trace.Record) bool {
		if r.Call != nil {
			d.Decode(r.Call)
		}
		if !v.wants(r) {
			return true
		}
		failed = to.record(lines, r, v.count != 0)
		return failed == nil && (v.count == 0 || to.count < v.count)
	})
	for _, e := range []error{failed, lines.Close()} {
		if err == nil {
			err = e
		}
	}
	return to.count, err
}

// grepped hands on the lines that match. Writes end with whole lines or are joined with the next.
type grepped struct {
	w     io.Writer
	re    *regexp.Regexp
	every bool // the record of these lines matches, whatever is in them
	part  []byte
	count int
}

// record writes one. A kernel has two names, and lines have one of them. flush: it must be known how many lines there are.
func (g *grepped) record(to trace.Lines, r *trace.Record, flush bool) error {
	name := ""
	switch {
	case r.Call != nil && r.Call.Launch != nil:
		name = r.Call.Launch.Kernel
	case r.Event != nil:
		name = r.Event.Text
	}
	if g.re == nil || name == "" || !matchesKernel(g.re, name) {
		if err := to.Record(r); err != nil || !flush {
			return err
		}
		return to.Flush()
	}
	if err := to.Flush(); err != nil {
		return err
	}
	g.every = true
	defer func() { g.every = false }()
	if err := to.Record(r); err != nil {
		return err
	}
	return to.Flush()
}

func (g *grepped) Write(b []byte) (int, error) {
	if g.re == nil && len(g.part) == 0 {
		g.count += bytes.Count(b, []byte{'\n'})
		_, err := g.w.Write(b)
		return len(b), err
	}
	g.part = append(g.part, b...)
	rest := g.part
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		line := rest[:i+1]
		rest = rest[i+1:]
		if g.re != nil && !g.every && !g.re.Match(line[:i]) {
			continue
		}
		g.count++
		if _, err := g.w.Write(line); err != nil {
			return 0, err
		}
	}
	g.part = append(g.part[:0], rest...)
	return len(b), nil
}

func runTraceStats(args []string, out io.Writer) error {
	v, rest, err := viewOptions(args, 1)
	if err != nil {
		return err
	}
	tr, err := trace.Open(rest[0])
	if err != nil {
		return err
	}
	defer tr.Close()
	s, err := tr.Stats(v.wants)
	if err != nil {
		return err
	}
	if v.format == "json" {
		b, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", b)
		return err
	}
	fmt.Fprintf(out, "%s (%d failed) in %s\n", plural(s.Calls, "call"), s.Failed, trace.Duration(s.Span))
	most := v.count
	if most == 0 {
		most = mostRows
	}
	for _, part := range []struct {
		title string
		rows  []*trace.Count
		cpp   bool
	}{{"function", s.Functions, false}, {"library", s.Libraries, false}, {"kernel", s.Kernels, !v.mangled}, {"thread", s.Threads, false}, {"inside", s.Events, false}} {
		if err := countTable(out, part.title, part.rows, most, part.cpp); err != nil {
			return err
		}
	}
	return nil
}

// mostRows is how many rows a table has; -n says another number. Names of kernels are cut to so many characters.
const (
	mostRows  = 40
	mostOfCPP = 100
)

// countTable prints rows; cpp: their names are those of kernels.
func countTable(out io.Writer, title string, rows []*trace.Count, most int, cpp bool) error {
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "count\tfailed\ttotal\tmean\tmin\tmax\t  %s\n", title)
	for i, c := range rows {
		if i == most {
			fmt.Fprintf(w, "\t\t\t\t\t\t  ... and %d more\n", len(rows)-i)
			break
		}
		name := c.Name
		if cpp {
			name = demangle.Column(name, mostOfCPP)
		}
		if !c.Timed() {
			fmt.Fprintf(w, "%d\t%d\t-\t-\t-\t-\t  %s\n", c.Calls, c.Failed, trace.Printable(name))
			continue
		}
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t  %s\n", c.Calls, c.Failed, trace.Duration(c.Total), trace.Duration(c.Mean()), trace.Duration(c.Min), trace.Duration(c.Max), trace.Printable(name))
	}
	return w.Flush()
}
