package nvml

import (
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// Sets of events. No device has any, so whoever waits does so until the time is over.

var eventSets struct { // guarded by mu
	last nv.NvmlEventSet_t
	live map[nv.NvmlEventSet_t]bool
}

// EventSetCreate makes a set.
func (t *Thread) EventSetCreate() (nv.NvmlEventSet_t, error) {
	if err := ready(); err != nil {
		return 0, err
	}
	mu.Lock()
	defer mu.Unlock()
	if eventSets.live == nil {
		eventSets.live = map[nv.NvmlEventSet_t]bool{}
	}
	eventSets.last++
	eventSets.live[eventSets.last] = true
	return eventSets.last, nil
}

func isEventSet(set nv.NvmlEventSet_t) error {
	if err := ready(); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	if !eventSets.live[set] {
		return invalidArgument
	}
	return nil
}

// EventSetFree ends a set.
func (t *Thread) EventSetFree(set nv.NvmlEventSet_t) error {
	if err := isEventSet(set); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	delete(eventSets.live, set)
	return nil
}

// DeviceGetSupportedEventTypes is none.
func (t *Thread) DeviceGetSupportedEventTypes(h nv.NvmlDevice_t) (uint64, error) {
	_, err := t.device(h)
	return 0, err
}

// DeviceRegisterEvents takes what is supported: nothing.
func (t *Thread) DeviceRegisterEvents(h nv.NvmlDevice_t, kinds uint64, set nv.NvmlEventSet_t) error {
	if _, err := t.device(h); err != nil {
		return err
	}
	if err := isEventSet(set); err != nil {
		return err
	}
	if kinds != 0 {
		return notSupported
	}
	return nil
}

// EventSetWait waits for what does not come.
func (t *Thread) EventSetWait(set nv.NvmlEventSet_t, p hostmem.Ptr, milliseconds uint32) error {
	if err := isEventSet(set); err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	return timedOut
}
