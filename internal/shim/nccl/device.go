package nccl

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// What kernels would use of a communicator: there is nothing of it. Every call says so by its name.

func noDeviceSide(name string) error {
	return badUsage("%s: kernels cannot reach other ranks here", name)
}

// CommQueryProperties says what a communicator has.
func (t *Thread) CommQueryProperties(h ncclapi.NcclComm_t, at hostmem.Ptr) error {
	c, err := find(h)
	if err != nil {
		return err
	}
	if at == hostmem.Nil {
		return badArgument("ncclCommQueryProperties: no place for the answer")
	}
	size := hostmem.Load[uint64](at)
	p := hostmem.Load[ncclapi.NcclCommProperties_t](at)
	if p.Magic != ncclapi.NCCL_API_MAGIC || size < leastProperties || size > 1<<16 {
		return badArgument("ncclCommProperties_t was not initialised: NCCL_COMM_PROPERTIES_INITIALIZER")
	}
	p = ncclapi.NcclCommProperties_t{Size: p.Size, Magic: p.Magic, Version: p.Version,
		Rank: int32(c.rank), NRanks: int32(c.n), CudaDev: c.device, NvmlDev: c.device, NLsaTeams: int32(c.n), HostRmaSupport: 1}
	hostmem.StorePrefix(at, p, size)
	return nil
}

// leastProperties is the size of the first ncclCommProperties_t there was.
const leastProperties = 40

// DevCommCreate would make what kernels use of a communicator.
func (t *Thread) DevCommCreate(ncclapi.NcclComm_t, hostmem.Ptr, hostmem.Ptr) error {
	return noDeviceSide("ncclDevCommCreate")
}

// DevCommDestroy would end it.
func (t *Thread) DevCommDestroy(ncclapi.NcclComm_t, hostmem.Ptr) error {
	return noDeviceSide("ncclDevCommDestroy")
}

// GetLsaDevicePointer would be a neighbour's window as kernels see it.
func (t *Thread) GetLsaDevicePointer(ncclapi.NcclWindow_t, uint64, int32, hostmem.Ptr) error {
	return noDeviceSide("ncclGetLsaDevicePointer")
}

// GetPeerDevicePointer would be that of any rank.
func (t *Thread) GetPeerDevicePointer(ncclapi.NcclWindow_t, uint64, int32, hostmem.Ptr) error {
	return noDeviceSide("ncclGetPeerDevicePointer")
}

// GetLsaMultimemDevicePointer would be all neighbours' at once.
func (t *Thread) GetLsaMultimemDevicePointer(ncclapi.NcclWindow_t, uint64, hostmem.Ptr) error {
	return noDeviceSide("ncclGetLsaMultimemDevicePointer")
}

// SetEncryption would encrypt what goes between hosts.
func (t *Thread) SetEncryption(hostmem.Ptr) error {
	return badUsage("ncclSetEncryption: connections are not encrypted")
}
