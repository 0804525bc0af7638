// Package cuda runs everything on a real NVIDIA driver: the reference that other backends are compared with, and the
// recorder of what hardware computes. It opens the vendor's libcuda.so.1 and never ours.
package cuda

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/spec/cu"
)

// Config changes how the backend loads modules. The zero value gives the driver the program's own PTX.
type Config struct {
	// Through turns a module's PTX into other PTX for the named target (sm_90) before the driver sees it: the proof of the
	// compiler on real hardware. Nil: modules are loaded as they are.
	Through func(text, target string) (string, error)
}

// Backend is the real driver.
type Backend struct {
	cfg Config
	api *api
}

// New returns the backend, not yet opened.
func New(cfg Config) *Backend { return &Backend{cfg: cfg} }

// Name is "cuda".
func (b *Backend) Name() string { return "cuda" }

// places are where distributions and containers put the vendor's driver. The bare soname comes last: under a loader
// path that names our own fronts it would find those, which openDriver refuses.
var places = []string{
	"/usr/local/nvidia/lib64/libcuda.so.1", "/usr/local/nvidia/lib/libcuda.so.1",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
	"/usr/lib64/libcuda.so.1", "/usr/lib/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so.1",
}

// errOurs reports that the loader gave us our own library.
var errOurs = errors.New("that is Kudzu's own libcuda")

// Open loads the driver and lists its devices.
func (b *Backend) Open() ([]backend.Device, error) {
	lib, err := openDriver()
	if err != nil {
		return nil, err
	}
	b.api = &api{lib: lib}
	if err := b.api.call("cuInit", 0); err != nil {
		return nil, fmt.Errorf("NVIDIA driver %s: %w", lib.Path(), err)
	}
	n, err := b.api.getInt("cuDeviceGetCount")
	if err != nil {
		return nil, err
	}
	var devs []backend.Device
	for i := range n {
		d, err := newDevice(b, i)
		if err != nil {
			return nil, fmt.Errorf("device %d: %w", i, err)
		}
		devs = append(devs, d)
	}
	return devs, nil
}

// openDriver finds the vendor's library. KUDZU_CUDA_LIBRARY names it outright.
func openDriver() (*dl.Library, error) {
	list := places
	if p := config.Get(config.CUDALibrary); p != "" {
		list = []string{p}
	}
	err := error(nil)
	for _, p := range list {
		if filepath.IsAbs(p) {
			if _, e := os.Stat(p); e != nil {
				continue
			}
			if isOurs(p) {
				err = fmt.Errorf("%s: %w", p, errOurs)
				continue
			}
		}
		lib, e := dl.Open(p)
		if e != nil {
			err = e
			continue
		}
		f, e := lib.Find("cuInit")
		if e != nil {
			err = e
			continue
		}
		// The loader may have been told otherwise (LD_AUDIT, LD_PRELOAD): look at what really came.
		if isOurs(f.File()) {
			err = fmt.Errorf("%s: %w", f.File(), errOurs)
			continue
		}
		return lib, nil
	}
	if err == nil {
		err = errors.New("no libcuda.so.1 found")
	}
	return nil, fmt.Errorf("NVIDIA driver: %w", err)
}

// isOurs reports a front of Kudzu's: it needs libkudzu-base.so.
func isOurs(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		return false
	}
	for _, l := range libs {
		if l == "libkudzu-base.so" {
			return true
		}
	}
	return false
}

// device is one GPU with its primary context.
type device struct {
	api     *api
	ordinal int
	ctx     uintptr
	info    backend.Info
	through func(text, target string) (string, error)
	starts  sync.Map // where an allocation begins that was moved up for its alignment: uintptr by address
	book    backend.Book
	placed  placed
	shown   textures
}

