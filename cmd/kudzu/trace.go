package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"kudzu/internal/config"
	"kudzu/internal/demangle"
	"kudzu/internal/driver"
	"kudzu/internal/trace"
)

// traceVerb is something that is done with a trace.
type traceVerb struct {
	name, args, about string
	run               func(args []string, out io.Writer) error
}

// traceVerbs is a function because usage lists it. A program of such a name is traced with kudzu trace -- NAME.
func traceVerbs() []traceVerb {
	return []traceVerb{
		{"show", "[-n COUNT] [--thread N] [--time FROM[,TO]] [--only REGEXP] [--lib NAMES] [--failed] [--all] [--no-time] [--mangled] [--format text|json] TRACE", "print its calls", runTraceShow},
		{"grep", "[options of show] REGEXP TRACE", "print the lines that match", runTraceGrep},
		{"stats", "[--thread N] [--time FROM[,TO]] [--only REGEXP] [--lib NAMES] [--mangled] [--json] TRACE", "count calls and kernels, and add up their times", runTraceStats},
		{"diff", "[--ignore REGEXP] [--polls] [--nested] [--no-outs] [--mangled] [-C LINES] A B", "show the first call that differs", runTraceDiff},
		{"ptx", "TRACE", "write the PTX in its modules beside them", runTracePTX},
		{"timeline", "[-o PAGE.html] [--perfetto FILE.json] [--mangled] TRACE", "write a page for a browser: calls, queues, kernels, memory over time", runTraceTimeline},
	}
}

// traceWith is what the options of kudzu trace ask for.
type traceWith struct {
	dir, format, log string
	filter           recordFilter
	real             bool
	realDirs         string
	mangled          bool
}

func (t *traceWith) options() map[string]option {
	set := func(dst *string) func(*runWith, string) error {
		return func(_ *runWith, val string) error { *dst = val; return nil }
	}
	return map[string]option{
		"-o":       {what: "folder", put: set(&t.dir)},
		"--log":    {what: "file", put: set(&t.log)},
		"--format": {what: "text, json or binary", put: set(&t.format)},
		"--only": {what: "regular expression", put: func(_ *runWith, val string) error {
			return t.filter.names(val)
		}},
		"--lib": {what: "list of libraries", put: func(_ *runWith, val string) error {
			t.filter.libs = strings.Split(val, ",")
			return nil
		}},
		"--mangled": {put: func(_ *runWith, _ string) error {
			t.mangled = true
			return nil
		}},
		"--real": {what: "list of folders", optional: true, put: func(_ *runWith, val string) error {
			t.real, t.realDirs = true, val
			return nil
		}},
	}
}

// runTrace runs a program and records its calls, or does something with a trace.
func runTrace(args []string, out io.Writer) error {
	if len(args) > 0 {
		if args[0] == "-h" || args[0] == "--help" {
			return traceHelp(out)
		}
		for _, v := range traceVerbs() {
			if v.name == args[0] {
				if slices.Contains(args[1:], "-h") || slices.Contains(args[1:], "--help") {
					fmt.Fprintf(out, "usage: kudzu trace %s %s\n\n%s\n", v.name, v.args, v.about)
					return nil
				}
				err := v.run(args[1:], out)
				var usage errUsage
				if errors.As(err, &usage) {
					return fmt.Errorf("%s\nusage: kudzu trace %s %s", usage.msg, v.name, v.args)
				}
				return err
			}
		}
	}
	t := traceWith{format: "text"}
	o, args, err := runOptions(args, t.options())
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"text", "json", "binary"}, t.format) {
		return errUsage{fmt.Sprintf("no format %q; there are text, json, binary", t.format)}
	}
	var p child
	if t.real {
		p, err = o.find(args)
	} else {
		p, err = o.prepare(args)
	}
	if err != nil {
		return err
	}
	if err := t.folder(args[0]); err != nil {
		return err
	}
	if t.real {
		if p.env, err = t.realEnv(p.env); err != nil {
			return err
		}
	}
	lib, err := libraryDir()
	if err != nil {
		return err
	}
	p.env = withNVTX(setEnv(p.env, config.Trace, t.dir), lib)
	return t.run(p, o.set)
}

