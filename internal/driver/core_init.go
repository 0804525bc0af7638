package driver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/handle"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/spec/cu"
)

// The kinds of handle, one a table of state.
const (
	kindContext handle.Kind = iota + 1
	kindModule
	kindFunction
	kindLibrary
	kindKernel
	kindStream
	kindEvent
	kindPool
	kindGraph
	kindNode
	kindExec
	kindUserObject
	kindPhysical
	kindLink
	kindArray
	kindMipmap
	kindTexture
	kindSurface
	kindExternal
	kindTexRef
	kindSurfRef
	kindShare
	kindGreen

	_ = handle.LastOfDriver - kindGreen // does not compile if they reach the libraries' kinds
)

// CallOut calls a C function of the program with up to four arguments. The driver knows no C: the wiring lends it this.
type CallOut func(fn, a, b, c, d uint64) uint64

// state is one driver. There is one in a process; tests make their own with Start.
type state struct {
	backends  []backend.Backend
	callOut   CallOut // a function of the program that answers a question
	callBack  CallOut // one that a stream calls
	callQuiet CallOut // one that may call nothing of ours

	ready atomic.Bool // set last in init
	mu    lockrank.Mutex[lockrank.DriverState]
	// guarded by mu until ready, then constant
	devices   []*Device
	fast      backend.FastPath // nil: none of them is
	installed []backend.Device // with those that are hidden from programs
	abroad    bool             // some device's vendor has libraries of its own
	initErr   error            // what the first cuInit answered, if it failed

	contexts  *handle.Table[Context]
	modules   *handle.Table[Module]
	functions *handle.Table[Function]
	libraries *handle.Table[Library]
	kernels   *handle.Table[Kernel]
	streams   *handle.Table[Stream]
	events    *handle.Table[Event]
	pools     *handle.Table[Pool]

	graphs      *handle.Table[Graph]
	nodes       *handle.Table[GraphNode]
	execs       *handle.Table[GraphExec]
	userObjects *handle.Table[UserObject]
	physicals   *handle.Table[physical]
	linkers     *handle.Table[Linker]
	arrays      *handle.Table[Array]
	mipmaps     *handle.Table[Mipmap]
	texRefs     *handle.Table[TexRef]
	surfRefs    *handle.Table[SurfRef]
	shares      *handle.Table[share]
	greens      *handle.Table[Green]
	textures    objects[Texture]
	surfaces    objects[Surface]
	virtual     virtualSpace
	sharing     sharing
	externals   externals
	adviceMu    lockrank.Mutex[lockrank.DriverAdvice] // guards alloc.advice
	graphMu     lockrank.Mutex[lockrank.DriverGraph]  // see Graph
	captures    []*capture                            // guarded by graphMu
	captureIDs  uint64                                // guarded by graphMu
	captureN    atomic.Int32                          // length of captures
	graphN      atomic.Uint32                         // last graph id

	allocs       allocations
	names        nameTable
	graves       graveyard
	captureModes sync.Map      // Thread.ID to cu.CUstreamCaptureMode
	graphOnly    sync.Map      // cu.CUfunction to weak.Pointer[Function]: of discarded modules
	contextN     atomic.Uint64 // last context id
	domainN      atomic.Uint64 // last fault domain
	streamN      atomic.Uint64 // last stream id
	bufferN      atomic.Uint64 // last allocation id
}

var current atomic.Pointer[state]

// Start makes the driver offer these backends, in this order of preference. It is the wiring's to call, once, before any
// other call; nothing is opened until cuInit.
func Start(backends []backend.Backend, out ...CallOut) {
	s := &state{
		backends:  backends,
		contexts:  handle.NewTable[Context](kindContext, "contexts"),
		modules:   handle.NewTable[Module](kindModule, "modules"),
		functions: handle.NewTable[Function](kindFunction, "functions"),
		libraries: handle.NewTable[Library](kindLibrary, "libraries"),
		kernels:   handle.NewTable[Kernel](kindKernel, "kernels"),
		streams:   handle.NewTable[Stream](kindStream, "streams"),
		events:    handle.NewTable[Event](kindEvent, "events"),
		pools:     handle.NewTable[Pool](kindPool, "memory pools"),

		graphs:      handle.NewTable[Graph](kindGraph, "graphs"),
		nodes:       handle.NewTable[GraphNode](kindNode, "graph nodes"),
		execs:       handle.NewTable[GraphExec](kindExec, "executable graphs"),
		userObjects: handle.NewTable[UserObject](kindUserObject, "user objects"),
		physicals:   handle.NewTable[physical](kindPhysical, "memory handles"),
		linkers:     handle.NewTable[Linker](kindLink, "linkers"),
		arrays:      handle.NewTable[Array](kindArray, "arrays"),
		mipmaps:     handle.NewTable[Mipmap](kindMipmap, "mipmapped arrays"),
		texRefs:     handle.NewTable[TexRef](kindTexRef, "texture references"),
		surfRefs:    handle.NewTable[SurfRef](kindSurfRef, "surface references"),
		shares:      handle.NewTable[share](kindShare, "resource descriptions"),
		greens:      handle.NewTable[Green](kindGreen, "green contexts"),
	}
	s.externals.table = handle.NewTable[ExternalMemory](kindExternal, "external memory")
	if len(out) > 0 {
		s.callOut, s.callBack, s.callQuiet = out[0], out[min(1, len(out)-1)], out[len(out)-1]
	}
	current.Store(s)
}

// enter is the state of an initialised driver.
func (t *Thread) enter() (*state, error) {
	if s := current.Load(); s != nil && s.ready.Load() {
		return s, nil
	}
	return nil, errNotInitialized
}

