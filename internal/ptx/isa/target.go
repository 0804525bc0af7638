package isa

import (
	"strconv"
	"strings"
)

// Latest is the newest PTX version the table knows.
const Latest = Version(9<<8 | 4)

// minors are the last minor versions of each major one.
var minors = [...]int{1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8, 9: Latest.Minor()}

// Versions are all versions of PTX.
func Versions() []Version {
	var all []Version
	for major, last := range minors {
		for minor := range last + 1 {
			if major > 0 {
				all = append(all, V(major, minor))
			}
		}
	}
	return all
}

// Target is a .target architecture and the first PTX version that knows it.
type Target struct {
	SM     int
	Suffix string // "", "a", "f"
	PTX    Version
}

// targets are the plain architectures; suffixed ones follow from suffixes.
var targets = []Target{
	{10, "", v(1, 0)}, {11, "", v(1, 0)}, {12, "", v(1, 2)}, {13, "", v(1, 2)}, {20, "", v(2, 0)}, {21, "", v(2, 0)},
	{30, "", v(3, 1)}, {32, "", v(4, 0)}, {35, "", v(3, 1)}, {37, "", v(4, 1)}, {50, "", v(4, 0)}, {52, "", v(4, 1)}, {53, "", v(4, 2)},
	{60, "", v(5, 0)}, {61, "", v(5, 0)}, {62, "", v(5, 0)}, {70, "", v(6, 0)}, {72, "", v(6, 1)}, {75, "", v(6, 3)},
	{80, "", v(7, 0)}, {86, "", v(7, 1)}, {87, "", v(7, 4)}, {88, "", v(9, 0)}, {89, "", v(7, 8)}, {90, "", v(7, 8)}, {90, "a", v(8, 0)},
	{100, "", v(8, 6)}, {100, "a", v(8, 6)}, {100, "f", v(8, 8)}, {101, "", v(8, 6)}, {101, "a", v(8, 6)}, {101, "f", v(8, 8)},
	{103, "", v(8, 8)}, {103, "a", v(8, 8)}, {103, "f", v(8, 8)}, {107, "", v(9, 4)}, {107, "a", v(9, 4)}, {107, "f", v(9, 4)},
	{110, "", v(9, 0)}, {110, "a", v(9, 0)}, {110, "f", v(9, 0)}, {120, "", v(8, 7)}, {120, "a", v(8, 7)}, {120, "f", v(8, 8)},
	{121, "", v(8, 8)}, {121, "a", v(8, 8)}, {121, "f", v(8, 8)},
}

// TargetOf finds an architecture by its name: "sm_90a".
func TargetOf(name string) (Target, bool) {
	rest, ok := strings.CutPrefix(name, "sm_")
	if !ok {
		return Target{}, false
	}
	digits := strings.TrimRight(rest, "abcdefghijklmnopqrstuvwxyz")
	sm, err := strconv.Atoi(digits)
	if err != nil {
		return Target{}, false
	}
	for _, t := range targets {
		if t.SM == sm && t.Suffix == rest[len(digits):] {
			return t, true
		}
	}
	return Target{}, false
}

// Targets are all architectures the table knows.
func Targets() []Target { return targets }
