package compare

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/backend"
)

// Limits say which launches are compared.
type Limits struct {
	Launches int            // of each kernel and block shape
	Every    int            // only every so many-th launch of a kernel; 0 and 1: each
	Threads  uint64         // of a launch
	Time     time.Duration  // that the reference may take for one, and after which it gets no more of that kernel and shape
	Memory   uint64         // bytes that are copied for one
	Only     *regexp.Regexp // names of kernels; nil: all
}

// ParseLimits reads what KUDZU_COMPARE says: "1" for the usual limits, or some of
// launches=16,every=1,threads=262144,seconds=20,memory=1G,only=REGEXP.
func ParseLimits(s string) (Limits, error) {
	l := Limits{Launches: 16, Threads: 1 << 18, Time: 20 * time.Second, Memory: 1 << 30}
	if s == "1" {
		return l, nil
	}
	for _, part := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(part, "=")
		var err error
		switch name {
		case "launches":
			l.Launches, err = strconv.Atoi(value)
		case "every":
			l.Every, err = strconv.Atoi(value)
		case "threads":
			l.Threads, err = strconv.ParseUint(value, 10, 64)
		case "seconds":
			var n float64
			n, err = strconv.ParseFloat(value, 64)
			l.Time = time.Duration(n * float64(time.Second))
		case "memory":
			l.Memory, err = backend.ParseBytes(value)
		case "only":
			l.Only, err = regexp.Compile(value)
		default:
			return l, fmt.Errorf("%q is not one of 1, launches=, every=, threads=, seconds=, memory=, only=", part)
		}
		if err != nil {
			return l, fmt.Errorf("%s: %w", part, err)
		}
	}
	return l, nil
}

// chosen counts a launch of the kernel and says whether to compare it; if not, and why is not empty, that is worth a line.
func (k *kernel) chosen(l *backend.Launch, lim *Limits) (ok bool, why string) {
	if lim.Only != nil && !lim.Only.MatchString(k.Name()) {
		return false, ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen++; lim.Every > 1 && (k.seen-1)%lim.Every != 0 {
		return false, ""
	}
	u := k.use[l.Block]
	if u.launches >= lim.Launches || u.time >= lim.Time {
		return false, ""
	}
	if threads(l) > lim.Threads {
		if k.large {
			return false, ""
		}
		k.large = true
		return false, "threads"
	}
	u.launches++
	k.use[l.Block] = u
	return true, ""
}

// use is how much of a kernel and block shape was compared.
type use struct {
	launches int
	time     time.Duration
}

// took notes what the reference took for a launch.
func (k *kernel) took(l *backend.Launch, t time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := k.use[l.Block]
	u.time += t
	k.use[l.Block] = u
}

func threads(l *backend.Launch) uint64 {
	n := uint64(1)
	for i := range 3 {
		n *= uint64(l.Grid[i]) * uint64(l.Block[i])
	}
	return n
}
