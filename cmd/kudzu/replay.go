package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/config"
	"kudzu/internal/demangle"
	"kudzu/internal/devices"
	"kudzu/internal/dump"
	"kudzu/internal/replay"
)

// replayArgs is what the options of kudzu replay ask for.
type replayArgs struct {
	file      string
	opts      replay.Options
	order     string
	against   string
	repeat    int
	tolerance dump.Tolerance
	ptx       string
	c         string
	save      string
	reduce    string
	tries     int
	answer    bool // for kudzu compare
	show      bool
	threads   string
}

// replayTakes are the options with a value.
var replayTakes = map[string]func(a *replayArgs, val string) error{
	"--backend":    func(a *replayArgs, v string) error { a.opts.Backend = v; return nil },
	"--capability": func(a *replayArgs, v string) error { a.opts.Capability = v; return nil },
	"--tier":       func(a *replayArgs, v string) error { a.opts.Tier = v; return nil },
	"--level": func(a *replayArgs, v string) (err error) {
		a.opts.Level, err = strconv.Atoi(v)
		return err
	},
	"--passes":      func(a *replayArgs, v string) error { return a.opts.SetPasses(v) },
	"--llvm-passes": func(a *replayArgs, v string) error { a.opts.Passes = v; return nil },
	"--width": func(a *replayArgs, v string) error {
		on, ok := map[string]string{"thread": "width", "warp": "-width"}[v]
		if !ok {
			return fmt.Errorf("width %q is not thread or warp", v)
		}
		return a.opts.SetPasses(on)
	},
	"--order":   func(a *replayArgs, v string) error { a.order = v; return nil },
	"--threads": func(a *replayArgs, v string) error { a.threads = v; return nil },
	"--against": func(a *replayArgs, v string) error { a.against = v; return nil },
	"--repeat": func(a *replayArgs, v string) (err error) {
		a.repeat, err = strconv.Atoi(v)
		return err
	},
	"--tries": func(a *replayArgs, v string) (err error) {
		a.tries, err = strconv.Atoi(v)
		return err
	},
	"--tolerance": func(a *replayArgs, v string) (err error) {
		a.tolerance, err = dump.ParseTolerance(v)
		return err
	},
	"--ptx":    func(a *replayArgs, v string) error { a.ptx = v; return nil },
	"--c":      func(a *replayArgs, v string) error { a.c = v; return nil },
	"--save":   func(a *replayArgs, v string) error { a.save = v; return nil },
	"--reduce": func(a *replayArgs, v string) error { a.reduce = v; return nil },
}

func parseReplay(args []string) (*replayArgs, error) {
	a := &replayArgs{opts: replay.Options{Backend: "cpu"}, repeat: 1, tries: 400, against: "interp"}
	for len(args) > 0 {
		s := args[0]
		args = args[1:]
		if !strings.HasPrefix(s, "-") {
			if a.file != "" {
				return nil, errUsage{"one file at a time"}
			}
			a.file = s
			continue
		}
		name, val, inline := strings.Cut(s, "=")
		if strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") {
			name = "-" + name
		}
		switch name {
		case "--answer":
			a.answer = true
			continue
		case "--show":
			a.show = true
			continue
		}
		take := replayTakes[name]
		if take == nil {
			return nil, errUsage{"unknown option " + s}
		}
		if !inline {
			if len(args) == 0 {
				return nil, errUsage{name + " needs a value"}
			}
			val, args = args[0], args[1:]
		}
		if err := take(a, val); err != nil {
			return nil, errUsage{name + ": " + err.Error()}
		}
	}
	if a.file == "" {
		return nil, errUsage{"which file?"}
	}
	if !slices.Contains(replay.Names, a.opts.Backend) {
		return nil, errUsage{fmt.Sprintf("no backend %q; there are %s", a.opts.Backend, strings.Join(replay.Names, ", "))}
	}
	if a.order != "" {
		if err := a.opts.SetOrder(a.order); err != nil {
			return nil, errUsage{"--order: " + err.Error()}
		}
	}
	return a, nil
}

