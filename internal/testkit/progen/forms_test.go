package progen

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kudzu/internal/backend/cpu"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile"
	"kudzu/internal/llvm"
	"kudzu/internal/llvm/release"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"

	"github.com/klauspost/cpuid/v2"
)

var (
	forms      = flag.Int("forms", 2, "how many programs TestForms compares in all their forms")
	formsLimit = flag.Duration("formslimit", 0, "TestForms begins no program after this time; 0: it takes as long as it takes")
)

// target is a compiler: a libLLVM, or the baseline one, and a width of vectors.
type target struct {
	name    string
	runner  *runner
	force   map[string]bool // of the next compilation
	tier    compile.Tier
	client  *compile.Client
	program int // compiled so far
}

// Compile asks for the form that is set.
func (t *target) Compile(req *compile.Request) (*compile.Result, error) {
	r := *req
	r.Options.Force, r.Options.Tier = t.force, t.tier
	t.program++
	return t.client.Compile(&r)
}

// Facts tells about a kernel.
func (t *target) Facts(req *compile.Request) (*compile.Facts, error) { return t.client.Facts(req) }

// targets are every tested libLLVM of this machine and the baseline compiler, for its own processor and for one without AVX-512.
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
	const baseline = "baseline" // KUDZU_LLVM=baseline: nothing else
	if runtime.GOARCH == "amd64" && !slices.Contains(libs, baseline) {
		libs = append(libs, baseline)
	}
	var out []*target
	for _, lib := range libs {
		for _, w := range []string{"native", "AVX2"} {
			to, ok := widths[w]
			if !ok {
				continue
			}
			x := &target{name: lib + " " + w}
			if lib == baseline {
				x.tier = compile.Baseline
			}
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

// formsRun is a comparison of programs in all their forms, and what it counted.
type formsRun struct {
	t                             *testing.T
	targets                       []*target
	oracle                        *runner
	begun, said                   time.Time
	programs, formed              int // programs gone through, forms that they had
	launches, differ, interpreted int // launches compared, those that differ, kernels that were not compiled
}

// TestForms compares programs in all their forms with the interpreter: as the compiler would have them with every libLLVM and width, and
// each form that forced passes give it with one of them. A program that is not compiled is a failure: nothing would be compared.
func TestForms(t *testing.T) {
	t.Setenv("KUDZU_NAN", "exact")
	x := &formsRun{t: t, targets: targets(t), begun: time.Now(), said: time.Now()}
	if len(x.targets) == 0 {
		t.Skip("no libLLVM")
	}
	x.oracle = newRunner(t, interp.New(interp.Config{}))
	for i := range *forms {
		if *formsLimit > 0 && time.Since(x.begun) > *formsLimit {
			break
		}
		x.program(i)
		if time.Since(x.said) > 30*time.Second {
			x.said = time.Now()
			t.Log(x)
		}
	}
	t.Log(x)
	compiled := 0
	for _, c := range x.targets {
		compiled += c.program
		t.Logf("%s: %d compilations", c.name, c.program)
	}
	if compiled < x.launches || x.launches < x.programs*len(x.targets) {
		t.Errorf("%d compilations for %d launches of %d programs", compiled, x.launches, x.programs)
	}
}

// String is the count so far.
func (x *formsRun) String() string {
	return fmt.Sprintf("programs %d, forms %d, launches %d, differ %d, interpreted %d, seconds %.0f", x.programs, x.formed, x.launches, x.differ, x.interpreted, time.Since(x.begun).Seconds())
}

// program goes through the forms of one program.
func (x *formsRun) program(i int) {
	seed := *firstSeed + uint64(i)**seedStep
	x.programs++
	p := New(catalog(), seed)
	fs, err := formsOf(p)
	if err != nil {
		x.interpreted++
		x.t.Errorf("seed %d: not compiled: %v", seed, err)
		return
	}
	want, err := x.oracle.run(p)
	if err != nil {
		x.differ++
		x.t.Errorf("seed %d: interpreter: %v", seed, err)
		return
	}
	x.formed += len(fs)
	for j, f := range fs {
		if j > 0 {
			x.one(x.targets[(i+j)%len(x.targets)], f, seed, want)
			continue
		}
		for _, c := range x.targets {
			x.one(c, nil, seed, want)
		}
	}
}

// one compares a form of a program on one compiler with what the interpreter gave.
func (x *formsRun) one(c *target, f map[string]bool, seed uint64, want []byte) {
	p := New(catalog(), seed)
	x.launches++
	problem := x.compare(c, f, p, want)
	switch {
	case problem == "":
		return
	case strings.HasPrefix(problem, notCompiled):
		x.interpreted++
	default:
		x.differ++
	}
	again := func(p *Program) string {
		want, err := x.oracle.run(p)
		if err != nil {
			return "interpreter: " + err.Error()
		}
		return x.compare(c, f, p, want)
	}
	class := problemClass(c.name, problem)
	Reduce(p, func(p *Program) bool { return problemClass(c.name, again(p)) == class }, *reduce)
	final := again(p)
	x.t.Errorf("seed %d, %s, passes %v: %s; reduced: %s\n%s%s", seed, c.name, f, problem, final, p.Text(), begins(p, final))
}

// compare says what a compiled program leaves that is not wanted, "" if nothing is.
func (x *formsRun) compare(c *target, f map[string]bool, p *Program, want []byte) string {
	c.force = f
	got, err := c.runner.run(p)
	if err != nil {
		return ran(c.name, err)
	}
	return p.firstDifference(got, want, "interpreter")
}
