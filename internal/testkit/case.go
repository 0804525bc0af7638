// Package testkit runs behaviour cases: one text file with a kernel, launch lines and the values they must give, run
// on every backend, and recorded on real hardware. It is imported by tests only.
//
// A case file (testdata/cases/<chapter>/<name>.txtar) begins with a sentence and has these parts:
//
//	-- kernel.ptx --
//	.version 8.0 … any PTX
//	-- run --
//	k<<<1,32>>>(o[32]u32, {seq 32}u32, 7:u32)
//	  o0 == 7 8 9 …
//	-- recorded --
//	sm_90 driver 13.0
//	run 1 o0: 7 8 9 …
//
// A launch line is name<<<grid,block[,shared bytes[,word…]]>>>(arguments), with the words "cooperative" and "cluster N";
// grid and block are N, NxN or NxNxN, and a grid of *
// is just enough blocks for the longest buffer. Arguments are
//
//	o[N]type       a result buffer of N zeros; N of * is the length of the longest input
//	o{values}type  a result buffer with a content
//	{values}type   an input buffer
//	value:type     a scalar; * is the length of the longest input
//
// Values are numbers, or a generator: seq N, const V N, edges, edgesA and edgesB (the two sides of the full product of
// the type's edge values), rand N SEED. Indented lines below a launch say what must hold: "o0 == values", "o0 ~ N ulp" or
// "o0 ~ N ulp X abs" (against the recording), "o0 sorted" (compare as a multiset), or "fault KIND".
package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// Case is one parsed file.
type Case struct {
	Path    string
	PTX     string
	Runs    []*Run
	archive *txtar.Archive
}

// Run is one launch line with what must hold after it.
type Run struct {
	Line     string
	Kernel   string
	Grid     [3]uint32
	Block    [3]uint32
	Shared   uint32
	Coop     bool
	Cluster  [3]uint32
	Args     []Arg
	Want     map[int][]uint64 // by number of the result buffer, written by hand
	Near     map[int]Tolerance
	Sorted   map[int]bool
	Fault    string
	Recorded map[int][]uint64
	RecFault string
}

// Tolerance is how far a result may be from the recorded one.
type Tolerance struct{ Ulp, Abs float64 }

// Arg is one kernel argument.
type Arg struct {
	Type   Type
	Buffer bool
	Result int // number of the result buffer, -1: none
	Values []uint64
}

// Load reads every case below dir, in order of path.
func Load(dir string) ([]*Case, error) {
	var cases []*Case
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		c, err := Parse(path)
		if err != nil {
			return err
		}
		cases = append(cases, c)
		return nil
	})
	return cases, err
}

// Parse reads one case.
func Parse(path string) (*Case, error) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	c := &Case{Path: path, archive: a}
	var recorded string
	for _, f := range a.Files {
		switch f.Name {
		case "kernel.ptx":
			c.PTX = string(f.Data)
		case "run":
			if err := c.parseRuns(string(f.Data)); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		case "recorded":
			recorded = string(f.Data)
		default:
			return nil, fmt.Errorf("%s: unknown part %q", path, f.Name)
		}
	}
	if c.PTX == "" || len(c.Runs) == 0 {
		return nil, fmt.Errorf("%s: needs kernel.ptx and run", path)
	}
	if err := c.parseRecorded(recorded); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func (c *Case) parseRuns(text string) error {
	for n, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		var err error
		if line[0] == ' ' || line[0] == '\t' {
			if len(c.Runs) == 0 {
				return fmt.Errorf("run line %d: a condition before any launch", n+1)
			}
			err = c.Runs[len(c.Runs)-1].parseCondition(trimmed)
		} else {
			var r *Run
			if r, err = parseRun(trimmed); err == nil {
				c.Runs = append(c.Runs, r)
			}
		}
		if err != nil {
			return fmt.Errorf("run line %d: %w", n+1, err)
		}
	}
	return nil
}