// runReplay runs a dumped launch again.
func runReplay(args []string, out io.Writer) error {
	a, err := parseReplay(args)
	if err != nil {
		return err
	}
	f, err := dump.Open(a.file, dump.DefaultLimit())
	if err != nil {
		return err
	}
	if a.ptx != "" {
		b, err := os.ReadFile(a.ptx)
		if err != nil {
			return err
		}
		f.PTX = string(b)
	}
	if a.threads != "" {
		if err := os.Setenv(config.Threads, a.threads); err != nil {
			return err
		}
	}
	switch {
	case a.show:
		return showDump(f, out)
	case a.c != "":
		return replay.WriteC(f, a.c, out)
	case a.reduce != "":
		return a.reduced(f, out)
	case a.answer:
		return a.answered(f, out)
	}
	return a.replayed(f, out)
}

// replayed runs it and says what is different.
func (a *replayArgs) replayed(f *dump.File, out io.Writer) error {
	describeDump(f, out)
	r, err := replay.Open(f, a.opts)
	if err != nil {
		return err
	}
	defer r.Close()
	res, err := r.Run(f, a.repeat)
	if err != nil {
		return err
	}
	in := r.Device()
	fmt.Fprintf(out, "on %s: %s, compute capability %d.%d\n", a.opts.Backend, in.Name, in.Major, in.Minor)
	for _, m := range r.Moved() {
		if !m.Variable { // those are where the module has them, and addresses of them are changed too
			fmt.Fprintf(out, "  %d bytes are at %#x, not at %#x: addresses that were found are changed\n", m.Region.Size, m.Now, m.Region.Base)
		}
	}
	if a.repeat > 1 {
		t := slices.Clone(res.Times)
		slices.Sort(t)
		fmt.Fprintf(out, "  time: min %v, median %v of %d\n", t[0].Round(time.Nanosecond), t[len(t)/2].Round(time.Nanosecond), len(t))
	} else {
		fmt.Fprintf(out, "  time: %v\n", res.Times[0].Round(time.Microsecond))
	}
	if a.save != "" {
		if err := saveAfter(f, r, res, a.save); err != nil {
			return err
		}
	}
	return a.judge(f, res, out)
}

// judge compares with the dump.
func (a *replayArgs) judge(f *dump.File, res *replay.Result, out io.Writer) error {
	if res.Fault != nil || f.Fault != "" {
		text := "none"
		if res.Fault != nil {
			text = res.Fault.Error()
		}
		if res.Fault != nil && f.Fault != "" && uint8(res.Fault.Kind) == f.Kind {
			fmt.Fprintf(out, "the same fault: %s\n", text)
			return nil
		}
		fmt.Fprintf(out, "fault: %s; dumped: %s\n", text, cmp.Or(f.Fault, "none"))
		return exitCode(1)
	}
	list, words := replay.Compare(f, res.After, a.tolerance)
	if words == 0 {
		how := "bit for bit"
		if a.tolerance != nil {
			how = "within " + a.tolerance.String()
		}
		fmt.Fprintf(out, "same memory afterwards, %s: %d regions, %d bytes\n", how, len(f.Regions), f.Bytes())
		return nil
	}
	if err := replay.Explain(f, list, a.opts, time.Minute); err != nil {
		fmt.Fprintf(out, "  (where it is stored is not known: %v)\n", err)
	}
	tellDifferences(list, words, out)
	return exitCode(1)
}

// tellDifferences prints what differs.
func tellDifferences(list []replay.Difference, words int, out io.Writer) {
	fmt.Fprintf(out, "DIFFERENT: %d words of 32 bits\n", words)
	for i := range list {
		d := &list[i]
		if d.Difference == 0 {
			fmt.Fprintf(out, "  %d words in %s\n", d.Words, d.Param)
		}
		fmt.Fprintf(out, "    %s\n", d)
	}
}

