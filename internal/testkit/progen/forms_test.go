package progen

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/cpu"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile"
	"kudzu/internal/ir"
	"kudzu/internal/llvm"
	"kudzu/internal/llvm/release"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"

	"github.com/klauspost/cpuid/v2"
)

var forms = flag.Int("forms", 2, "how many programs TestForms compares in all their forms")

// target is a compiler: a libLLVM and a width of vectors.
type target struct {
	name    string
	runner  *runner
	force   map[string]bool // of the next compilation
	client  *compile.Client
	program int // compiled so far
}

// Compile asks for the form that is set.
func (t *target) Compile(req *compile.Request) (*compile.Result, error) {
	r := *req
	r.Options.Force = t.force
	t.program++
	return t.client.Compile(&r)
}

// Facts tells about a kernel.
func (t *target) Facts(req *compile.Request) (*compile.Facts, error) { return t.client.Facts(req) }

// targets are every tested libLLVM of this machine, for its own processor and for one without AVX-512.
func targets(t *testing.T) []*target {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	widths := map[string]compile.Target{"native": {}}
	if runtime.GOARCH == "amd64" && cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX2, cpuid.FMA3, cpuid.F16C) {
		widths["AVX2"] = compile.Target{Triple: "x86_64-linux-gnu", CPU: "x86-64-v3"}
	}
	var libs []string // as KUDZU_LLVM names them
	if s := os.Getenv("KUDZU_LLVM"); s != "" {
		libs = strings.Split(s, ",")
	} else {
		for _, v := range release.Tested {
			for _, name := range release.Names(v) {
				if _, err := llvm.Open(name); err == nil {
					libs = append(libs, name)
					break
				}
			}
		}
	}
	var out []*target
	for _, lib := range libs {
		for _, w := range []string{"native", "AVX2"} {
			to, ok := widths[w]
			if !ok {
				continue
			}
			x := &target{name: lib + " " + w}
			x.client = compile.New(compile.Config{Command: []string{self, "compiler"}, Target: to, Env: with(os.Environ(), "KUDZU_LLVM", lib)})
			x.runner = newRunner(t, cpu.New(cpu.Config{Compiler: x}))
			out = append(out, x)
		}
	}
	return out
}

// with is an environment in which a variable has a value.
func with(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	return append(env, name+"="+value)
}

// formsOf are the settings of pass.Config.Force under which a program's code differs, the first of them none: each forcible pass on and off,
// all on, all off.
func formsOf(p *Program) ([]map[string]bool, error) {
	all, none := map[string]bool{}, map[string]bool{}
	list := []map[string]bool{nil}
	for _, name := range pass.Forcible() {
		if name != "width" { // leaves nothing for the others
			all[name] = true
		}
		none[name] = false
		list = append(list, map[string]bool{name: true}, map[string]bool{name: false})
	}
	seen := map[string]bool{}
	var out []map[string]bool
	for _, f := range append(list, all, none) {
		m, err := ptx.ParseModule(p.Text())
		if err != nil {
			return nil, err
		}
		k, err := lower.Kernel(m, "k", lower.Options{})
		if err != nil {
			return nil, err
		}
		if err := pass.Run(k, pass.Config{Block: p.Block, Force: f, Verify: true}); err != nil {
			return nil, fmt.Errorf("%v: %w", f, err)
		}
		if s := fmt.Sprint(k.Width, k.Jam, k); !seen[s] {
			seen[s] = true
			out = append(out, f)
		}
	}
	return out, nil
}

// TestForms compares programs in all their forms with the interpreter: as the compiler would have them with every libLLVM and width, and
// each form that forced passes give it with one of them.
func TestForms(t *testing.T) {
	t.Setenv("KUDZU_NAN", "exact")
	ts := targets(t)
	if len(ts) == 0 {
		t.Skip("no libLLVM")
	}
	oracle := newRunner(t, interp.New(interp.Config{}))
	unsupported := 0
	differ := func(x *target, f map[string]bool, p *Program) string {
		want, err := oracle.run(p)
		if err != nil {
			return "interpreter: " + err.Error()
		}
		x.force = f
		got, err := x.runner.run(p)
		var u *backend.Unsupported
		if errors.As(err, &u) {
			if unsupported++; unsupported == 1 {
				t.Logf("not compiled: %v", err)
			}
			return ""
		}
		if err != nil {
			return x.name + ": " + err.Error()
		}
		return p.firstDifference(got, want, "interpreter")
	}
	one := func(x *target, f map[string]bool, seed uint64) {
		p := New(catalog(), seed)
		problem := differ(x, f, p)
		if problem == "" {
			return
		}
		class := (&pair{name: x.name}).problemClass(problem)
		Reduce(p, func(p *Program) bool { return (&pair{name: x.name}).problemClass(differ(x, f, p)) == class }, *reduce)
		final := differ(x, f, p)
		t.Errorf("seed %d, %s, passes %v: %s; reduced: %s\n%s%s", seed, x.name, f, problem, final, p.Text(), begins(p, final))
	}
	total := 0
	for i := range *forms {
		seed := *firstSeed + uint64(i)
		fs, err := formsOf(New(catalog(), seed))
		var u *ir.Unsupported
		if errors.As(err, &u) { // such a kernel runs on the interpreter: nothing to compare
			unsupported++
			continue
		}
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		total += len(fs)
		for j, f := range fs {
			if j > 0 {
				one(ts[(i+j)%len(ts)], f, seed)
				continue
			}
			for _, x := range ts {
				one(x, nil, seed)
			}
		}
	}
	compiled := 0
	for _, x := range ts {
		compiled += x.program
	}
	if unsupported > *forms/4+1 {
		t.Errorf("%d of %d programs are not compiled: the comparison has become empty", unsupported, *forms)
	}
	t.Logf("%d programs in %d forms, %d compilations, %d not compiled, %d compilers", *forms, total, compiled, unsupported, len(ts))
}
