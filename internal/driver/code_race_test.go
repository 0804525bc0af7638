package driver

import (
	"errors"
	"sync"
	"testing"

	"kudzu/internal/spec/cu"
)

// TestLaunchesAgainstTheEnd launches on several threads while another ends the context, the module or the library they launch
// from. (The process is in TestAppRace's hands; here the race detector looks on.)
func TestLaunchesAgainstTheEnd(t *testing.T) {
	th, c, _ := onInterp(t)
	text := c.str(realPTX)
	ctx := cu.CUcontext(th.Stack[th.Depth-1])
	for _, row := range []struct {
		name string
		make func(t *testing.T) (f cu.CUfunction, end func() error)
	}{
		{"module", func(t *testing.T) (cu.CUfunction, func() error) {
			m, err := th.ModuleLoadData(text)
			want(t, "load", err, 0)
			return mustFn(t, th, m, "count"), func() error { return th.ModuleUnload(m) }
		}},
		{"library", func(t *testing.T) (cu.CUfunction, func() error) {
			l, err := th.LibraryLoadData(text, 0, 0, 0, 0, 0, 0)
			want(t, "load", err, 0)
			k, err := th.LibraryGetKernel(l, "count")
			want(t, "kernel", err, 0)
			return cu.CUfunction(k), func() error { return th.LibraryUnload(l) }
		}},
		{"context", func(t *testing.T) (cu.CUfunction, func() error) {
			own, err := th.CtxCreate(0, 0)
			want(t, "create", err, 0)
			m, err := th.ModuleLoadData(text)
			want(t, "load", err, 0)
			return mustFn(t, th, m, "count"), func() error { return th.CtxDestroy(own) }
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for range 20 {
				f, end := row.make(t)
				var begun, wg sync.WaitGroup
				begun.Add(3)
				for i := range 3 {
					th := &Thread{ID: threadIDs.Add(1), Depth: 1, Stack: [MaxContextStack]uint64{th.Stack[th.Depth-1]}}
					wg.Go(func() {
						s, err := th.StreamCreate(uint32(i % 2))
						want(t, "stream", err, 0)
						begun.Done()
						for n := 0; err == nil; n++ {
							if err = th.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0); err == nil && n%8 == 0 {
								err = th.StreamSynchronize(s)
							}
						}
						var r Result
						if !errors.As(err, &r) || r != errInvalidHandle && r != errDestroyed && r != errInvalidContext {
							t.Error(err)
						}
						_ = th.StreamDestroy(s) // it may be gone
					})
				}
				begun.Wait()
				want(t, "end", end(), 0)
				wg.Wait()
			}
			if now, err := th.CtxGetCurrent(); err != nil || now != ctx {
				t.Errorf("current is %#x, %v", now, err)
			}
		})
	}
}