// describeDump says what a file has, in a line.
func describeDump(f *dump.File, out io.Writer) {
	fmt.Fprintf(out, "%s: grid %s, block %s", demangle.Function(f.Kernel), dims(f.Grid), dims(f.Block))
	if f.Cluster != [3]uint32{} {
		fmt.Fprintf(out, ", cluster %s", dims(f.Cluster))
	}
	if f.Shared > 0 {
		fmt.Fprintf(out, ", %d bytes of dynamic shared memory", f.Shared)
	}
	if f.Cooperative {
		fmt.Fprint(out, ", cooperative")
	}
	fmt.Fprintf(out, "; %d regions, %d bytes", len(f.Regions), f.Bytes())
	if len(f.Textures) > 0 {
		fmt.Fprintf(out, ", %d textures", len(f.Textures))
	}
	fmt.Fprintf(out, "; from %s (%s)\n", f.Backend, f.Device)
	for _, n := range f.Notes {
		fmt.Fprintf(out, "  not in the file: %s\n", n)
	}
}

func dims(d [3]uint32) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }

// showDump lists what a file has.
func showDump(f *dump.File, out io.Writer) error {
	describeDump(f, out)
	if name := demangle.Name(f.Kernel); name != f.Kernel {
		fmt.Fprintf(out, "  function %s, symbol %s\n", name, f.Kernel)
	}
	for i, p := range f.Params {
		if p.Offset+p.Size <= len(f.Values) {
			fmt.Fprintf(out, "  parameter %d, %s: %x\n", i, p.Name, f.Values[p.Offset:p.Offset+p.Size])
		}
	}
	for i := range f.Regions {
		r := &f.Regions[i]
		state := "unchanged"
		if r.Changed {
			state = "changed"
		}
		fmt.Fprintf(out, "  %#x: %d bytes, %s, %s\n", r.Base, r.Size, replay.ParamOf(f, i), state)
	}
	if f.Fault != "" {
		fmt.Fprintf(out, "  it ended with a fault: %s\n", f.Fault)
	}
	return nil
}

// saveAfter writes the dump again with what this run left.
func saveAfter(f *dump.File, r *replay.Runner, res *replay.Result, path string) error {
	n := *f
	in := r.Device()
	n.Device, n.Capability = in.Name, [2]int{in.Major, in.Minor}
	n.Regions, n.After = slices.Clone(f.Regions), res.After
	if res.Fault != nil {
		n.Fault, n.Kind, n.Unread, n.After = res.Fault.Error(), uint8(res.Fault.Kind), true, f.Before
	} else {
		n.Fault, n.Kind, n.Unread = "", 0, false
	}
	return n.Write(path, false)
}

// answered is replay for kudzu compare: the memory goes to --save, the rest to standard output.
func (a *replayArgs) answered(f *dump.File, out io.Writer) error {
	answer := devices.Replayed{}
	r, err := replay.Open(f, a.opts)
	var res *replay.Result
	if err == nil {
		defer r.Close()
		res, err = r.Run(f, 1)
	}
	switch {
	case err != nil:
		answer.Error = err.Error()
	case res.Fault != nil:
		answer.Fault, answer.Kind = res.Fault.Error(), uint8(res.Fault.Kind)
	default:
		err = saveAfter(f, r, res, a.save)
		if err != nil {
			answer.Error = err.Error()
		}
	}
	b, err := json.Marshal(&answer)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// reduced finds the smallest launch that two backends disagree on.
func (a *replayArgs) reduced(f *dump.File, out io.Writer) error {
	describeDump(f, out)
	other := a.opts
	other.Backend = a.against
	small, n, err := replay.Reduce(f, a.opts, other, a.tolerance, a.tries)
	if errors.Is(err, replay.ErrSame) {
		fmt.Fprintf(out, "%s and %s leave the same memory: there is nothing to reduce\n", a.opts.Backend, a.against)
		return nil
	}
	if err != nil {
		return err
	}
	if err := small.Write(a.reduce, false); err != nil {
		return err
	}
	fmt.Fprintf(out, "after %d tries, %s has\n", n, a.reduce)
	describeDump(small, out)
	fmt.Fprintf(out, "  PTX: %d lines of %d\n", strings.Count(small.PTX, "\n"), strings.Count(f.PTX, "\n"))
	return nil
}
