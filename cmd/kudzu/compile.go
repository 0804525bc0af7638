package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/compile/worker"
	"kudzu/internal/config"
	"kudzu/internal/llvm"
	"kudzu/internal/ptx"
)

// emits are the stages that can be shown, in the order of the pipeline.
var emits = []string{"ptx", "ir", "ll", "opt", "asm", "obj", "image"}

type compileArgs struct {
	file, kernel, dump, out string
	block                   [3]uint32
	emit                    []string
	all                     bool        // every kernel of the file, into the cache
	blocks                  [][3]uint32 // all: the shapes
	jobs                    int         // all: compiler processes; 0 is one a processor
	target                  compile.Target
	tier                    compile.Tier
}

func parseCompileArgs(args []string) (*compileArgs, error) {
	c := &compileArgs{}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if !strings.HasPrefix(a, "-") {
			if c.file != "" {
				return nil, errUsage{"one file at a time"}
			}
			c.file = a
			continue
		}
		name, val, inline := strings.Cut(a, "=")
		if name == "--all" {
			c.all = true
			continue
		}
		if !inline {
			if len(args) == 0 {
				return nil, errUsage{name + " needs a value"}
			}
			val, args = args[0], args[1:]
		}
		if err := c.set(name, val); err != nil {
			return nil, err
		}
	}
	if c.file == "" {
		return nil, errUsage{"which file?"}
	}
	switch {
	case c.all && (c.emit != nil || c.dump != "" || c.out != "" || c.target != (compile.Target{})):
		return nil, errUsage{"--all puts kernels into the cache; --emit, --dump, --cpu and -o show one"}
	case !c.all && (len(c.blocks) > 1 || c.jobs != 0):
		return nil, errUsage{"several shapes and --jobs are for --all"}
	}
	return c, nil
}

func (c *compileArgs) set(name, val string) error {
	switch name {
	case "--kernel":
		c.kernel = val
	case "--dump":
		c.dump = val
	case "--cpu":
		c.target = compile.Target{Triple: "x86_64-linux-gnu", CPU: val}
	case "-o", "--out":
		c.out = val
	case "--target":
		if t, ok := compile.GPUTarget(val); ok {
			c.target = t
		} else if val != "cpu" {
			return errUsage{fmt.Sprintf("no target %q; there are cpu, sm_70 to sm_90a, gfx1100 …", val)}
		}
	case "--tier":
		switch val {
		case compile.Optimised.String():
			c.tier = compile.Optimised
		case compile.Baseline.String():
			c.tier = compile.Baseline
		default:
			return errUsage{fmt.Sprintf("no tier %q; there are optimised and baseline", val)}
		}
	case "--block":
		c.block = [3]uint32{}
		for i, p := range strings.Split(val, ",") {
			n, err := strconv.ParseUint(p, 10, 32)
			if err != nil || i > 2 || n == 0 {
				return errUsage{fmt.Sprintf("block %q: up to three positive numbers, as in 32,8,1", val)}
			}
			c.block[i] = uint32(n)
		}
		for i := range c.block {
			c.block[i] = max(c.block[i], 1)
		}
		c.blocks = append(c.blocks, c.block)
	case "--jobs":
		n, err := strconv.Atoi(val)
		if err != nil || n < 1 || n > 1024 {
			return errUsage{fmt.Sprintf("jobs %q: a number from 1 to 1024", val)}
		}
		c.jobs = n
	case "--emit":
		for _, e := range strings.Split(val, ",") {
			if !slices.Contains(emits, e) {
				return errUsage{fmt.Sprintf("cannot emit %q; there are %s", e, strings.Join(emits, ", "))}
			}
			c.emit = append(c.emit, e)
		}
	default:
		return errUsage{"unknown option " + name}
	}
	return nil
}

