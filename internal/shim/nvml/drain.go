package nvml

import (
	"os"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// Devices that come and go, and settings of the whole system. Devices here stay, and nothing can be set.

// located is the device that a place on the bus names.
func (t *Thread) located(p hostmem.Ptr) (nv.NvmlDevice_t, error) {
	if err := ready(); err != nil {
		return 0, err
	}
	if p == hostmem.Nil {
		return 0, invalidArgument
	}
	v := hostmem.Load[nv.NvmlPciInfo_t](p)
	return t.find(func(dev int32) (bool, error) {
		at, err := t.Bus(dev)
		return at == [3]int{int(v.Domain), int(v.Bus), int(v.Device)}, err
	})
}

// refuse answers what would change the system: others than root may not.
func refuse() error {
	if err := ready(); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return noPermission
	}
	return notSupported
}

// DeviceQueryDrainState: no device is about to go.
func (t *Thread) DeviceQueryDrainState(p hostmem.Ptr) (nv.NvmlEnableState_t, error) {
	_, err := t.located(p)
	return nv.NVML_FEATURE_DISABLED, err
}

// DeviceModifyDrainState keeps devices in use.
func (t *Thread) DeviceModifyDrainState(p hostmem.Ptr, state nv.NvmlEnableState_t) error {
	h, err := t.located(p)
	if err != nil {
		return err
	}
	return t.keep(h, state == nv.NVML_FEATURE_DISABLED)
}

// DeviceRemoveGpu keeps the device.
func (t *Thread) DeviceRemoveGpu(p hostmem.Ptr, state nv.NvmlDetachGpuState_t, link nv.NvmlPcieLinkState_t) error {
	return t.DeviceRemoveGpuV1(p)
}

// DeviceRemoveGpuV1 is the same without saying how.
func (t *Thread) DeviceRemoveGpuV1(p hostmem.Ptr) error {
	h, err := t.located(p)
	if err != nil {
		return err
	}
	return t.keep(h, false)
}

// DeviceDiscoverGpus: all devices are known.
func (t *Thread) DeviceDiscoverGpus(p hostmem.Ptr) error {
	if err := ready(); err != nil {
		return err
	}
	if p == hostmem.Nil {
		return invalidArgument
	}
	return refuse()
}

// SystemSetNvlinkBwMode: no links.
func (t *Thread) SystemSetNvlinkBwMode(mode uint32) error { return refuse() }

// SystemSetConfComputeGpusReadyState: nobody waits for it.
func (t *Thread) SystemSetConfComputeGpusReadyState(accepting uint32) error { return refuse() }

// SystemSetConfComputeKeyRotationThresholdInfo: no keys.
func (t *Thread) SystemSetConfComputeKeyRotationThresholdInfo(p hostmem.Ptr) error {
	if _, err := request[nv.NvmlConfComputeSetKeyRotationThresholdInfo_v1_t](p); err != nil {
		return err
	}
	return refuse()
}

// SystemGetConfComputeKeyRotationThresholdInfo: no keys.
func (t *Thread) SystemGetConfComputeKeyRotationThresholdInfo(p hostmem.Ptr) error {
	if _, err := request[nv.NvmlConfComputeGetKeyRotationThresholdInfo_v1_t](p); err != nil {
		return err
	}
	return notSupported
}

// SystemGetCPER: no records of platform errors.
func (t *Thread) SystemGetCPER(p hostmem.Ptr) error { return absentFrom(p) }

// absentFrom answers what this system does not have.
func absentFrom(places ...hostmem.Ptr) error {
	if err := ready(); err != nil {
		return err
	}
	for _, p := range places {
		if p == hostmem.Nil {
			return invalidArgument
		}
	}
	return notSupported
}

// GetVgpuDriverCapabilities: the driver has none for virtual devices.
func (t *Thread) GetVgpuDriverCapabilities(which nv.NvmlVgpuDriverCapability_t) (uint32, error) {
	return 0, absentFrom()
}

// GetVgpuVersion: no virtual devices.
func (t *Thread) GetVgpuVersion(supported, current hostmem.Ptr) error {
	return absentFrom(supported, current)
}

// SetVgpuVersion: nor a range of them.
func (t *Thread) SetVgpuVersion(p hostmem.Ptr) error {
	if p == hostmem.Nil {
		return unit()
	}
	return refuse()
}

// GetVgpuCompatibility: nothing to be compatible with.
func (t *Thread) GetVgpuCompatibility(virtual, physical, info hostmem.Ptr) error {
	return absentFrom(virtual, physical, info)
}

// VgpuTypeGetMaxInstancesPerGpuInstance: no type is one of ours, which is told before a wrong version, as recorded.
func (t *Thread) VgpuTypeGetMaxInstancesPerGpuInstance(p hostmem.Ptr) error { return unit() }
