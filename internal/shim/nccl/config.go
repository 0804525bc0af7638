package nccl

import (
	"math"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// settings are what of ncclConfig_t matters here. The rest describes how a GPU should do its work.
type settings struct {
	nonblocking bool
}

// firstConfig is the size of the first ncclConfig_t there was: up to blocking.
const firstConfig = 20

// readConfig copies as much of a program's structure as it has: older and newer headers have other sizes.
func readConfig(at hostmem.Ptr) (settings, error) {
	var out settings
	if at == hostmem.Nil {
		return out, nil
	}
	var c ncclapi.NcclConfig_t
	size := hostmem.Load[uint64](at)
	if size < firstConfig || size > 1<<16 {
		return out, badArgument("ncclConfig_t has a size of %d", size)
	}
	if magic := hostmem.Load[uint32](at.Add(8)); magic != ncclapi.NCCL_API_MAGIC {
		return out, badArgument("ncclConfig_t was not initialised: NCCL_CONFIG_INITIALIZER")
	}
	c.Blocking = hostmem.Load[int32](at.Add(16))
	switch c.Blocking {
	case math.MinInt32, 1:
	case 0:
		out.nonblocking = true
	default:
		return out, badArgument("ncclConfig_t: blocking is %d", c.Blocking)
	}
	return out, nil
}
