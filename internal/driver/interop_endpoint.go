package driver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Logical endpoints: memory that other machines on a fabric reach by a number. There is no fabric, the attributes of devices
// say so, and no number can be reserved; calls about one answer that it is not known.

// endpointProp checks a description.
func (t *Thread) endpointProp(p *cu.CUlogicalEndpointProp) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	if p.Type != cu.CU_LOGICAL_ENDPOINT_TYPE_UNICAST && p.Type != cu.CU_LOGICAL_ENDPOINT_TYPE_MULTICAST || p.Flags != 0 {
		return errInvalidValue
	}
	return errNotSupported
}

// noObject is the answer about a thing that was never made.
func (t *Thread) noObject() error {
	if _, err := t.enter(); err != nil {
		return err
	}
	return errInvalidValue
}

func (t *Thread) noEndpointOf(dev cu.CUdevice) error {
	if _, err := t.device(dev); err != nil {
		return err
	}
	return errInvalidValue
}

// LogicalEndpointIdReserve takes numbers.
func (t *Thread) LogicalEndpointIdReserve(n uint32) (cu.CUlogicalEndpointId, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, errInvalidValue
	}
	return 0, errNotSupported
}

// LogicalEndpointIdRelease gives numbers back.
func (t *Thread) LogicalEndpointIdRelease(cu.CUlogicalEndpointId, uint32) error {
	return t.noObject()
}

// LogicalEndpointCreate makes an endpoint of a number.
func (t *Thread) LogicalEndpointCreate(_ cu.CUlogicalEndpointId, p *cu.CUlogicalEndpointProp) error {
	if err := t.endpointProp(p); err != errNotSupported {
		return err
	}
	return t.noObject()
}

// LogicalEndpointAddDevice lets a device take part.
func (t *Thread) LogicalEndpointAddDevice(_ cu.CUlogicalEndpointId, dev cu.CUdevice) error {
	return t.noEndpointOf(dev)
}

// LogicalEndpointDestroy ends an endpoint.
func (t *Thread) LogicalEndpointDestroy(cu.CUlogicalEndpointId) error { return t.noObject() }

// LogicalEndpointBindAddr gives it memory by its address.
func (t *Thread) LogicalEndpointBindAddr(_ cu.CUlogicalEndpointId, dev cu.CUdevice, _ uint64, _ hostmem.Ptr, _, _ uint64) error {
	return t.noEndpointOf(dev)
}

// LogicalEndpointBindMem gives it memory.
func (t *Thread) LogicalEndpointBindMem(_ cu.CUlogicalEndpointId, dev cu.CUdevice, _ uint64, _ cu.CUmemGenericAllocationHandle, _, _, _ uint64) error {
	return t.noEndpointOf(dev)
}

// LogicalEndpointUnbind takes memory away.
func (t *Thread) LogicalEndpointUnbind(_ cu.CUlogicalEndpointId, dev cu.CUdevice, _, _ uint64) error {
	return t.noEndpointOf(dev)
}

// LogicalEndpointExport makes an endpoint known to other processes.
func (t *Thread) LogicalEndpointExport(hostmem.Ptr, cu.CUlogicalEndpointId, cu.CUlogicalEndpointIpcHandleType) error {
	return t.noObject()
}

// LogicalEndpointImport takes one of another process.
func (t *Thread) LogicalEndpointImport(cu.CUlogicalEndpointId, hostmem.Ptr, cu.CUlogicalEndpointIpcHandleType) error {
	return t.noObject()
}

// LogicalEndpointGetLimits is what sizes may be.
func (t *Thread) LogicalEndpointGetLimits(p *cu.CUlogicalEndpointProp) (align, most uint64, err error) {
	return 0, 0, t.endpointProp(p)
}

// LogicalEndpointQuery tells about endpoints that are there.
func (t *Thread) LogicalEndpointQuery(cu.CUlogicalEndpointId, uint32) (int32, error) {
	return 0, t.noObject()
}