// Attribute numbers of CUdevice_attribute that Info is filled from.
const (
	attrMaxThreads = cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
	attrMaxBlockX  = cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X
	attrMaxGridX   = cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X
	attrShared     = cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK
	attrConst      = cu.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY
	attrWarp       = cu.CU_DEVICE_ATTRIBUTE_WARP_SIZE
	attrRegisters  = cu.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK
	attrClock      = cu.CU_DEVICE_ATTRIBUTE_CLOCK_RATE
	attrSMs        = cu.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
	attrIntegrated = cu.CU_DEVICE_ATTRIBUTE_INTEGRATED
	attrPCIBus     = cu.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID
	attrPCIDevice  = cu.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID
	attrMemClock   = cu.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE
	attrBusWidth   = cu.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH
	attrL2         = cu.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
	attrThreadsSM  = cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR
	attrPCIDomain  = cu.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID
	attrMajor      = cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	attrMinor      = cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
	attrSharedSM   = cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
	attrPageable   = cu.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
	attrCoop       = cu.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
	attrOptin      = cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
	attrBlocksSM   = cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR
)

func newDevice(b *Backend, ordinal int) (*device, error) {
	a := b.api
	d := &device{api: a, ordinal: ordinal, through: b.cfg.Through}
	ctx, err := a.getPtr("cuDevicePrimaryCtxRetain", uintptr(ordinal))
	if err != nil {
		return nil, err
	}
	d.ctx = ctx
	buf := dl.Alloc(256)
	defer buf.Free()
	if err := a.call("cuDeviceGetName", buf.Addr(), 256, uintptr(ordinal)); err != nil {
		return nil, err
	}
	name, _, _ := bytes.Cut(buf.Bytes(), []byte{0})
	d.info.Name = string(name)
	if err := a.call("cuDeviceGetUuid_v2", buf.Addr(), uintptr(ordinal)); err != nil {
		return nil, err
	}
	copy(d.info.UUID[:], buf.Bytes())
	mem, err := a.getPtr("cuDeviceTotalMem_v2", uintptr(ordinal))
	if err != nil {
		return nil, err
	}
	d.info.Memory = uint64(mem)
	return d, d.fillAttributes()
}

func (d *device) fillAttributes() error {
	var page, coop, integ int
	in := &d.info
	for _, f := range []struct {
		attr cu.CUdevice_attribute
		to   *int
	}{
		{attrMajor, &in.Major}, {attrMinor, &in.Minor}, {attrSMs, &in.Processors}, {attrWarp, &in.WarpSize}, {attrClock, &in.ClockKHz},
		{attrMemClock, &in.MemoryKHz}, {attrBusWidth, &in.BusWidth}, {attrL2, &in.L2Bytes}, {attrMaxThreads, &in.MaxThreads},
		{attrMaxBlockX, &in.MaxBlock[0]}, {attrMaxBlockX + 1, &in.MaxBlock[1]}, {attrMaxBlockX + 2, &in.MaxBlock[2]},
		{attrMaxGridX, &in.MaxGrid[0]}, {attrMaxGridX + 1, &in.MaxGrid[1]}, {attrMaxGridX + 2, &in.MaxGrid[2]},
		{attrShared, &in.SharedBlock}, {attrOptin, &in.SharedOptin}, {attrSharedSM, &in.SharedSM}, {attrConst, &in.ConstBytes},
		{attrRegisters, &in.Registers}, {attrThreadsSM, &in.ThreadsPerSM}, {attrBlocksSM, &in.BlocksPerSM},
		{attrPCIDomain, &in.PCI[0]}, {attrPCIBus, &in.PCI[1]}, {attrPCIDevice, &in.PCI[2]},
		{attrPageable, &page}, {attrCoop, &coop}, {attrIntegrated, &integ},
	} {
		n, err := d.api.getInt("cuDeviceGetAttribute", uintptr(f.attr), uintptr(d.ordinal))
		if err != nil {
			return fmt.Errorf("attribute %d: %w", f.attr, err)
		}
		*f.to = n
	}
	in.HostPointers, in.Cooperative, in.Integrated = page != 0, coop != 0, integ != 0
	in.OwnPTX = d.through == nil
	return nil
}

// Info is what the driver says of the device.
func (d *device) Info() *backend.Info { return &d.info }

// Memory is the device itself: allocation is two calls.
func (d *device) Memory() backend.Memory { return (*memory)(d) }

// do runs fn with the device's context current on the calling thread.
func (d *device) do(fn func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.api.call("cuCtxSetCurrent", d.ctx); err != nil {
		return err
	}
	return fn()
}
