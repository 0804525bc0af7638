package testkit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/compare"
	"kudzu/internal/backend/tap"
	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
)

// comparing opens a CPU whose launches are compared; lines reads what was reported so far.
func comparing(t *testing.T, limits string, ref compare.Reference) (dev backend.Device, lines func() []compare.Line) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lim, err := compare.ParseLimits(limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(config.Tier, compile.Optimised.String()) // what is made in the background would outlive the test's folder
	b := devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Dir: dir})})
	file := filepath.Join(dir, "report")
	devs, err := devices.Compare(compare.Config{Device: b, Limits: lim, Reference: ref, Report: file, Dump: filepath.Join(dir, "dump")}).Open()
	if err != nil {
		t.Fatal(err)
	}
	return devs[0], func() (all []compare.Line) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			var l compare.Line
			if err := json.Unmarshal(s, &l); err != nil {
				t.Fatalf("%v: %s", err, s)
			}
			all = append(all, l)
		}
		return all
	}
}

func describe(ptx string) (*backend.Module, error) {
	return driver.Describe("case", ptx, capability(ptx))
}

// TestCasesCompared runs the case files with each launch compared: both executors leave the same memory, and the case's values are
// still right, although the interpreter ran in the same memory before.
func TestCasesCompared(t *testing.T) {
	dev, lines := comparing(t, "launches=1000", nil)
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		name := caseName(c)
		out, err := c.Execute(dev, describe)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compareAll(t, c, out)
	}
	count := map[string]int{}
	for _, l := range lines() {
		count[l.Outcome]++
		switch l.Outcome {
		case compare.Different:
			t.Errorf("%+v", l)
		case compare.Explained, compare.Skipped:
			count[l.Outcome+": "+l.Why]++
			t.Logf("%s: %s: %s", l.Kernel, l.Outcome, l.Why)
		}
	}
	t.Log(count)
	if count[compare.Same] < 500 {
		t.Errorf("only %d launches were compared", count[compare.Same])
	}
}

// wrong is a reference that takes one instruction for another.
type wrong struct {
	compare.Loader
	from, to string
}

func (w wrong) LoadWith(m *backend.Module, vars func(string) (backend.Addr, uint64, error)) (backend.Program, error) {
	own := *m
	own.Slice = func(kernel string) (string, func(int) int, error) {
		text, line, err := m.Slice(kernel)
		return strings.ReplaceAll(text, w.from, w.to), line, err
	}
	return w.Loader.LoadWith(&own, vars)
}

const compared = `.version 8.0
.target sm_80
.address_size 64
.global .u32 count;
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd0, %r0, 4;
	ld.param.u64 %rd1, [p];
	add.u64 %rd1, %rd1, %rd0;
	ld.global.u32 %r1, [%rd1];
	shl.b32 %r1, %r1, 1;
	st.global.u32 [%rd1], %r1;
	red.global.add.u32 [count], 1;
	ret;
}
.visible .entry spin(.param .u64 p)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r2, 0;
L:	add.u32 %r2, %r2, 1;
	st.global.u32 [%rd1], %r2;
	setp.lt.u32 %p, %r2, 4000000;
	@%p bra L;
	ret;
}
`

// TestCompareNotices has references that compute something else, in memory and in a variable, stop, and take too long.
func TestCompareNotices(t *testing.T) {
	for _, c := range []struct {
		name, kernel, from, to string
		limits                 string
		outcome, why           string
		words                  int
	}{
		{"right", "k", "nothing", "", "1", compare.Same, "", 0},
		{"wrong value", "k", "shl.b32 %r1, %r1, 1", "shl.b32 %r1, %r1, 2", "1", compare.Different, "", 64},
		{"wrong place", "k", "mul.wide.u32 %rd0, %r0, 4", "mul.wide.u32 %rd0, %r0, 8", "1", compare.Different, "fault: none, reference kernel k: illegal address", 0},
		{"wrong variable", "k", "red.global.add.u32 [count], 1", "red.global.add.u32 [count], 2", "1", compare.Different, "", 1},
		{"too little", "k", "st.global.u32 [%rd1], %r1;", "", "1", compare.Different, "", 64},
		{"trap", "k", "st.global.u32 [%rd1], %r1;", "trap;", "1", compare.Different, "fault: none, reference kernel k: trap", 0},
		{"too long", "spin", "nothing", "", "seconds=0.05", compare.Skipped, "time", 0},
		{"too many threads", "k", "nothing", "", "threads=63", compare.Skipped, "threads", 0},
		{"another kernel", "spin", "nothing", "", "only=^k$", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev, lines := comparing(t, c.limits, func(d backend.Device, s *tap.Space) compare.Loader {
				return wrong{devices.Interpreter(d, s), c.from, c.to}
			})
			values := make([]uint64, 64)
			for i := range values {
				values[i] = uint64(i + 1)
			}
			cs := &Case{PTX: compared, Runs: []*Run{{Kernel: c.kernel, Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1}, Args: []Arg{{Buffer: true, Type: U32, Result: 0, Values: values}}}}}
			out, err := cs.Execute(dev, describe)
			if err != nil {
				t.Fatal(err)
			}
			if got := out[0].Results[0][9]; c.kernel == "k" && got != 20 {
				t.Errorf("the program sees %d, not the device's 20", got)
			}
			if c.outcome == "" {
				return
			}
			all := lines()
			if len(all) != 1 || all[0].Outcome != c.outcome || !strings.HasPrefix(all[0].Why, c.why) {
				t.Fatalf("%+v", all)
			}
			l := &all[0]
			if c.words > 0 && (len(l.Where) != 1 || l.Where[0].Words != c.words || len(l.Params) != 1) {
				t.Errorf("%+v", l)
			}
			if l.Outcome == compare.Different {
				if st, err := os.Stat(l.Dump); err != nil || st.Size() == 0 {
					t.Errorf("the dump %s: %v", l.Dump, err)
				}
			}
		})
	}
}

// summed has thread 0 add 1024 to an f16, and the others .2, of which 1024 keeps nothing.
const summed = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .pred %p;
	.reg .b16 %h<4>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %tid.x;
	setp.eq.u32 %p, %r0, 0;
	mov.b16 %h1, 0x3266;
	@%p mov.b16 %h1, 0x6400;
	ld.param.u64 %rd1, [p];
	red.global.add.noftz.f16 [%rd1], %h1;
	ret;
}
`

// TestCompareSums: how far sums by atomics may be apart depends on how many there were at the address.
func TestCompareSums(t *testing.T) {
	for _, c := range []struct{ name, from, to, outcome string }{
		{"same order", "nothing", "", compare.Same},
		{"other order", "mov.u32 %r0, %tid.x;", "mov.u32 %r0, %tid.x; sub.u32 %r0, 31, %r0;", compare.Explained},
		{"another addend", "mov.b16 %h1, 0x3266;", "mov.b16 %h1, 0x3c00;", compare.Different},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev, lines := comparing(t, "1", func(d backend.Device, s *tap.Space) compare.Loader {
				return wrong{devices.Interpreter(d, s), c.from, c.to}
			})
			cs := &Case{PTX: summed, Runs: []*Run{{Kernel: "k", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Args: []Arg{{Buffer: true, Type: U32, Result: 0, Values: []uint64{0, 0}}}}}}
			if _, err := cs.Execute(dev, describe); err != nil {
				t.Fatal(err)
			}
			if all := lines(); len(all) != 1 || all[0].Outcome != c.outcome {
				t.Errorf("%+v", all)
			}
		})
	}
}
