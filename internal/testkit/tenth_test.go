package testkit

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/cache"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
)

// TestTenthKernel: in a module of ten kernels one uses an instruction that nobody here can execute. The nine run; the tenth
// fails at its launch with a message that names instruction and line, and nothing else is hurt.
func TestTenthKernel(t *testing.T) {
	var b strings.Builder
	b.WriteString(".version 8.6\n.target sm_100a\n.address_size 64\n")
	for i := range 9 {
		fmt.Fprintf(&b, ".visible .entry good%d(.param .u64 out) {\n.reg .b64 %%a;\nld.param.u64 %%a, [out];\nst.global.u32 [%%a], %d;\nret;\n}\n", i, 100+i)
	}
	line := strings.Count(b.String(), "\n") + 3
	b.WriteString(".visible .entry bad(.param .u64 out) {\n\n\ttcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n\tret;\n}\n")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(cache.Config{Off: true})}
	for _, be := range []backend.Backend{interp.New(interp.Config{}), devices.CPU(cfg)} {
		t.Run(be.Name(), func(t *testing.T) {
			devs, err := be.Open()
			if err != nil {
				t.Fatal(err)
			}
			runTen(t, devs[0], b.String(), line)
		})
	}
}

func runTen(t *testing.T, d backend.Device, text string, line int) {
	m, err := driver.Describe("ten", text, 100)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Memory().Alloc(4, 4)
	if err != nil {
		t.Fatal(err)
	}
	launch := func(name string) error {
		k, err := p.Kernel(name)
		if err != nil {
			return err
		}
		params := make([]byte, 8)
		putValue(params, U64, uint64(out))
		if err := q.Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: params}); err != nil {
			return err
		}
		return q.Sync()
	}
	for i := range 10 {
		if i == 5 {
			err := launch("bad")
			var u *backend.Unsupported
			if !errors.As(err, &u) || u.Line != line || !strings.Contains(u.Error(), "tcgen05") || !strings.Contains(u.Error(), fmt.Sprint(line)) {
				t.Errorf("the tenth kernel: %v, want tcgen05 at line %d", err, line)
			}
			continue
		}
		if i < 9 {
			if err := launch(fmt.Sprintf("good%d", i)); err != nil {
				t.Errorf("kernel %d: %v", i, err)
			}
		}
	}
	if err := launch("good5"); err != nil {
		t.Errorf("a kernel after the refused one: %v", err)
	}
}