func parseRun(line string) (*Run, error) {
	r := &Run{Line: line, Want: map[int][]uint64{}, Near: map[int]Tolerance{}, Sorted: map[int]bool{}, Recorded: map[int][]uint64{}}
	name, rest, ok := strings.Cut(line, "<<<")
	conf, args, ok2 := strings.Cut(rest, ">>>(")
	if !ok || !ok2 || !strings.HasSuffix(args, ")") {
		return nil, fmt.Errorf("not a launch: %q", line)
	}
	r.Kernel = name
	parts := strings.Split(conf, ",")
	if len(parts) < 2 || len(parts) > 5 {
		return nil, fmt.Errorf("launch shape %q", conf)
	}
	if err := r.parseArgs(splitArgs(strings.TrimSuffix(args, ")"))); err != nil {
		return nil, err
	}
	var err error
	if r.Block, err = parseDim(parts[1]); err != nil {
		return nil, err
	}
	if parts[0] == "*" {
		r.Grid = [3]uint32{(uint32(r.longest(true)) + r.Block[0] - 1) / r.Block[0], 1, 1}
	} else if r.Grid, err = parseDim(parts[0]); err != nil {
		return nil, err
	}
	if len(parts) >= 3 {
		n, err := strconv.ParseUint(parts[2], 0, 32)
		if err != nil {
			return nil, err
		}
		r.Shared = uint32(n)
	}
	for _, word := range parts[min(3, len(parts)):] {
		size, cluster := strings.CutPrefix(word, "cluster ")
		switch {
		case word == "cooperative":
			r.Coop = true
		case cluster:
			if r.Cluster, err = parseDim(size); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("launch word %q", word)
		}
	}
	return r, nil
}

// splitArgs cuts at commas outside braces.
func splitArgs(s string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range s {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" {
		out = append(out, last)
	}
	return out
}

func parseDim(s string) ([3]uint32, error) {
	d := [3]uint32{1, 1, 1}
	for i, p := range strings.Split(s, "x") {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil || i > 2 {
			return d, fmt.Errorf("shape %q", s)
		}
		d[i] = uint32(n)
	}
	return d, nil
}

// longest is the length of the longest input, or of any buffer.
func (r *Run) longest(any bool) int {
	n := 0
	for _, a := range r.Args {
		if a.Buffer && (any || a.Result < 0) {
			n = max(n, len(a.Values))
		}
	}
	return n
}

func (r *Run) parseArgs(args []string) error {
	r.Args = make([]Arg, len(args))
	results := 0
	var later []int // arguments that need the longest input
	for i, s := range args {
		a := &r.Args[i]
		a.Result = -1
		body := s
		if strings.HasPrefix(s, "o[") || strings.HasPrefix(s, "o{") {
			a.Result = results
			results++
			body = s[1:]
		}
		var err error
		switch {
		case strings.HasPrefix(body, "["):
			n, t, ok := strings.Cut(body[1:], "]")
			if !ok {
				return fmt.Errorf("argument %q", s)
			}
			if a.Type, err = ParseType(t); err != nil {
				return err
			}
			a.Buffer = true
			if n == "*" {
				later = append(later, i)
				break
			}
			count, err := strconv.Atoi(n)
			if err != nil || count <= 0 || count > 1<<24 {
				return fmt.Errorf("length %q", n)
			}
			a.Values = make([]uint64, count)
		case strings.HasPrefix(body, "{"):
			v, t, ok := strings.Cut(body[1:], "}")
			if !ok {
				return fmt.Errorf("argument %q", s)
			}
			if a.Type, err = ParseType(t); err != nil {
				return err
			}
			a.Buffer = true
			if a.Values, err = Values(v, a.Type); err != nil {
				return err
			}
		default:
			v, t, ok := strings.Cut(body, ":")
			if !ok {
				return fmt.Errorf("argument %q", s)
			}
			if a.Type, err = ParseType(t); err != nil {
				return err
			}
			if v == "*" {
				later = append(later, i)
				break
			}
			if a.Values, err = Values(v, a.Type); err != nil {
				return err
			}
		}
	}
	n := r.longest(false)
	for _, i := range later {
		if r.Args[i].Buffer {
			r.Args[i].Values = make([]uint64, n)
		} else {
			r.Args[i].Values = []uint64{uint64(n)}
		}
	}
	return nil
}

