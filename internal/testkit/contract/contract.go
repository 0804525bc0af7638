// Package contract is what every backend must do, as one table of behaviours: the words of internal/backend/backend.go, tried.
// The same rows run on the cpu backend, the interpreter, a real NVIDIA driver, HIP against its double, and a real HIP where
// there is one. A backend that passes can carry the driver.
package contract

import (
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/driver"
)

// Subject is a backend under test.
type Subject struct {
	Name    string
	Devices []backend.Device

	// Skip has a reason for each row that the subject cannot be asked.
	Skip map[string]string
}

// row is one behaviour.
type row struct {
	name string
	run  func(t *testing.T, s *bench)
}

// rows are all behaviours. The one that faults is last: some devices do not survive it.
var rows = []row{
	{"info is consistent", info},
	{"memory is aligned, apart and counted", memoryBasics},
	{"too much memory is refused", memoryLimit},
	{"copies arrive", copies},
	{"copies of rows arrive", copies2D},
	{"fills write elements and rows", fills},
	{"work of a queue is in order", order},
	{"host functions hold their place", hostOrder},
	{"queues tell when they are empty", queueDone},
	{"fences tell when they are reached", fenceDone},
	{"fence times rise", fenceTimes},
	{"a queue waits for another", waits},
	{"a closed queue takes nothing", closing},
	{"programs find kernels and variables", lookups},
	{"variables begin as written", variables},
	{"each load has its own variables", ownVariables},
	{"managed variables are the host's, too", managedVariables},
	{"parameters arrive as laid out", parameters},
	{"parameters are copied", parametersCopied},
	{"grids and blocks have their shape", shapes},
	{"shared memory is a block's", shared},
	{"kernels of a program share variables", sharing},
	{"kernels tell their needs", kernelInfo},
	{"host memory is shared", hostMemory},
	{"host and device meet in memory", common},
	{"addresses and memory come apart", apart},
	{"resident blocks are what has room", resident},
	{"textures and surfaces are found by handle", textures},
	{"many threads at once", threads},
	{"an unloaded program leaves nothing", unloading},
	{"a fault is reported", faults},
}

// Run tries every row.
func Run(t *testing.T, s *Subject) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if why := s.Skip[r.name]; why != "" {
				t.Skip(why)
			}
			r.run(t, newBench(t, s))
		})
	}
}

// Rows are the names of the behaviours.
func Rows() []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

// bench is a device with what a row needs around it.
type bench struct {
	*Subject
	t *testing.T
	d backend.Device
}

func newBench(t *testing.T, s *Subject) *bench { return &bench{s, t, s.Devices[0]} }

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// queue gives a queue that is closed at the end.
func (b *bench) queue() backend.Queue {
	b.t.Helper()
	q, err := b.d.NewQueue(0)
	b.ok(err)
	b.t.Cleanup(func() {
		if err := q.Close(); err != nil && !b.t.Failed() {
			b.t.Errorf("close: %v", err)
		}
	})
	return q
}

// memory gives device memory that is freed at the end.
func (b *bench) memory(n uint64) backend.Addr {
	b.t.Helper()
	a, err := b.d.Memory().Alloc(n, 256)
	b.ok(err)
	b.t.Cleanup(func() {
		if err := b.d.Memory().Free(a); err != nil {
			b.t.Errorf("free: %v", err)
		}
	})
	return a
}

// program loads the module of the suite.
func (b *bench) program() backend.Program {
	b.t.Helper()
	p := b.load()
	b.t.Cleanup(func() {
		if err := p.Unload(); err != nil {
			b.t.Errorf("unload: %v", err)
		}
	})
	return p
}

func (b *bench) load() backend.Program {
	b.t.Helper()
	m, err := driver.Describe("contract", module, 90)
	b.ok(err)
	p, err := b.d.Load(m)
	b.ok(err)
	return p
}

func (b *bench) kernel(p backend.Program, name string) backend.Kernel {
	b.t.Helper()
	k, err := p.Kernel(name)
	b.ok(err)
	return k
}
