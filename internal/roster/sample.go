package roster

import (
	"time"

	"kudzu/internal/lockrank"
)

// Sampler turns the counters of all processes into a share of the time. The threads that run kernels are all devices', so
// it is the same for each device.
type Sampler struct {
	mu    lockrank.Mutex[lockrank.RosterSample]
	at    time.Time      // guarded by mu, as the rest
	spent map[int]uint64 // by process, at that time
	last  int
	each  map[int]int // by process, in percent; it is replaced, never changed
}

const (
	shortest = 100 * time.Millisecond // between samples; sooner, the last answer holds
	longest  = 2 * time.Second        // after which a sample says nothing about now
)

// Percent is how much of the time the threads spent in kernels since the last call, from 0 to 100. Without a recent one it
// takes a short while.
func (s *Sampler) Percent() int {
	percent, _, _ := s.Shares()
	return percent
}

// Shares is Percent, what of it each process has, and when the sample was taken.
func (s *Sampler) Shares() (percent int, each map[int]int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) > longest {
		s.last, s.each = 0, nil
		if !s.take() { // nobody: no need to wait
			return 0, nil, s.at
		}
		time.Sleep(shortest)
	} else if time.Since(s.at) < shortest {
		return s.last, s.each, s.at
	}
	before, was := s.spent, s.at
	s.take()
	over, n := time.Since(was), threads()
	s.last, s.each = share(before, s.spent, over, n), map[int]int{}
	for pid, ns := range s.spent {
		s.each[pid] = share(before, map[int]uint64{pid: ns}, over, n)
	}
	return s.last, s.each, s.at
}

func share(before, after map[int]uint64, over time.Duration, threads int) int {
	var ns uint64
	for pid, n := range after {
		if b, ok := before[pid]; ok && n > b {
			ns += n - b
		}
	}
	if over <= 0 || threads <= 0 {
		return 0
	}
	return min(100, int((100*ns+uint64(over)*uint64(threads)/2)/(uint64(over)*uint64(threads))))
}

func (s *Sampler) take() bool {
	all, _ := List()
	s.at, s.spent = time.Now(), map[int]uint64{}
	for _, p := range all {
		s.spent[p.Pid] = p.Kernels
	}
	return len(all) > 0
}

// threads is the most that any listed process runs kernels on.
func threads() int {
	n := 0
	all, _ := List()
	for _, p := range all {
		n = max(n, p.Threads)
	}
	return n
}
