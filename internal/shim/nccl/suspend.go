package nccl

import (
	"kudzu/internal/engine"
	"kudzu/internal/spec/ncclapi"
)

// CommSuspend has a communicator give its memory back until it is resumed. It has none of a device's, so that it only stops being used.
func (t *Thread) CommSuspend(h ncclapi.NcclComm_t, flags int32) error {
	c, err := find(h)
	if err != nil {
		return err
	}
	if flags&^ncclapi.NCCL_SUSPEND_MEM != 0 {
		return badArgument("flags %#x of ncclCommSuspend", flags)
	}
	if flags&ncclapi.NCCL_SUSPEND_MEM == 0 {
		return nil
	}
	c.flush(t.driver())
	if !c.suspended.CompareAndSwap(false, true) {
		return badUsage("ncclCommSuspend of a communicator that is suspended")
	}
	engine.Changed() // C does not know of it
	return nil
}

// CommResume lets it be used again.
func (t *Thread) CommResume(h ncclapi.NcclComm_t) error {
	c, err := find(h)
	if err != nil {
		return err
	}
	if !c.suspended.CompareAndSwap(true, false) {
		return badUsage("ncclCommResume of a communicator that is not suspended")
	}
	return nil
}

// CommMemStats is how much memory of its device a communicator has: none. What processes have in common is the host's.
func (t *Thread) CommMemStats(h ncclapi.NcclComm_t, stat ncclapi.NcclCommMemStat_t) (uint64, error) {
	c, err := find(h)
	if err != nil {
		return 0, err
	}
	switch stat {
	case ncclapi.NcclStatGpuMemSuspended:
		return uint64(flag(c.suspended.Load())), nil
	case ncclapi.NcclStatGpuMemSuspend, ncclapi.NcclStatGpuMemPersist, ncclapi.NcclStatGpuMemTotal:
		return 0, nil
	}
	return 0, badArgument("ncclCommMemStats: %d", stat)
}
