package driver

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"kudzu/internal/config"
	"kudzu/internal/logx"
	"kudzu/internal/ptx/isa"
)

// The bounds of KUDZU_DRIVER_VERSION, as c/base/query.c has them. Programs of CUDA 11 are the oldest that find all they look for.
const (
	oldestVersion = 11000
	maxVersion    = 99090
)

// Version is the CUDA version this driver presents: the newest whose PTX is taken, or what KUDZU_DRIVER_VERSION says.
// cuDriverGetVersion itself is answered in c/base, which reads the same variable.
var Version = sync.OnceValue(func() int {
	s := config.Get(config.DriverVersion)
	if s == "" {
		return isa.Newest().CUDA
	}
	v, ok := parseVersion(s)
	if !ok {
		logx.Warnf(config.DriverVersion+"=%s: must be of the form 13.0, from %s on", s, VersionText(oldestVersion))
		return isa.Newest().CUDA
	}
	return v
})

// parseVersion reads "13.0".
func parseVersion(s string) (int, bool) {
	a, b, ok := strings.Cut(s, ".")
	major, err1 := strconv.ParseUint(a, 10, 8)
	minor, err2 := strconv.ParseUint(b, 10, 8)
	v := int(1000*major + 10*minor)
	return v, ok && err1 == nil && err2 == nil && minor <= 9 && v >= oldestVersion && v <= maxVersion
}

// VersionText spells a version as CUDA's releases are called.
func VersionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Release is NVIDIA's own driver of that version, for programs that ask which it is.
func Release() isa.Release { return isa.ReleaseOf(Version()) }
