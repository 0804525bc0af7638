package fuse

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cudnn/nn"
	"kudzu/internal/spec/cu"
)

// adding is a program of its own kernel for every n.
func adding(n float64) *Program {
	p := new(Program)
	x := p.In(nn.F32)
	p.Out(nn.F32, p.Do(F32, Add, x, p.Const(F32, n)))
	return p
}

// codeBytes is the memory of code that belongs to no file: that of kernels.
func codeBytes(t *testing.T) (n uint64) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^([0-9a-f]+)-([0-9a-f]+) r.xp 0+ 00:00 0 *$`).FindAllStringSubmatch(string(maps), -1) {
		from, _ := strconv.ParseUint(m[1], 16, 64)
		to, _ := strconv.ParseUint(m[2], 16, 64)
		n += to - from
	}
	if n == 0 {
		t.Fatal("no code: ", strings.Count(string(maps), "\n"), " mappings")
	}
	return n
}

// settled runs the collector until fine.
func settled(fine func() bool) bool {
	for range 100 {
		if fine() {
			return true
		}
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
	}
	return fine()
}

// TestBound: a process that runs ever new programs has the kernels of the last ones, those of programs that are alive and those that
// graphs captured. All others give their memory back.
func TestBound(t *testing.T) {
	const most, many = 6, 120
	r := onDevice(t)
	old := kernels
	kernels = newCache(most)
	defer func() { kernels = old }()
	dim := []int64{512}
	x, y := r.array(nn.F32, dim, []int64{1}, func() float64 { return 1 }), r.array(nn.F32, dim, []int64{1}, func() float64 { return 0 })
	args := Args{Tensors: []nn.Tensor{x.Tensor, y.Tensor}}
	check := func(what string, want float64) {
		t.Helper()
		r.back(y)
		if v := y.value([]int64{77}); v != want {
			t.Errorf("%s: %g, not %g", what, v, want)
		}
	}

	held := adding(0.5)
	r.ok(held.Run(&r.Run, dim, nil, args))
	check("a program that is held", 1.5)

	s, err := r.D.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
	r.ok(err)
	defer func() { r.ok(r.D.StreamDestroy(s)) }()
	var graph cu.CUgraph
	on := r.Run
	on.Stream = s
	r.ok(r.D.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
	r.ok(adding(0.25).Run(&on, dim, nil, args))
	r.ok(r.D.StreamEndCapture(s, hostmem.Of(&graph)))
	exec, err := r.D.GraphInstantiateWithFlags(graph, 0)
	r.ok(err)
	r.ok(r.D.GraphDestroy(graph))

	var first uint64
	for i := range many {
		r.ok(adding(float64(i)).Run(&r.Run, dim, nil, args))
		check("a program", 1+float64(i))
		if i == most {
			first = codeBytes(t)
		}
	}
	count := func() int {
		kernels.mu.Lock()
		defer kernels.mu.Unlock()
		return len(kernels.all)
	}
	if !settled(func() bool { return count() <= most+1 }) {
		t.Errorf("%d kernels after %d programs, not the last %d and the one that is held", count(), many, most)
	}
	if !settled(func() bool { return codeBytes(t) <= first+first/4 }) {
		t.Errorf("%d bytes of code after %d programs, %d after %d", codeBytes(t), many, first, most+1)
	}
	before := kernels.all[held.key()+string((&shape{axes: 1, steps: []step{next, next}}).key(nil))].Value()
	r.ok(held.Run(&r.Run, dim, nil, args))
	check("the program that is held", 1.5)
	if before == nil || before != held.compiled(shape{axes: 1, steps: []step{next, next}}) {
		t.Error("the program that is held was compiled again")
	}
	r.ok(r.D.GraphLaunch(exec, s))
	r.ok(r.D.StreamSynchronize(s))
	check("the graph", 1.25)
	r.ok(r.D.GraphExecDestroy(exec))
	r.ok(adding(3).Run(&r.Run, dim, nil, args))
	check("a program that comes again", 4)
}
