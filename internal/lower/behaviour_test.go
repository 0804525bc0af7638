package lower

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/testkit"
)

// notOurs are cases whose answers hang on another room's arithmetic, not on lowering.
var notOurs = map[string]string{
	"convert/f16_int":   "softfloat: NaN payloads between f16 and f64",
	"sync/grid_barrier": "the evaluator walks blocks one after another and has no workspace of a cooperative launch",
}

// elsewhere are cases that the evaluator, which walks blocks and threads one after another, cannot run. They run on every backend.
var elsewhere = map[string]string{
	"memory/vectors_whole":        "blocks wait for each other",
	"sync/data_with_flags":        "blocks wait for each other",
	"sync/waits_between_barriers": "blocks wait for each other",
	"sync/warps_far_ahead":        "warps lean on each other's pace",
	"sync/warps_far_ahead_parted": "warps lean on each other's pace",
	"control/launch_kernels":      "kernels launch kernels",
	"control/launch_order":        "kernels launch kernels",
	"control/launch_runtime":      "kernels launch kernels",
}

// The behaviour cases, lowered and walked, give what hardware gave.
func TestBehaviour(t *testing.T) {
	cases, err := testkit.Load("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	more, err := testkit.Load("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	cases = append(cases, more...)
	for _, c := range cases {
		name := filepath.Base(filepath.Dir(c.Path)) + "/" + strings.TrimSuffix(filepath.Base(c.Path), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if why := elsewhere[name]; why != "" {
				t.Skip(why)
			}
			behaves(t, name, c)
		})
	}
}

// behaves runs one case.
func behaves(t *testing.T, name string, c *testkit.Case) {
	m, err := ptx.ParseModule(c.PTX)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range c.Runs {
		if r.Cluster != [3]uint32{} {
			t.Skip("a cluster: blocks are evaluated one by one here; the case runs on every backend")
		}
		o, err := evaluate(m, r, Options{})
		if errors.Is(err, errCalls) {
			t.Skip(err)
		}
		if strings.HasPrefix(name, "matrix/") && err == nil {
			if err := r.Compare(o); err != nil {
				t.Errorf("run %d, expanded: %s: %v", i+1, r.Line[:min(40, len(r.Line))], err)
			}
			o, err = evaluate(m, r, Options{KeepMatrix: true})
		}
		if u := (*Unsupported)(nil); errors.As(err, &u) {
			t.Skip(u)
		}
		if err != nil {
			t.Fatalf("run %d: %s: %v", i+1, r.Line, err)
		}
		if err := r.Compare(o); err != nil && notOurs[name] != "" {
			t.Logf("%s: %v", notOurs[name], err)
		} else if err != nil {
			t.Errorf("run %d: %s: %v", i+1, r.Line, err)
		}
	}
}

// errCalls is a kernel with calls or a stack, which the passes lay out; package testkit runs these cases compiled.
var errCalls = errors.New("the stack is the passes' to lay out")

func evaluate(m *ptx.Module, r *testkit.Run, opts Options) (*testkit.Outcome, error) {
	mod, err := Kernel(m, r.Kernel, opts)
	if err != nil {
		return nil, err
	}
	if err := ir.Verify(mod); err != nil {
		return nil, err
	}
	if strings.Contains(mod.String(), "localaddr\n") || strings.Contains(mod.String(), "localaddr flag") {
		return nil, errCalls
	}
	mc := &machine{m: mod, grid: r.Grid, block: r.Block, dynamic: r.Shared}
	mc.placeVars(m)
	dev := make([]uint64, len(r.Args))
	for i, a := range r.Args {
		size := a.Type.Size()
		v := uint64(0)
		if a.Buffer {
			dev[i] = mc.alloc(len(a.Values)*size, 256)
			for j, x := range a.Values {
				putBytes(mc.global[dev[i]-globalBase+uint64(j*size):][:size], x)
			}
			v, size = dev[i], 8
		} else {
			v = a.Values[0]
		}
		for len(mc.params)%size != 0 {
			mc.params = append(mc.params, 0)
		}
		mc.params = binary.LittleEndian.AppendUint64(mc.params, v)[:len(mc.params)+size]
	}
	out := &testkit.Outcome{Results: map[int][]uint64{}}
	if err := mc.run(); err != nil {
		switch {
		case errors.Is(err, errMisaligned):
			out.Fault = "misaligned"
		case errors.Is(err, errFault):
			out.Fault = "address"
		case err.Error() == "trap":
			out.Fault = "trap"
		default:
			return nil, err
		}
		return out, nil
	}
	for i, a := range r.Args {
		if a.Result < 0 {
			continue
		}
		size := a.Type.Size()
		for j := range a.Values {
			out.Results[a.Result] = append(out.Results[a.Result], getBytes(mc.global[dev[i]-globalBase+uint64(j*size):][:size]))
		}
	}
	return out, nil
}
