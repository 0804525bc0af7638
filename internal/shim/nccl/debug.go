package nccl

import (
	"slices"
	"strings"
	"sync"

	"kudzu/internal/config"
	"kudzu/internal/logx"
	"kudzu/internal/spec/ncclapi"
)

// debugs reports whether NCCL_DEBUG asks for lines of a level. Warnings are written in any case.
func debugs(level string) bool {
	levels := []string{"VERSION", "WARN", "INFO", "ABORT", "TRACE"}
	return slices.Index(levels, strings.ToUpper(config.Get("NCCL_DEBUG"))) >= slices.Index(levels, level)
}

var sayVersion = sync.OnceFunc(func() {
	logx.Warnf("NCCL version %d.%d.%d (kudzu)", ncclapi.NCCL_MAJOR, ncclapi.NCCL_MINOR, ncclapi.NCCL_PATCH)
})

// describe says how this rank reaches the others.
func (c *comm) describe() {
	if c.rank == 0 && debugs("VERSION") {
		sayVersion()
	}
	if !debugs("INFO") {
		return
	}
	var here, near, far int
	for r := range c.members {
		switch {
		case c.peers[r] != nil:
			here++
		case c.sharesMemory(r):
			near++
		default:
			far++
		}
	}
	m := &c.members[c.rank]
	logx.Warnf("NCCL: rank %d of %d: device %d, address %s; ranks of this process: %d, through memory: %d, through %s: %d",
		c.rank, c.n, c.device, m.Addr.String(), here, near, transport(), far)
}
