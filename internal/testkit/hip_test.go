package testkit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/hip"
	"kudzu/internal/cache"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/hipdouble"
)

func caseModule(name string) func(ptx string) (*backend.Module, error) {
	return func(ptx string) (*backend.Module, error) { return driver.Describe(name, ptx, capability(ptx)) }
}

// TestCasesDouble runs the cases through backend/hip: every kernel's parameters, variables and shared memory pass through code
// object, linker, loader and argument block. What they compute is the interpreter's affair.
func TestCasesDouble(t *testing.T) {
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	lib := hipdouble.Build(t)
	runner := hipdouble.NewInterpreted(t, lib)
	devs, err := hip.New(hip.Config{Compiler: runner, Library: lib}).Open()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for i, c := range cases {
		name := caseName(c)
		if *onlyCase != "" && name != *onlyCase || testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if simtMissing[name] == deviceLaunches {
				t.Skip("the compiler refuses it; it runs nothing here but the interpreter")
			}
			defer runner.Reset() // after a fault
			for i, r := range c.Runs {
				one := *c
				one.Runs = c.Runs[i : i+1]
				runner.Reset()
				out, err := one.Execute(devs[0], caseModule(name))
				var u *backend.Unsupported
				if errors.As(err, &u) && r.Cluster != [3]uint32{} {
					return // AMD's GPUs have no clusters
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.Fault = asHIP(r.Fault); r.RecFault != "" {
					r.RecFault = asHIP(r.RecFault)
				}
				compareAll(t, &one, out)
			}
			ran++
		})
	}
	if *onlyCase == "" && ran < len(cases)/8 {
		t.Errorf("%d of %d cases ran", ran, len(cases))
	}
}

// asHIP is the fault that HIP has for one of CUDA's: it knows fewer.
func asHIP(fault string) string {
	switch fault {
	case "misaligned":
		return "address"
	case "instruction":
		return "trap"
	case "deadlock":
		return "timeout"
	}
	return fault
}