func traceHelp(out io.Writer) error {
	if err := runHelp([]string{"trace"}, out); err != nil {
		return err
	}
	fmt.Fprintln(out, "\n  -o DIR        the trace's folder; default: PROGRAM.trace here"+
		"\n  --format F    what is written while the program runs: text (the default), json, or nothing (binary)"+
		"\n  --log FILE    where; default: standard error"+
		"\n  --only REGEXP, --lib NAMES   of which functions or kernels, of which libraries (cuda,cublas)"+
		"\n  --mangled     names of kernels as modules have them, not as C++ does"+
		"\n  --real[=DIRS] the calls go to NVIDIA's own driver and libraries, found in these folders"+
		"\n  --backend, --load, --timeout   as for kudzu run\n\nWith a trace (a folder or one of its .kzt files):")
	for _, v := range traceVerbs() {
		fmt.Fprintf(out, "  kudzu trace %s %s\n      %s\n", v.name, v.args, v.about)
	}
	return nil
}

// folder makes the trace's folder: the one asked for, which must have no trace in it, or PROGRAM.trace here.
func (t *traceWith) folder(program string) error {
	asked := t.dir != ""
	if !asked {
		t.dir = filepath.Base(program) + ".trace"
	}
	for n := 2; ; n++ {
		old, err := filepath.Glob(filepath.Join(t.dir, "*"+trace.Ext))
		if err != nil {
			return err
		}
		if len(old) == 0 {
			break
		}
		if asked {
			return fmt.Errorf("%s has a trace in it already", t.dir)
		}
		t.dir = fmt.Sprintf("%s.trace.%d", filepath.Base(program), n)
	}
	if err := os.MkdirAll(filepath.Join(t.dir, trace.ModulesDir), 0o755); err != nil {
		return err
	}
	abs, err := filepath.Abs(t.dir)
	t.dir = abs
	return err
}

// run runs the program, follows its trace, and says where it is.
func (t *traceWith) run(p child, set [][2]string) (err error) {
	m := trace.Meta{Command: p.args, Start: time.Now(), Version: Version, CUDA: driver.VersionText(driver.Version()), Machine: runtime.GOOS + "/" + runtime.GOARCH}
	if host, err := os.Hostname(); err == nil {
		m.Machine = host + " " + m.Machine
	}
	for _, kv := range set {
		if kv[0] == config.Backend {
			m.Backend = kv[1]
		}
	}
	if t.real {
		m.Real = strings.Split(t.realDirs, ":")
	}
	if err := m.Write(t.dir); err != nil {
		return err
	}
	f, err := t.follower()
	if err != nil {
		return err
	}
	wait, err := p.begin()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	code := f.follow(ended)
	m.End = time.Now()
	n := exitOf(code)
	m.ExitCode = &n
	if err := m.Write(t.dir); err != nil {
		return err
	}
	t.summary()
	return code
}

func exitOf(err error) int {
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	return 1
}

// soon is how many bytes of modules are taken apart at once. Those of large programs have hundreds of megabytes of text.
const soon = 4 << 20

// modules says what modules there are, and takes PTX out of them where that is no wait.
func (t *traceWith) modules(shown string) (string, error) {
	n, bytes, err := trace.Modules(t.dir)
	if err != nil || n == 0 {
		return "", err
	}
	if bytes > soon {
		return fmt.Sprintf("%s (kudzu trace ptx %s takes PTX out of them)", plural(n, "module"), shown), nil
	}
	x, err := trace.Extract(t.dir)
	return fmt.Sprintf("%s with %s of PTX", plural(x.Modules, "module"), plural(x.Texts, "text")), err
}

