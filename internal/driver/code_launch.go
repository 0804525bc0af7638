package driver

import (
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// scratch is the memory of one launch being prepared. Launches are frequent and must not allocate.
type scratch struct {
	launch   backend.Launch
	params   []byte
	given    []byte     // parameters laid out already, by a shim
	event    cu.CUevent // to record behind the kernel
	early    bool       // it may begin before the kernel before it ends
	gen      uint64     // of a pass for launches like this; 0: they get none
	name     uint64     // what such launches call the function
	template *Template  // a library's call that is this launch, or nil
}

var scratches = sync.Pool{New: func() any { return &scratch{params: make([]byte, 0, 512)} }}

// launchBlocking is CUDA_LAUNCH_BLOCKING: every launch waits for its kernel. It is read once, as the real driver does.
var launchBlocking = sync.OnceValue(func() bool { return config.Get("CUDA_LAUNCH_BLOCKING") == "1" })

// LaunchKernel runs a kernel over a grid of blocks. Parameters come as a list of addresses, or packed in extra.
func (t *Thread) LaunchKernel(f cu.CUfunction, gx, gy, gz, bx, by, bz, shared uint32, stream cu.CUstream, params, extra hostmem.Ptr) error {
	return t.LaunchNamed(uint64(f), f, gx, gy, gz, bx, by, bz, shared, stream, params, extra)
}

// LaunchNamed is LaunchKernel for a caller whose own callers name the function otherwise: C makes launches like it that do so.
func (t *Thread) LaunchNamed(name uint64, f cu.CUfunction, gx, gy, gz, bx, by, bz, shared uint32, stream cu.CUstream, params, extra hostmem.Ptr) error {
	sc := scratches.Get().(*scratch)
	sc.gen, sc.name = generation(), name
	l := &sc.launch // in place: a copy of what was just written in smaller pieces waits for them
	l.Grid[0], l.Grid[1], l.Grid[2] = gx, gy, gz
	l.Block[0], l.Block[1], l.Block[2] = bx, by, bz
	l.DynamicShared, l.Cooperative, l.Cluster = shared, false, [3]uint32{}
	err := t.launch(sc, f, stream, params, extra)
	sc.gen = 0
	scratches.Put(sc) // not deferred: a fault in the program's memory may just lose it
	return err
}

// LaunchCooperativeKernel is LaunchKernel for kernels whose blocks wait for each other.
func (t *Thread) LaunchCooperativeKernel(f cu.CUfunction, gx, gy, gz, bx, by, bz, shared uint32, stream cu.CUstream, params hostmem.Ptr) error {
	sc := scratches.Get().(*scratch)
	sc.launch = backend.Launch{Grid: [3]uint32{gx, gy, gz}, Block: [3]uint32{bx, by, bz}, DynamicShared: shared, Cooperative: true}
	err := t.launch(sc, f, stream, params, hostmem.Nil)
	scratches.Put(sc)
	return err
}

// LaunchKernelEx is LaunchKernel with attributes.
func (t *Thread) LaunchKernelEx(config *cu.CUlaunchConfig, f cu.CUfunction, params, extra hostmem.Ptr) error {
	sc := scratches.Get().(*scratch)
	sc.launch = backend.Launch{
		Grid:          [3]uint32{config.GridDimX, config.GridDimY, config.GridDimZ},
		Block:         [3]uint32{config.BlockDimX, config.BlockDimY, config.BlockDimZ},
		DynamicShared: config.SharedMemBytes,
	}
	sc.event, sc.early = 0, false
	if config.NumAttrs > 0 {
		if err := sc.attributes(hostmem.Ptr(config.Attrs), config.NumAttrs); err != nil {
			return err
		}
	}
	event := sc.event
	if event != 0 {
		if _, err := t.event(event); err != nil {
			return err
		}
	}
	err := t.launch(sc, f, config.HStream, params, extra)
	sc.early = false
	scratches.Put(sc)
	if err == nil && event != 0 {
		err = t.EventRecord(event, config.HStream)
	}
	return err
}

// maxLaunchAttrs bounds the list of attributes; there are fewer kinds.
const maxLaunchAttrs = 64

// attributes takes launch attributes. Those without a case are hints about caches and scheduling.
func (sc *scratch) attributes(p hostmem.Ptr, n uint32) error {
	if p == hostmem.Nil || n > maxLaunchAttrs {
		return errInvalidValue
	}
	list := hostmem.Slice[cu.CUlaunchAttribute](p, int(n))
	for i := range list {
		if err := sc.attribute(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// attribute takes one.
func (sc *scratch) attribute(a *cu.CUlaunchAttribute) error {
	switch a.Id {
	case cu.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		sc.launch.Cooperative = *a.Value.Cooperative() != 0
	case cu.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		d := a.Value.ClusterDim()
		sc.launch.Cluster = [3]uint32{d.X, d.Y, d.Z}
	case cu.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: // it may come later than the kernel asks for, and does: at its end
		sc.event = a.Value.ProgrammaticEvent().Event
	case cu.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
		sc.event = a.Value.LaunchCompletionEvent().Event
	case cu.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
		sc.early = *a.Value.ProgrammaticStreamSerializationAllowed() != 0
	case cu.CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
		return errNotSupported
	case cu.CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: // a hint, but one that is on or off
		if *a.Value.NvlinkUtilCentricScheduling() > 1 {
			return errInvalidValue
		}
	case cu.CU_LAUNCH_ATTRIBUTE_IGNORE, cu.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, cu.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
		cu.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
		cu.CU_LAUNCH_ATTRIBUTE_PRIORITY, cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, cu.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
		cu.CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, cu.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
	default:
		return errInvalidValue
	}
	return nil
}

// launch checks and enqueues what sc describes.
func (t *Thread) launch(sc *scratch, h cu.CUfunction, stream cu.CUstream, params, extra hostmem.Ptr) error {
	if _, err := t.context(); err != nil {
		return err
	}
	f, err := t.launchable(h)
	if err != nil {
		return err
	}
	st, err := t.stream(stream)
	if err != nil {
		return err
	}
	if !st.ctx.kin(f.mod.ctx) {
		return errInvalidHandle
	}
	if c := st.capture.Load(); c != nil {
		k, err := t.newKernelTask(sc, f, h, params, extra)
		if err == nil {
			_, err = t.recordAfter(st, c, k, sc.early)
		}
		return err
	}
	if err := f.admits(&sc.launch); err != nil {
		return err
	}
	if err := sc.pack(f.decl, params, extra); err != nil {
		return err
	}
	if err := t.bindRefs(f.mod); err != nil {
		return err
	}
	if err := t.enqueue(sc, f, stream, st); err != nil {
		return f.fail(st, err)
	}
	if launchBlocking() {
		return st.wait()
	}
	return nil
}

// fail is Context.fail. A launch that is refused in a context that lives lost its module to another thread.
func (f *Function) fail(st *Stream, err error) error {
	if err = st.ctx.fail(err); err == errDestroyed && st.ctx.alive.Load() {
		return errInvalidHandle
	}
	return err
}

// enqueue is Stream.enqueue for the most frequent work.
func (t *Thread) enqueue(sc *scratch, f *Function, stream cu.CUstream, st *Stream) error {
	if err := st.begin(); err != nil {
		return err
	}
	defer st.end()
	touched()
	if err := st.q.Launch(f.kernel, &sc.launch); err != nil {
		return err
	}
	if sc.gen != 0 {
		t.ticket(sc, f, stream, st)
	}
	if sc.template != nil {
		t.ticketTemplate(sc, f, stream, st)
	}
	return nil
}

// fits checks a launch against the limits of the device and those that the kernel declares.
func (f *Function) fits(l *backend.Launch) error {
	in := f.mod.ctx.dev.info
	threads := uint64(1)
	for i := range 3 {
		if l.Grid[i] == 0 || uint64(l.Grid[i]) > uint64(in.MaxGrid[i]) || l.Block[i] == 0 || uint64(l.Block[i]) > uint64(in.MaxBlock[i]) {
			return errInvalidValue
		}
		if r := f.decl.ReqBlock[i]; r != 0 && uint64(l.Block[i]) != uint64(r) {
			return errInvalidValue
		}
		threads *= uint64(l.Block[i])
	}
	if b := f.decl.MaxBlock; threads > uint64(in.MaxThreads) || b[0] > 0 && threads > uint64(b[0])*uint64(b[1])*uint64(b[2]) {
		return errInvalidValue
	}
	return nil
}

// admits has the kernel compiled for the launch's shape and checks the launch against all limits.
func (f *Function) admits(l *backend.Launch) error {
	if err := f.fits(l); err != nil {
		return err
	}
	// Before anything is asked about the code: an answer without a shape would cost a compilation for any shape.
	if err := f.prepare(l.Block); err != nil {
		return err
	}
	k, err := f.know()
	if err != nil {
		return err
	}
	threads := uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2])
	if threads > k.maxThreads || uint64(l.DynamicShared) > f.launchRoom(k) || k.tooLarge {
		return errInvalidValue
	}
	if l.Cluster == [3]uint32{} && f.cluster[0].Load()|f.cluster[1].Load()|f.cluster[2].Load() != 0 {
		for i := range 3 {
			l.Cluster[i] = uint32(max(1, f.cluster[i].Load()))
		}
	}
	if l.Cluster != [3]uint32{} {
		if err := f.admitsCluster(l); err != nil {
			return err
		}
	}
	if l.Cooperative {
		return f.admitsTogether(l, threads)
	}
	return nil
}

// The blocks of a cluster: as many as every device of this kind has room for, and with NON_PORTABLE_CLUSTER_SIZE_ALLOWED.
const (
	portableCluster = 8
	largestCluster  = 16
)

// maxCluster is how many blocks a cluster of the kernel may have.
func (f *Function) maxCluster() uint64 {
	if f.wide.Load() != 0 {
		return largestCluster
	}
	return portableCluster
}

// admitsCluster checks the clusters of a launch.
func (f *Function) admitsCluster(l *backend.Launch) error {
	blocks := uint64(1)
	for i := range 3 {
		if l.Cluster[i] == 0 || l.Cluster[i] > largestCluster || l.Grid[i]%l.Cluster[i] != 0 {
			return errClusterSize
		}
		blocks *= uint64(l.Cluster[i])
	}
	if blocks > f.maxCluster() {
		return errClusterSize
	}
	return nil
}

// admitsTogether checks that all blocks of a cooperative launch can be there at once.
func (f *Function) admitsTogether(l *backend.Launch, threads uint64) error {
	if !f.mod.ctx.dev.info.Cooperative {
		return errNotSupported
	}
	per, err := f.occupancy(threads, uint64(l.DynamicShared))
	if err != nil {
		return err
	}
	blocks := uint64(l.Grid[0]) * uint64(l.Grid[1])
	room := uint64(per) * uint64(f.mod.ctx.dev.info.Processors)
	if blocks > room || blocks*uint64(l.Grid[2]) > room {
		return errCoopTooLarge
	}
	return nil
}

// pack lays the parameters out in sc.params.
func (sc *scratch) pack(d *backend.KernelDecl, params, extra hostmem.Ptr) error {
	n := d.ParamBytes
	if cap(sc.params) < n {
		sc.params = make([]byte, n)
	}
	sc.params = sc.params[:n]
	sc.launch.Params = sc.params
	switch {
	case sc.given != nil:
		if len(sc.given) != n {
			return errInvalidValue
		}
		copy(sc.params, sc.given)
		return nil
	case extra != hostmem.Nil:
		if params != hostmem.Nil {
			return errInvalidValue
		}
		return sc.packed(extra)
	case len(d.Params) == 0:
		return nil
	case params == hostmem.Nil:
		return errInvalidValue
	}
	for i := range d.Params {
		p := &d.Params[i]
		from := hostmem.Load[hostmem.Ptr](params.Index(i, 8))
		copy(sc.params[p.Offset:p.Offset+p.Size], hostmem.Bytes(from, uint64(p.Size)))
	}
	return nil
}

// packed reads the list of extra: a buffer and its size, by name, up to the end mark. A buffer shorter than the
// parameters leaves the rest zero; a longer one is refused with the real driver's code.
func (sc *scratch) packed(extra hostmem.Ptr) error {
	var buf, size hostmem.Ptr
	for i := 0; ; i += 2 {
		word := hostmem.Load[uint64](extra.Index(i, 8))
		if word == cu.CU_LAUNCH_PARAM_END {
			break
		}
		value := hostmem.Load[hostmem.Ptr](extra.Index(i+1, 8))
		switch word {
		case cu.CU_LAUNCH_PARAM_BUFFER_POINTER:
			buf = value
		case cu.CU_LAUNCH_PARAM_BUFFER_SIZE:
			size = value
		default:
			return errInvalidValue
		}
	}
	if buf == hostmem.Nil && size == hostmem.Nil && len(sc.params) == 0 {
		return nil
	}
	if buf == hostmem.Nil || size == hostmem.Nil {
		return errInvalidValue
	}
	n := hostmem.Load[uint64](size)
	switch {
	case n > uint64(len(sc.params)):
		return errLaunchResources
	case n == 0 && len(sc.params) > 0:
		return errInvalidValue
	}
	clear(sc.params[copy(sc.params, hostmem.Bytes(buf, n)):])
	return nil
}