// TestCasesHIP runs the cases on AMD's instructions: on a GPU, or on what answers for the double (docs/amd.md). KUDZU_HIP_CASES=1
// asks for it; KUDZU_HIP_TABLE is where the table of results goes.
func TestCasesHIP(t *testing.T) {
	if os.Getenv("KUDZU_HIP_CASES") == "" {
		t.Skip("KUDZU_HIP_CASES is not set")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir})}
	b := devices.HIP(cfg)
	again := func() {}
	if os.Getenv("KUDZU_DOUBLE_RUNNER") != "" {
		lib := hipdouble.Build(t)
		b = hip.New(hip.Config{Compiler: devices.Client(cfg), Library: lib})
		again = func() { hipdouble.Reset(lib) } // a kernel that the runner could not run ends the double's device
	}
	devs, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	tab := &table{device: devs[0].Info().Name, chapters: map[string]*chapterResult{}}
	for _, c := range cases {
		name := caseName(c)
		if *onlyCase != "" && !strings.HasPrefix(name, *onlyCase) || strings.HasPrefix(name, "fault/") {
			continue
		}
		start := time.Now()
		err := runCase(c, devs[0], name, again)
		tab.add(name, err, time.Since(start))
		if err != nil {
			t.Logf("%s: %v", name, err)
		}
	}
	t.Log(tab)
	if to := os.Getenv("KUDZU_HIP_TABLE"); to != "" {
		if err := os.WriteFile(to, []byte(tab.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// speaks takes memory, prints what it wrote there, and gives it back; thread 70 fails an assertion.
const speaks = `.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 fn, .param .b64 c);
.global .align 1 .b8 fmt[] = {116, 37, 100, 10, 0};
.visible .entry k(.param .u32 first)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %a<4>;
	mov.u32 %r1, %tid.x;
	ld.param.u32 %r2, [first];
	add.u32 %r1, %r1, %r2;
	{
	.param .b64 q0;
	.param .b64 q1;
	st.param.b64 [q1], 16;
	call (q0), malloc, (q1);
	ld.param.b64 %a1, [q0];
	}
	st.u32 [%a1], %r1;
	mov.u64 %a2, fmt;
	cvta.global.u64 %a2, %a2;
	{
	.param .b32 q0;
	.param .b64 q1;
	.param .b64 q2;
	st.param.b64 [q1], %a2;
	st.param.b64 [q2], %a1;
	call (q0), vprintf, (q1, q2);
	}
	{
	.param .b64 q0;
	st.param.b64 [q0], %a1;
	call free, (q0);
	}
	setp.ne.u32 %p1, %r1, 70;
	@%p1 bra END;
	{
	.param .b64 q0;
	.param .b64 q1;
	.param .b32 q2;
	.param .b64 q3;
	.param .b64 q4;
	st.param.b64 [q0], %a2;
	st.param.b64 [q1], %a2;
	st.param.b32 [q2], 42;
	st.param.b64 [q3], %a2;
	st.param.b64 [q4], 1;
	call __assertfail, (q0, q1, q2, q3, q4);
	}
END:
	ret;
}
`

// TestRuntimeHIP has AMD's instructions print, allocate and assert (package devrt), where TestCasesHIP runs.
func TestRuntimeHIP(t *testing.T) {
	if os.Getenv("KUDZU_HIP_CASES") == "" {
		t.Skip("KUDZU_HIP_CASES is not set")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir})}
	var out, complaints strings.Builder
	h := hip.Config{Compiler: devices.Client(cfg), Out: &out, Err: &complaints}
	if os.Getenv("KUDZU_DOUBLE_RUNNER") != "" {
		h.Library = hipdouble.Build(t)
	}
	devs, err := hip.New(h).Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := caseModule("speaks")(speaks)
	if err != nil {
		t.Fatal(err)
	}
	p, err := devs[0].Load(m)
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	q, err := devs[0].NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	launch := func(first byte) error {
		l := &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: []byte{first, 0, 0, 0}}
		return errors.Join(q.Launch(k, l), q.Sync())
	}
	if err := launch(0); err != nil {
		t.Fatal(err)
	}
	for i := range 64 {
		if line := fmt.Sprintf("t%d\n", i); strings.Count("\n"+out.String(), "\n"+line) != 1 {
			t.Errorf("line %q is not there once in %q", line, out.String())
		}
	}
	var f *backend.Fault
	if err := launch(64); !errors.As(err, &f) || f.Kind != backend.FaultAssert || !strings.Contains(complaints.String(), ":42: ") {
		t.Errorf("a failed assertion: %v, %q", err, complaints.String())
	}
}

// runCase executes a case run by run, so that one which ends the device does not hide those after it.
func runCase(c *Case, d backend.Device, name string, again func()) error {
	var bad []error
	for i, r := range c.Runs {
		one := *c
		one.Runs = c.Runs[i : i+1]
		out, err := one.Execute(d, caseModule(name))
		if err == nil {
			err = r.Compare(out[0])
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("run %d of %d: %w", i+1, len(c.Runs), err))
			again()
		}
	}
	return errors.Join(bad...)
}

type chapterResult struct{ pass, wrong, refused int }

// table is what TestCasesHIP found, chapter by chapter.
type table struct {
	device   string
	chapters map[string]*chapterResult
	failed   []string
	took     time.Duration
}

func (t *table) add(name string, err error, took time.Duration) {
	ch := filepath.Dir(name)
	r := t.chapters[ch]
	if r == nil {
		r = &chapterResult{}
		t.chapters[ch] = r
	}
	t.took += took
	var u *backend.Unsupported
	switch {
	case err == nil:
		r.pass++
		return
	case errors.As(err, &u):
		r.refused++
	default:
		r.wrong++
	}
	t.failed = append(t.failed, fmt.Sprintf("%s: %v", name, err))
}

// String is the table.
func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %.0f s\n\n| chapter | pass | wrong | refused |\n|---|---|---|---|\n", t.device, t.took.Seconds())
	var names []string
	var all chapterResult
	for n, r := range t.chapters {
		names = append(names, n)
		all.pass, all.wrong, all.refused = all.pass+r.pass, all.wrong+r.wrong, all.refused+r.refused
	}
	sort.Strings(names)
	for _, n := range names {
		r := t.chapters[n]
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", n, r.pass, r.wrong, r.refused)
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d |\n\n", all.pass, all.wrong, all.refused)
	for _, f := range t.failed {
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(f, "\n", " "))
	}
	return b.String()
}
