package hip

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/codeobject"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/hip"
)

// device is one GPU.
type device struct {
	b       *Backend
	api     *api
	ordinal int
	info    backend.Info
	arch    string            // as HIP names it: gfx90a:sramecc+:xnack-
	target  codeobject.Target // of arch
	plan    plan

	peers  peers
	book   backend.Book
	queues sync.Map      // *queue: those that are open
	stack  atomic.Uint64 // bytes a thread that a context asked for

	mu     lockrank.Mutex[lockrank.HIPDevice]
	limit  uint64  // HIP's, of the stack; 0 before it was asked; guarded by mu
	stream uintptr // for work of our own, made at first use; guarded by mu
	clock  clock

	mailbox  mailbox
	textures textures
	virtual  virtual
}

// warp is what CUDA programs assume; on GPUs of 64 lanes a wave, emit/simt keeps warps of 32.
const warp = 32

func newDevice(b *Backend, ordinal int) (*device, error) {
	d := &device{b: b, api: b.api, ordinal: ordinal}
	d.mailbox.init(b)
	if err := d.readArch(); err != nil {
		return nil, err
	}
	var err error
	if d.target, err = codeobject.ParseTarget(d.arch); err != nil {
		return nil, fmt.Errorf("%s: %w", d.arch, err)
	}
	d.plan, err = planFor(d.target, b.api.version)
	d.plan.noMatrix = b.cfg.Env(config.AMDMatrix) == "off"
	if err != nil {
		return nil, err
	}
	if err := d.readInfo(); err != nil {
		return nil, err
	}
	d.readVirtual()
	return d, nil
}

// readArch asks for the processor. It is in hipDeviceProp_t only, whose layout changed once: ROCm 6 has a function of its own
// for the new one, and kept the old name for the old one. HSA_OVERRIDE_GFX_VERSION has changed the answer already where it
// is set: the runtime below HIP applies it.
func (d *device) readArch() error {
	f, at := hip.HipGetDevicePropertiesR0600, hip.HipDevicePropR0600gcnArchName
	if !d.api.has(f) {
		f, at = hip.HipGetDeviceProperties, hip.HipDevicePropR0000gcnArchName
	}
	buf := dl.Alloc(4096) // more than either, should a release add to it
	defer buf.Free()
	if err := d.api.call(f, buf.Addr(), uintptr(d.ordinal)); err != nil {
		return err
	}
	name, _, _ := bytes.Cut(buf.Bytes()[at:at+256], []byte{0})
	if !bytes.HasPrefix(name, []byte("gfx")) {
		return fmt.Errorf("hipDeviceProp_t has no processor where it should: %q", name)
	}
	d.arch = string(name)
	return nil
}

func (d *device) readInfo() error {
	buf := dl.Alloc(256)
	defer buf.Free()
	in := &d.info
	if err := d.api.call(hip.HipDeviceGetName, buf.Addr(), 256, uintptr(d.ordinal)); err != nil {
		return err
	}
	name, _, _ := bytes.Cut(buf.Bytes(), []byte{0})
	in.Name = strings.TrimSpace(fmt.Sprintf("%s (%s)", name, d.target.Name))
	clear(buf.Bytes())
	if err := d.api.call(hip.HipDeviceGetUuid, buf.Addr(), uintptr(d.ordinal)); err == nil {
		copy(in.UUID[:], buf.Bytes())
	}
	if in.UUID == [16]byte{} { // consumer cards have none: the ordinal tells them apart
		copy(in.UUID[:], fmt.Sprintf("kudzu hip %d", d.ordinal))
	}
	total, err := d.api.getPtr(hip.HipDeviceTotalMem, uintptr(d.ordinal))
	if err != nil {
		return err
	}
	in.Memory = uint64(total)
	c, err := backend.ParseCapability(d.b.cfg.Env(config.Capability), amdCapability)
	if err != nil {
		return err
	}
	in.Major, in.Minor = c.Major, c.Minor
	return d.readAttributes()
}

// amdCapability is what the device says it is to CUDA programs. 8.6 has what GPUs of AMD have (warp matrix operations, asynchronous
// copies) and not what they lack (clusters, tensor memory): programs that look choose code that fits.
var amdCapability = backend.Capability{Major: 8, Minor: 6}

