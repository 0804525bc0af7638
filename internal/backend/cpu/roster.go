package cpu

import (
	"sync"

	"kudzu/internal/engine"
	"kudzu/internal/logx"
	"kudzu/internal/roster"
)

// A process is on the roster from the moment it first takes memory of a device or gives it work: one that only asks what
// devices there are is not.
var (
	joined sync.Once
	page   *roster.Page // nil where no page can be made; then the process is not listed
)

// tell brings this process's page up to date.
func (d *Device) tell() {
	joined.Do(func() {
		p, err := roster.Join(d.e.Threads())
		if err != nil {
			logx.Debugf("this process is not on the roster: %v", err)
			return
		}
		engine.ListKernels(p.Kernels())
		page = p
	})
	if page != nil {
		free, total := d.mem.Usage()
		page.SetUsed(d.index, total-free)
	}
}