func (r *Run) parseCondition(s string) error {
	if k, ok := strings.CutPrefix(s, "fault "); ok {
		r.Fault = k
		return nil
	}
	f := strings.Fields(s)
	if len(f) < 2 || f[0][0] != 'o' {
		return fmt.Errorf("condition %q", s)
	}
	n, err := strconv.Atoi(f[0][1:])
	if err != nil {
		return fmt.Errorf("condition %q", s)
	}
	t, ok := r.resultType(n)
	if !ok {
		return fmt.Errorf("no result buffer %s", f[0])
	}
	switch f[1] {
	case "==":
		r.Want[n], err = Values(strings.Join(f[2:], " "), t)
		return err
	case "~":
		return r.parseTolerance(n, f[2:])
	case "sorted":
		r.Sorted[n] = true
		return nil
	}
	return fmt.Errorf("condition %q", s)
}

// parseTolerance reads "4 ulp" and "1e-7 abs", either or both: a value within one of the bounds is right.
func (r *Run) parseTolerance(n int, f []string) error {
	if len(f) == 0 || len(f)%2 != 0 {
		return fmt.Errorf("tolerance %q", f)
	}
	var t Tolerance
	for i := 0; i < len(f); i += 2 {
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return err
		}
		switch f[i+1] {
		case "ulp":
			t.Ulp = v
		case "abs":
			t.Abs = v
		default:
			return fmt.Errorf("tolerance %q", f)
		}
	}
	r.Near[n] = t
	return nil
}

func (r *Run) resultType(n int) (Type, bool) {
	for _, a := range r.Args {
		if a.Result == n {
			return a.Type, true
		}
	}
	return 0, false
}

// parseRecorded reads what a device answered: a header line, then "run N oM: values" or "run N fault KIND".
func (c *Case) parseRecorded(text string) error {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 0 || line == "" {
			continue
		}
		head, vals, _ := strings.Cut(line, ":")
		f := strings.Fields(head)
		if len(f) < 3 || f[0] != "run" {
			return fmt.Errorf("recorded line %q", line)
		}
		n, err := strconv.Atoi(f[1])
		if err != nil || n < 1 || n > len(c.Runs) {
			return fmt.Errorf("recorded line %q: no such run", line)
		}
		r := c.Runs[n-1]
		if f[2] == "fault" && len(f) == 4 {
			r.RecFault = f[3]
			continue
		}
		b, err := strconv.Atoi(strings.TrimPrefix(f[2], "o"))
		if err != nil {
			return fmt.Errorf("recorded line %q", line)
		}
		t, ok := r.resultType(b)
		if !ok {
			return fmt.Errorf("recorded line %q: no such buffer", line)
		}
		v, err := Values(vals, t)
		if err != nil {
			return err
		}
		r.Recorded[b] = append(r.Recorded[b], v...)
	}
	return nil
}

// Record replaces the recorded part by what header's device answered and returns the file's new text.
func (c *Case) Record(header string, results []*Outcome) []byte {
	var b strings.Builder
	fmt.Fprintln(&b, header)
	for i, o := range results {
		if o.Fault != "" {
			fmt.Fprintf(&b, "run %d fault %s\n", i+1, o.Fault)
			continue
		}
		keys := make([]int, 0, len(o.Results))
		for k := range o.Results {
			keys = append(keys, k)
		}
		sort.Ints(keys)
		for _, k := range keys {
			t, _ := c.Runs[i].resultType(k)
			vals := o.Results[k]
			const perLine = 16
			for s := 0; s < len(vals); s += perLine {
				fmt.Fprintf(&b, "run %d o%d:", i+1, k)
				for _, v := range vals[s:min(s+perLine, len(vals))] {
					fmt.Fprintf(&b, " 0x%0*x", t.Size()*2, v)
				}
				b.WriteByte('\n')
			}
		}
	}
	out := &txtar.Archive{Comment: c.archive.Comment}
	for _, f := range c.archive.Files {
		if f.Name != "recorded" {
			out.Files = append(out.Files, f)
		}
	}
	out.Files = append(out.Files, txtar.File{Name: "recorded", Data: []byte(b.String())})
	return txtar.Format(out)
}
