package driver

import (
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Processors of a device as something that can be counted and divided, for green contexts.

const (
	errResourceType   = Result(cu.CUDA_ERROR_INVALID_RESOURCE_TYPE)
	errResourceConfig = Result(cu.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)
	errExecAffinity   = Result(cu.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
)

// Parts of a device of compute capability 9.0 come in eights.
const processorUnit = 8

// unit is in how many processors parts of the device come: one that has fewer than eight is not divided.
func (d *Device) unit() uint32 { return min(processorUnit, uint32(d.info.Processors)) }

// resource is all of a device.
func (d *Device) resource(kind cu.CUdevResourceType) (r cu.CUdevResource, err error) {
	if kind != cu.CU_DEV_RESOURCE_TYPE_SM {
		return r, errResourceType
	}
	r.Type = kind
	markResource(&r, d.ordinal, 0)
	sm := r.Sm()
	sm.SmCount, sm.MinSmPartitionSize, sm.SmCoscheduledAlignment = uint32(d.info.Processors), d.unit(), d.unit()
	return r, nil
}

// DeviceGetDevResource is what a device has.
func (t *Thread) DeviceGetDevResource(dev cu.CUdevice, kind cu.CUdevResourceType) (r cu.CUdevResource, err error) {
	d, err := t.device(dev)
	if err != nil {
		return r, err
	}
	return d.resource(kind)
}

// CtxGetDevResource is what a context has: all of its device, unless it is a green one's.
func (t *Thread) CtxGetDevResource(h cu.CUcontext, kind cu.CUdevResourceType) (r cu.CUdevResource, err error) {
	c, err := t.contextOf(h)
	if err != nil {
		return r, err
	}
	return c.resource(kind)
}

// resource is what a context may use.
func (c *Context) resource(kind cu.CUdevResourceType) (cu.CUdevResource, error) {
	if c.green != nil {
		return c.green.resource(kind)
	}
	return c.dev.resource(kind)
}

// StreamGetDevResource is what a stream's work can use.
func (t *Thread) StreamGetDevResource(h cu.CUstream, kind cu.CUdevResourceType) (r cu.CUdevResource, err error) {
	st, err := t.stream(h)
	if err != nil {
		return r, err
	}
	return st.ctx.resource(kind)
}

// DevSmResourceSplitByCount divides processors into groups of at least so many. Without room for the groups it tells how
// many there would be.
func (t *Thread) DevSmResourceSplitByCount(result, groups, input, remainder hostmem.Ptr, flags, least uint32) error {
	s, err := t.enter()
	if err != nil {
		return err
	}
	if groups == hostmem.Nil || input == hostmem.Nil || flags&^uint32(cu.CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING|cu.CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE) != 0 {
		return errInvalidValue
	}
	in := hostmem.Load[cu.CUdevResource](input)
	d, have, err := s.readResource(&in)
	if err != nil {
		return err
	}
	total, unit := have.count, d.unit()
	size := total // all of it need not be a multiple of the unit
	if least < total {
		size = min(total, (max(least, 1)+unit-1)/unit*unit)
	}
	if least > total || size == 0 {
		return errResourceConfig
	}
	n := total / size
	if result != hostmem.Nil {
		if want := hostmem.Load[uint32](groups); want < n {
			n = want
		}
		if n == 0 {
			return errInvalidValue
		}
	}
	for i := uint32(0); result != hostmem.Nil && i < n; i++ {
		hostmem.Store(result.Index(int(i), sizeOfResource), part(&in, have.first+i*size, size))
	}
	hostmem.Store(groups, n)
	if remainder != hostmem.Nil {
		hostmem.Store(remainder, part(&in, have.first+n*size, total-n*size))
	}
	return nil
}

// sizeOfResource is sizeof(CUdevResource).
const sizeOfResource = 144

// CtxGetExecAffinity is how many processors the current context may use.
func (t *Thread) CtxGetExecAffinity(kind cu.CUexecAffinityType) (p cu.CUexecAffinityParam, err error) {
	c, err := t.context()
	if err != nil {
		return p, err
	}
	if kind != cu.CU_EXEC_AFFINITY_TYPE_SM_COUNT {
		return p, errExecAffinity
	}
	p.Type = kind
	p.Param.SmCount().Val = uint32(c.dev.info.Processors)
	if c.green != nil {
		p.Param.SmCount().Val = c.green.share.count()
	}
	return p, nil
}

// clusterLaunch reads the shape of a launch that is only asked about.
func clusterLaunch(config *cu.CUlaunchConfig) (*backend.Launch, error) {
	sc := &scratch{launch: backend.Launch{
		Grid:  [3]uint32{config.GridDimX, config.GridDimY, config.GridDimZ},
		Block: [3]uint32{config.BlockDimX, config.BlockDimY, config.BlockDimZ}, DynamicShared: config.SharedMemBytes}}
	if config.NumAttrs > 0 {
		if err := sc.attributes(hostmem.Ptr(config.Attrs), config.NumAttrs); err != nil {
			return nil, err
		}
	}
	return &sc.launch, nil
}

// perProcessor is how many blocks of a launch a processor holds.
func (f *Function) perProcessor(l *backend.Launch) (uint64, error) {
	threads := uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2])
	if threads == 0 {
		return 0, errInvalidValue
	}
	n, err := f.occupancy(threads, uint64(l.DynamicShared))
	return uint64(n), err
}

