package hip_test

import (
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/hipdouble"

	hipbackend "kudzu/internal/backend/hip"
)

// racing has a variable, so that memory goes with the code.
const racing = `.version 8.0
.target sm_80
.address_size 64
.visible .global .align 8 .u64 sum;
.visible .entry add(.param .u64 n) {
	.reg .b64 %r<2>;
	ld.param.u64 %r0, [n];
	atom.global.add.u64 %r1, [sum], %r0;
	ret;
}`

// TestUnloadUnderLaunch unloads programs that other threads launch, and closes queues that others use. That is a mistake of whoever calls
// us, which must not cost the process: every launch runs, or is refused. The double ends the process if code or streams are used
// after their end, and a kernel that finds its variable gone is a fault.
func TestUnloadUnderLaunch(t *testing.T) {
	lib := hipdouble.Build(t)
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100")
	devs, err := hipbackend.New(hipbackend.Config{Compiler: hipdouble.NewInterpreted(t, lib), Library: lib}).Open()
	if err != nil {
		t.Fatal(err)
	}
	d := devs[0]
	const rounds, threads = 20, 3
	refused := func(err error) bool {
		if err != nil && !errors.Is(err, backend.ErrClosed) {
			t.Error(err)
		}
		return err != nil
	}
	for round := range rounds {
		m, err := driver.Describe("m", racing, 90)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Kernel("add")
		if err != nil {
			t.Fatal(err)
		}
		var begun, wg sync.WaitGroup
		begun.Add(2 * threads)
		queues := make([]backend.Queue, threads)
		for i := range queues {
			if queues[i], err = d.NewQueue(0); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				wg.Go(func() {
					for n := 0; ; n++ {
						err := queues[i].Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, 1)})
						if n == 1 {
							begun.Done()
						}
						if refused(err) {
							return
						}
						if n%8 == 7 && refused(queues[i].Sync()) { // or the queue grows faster than it runs
							return
						}
					}
				})
			}
		}
		begun.Wait()
		if round%2 == 0 {
			if err := queues[0].Close(); err != nil {
				t.Error(err)
			}
		}
		if err := p.Unload(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		for _, q := range queues {
			refused(q.Close())
		}
	}
	for kind, most := range []int{0, 1, 1 << 10, 0} { // a stream of our own
		if n := ask(t, lib, "kz_double_live", uintptr(kind)); n > most {
			t.Errorf("%d things of kind %d are left", n, kind)
		}
	}
}
