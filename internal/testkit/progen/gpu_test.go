package progen

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"kudzu/internal/backend/cuda"
	"kudzu/internal/backend/hip"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devices"
	"kudzu/internal/testkit"
	"kudzu/internal/testkit/hipdouble"
)

var viaDir = flag.String("via", "", "of TestCUDA: what our compiler made of each program, in this folder (TestTranslate writes it)")

// amdUnits are the approximations: AMD's GPUs compute them with units of their own, within PTX's bounds, not to NVIDIA's bits.
var amdUnits = []string{"ex2.", "lg2.", "sin.", "cos.", "tanh.", "rsqrt.", "rcp.approx", "sqrt.approx", "div.approx", "div.full"}

// TestHIP compares the code for AMD's GPUs with the interpreter: on a GPU, or on what answers for the double (docs/amd.md). KUDZU_HIP_CASES=1
// asks for it.
func TestHIP(t *testing.T) {
	if os.Getenv("KUDZU_HIP_CASES") == "" {
		t.Skip("KUDZU_HIP_CASES is not set")
	}
	cfg := config(t)
	x := &pair{interp: newRunner(t, interp.New(interp.Config{})), name: "hip", refuses: true, catalog: catalogWithout(amdUnits...)}
	b := devices.HIP(cfg)
	if os.Getenv("KUDZU_DOUBLE_RUNNER") != "" {
		lib := hipdouble.Build(t)
		b = hip.New(hip.Config{Compiler: devices.Client(cfg), Library: lib})
		x.after = func() { hipdouble.Reset(lib) } // a kernel that the runner could not run ends the double's device
	}
	x.other = newRunner(t, b)
	x.compare(t)
}

// TestTranslate writes what the programs become for NVIDIA's GPUs into the folder of -via, for TestCUDA on a machine with one.
func TestTranslate(t *testing.T) {
	if *viaDir == "" {
		t.Skip("-via is not given")
	}
	p, err := worker.New("")
	if err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(*viaDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range *seeds {
		seed := *firstSeed + uint64(i)
		if err := testkit.Translate(p.Run, *viaDir, New(catalog(), seed).Text(), "sm_90"); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// guardedSet is what the assembler of driver 580 gets wrong on sm_90: where the guard of a set of 16-bit values or of a testp is false, the register
// does not keep what it held (seeds 5008, 5284, 5508).
var guardedSet = regexp.MustCompile(`@!?p[0-9]+ (set\.[a-z0-9.]*\.(b?f16|[bsu]16)|testp\.)`)

// TestCUDA runs programs on an NVIDIA GPU as they are and, with -via, as our compiler translated them: those two must leave the same. Where
// the GPU itself does not leave what the interpreter does, that is said, too.
func TestCUDA(t *testing.T) {
	devs, err := cuda.New(cuda.Config{}).Open()
	if err != nil {
		t.Skipf("no real driver: %v", err)
	}
	plain := &runner{devs[0], testkit.NewHostPage(t, hostBytes)}
	oracle := newRunner(t, interp.New(interp.Config{}))
	var via *runner
	if *viaDir != "" {
		via = newRunner(t, cuda.New(cuda.Config{Through: testkit.Folder(*viaDir)}))
	}
	differ, refused, assembler := 0, 0, 0
	for i := range *seeds {
		p := New(catalog(), *firstSeed+uint64(i)**seedStep)
		run := func(who string, r *runner) []byte {
			out, err := r.run(p)
			if err != nil && strings.Contains(err.Error(), "ptxas") {
				t.Logf("seed %d %s: %v", p.Seed, who, err)
				return nil
			}
			if err != nil {
				t.Fatalf("seed %d %s: %v\n%s", p.Seed, who, err, p.Text()) // a GPU takes nothing more after a fault
			}
			return out
		}
		want, got := run("interpreted", oracle), run("as it is", plain)
		if got == nil {
			refused++
			continue
		}
		if s := p.firstDifference(got, want, "interpreter"); s != "" {
			differ++
			t.Logf("seed %d as it is: %s", p.Seed, s)
			small := New(catalog(), p.Seed)
			Reduce(small, func(q *Program) bool {
				a, err1 := oracle.run(q)
				b, err2 := plain.run(q)
				return err1 == nil && err2 == nil && q.firstDifference(b, a, "") != ""
			}, *reduce)
			t.Logf("reduced:\n%s", small.Text())
		}
		if via == nil {
			continue
		}
		s := p.firstDifference(run("translated", via), got, "as it is")
		if s != "" && guardedSet.MatchString(p.Text()) {
			assembler++
			t.Logf("seed %d translated: %s; it has a guarded set or testp", p.Seed, s)
			continue
		}
		if s != "" {
			t.Errorf("seed %d translated: %s, interpreter leaves the same as it is: %v", p.Seed, s, bytes.Equal(got, want))
		}
	}
	t.Logf("%d programs, %d of which the GPU runs otherwise than the interpreter, its assembler refuses %d and gets %d wrong", *seeds, differ, refused, assembler)
}