// OccupancyMaxPotentialClusterSize is the largest cluster of such blocks.
func (t *Thread) OccupancyMaxPotentialClusterSize(h cu.CUfunction, config *cu.CUlaunchConfig) (int32, error) {
	f, err := t.named(h)
	if err != nil {
		return 0, err
	}
	l, err := clusterLaunch(config)
	if err != nil {
		return 0, err
	}
	n, err := f.perProcessor(l)
	if err != nil || n == 0 {
		return 0, err
	}
	return int32(f.maxCluster()), nil
}

// OccupancyMaxActiveClusters is how many clusters of a launch can be there at once.
func (t *Thread) OccupancyMaxActiveClusters(h cu.CUfunction, config *cu.CUlaunchConfig) (int32, error) {
	f, err := t.named(h)
	if err != nil {
		return 0, err
	}
	l, err := clusterLaunch(config)
	if err != nil {
		return 0, err
	}
	size := uint64(1)
	if l.Cluster != [3]uint32{} {
		if err := f.admitsCluster(l); err != nil {
			return 0, err
		}
		size = uint64(l.Cluster[0]) * uint64(l.Cluster[1]) * uint64(l.Cluster[2])
	}
	n, err := f.perProcessor(l)
	if err != nil {
		return 0, err
	}
	return int32(min(n*uint64(f.mod.ctx.dev.info.Processors)/size, 1<<30)), nil
}

// hostAtomics is what kernels and host code can do to the same word at once: all that the host's instructions can, since
// both run on the same processor. Floating-point operations are loops there and not atomic for others.
var hostAtomics = [cu.CU_ATOMIC_OPERATION_MAX]cu.CUatomicOperationCapability{
	cu.CU_ATOMIC_OPERATION_INTEGER_ADD: atomicInts,
	cu.CU_ATOMIC_OPERATION_AND:         atomicInts,
	cu.CU_ATOMIC_OPERATION_OR:          atomicInts,
	cu.CU_ATOMIC_OPERATION_XOR:         atomicInts,
	cu.CU_ATOMIC_OPERATION_EXCHANGE:    atomicInts,
	cu.CU_ATOMIC_OPERATION_CAS:         atomicInts,
}

const atomicInts = cu.CU_ATOMIC_CAPABILITY_SIGNED | cu.CU_ATOMIC_CAPABILITY_UNSIGNED | cu.CU_ATOMIC_CAPABILITY_SCALAR_32 | cu.CU_ATOMIC_CAPABILITY_SCALAR_64

// atomics answers a list of questions.
func atomics(out, ops hostmem.Ptr, n uint32, table []cu.CUatomicOperationCapability) error {
	if out == hostmem.Nil || ops == hostmem.Nil || n == 0 || n > maxLaunchAttrs {
		return errInvalidValue
	}
	list := slices.Clone(hostmem.Slice[cu.CUatomicOperation](ops, int(n)))
	for _, op := range list {
		if op < 0 || int(op) >= len(table) {
			return errInvalidValue
		}
	}
	for i, op := range list {
		hostmem.Store(out.Index(i, 4), uint32(table[op]))
	}
	return nil
}

// DeviceGetHostAtomicCapabilities tells which operations are atomic between kernels and host code.
func (t *Thread) DeviceGetHostAtomicCapabilities(out, ops hostmem.Ptr, n uint32, dev cu.CUdevice) error {
	d, err := t.device(dev)
	if err != nil {
		return err
	}
	table := hostAtomics[:]
	if !oneMemory(d.info) {
		table = make([]cu.CUatomicOperationCapability, len(hostAtomics))
	}
	return atomics(out, ops, n, table)
}

// DeviceGetP2PAtomicCapabilities tells the same about two devices.
func (t *Thread) DeviceGetP2PAtomicCapabilities(out, ops hostmem.Ptr, n uint32, src, dst cu.CUdevice) error {
	a, err := t.device(src)
	if err != nil {
		return err
	}
	b, err := t.device(dst)
	if err != nil {
		return err
	}
	if a == b {
		return errInvalidDevice
	}
	table := hostAtomics[:]
	if !reach(a, b) || !oneMemory(a.info) || !oneMemory(b.info) {
		table = make([]cu.CUatomicOperationCapability, len(hostAtomics))
	}
	return atomics(out, ops, n, table)
}

// LibraryGetUnifiedFunction has none to give: libraries carry functions for the device only.
func (t *Thread) LibraryGetUnifiedFunction(out hostmem.Ptr, h cu.CUlibrary, _ string) error {
	if _, _, err := t.library(h); err != nil {
		return err
	}
	return errInvalidValue
}