func (d *device) readAttributes() error {
	in := &d.info
	var page, coop, integ, managed, concurrent int
	for _, f := range []struct {
		attr int
		to   *int
		or   int // where HIP has no answer or says 0
	}{
		{hip.HipDeviceAttributeMultiprocessorCount, &in.Processors, 1},
		{hip.HipDeviceAttributeClockRate, &in.ClockKHz, 0}, {hip.HipDeviceAttributeMemoryClockRate, &in.MemoryKHz, 0},
		{hip.HipDeviceAttributeMemoryBusWidth, &in.BusWidth, 0}, {hip.HipDeviceAttributeL2CacheSize, &in.L2Bytes, 0},
		{hip.HipDeviceAttributeMaxThreadsPerBlock, &in.MaxThreads, 1024},
		{hip.HipDeviceAttributeMaxBlockDimX, &in.MaxBlock[0], 1024}, {hip.HipDeviceAttributeMaxBlockDimY, &in.MaxBlock[1], 1024}, {hip.HipDeviceAttributeMaxBlockDimZ, &in.MaxBlock[2], 64},
		{hip.HipDeviceAttributeMaxGridDimX, &in.MaxGrid[0], 1<<31 - 1}, {hip.HipDeviceAttributeMaxGridDimY, &in.MaxGrid[1], 65535}, {hip.HipDeviceAttributeMaxGridDimZ, &in.MaxGrid[2], 65535},
		{hip.HipDeviceAttributeMaxSharedMemoryPerBlock, &in.SharedBlock, 64 << 10},
		{hip.HipDeviceAttributeMaxSharedMemoryPerMultiprocessor, &in.SharedSM, 0},
		{hip.HipDeviceAttributeMaxRegistersPerBlock, &in.Registers, 64 << 10},
		{hip.HipDeviceAttributeMaxThreadsPerMultiProcessor, &in.ThreadsPerSM, 2048},
		{hip.HipDeviceAttributePciDomainID, &in.PCI[0], 0}, {hip.HipDeviceAttributePciBusId, &in.PCI[1], 0}, {hip.HipDeviceAttributePciDeviceId, &in.PCI[2], 0},
		{hip.HipDeviceAttributePageableMemoryAccess, &page, 0}, {hip.HipDeviceAttributeCooperativeLaunch, &coop, 0}, {hip.HipDeviceAttributeIntegrated, &integ, 0},
		{hip.HipDeviceAttributeManagedMemory, &managed, 0}, {hip.HipDeviceAttributeConcurrentManagedAccess, &concurrent, 0},
	} {
		n, err := d.api.getInt(hip.HipDeviceGetAttribute, uintptr(f.attr), uintptr(d.ordinal))
		if err != nil || n <= 0 {
			n = f.or
		}
		*f.to = n
	}
	// CUDA's block takes 48 KiB without being asked; the rest is opt-in there, and all of it plain here.
	in.SharedOptin = in.SharedBlock
	in.SharedSM = max(in.SharedSM, in.SharedBlock)
	in.SharedBlock = min(in.SharedBlock, 48<<10)
	in.ConstBytes = 64 << 10
	in.BlocksPerSM = max(1, in.ThreadsPerSM/warp/2)
	in.WarpSize = warp
	in.HostPointers = page != 0
	in.Cooperative = coop != 0 && d.api.has(hip.HipModuleLaunchCooperativeKernel)
	in.Integrated = integ != 0
	// CUDA's programs touch managed memory while kernels run: what cannot bear that is not used.
	in.Managed = managed != 0 && concurrent != 0
	in.Abroad = true
	return nil
}

// Info is what the library says of the device, and what CUDA programs must hear.
func (d *device) Info() *backend.Info { return &d.info }

// Arch is the processor as HIP names it.
func (d *device) Arch() string { return d.arch }

// Describe is what one who looks into a problem asks of the device.
func (d *device) Describe() string {
	return fmt.Sprintf("%s at %04x:%02x:%02x, code for %s of version %d, HIP %d", d.arch, d.info.PCI[0], d.info.PCI[1], d.info.PCI[2], d.plan.target, d.plan.version, d.api.version)
}

// Memory is the device itself.
func (d *device) Memory() backend.Memory {
	if d.virtual.unit != 0 {
		return virtualMemory{(*memory)(d)}
	}
	return (*memory)(d)
}

// do runs fn with the device current on the calling thread.
func (d *device) do(fn func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.api.call(hip.HipSetDevice, uintptr(d.ordinal)); err != nil {
		return err
	}
	return fn()
}

// own is the stream for work of our own.
func (d *device) own() (uintptr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stream != 0 {
		return d.stream, nil
	}
	err := d.do(func() (err error) {
		d.stream, err = d.api.getPtr(hip.HipStreamCreateWithPriority, hip.HipStreamNonBlocking, 0)
		return err
	})
	return d.stream, err
}

// upload writes bytes to device memory and waits.
func (d *device) upload(to backend.Addr, b []byte) error {
	s, err := d.own()
	if err != nil {
		return err
	}
	buf := dl.Alloc(len(b))
	defer buf.Free()
	copy(buf.Bytes(), b)
	return d.do(func() error {
		if err := d.api.call(hip.HipMemcpyAsync, uintptr(to), buf.Addr(), uintptr(len(b)), hip.HipMemcpyDefault, s); err != nil { // it may be memory of the host's
			return err
		}
		return d.api.call(hip.HipStreamSynchronize, s)
	})
}
