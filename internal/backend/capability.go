package backend

import (
	"fmt"
	"strconv"
	"strings"

	"kudzu/internal/config"
)

// Capability is a compute capability: what a device that is none of NVIDIA's claims to be, so that programs pick code for it.
type Capability struct{ Major, Minor int }

// DefaultCapability is what devices that run our own compiler's code claim. docs/compute-capability.md has what was measured.
var DefaultCapability = Capability{8, 9}

// String spells it as NVIDIA does.
func (c Capability) String() string { return fmt.Sprintf("%d.%d", c.Major, c.Minor) }

// SM is how PTX counts: 90 for 9.0.
func (c Capability) SM() int { return 10*c.Major + c.Minor }

// ParseCapability reads KUDZU_COMPUTE_CAPABILITY: "9.0", or "90"; or gives what an empty one means.
func ParseCapability(s string, empty Capability) (c Capability, err error) {
	if s == "" {
		return empty, nil
	}
	a, b, ok := strings.Cut(s, ".")
	if !ok && len(s) >= 2 { // "90", "120"
		a, b = s[:len(s)-1], s[len(s)-1:]
	}
	major, err1 := strconv.Atoi(a)
	minor, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || major < 3 || major > 20 || minor < 0 || minor > 9 {
		return c, fmt.Errorf(config.Capability+"=%s: must be of the form 9.0", s)
	}
	return Capability{major, minor}, nil
}

// Limits are what goes with a compute capability: a program that knows one computes with the others.
type Limits struct {
	SharedOptin  int // bytes per block with the function attribute raised
	SharedSM     int // bytes
	ThreadsPerSM int
	BlocksPerSM  int
}

// limits are NVIDIA's, from the table of compute capabilities in the CUDA C++ Programming Guide. A capability that is not here has the numbers of the next older one.
var limits = []struct {
	from Capability
	Limits
}{
	{Capability{3, 0}, Limits{48 << 10, 48 << 10, 2048, 16}},
	{Capability{3, 7}, Limits{48 << 10, 112 << 10, 2048, 16}},
	{Capability{5, 0}, Limits{48 << 10, 64 << 10, 2048, 32}},
	{Capability{5, 2}, Limits{48 << 10, 96 << 10, 2048, 32}},
	{Capability{5, 3}, Limits{48 << 10, 64 << 10, 2048, 32}},
	{Capability{6, 0}, Limits{48 << 10, 64 << 10, 2048, 32}},
	{Capability{6, 1}, Limits{48 << 10, 96 << 10, 2048, 32}},
	{Capability{6, 2}, Limits{48 << 10, 64 << 10, 2048, 32}},
	{Capability{7, 0}, Limits{96 << 10, 96 << 10, 2048, 32}},
	{Capability{7, 5}, Limits{64 << 10, 64 << 10, 1024, 16}},
	{Capability{8, 0}, Limits{163 << 10, 164 << 10, 2048, 32}},
	{Capability{8, 6}, Limits{99 << 10, 100 << 10, 1536, 16}},
	{Capability{8, 7}, Limits{163 << 10, 164 << 10, 1536, 16}},
	{Capability{8, 9}, Limits{99 << 10, 100 << 10, 1536, 24}},
	{Capability{9, 0}, Limits{227 << 10, 228 << 10, 2048, 32}},
	{Capability{11, 0}, Limits{227 << 10, 228 << 10, 1536, 24}},
	{Capability{12, 0}, Limits{99 << 10, 100 << 10, 1536, 24}},
}

// Limits are the numbers that go with the capability.
func (c Capability) Limits() Limits {
	l := limits[0].Limits
	for _, row := range limits {
		if row.from.SM() <= c.SM() {
			l = row.Limits
		}
	}
	return l
}

// Claim fills in what a device says that claims the capability, where nothing is said yet.
func (i *Info) Claim(c Capability) {
	l := c.Limits()
	i.Major, i.Minor = c.Major, c.Minor
	for _, f := range []struct {
		to *int
		n  int
	}{
		{&i.WarpSize, 32}, {&i.MaxThreads, 1024}, {&i.SharedBlock, 48 << 10}, {&i.ConstBytes, 64 << 10}, {&i.Registers, 64 << 10},
		{&i.SharedOptin, l.SharedOptin}, {&i.SharedSM, l.SharedSM}, {&i.ThreadsPerSM, l.ThreadsPerSM}, {&i.BlocksPerSM, l.BlocksPerSM},
	} {
		if *f.to == 0 {
			*f.to = f.n
		}
	}
	if i.MaxBlock == [3]int{} {
		i.MaxBlock = [3]int{1024, 1024, 64}
	}
	if i.MaxGrid == [3]int{} {
		i.MaxGrid = [3]int{1<<31 - 1, 65535, 65535}
	}
}
