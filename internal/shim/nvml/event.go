package nvml

import (
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// Sets of events. No device has any, and none comes or goes, so whoever waits does so until the time is over.

var (
	eventSets       issued[nv.NvmlEventSet_t]
	systemEventSets issued[nv.NvmlSystemEventSet_t]
)

// EventSetCreate makes a set.
func (t *Thread) EventSetCreate() (nv.NvmlEventSet_t, error) { return eventSets.add() }

// EventSetFree ends a set.
func (t *Thread) EventSetFree(set nv.NvmlEventSet_t) error { return eventSets.free(set) }

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
	if err := eventSets.check(set); err != nil {
		return err
	}
	if kinds != 0 {
		return notSupported
	}
	return nil
}

// ofSet is what every call with a set and a place for the answer asks first.
func ofSet(set nv.NvmlEventSet_t, p hostmem.Ptr) error {
	if err := eventSets.check(set); err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	return nil
}

// outlast waits for what does not come.
func outlast(milliseconds uint32) error {
	time.Sleep(time.Duration(milliseconds) * time.Millisecond)
	return timedOut
}

// EventSetWait waits so many milliseconds.
func (t *Thread) EventSetWait(set nv.NvmlEventSet_t, p hostmem.Ptr, milliseconds uint32) error {
	if err := ofSet(set, p); err != nil {
		return err
	}
	return outlast(milliseconds)
}

// EventSetWaitV3 is the same with the time in the first word of its structure.
func (t *Thread) EventSetWaitV3(set nv.NvmlEventSet_t, p hostmem.Ptr) error {
	if err := ofSet(set, p); err != nil {
		return err
	}
	return outlast(hostmem.Load[uint32](p))
}

// EventSetRegisterGpuOperationalEvents: no device logs such events.
func (t *Thread) EventSetRegisterGpuOperationalEvents(set nv.NvmlEventSet_t, p hostmem.Ptr) error {
	return noContext(set, p, notSupported)
}

// noContext answers a question about the last event of a set, of which there is none.
func noContext(set nv.NvmlEventSet_t, p hostmem.Ptr, code Return) error {
	if err := ofSet(set, p); err != nil {
		return err
	}
	return code
}

// EventSetGetContextCount has no event to tell of.
func (t *Thread) EventSetGetContextCount(set nv.NvmlEventSet_t, p hostmem.Ptr) error {
	return noContext(set, p, notFound)
}

// EventSetGetContextInfo has no event to tell of.
func (t *Thread) EventSetGetContextInfo(set nv.NvmlEventSet_t, p hostmem.Ptr) error {
	return noContext(set, p, notFound)
}

// EventSetGetContextData has no event to tell of.
func (t *Thread) EventSetGetContextData(set nv.NvmlEventSet_t, p hostmem.Ptr) error {
	return noContext(set, p, notFound)
}

// EventSetGetGpuOperationalEventContextLegacyXid has no event to tell of.
func (t *Thread) EventSetGetGpuOperationalEventContextLegacyXid(set nv.NvmlEventSet_t, p hostmem.Ptr) error {
	return noContext(set, p, notFound)
}

// request reads a structure of the first version about the system, not about a device.
func request[T any](p hostmem.Ptr) (v T, err error) {
	if err := ready(); err != nil {
		return v, err
	}
	if p == hostmem.Nil {
		return v, invalidArgument
	}
	if hostmem.Load[uint32](p) != version(sizeOf[T](), 1) {
		return v, wrongVersion
	}
	return hostmem.Load[T](p), nil
}

// SystemEventSetCreate makes a set for events of the system.
func (t *Thread) SystemEventSetCreate(p hostmem.Ptr) error {
	v, err := request[nv.NvmlSystemEventSetCreateRequest_v1_t](p)
	if err != nil {
		return err
	}
	if v.Set, err = systemEventSets.add(); err != nil {
		return err
	}
	hostmem.Store(p, v)
	return nil
}

// SystemEventSetFree ends it.
func (t *Thread) SystemEventSetFree(p hostmem.Ptr) error {
	v, err := request[nv.NvmlSystemEventSetFreeRequest_v1_t](p)
	if err != nil {
		return err
	}
	return systemEventSets.free(v.Set)
}

// SystemRegisterEvents takes both there are: that a driver binds a device, or lets go of it.
func (t *Thread) SystemRegisterEvents(p hostmem.Ptr) error {
	const unbind, bind = 1, 2
	v, err := request[nv.NvmlSystemRegisterEventRequest_v1_t](p)
	if err != nil {
		return err
	}
	if err := systemEventSets.check(v.Set); err != nil {
		return err
	}
	if v.EventTypes&^(unbind|bind) != 0 {
		return invalidArgument
	}
	return nil
}

// SystemEventSetWait waits for one.
func (t *Thread) SystemEventSetWait(p hostmem.Ptr) error {
	v, err := request[nv.NvmlSystemEventSetWaitRequest_v1_t](p)
	if err != nil {
		return err
	}
	if err := systemEventSets.check(v.Set); err != nil {
		return err
	}
	if v.Data == 0 || v.DataSize == 0 {
		return invalidArgument
	}
	v.NumEvent = 0
	hostmem.Store(p, v)
	return outlast(v.Timeoutms)
}
