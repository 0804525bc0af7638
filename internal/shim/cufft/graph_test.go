package cufft

import (
	"slices"
	"sync"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/fft"
	"kudzu/internal/spec/rt"
)

// TestCapture captures a transform of several steps and launches it twice, the second time with other numbers.
func TestCapture(t *testing.T) {
	th := thread(t)
	d := th.driver()
	n := 4096
	h := planOf(t, th, []int{n}, fft.CUFFT_C2C, 1)
	in, out := upload(t, th, noise(2*n, 1), single), upload(t, th, make([]float64, 2*n), single)
	stream, err := d.StreamCreate(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := th.SetStream(h, rt.CudaStream_t(stream)); err != nil {
		t.Fatal(err)
	}
	if err := d.StreamBeginCapture(stream, cu.CU_STREAM_CAPTURE_MODE_GLOBAL); err != nil {
		t.Fatal(err)
	}
	if err := th.ExecC2C(h, hostmem.Ptr(in), hostmem.Ptr(out), fft.CUFFT_FORWARD); err != nil {
		t.Fatal(err)
	}
	var graph cu.CUgraph
	if err := d.StreamEndCapture(stream, hostmem.Of(&graph)); err != nil {
		t.Fatal(err)
	}
	exec, err := d.GraphInstantiateWithFlags(graph, 0)
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 2; seed++ {
		x := rounded(noise(2*n, seed), single)
		again := upload(t, th, x, single)
		if err := d.MemcpyDtoD(in, again, uint64(8*n)); err != nil {
			t.Fatal(err)
		}
		if err := d.GraphLaunch(exec, stream); err != nil {
			t.Fatal(err)
		}
		if err := d.StreamSynchronize(stream); err != nil {
			t.Fatal(err)
		}
		y := make([]complex128, n)
		for i := range y {
			y[i] = complex(x[2*i], x[2*i+1])
		}
		if e := difference(download(t, th, out, 2*n, single), flat(naive(y, false))); e > bound(single, n) {
			t.Errorf("seed %d: error %g", seed, e)
		}
	}
}

// TestThreads executes one plan from several threads; all results are the same.
func TestThreads(t *testing.T) {
	th := thread(t)
	n := 2048
	h := planOf(t, th, []int{n}, fft.CUFFT_C2C, 3)
	in := upload(t, th, noise(6*n, 1), single)
	var all [4][]float64
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			mine := thread(t)
			out := upload(t, mine, make([]float64, 6*n), single)
			for range 5 {
				if err := mine.ExecC2C(h, hostmem.Ptr(in), hostmem.Ptr(out), fft.CUFFT_FORWARD); err != nil {
					t.Error(err)
				}
			}
			all[i] = download(t, mine, out, 6*n, single)
		})
	}
	wait.Wait()
	for i := range all {
		if !slices.Equal(all[i], all[0]) {
			t.Errorf("thread %d has other numbers than the first", i)
		}
	}
}