// runTracePTX writes the PTX in a trace's modules beside them.
func runTracePTX(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errUsage{"ptx takes one trace"}
	}
	if st, err := os.Stat(args[0]); err != nil || !st.IsDir() {
		return fmt.Errorf("%s is no folder of a trace", args[0])
	}
	x, err := trace.Extract(args[0])
	if err == nil {
		fmt.Fprintf(out, "%s: %s with %s of PTX\n", filepath.Join(args[0], trace.ModulesDir), plural(x.Modules, "module"), plural(x.Texts, "text"))
	}
	return err
}

// summary says in one line what there is.
func (t *traceWith) summary() {
	shown := t.dir
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, t.dir); err == nil && !strings.HasPrefix(rel, "..") {
			shown = rel
		}
	}
	modules, err := t.modules(shown)
	if err != nil {
		fmt.Fprintf(os.Stderr, "kudzu: modules of the trace: %v\n", err)
	}
	tr, err := trace.Open(t.dir)
	if err != nil {
		fmt.Fprintf(os.Stderr, "kudzu: the program made no call that could be recorded (%v)\n", err)
		return
	}
	defer tr.Close()
	threads, lost := 0, 0
	for _, p := range tr.Processes {
		threads += len(p.Threads)
		lost += p.Lost
	}
	line := fmt.Sprintf("%s in %s, %s", plural(tr.Calls, "call"), plural(len(tr.Processes), "process"), plural(threads, "thread"))
	if modules != "" {
		line += "; " + modules
	}
	if lost > 0 {
		line += fmt.Sprintf("; %d records were lost", lost)
	}
	fmt.Fprintf(os.Stderr, "kudzu: %s: %s\n", shown, line)
}

func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// recordFilter is which records are shown.
type recordFilter struct {
	only     *regexp.Regexp  // names of functions and of kernels, as they are or as C++ has them
	fits     map[string]bool // kernels that were asked about
	libs     []string        // cublas, cuda …
	thread   int
	from, to int64 // nanoseconds; to 0: no end
	failed   bool
}

func (f *recordFilter) names(expr string) (err error) {
	if f.only, err = regexp.Compile(expr); err != nil {
		return errUsage{err.Error()}
	}
	return nil
}

// wants is for records whose calls are decoded.
func (f *recordFilter) wants(r *trace.Record) bool {
	if f.thread != 0 && r.Thread.Number != f.thread && r.Thread.TID != f.thread {
		return false
	}
	if f.from != 0 && r.Time < f.from || f.to != 0 && r.Time > f.to {
		return false
	}
	c := r.Call
	if c == nil {
		return !f.failed && f.libs == nil && (f.only == nil || r.Event != nil && f.kernel(r.Event.Text))
	}
	if f.failed && (!c.Failed || c.Waiting) {
		return false
	}
	if f.libs != nil && !slices.ContainsFunc(f.libs, func(l string) bool { return isLibrary(c.Library, l) }) {
		return false
	}
	return f.only == nil || f.only.MatchString(c.Name) || c.Launch != nil && f.kernel(c.Launch.Kernel)
}

// kernel reports whether --only fits one of a kernel's two names.
func (f *recordFilter) kernel(name string) bool {
	fits, ok := f.fits[name]
	if !ok {
		fits = matchesKernel(f.only, name)
		if f.fits == nil {
			f.fits = map[string]bool{}
		}
		f.fits[name] = fits
	}
	return fits
}

func matchesKernel(re *regexp.Regexp, name string) bool {
	return re.MatchString(name) || re.MatchString(demangle.Name(name))
}

// isLibrary knows libcublas.so.12 by cublas, libcublas, libcublas.so and its whole name.
func isLibrary(soname, name string) bool {
	stem, _, _ := strings.Cut(soname, ".so")
	return name == soname || strings.TrimPrefix(stem, "lib") == strings.TrimPrefix(name, "lib") || name == stem+".so"
}