// runCompile compiles in this process: what it shows is what the compiler process does.
func runCompile(args []string, out io.Writer) error {
	c, err := parseCompileArgs(args)
	if err != nil {
		return err
	}
	if c.all {
		return compileAll(c, out)
	}
	text, err := os.ReadFile(c.file)
	if err != nil {
		return err
	}
	index, err := ptx.IndexModule(string(text))
	if err != nil {
		return fmt.Errorf("%s:\n%w", c.file, err)
	}
	var kernels []string
	for _, k := range index.Kernels() {
		if c.kernel == "" || k.Name == c.kernel {
			kernels = append(kernels, k.Name)
		}
	}
	if len(kernels) == 0 && c.kernel != "" {
		return fmt.Errorf("%s has no kernel %s", c.file, c.kernel)
	}
	if len(kernels) == 0 {
		return fmt.Errorf("%s has no kernels", c.file)
	}
	p, err := c.pipeline()
	if err != nil {
		return err
	}
	if c.target.GPU() && c.kernel == "" && len(kernels) > 1 {
		return compileModule(p, string(text), c, out)
	}
	failed := 0
	for _, k := range kernels {
		if err := compileOne(p, index, k, c, out); err != nil {
			fmt.Fprintf(os.Stderr, "kudzu: kernel %s: %v\n", k, err)
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d kernels failed", failed, len(kernels))
	}
	return nil
}

// pipeline is the compiler; baseline code needs no libLLVM.
func (c *compileArgs) pipeline() (*worker.Pipeline, error) {
	if c.tier == compile.Baseline {
		return worker.NewBaseline(), nil
	}
	p, err := worker.New("")
	var missing *llvm.NotFound
	if errors.As(err, &missing) {
		return nil, fmt.Errorf("nothing can be compiled here but with --tier baseline: %w", err)
	}
	return p, err
}

// compileModule compiles all kernels of a file for a GPU into one result.
func compileModule(p *worker.Pipeline, text string, c *compileArgs, out io.Writer) error {
	name := strings.TrimSuffix(filepath.Base(c.file), filepath.Ext(c.file))
	start := time.Now()
	res, err := p.Run(&compile.Request{PTX: text, Emit: c.texts(), Dump: c.dump, Target: c.target, Options: c.options()})
	if err != nil {
		return err
	}
	return c.show(out, name, res, start)
}

func compileOne(p *worker.Pipeline, index *ptx.Index, kernel string, c *compileArgs, out io.Writer) error {
	slice, err := index.Slice(kernel)
	if err != nil {
		return err
	}
	start := time.Now()
	res, err := p.Run(&compile.Request{PTX: slice.Text, Kernel: kernel, Block: c.block, Emit: c.texts(), Dump: c.dump, Target: c.target, Options: c.options()})
	if err != nil {
		return err
	}
	return c.show(out, kernel, res, start)
}

// options are those of the variables that change the code for the target.
func (c *compileArgs) options() compile.Options {
	return compile.Options{Tier: c.tier, NoMatrix: config.Get(config.AMDMatrix) == "off"}
}

// texts are the stages that the compiler gives as text.
func (c *compileArgs) texts() []string {
	return slices.DeleteFunc(slices.Clone(c.emit), func(e string) bool { return e == "image" || e == "obj" })
}

// show writes what was asked for, or how long it took.
func (c *compileArgs) show(out io.Writer, kernel string, res *compile.Result, start time.Time) error {
	for _, e := range emits {
		data, ok := res.Emitted[e]
		if e == "image" || e == "obj" {
			data, ok = string(res.Image), slices.Contains(c.emit, e)
		}
		if ok {
			if err := c.write(out, kernel, e, data); err != nil {
				return err
			}
		}
	}
	if d, ok := res.Emitted["dump"]; ok {
		if err := c.write(out, kernel, "dump", d); err != nil {
			return err
		}
	}
	if len(c.emit) == 0 && c.dump == "" {
		what := "image"
		if c.target.GPU() {
			what = "code"
		}
		fmt.Fprintf(out, "%s: %d bytes of %s in %.1f ms (", kernel, len(res.Image), what, float64(time.Since(start).Microseconds())/1e3)
		for i, s := range res.Stages {
			if i > 0 {
				fmt.Fprint(out, ", ")
			}
			fmt.Fprintf(out, "%s %.1f", s.Name, float64(s.Nanos)/1e6)
		}
		fmt.Fprintln(out, ")")
	}
	return nil
}

// write puts one stage into a file below -o, or prints it; an image is never printed.
func (c *compileArgs) write(out io.Writer, kernel, stage, data string) error {
	if c.out == "" && stage != "image" && stage != "obj" {
		_, err := fmt.Fprintf(out, "; %s: %s\n%s\n", kernel, stage, strings.TrimRight(data, "\n"))
		return err
	}
	dir := c.out
	if dir == "" {
		dir = "."
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, fileName(kernel)+"."+stage)
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, path)
	return err
}

// fileName keeps a kernel's name from being a path; mangled names can be longer than a file name may be.
func fileName(kernel string) string {
	s := strings.Map(func(r rune) rune {
		if r == '/' || r == '.' || r < ' ' {
			return '_'
		}
		return r
	}, kernel)
	return s[:min(len(s), 200)]
}