// Init is cuInit: it opens the backend and finds devices. A failure is remembered, as the real driver does.
func (t *Thread) Init(flags uint32) error {
	s := current.Load()
	if flags != 0 {
		return errInvalidValue
	}
	if s == nil {
		return errSystemNotReady
	}
	if s.ready.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready.Load() || s.initErr != nil {
		return s.initErr
	}
	devs, err := s.open(config.Get(config.Backend))
	if err != nil {
		logx.Errorf("%s", err)
		s.initErr = errNoDevice
		if errors.Is(err, backend.ErrNoMemory) { // there would be one
			s.initErr = errOutOfMemory
		}
		return s.initErr
	}
	s.installed = devs
	devs, err = visible(devs, config.Lookup)
	if err != nil {
		logx.Warnf("%s", err)
	}
	if len(devs) == 0 {
		s.initErr = errNoDevice
		return s.initErr
	}
	for i, d := range devs {
		s.devices = append(s.devices, newDevice(i, d))
		s.abroad = s.abroad || d.Info().Abroad
	}
	s.findFastPath()
	s.ready.Store(true)
	return nil
}

// open opens the named backends and gives the devices of all of them in that order ("hip,cpu"), or, without names, those of
// the first backend that has any. Of several names, those without devices are passed over.
//
// Preconditions: s.mu is held.
func (s *state) open(list string) ([]backend.Device, error) {
	if list == "" {
		var why reasons
		for _, b := range s.backends {
			devs, err := opened(b)
			if err == nil {
				return devs, nil
			}
			why = append(why, err)
		}
		return nil, fmt.Errorf("no backend works: %w", why)
	}
	var devs []backend.Device
	var why reasons
	seen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		b := s.backend(name)
		if b == nil {
			return nil, fmt.Errorf(config.Backend+"=%s: %q is not one of %s", list, name, strings.Join(s.backendNames(), ", "))
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		more, err := opened(b)
		if err != nil {
			why = append(why, err)
			continue
		}
		devs = append(devs, more...)
	}
	if len(devs) == 0 {
		return nil, fmt.Errorf("no backend works: %w", why)
	}
	for _, w := range why {
		logx.Warnf(config.Backend+"=%s: %s", list, w)
	}
	return devs, nil
}

// reasons are several errors in one line.
type reasons []error

func (r reasons) Error() string {
	var all []string
	for _, err := range r {
		all = append(all, err.Error())
	}
	return strings.Join(all, "; ")
}

func (r reasons) Unwrap() []error { return r }

// opened is a backend's devices, or one line that says why there are none.
func opened(b backend.Backend) ([]backend.Device, error) {
	devs, err := b.Open()
	if err == nil && len(devs) == 0 {
		err = errors.New("no devices")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	logx.Debugf("backend %s: %d devices", b.Name(), len(devs))
	return devs, nil
}

func (s *state) backend(name string) backend.Backend {
	for _, b := range s.backends {
		if b.Name() == name {
			return b
		}
	}
	return nil
}

func (s *state) backendNames() []string {
	var names []string
	for _, b := range s.backends {
		names = append(names, b.Name())
	}
	return names
}

// visible applies CUDA_VISIBLE_DEVICES: ordinals or UUID prefixes; the list ends at the first entry that names nothing.
func visible(devs []backend.Device, env func(string) (string, bool)) ([]backend.Device, error) {
	list, set := env("CUDA_VISIBLE_DEVICES")
	if !set {
		return devs, nil
	}
	var out []backend.Device
	taken := make([]bool, len(devs))
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		i := -1
		if n, err := strconv.Atoi(word); err == nil {
			i = n
		} else if strings.HasPrefix(word, "GPU-") {
			i = byUUID(devs, word)
		}
		if i < 0 || i >= len(devs) {
			break
		}
		if taken[i] { // the real driver answers a repeated device with no devices at all
			return nil, fmt.Errorf("CUDA_VISIBLE_DEVICES=%s names device %d twice: no device is visible", list, i)
		}
		taken[i] = true
		out = append(out, devs[i])
	}
	return out, nil
}

// byUUID finds the one device whose UUID begins as word says; -1 if none or several do.
func byUUID(devs []backend.Device, word string) int {
	found := -1
	for i, d := range devs {
		if strings.HasPrefix(uuidString(d.Info().UUID), word) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

func uuidString(u [16]byte) string {
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// DriverGetVersion is the CUDA version; it works before Init.
func (t *Thread) DriverGetVersion() (int32, error) { return int32(Version()), nil }

// ProfilerStart marks the start of a region of interest for tools.
func (t *Thread) ProfilerStart() error {
	_, err := t.context()
	return err
}

// ProfilerStop ends the region.
func (t *Thread) ProfilerStop() error {
	_, err := t.context()
	return err
}

// ModuleGetLoadingMode tells that modules are loaded lazily, whatever CUDA_MODULE_LOADING asks: eager loading would
// compile kernels nobody launches.
func (t *Thread) ModuleGetLoadingMode() (cu.CUmoduleLoadingMode, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	if config.Get("CUDA_MODULE_LOADING") == "EAGER" {
		return cu.CU_MODULE_EAGER_LOADING, nil
	}
	return cu.CU_MODULE_LAZY_LOADING, nil
}

// Leaks lists the objects a program left behind, for tests and KUDZU_LOG=debug.
func Leaks() string {
	s := current.Load()
	if s == nil {
		return ""
	}
	var b strings.Builder
	handle.Leaks(&b, s.contexts, s.modules, s.libraries, s.streams, s.events, s.graphs, s.execs, s.userObjects)
	return b.String()
}
