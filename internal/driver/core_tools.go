package driver

import (
	"strings"

	"golang.org/x/sys/unix"

	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/cu"
)

// What debuggers and supervisors ask: settings of core dumps, the log, checkpoints, notifications.

// coredumpRow says what a setting is: a truth of one byte, flags of four, or a text.
type coredumpRow struct {
	size   uint64 // 0: a text
	global bool   // not of one context
	needs  bool   // to turn it on would need core dumps, which are not written
	start  string // of a text
}

// coredumpRows is indexed by CUcoredumpSettings.
var coredumpRows = [cu.CU_COREDUMP_MAX]coredumpRow{
	cu.CU_COREDUMP_ENABLE_ON_EXCEPTION: {size: 1, needs: true},
	cu.CU_COREDUMP_TRIGGER_HOST:        {size: 1},
	cu.CU_COREDUMP_LIGHTWEIGHT:         {size: 1},
	cu.CU_COREDUMP_ENABLE_USER_TRIGGER: {size: 1, needs: true},
	cu.CU_COREDUMP_FILE:                {start: "core_%t_%h_%p.nvcudmp"},
	cu.CU_COREDUMP_PIPE:                {global: true, start: "corepipe.cuda.%h.%p"},
	cu.CU_COREDUMP_GENERATION_FLAGS:    {size: 4},
}

// maxPath bounds texts that name files.
const maxPath = 1024

// coredumps keeps the settings: those of the process, and what contexts set otherwise.
var coredumps struct {
	mu     lockrank.Mutex[lockrank.DriverCoredumps]
	values map[coredumpKey][]byte
}

type coredumpKey struct {
	ctx  uint64 // Context.id; 0: the process
	attr cu.CUcoredumpSettings
}

// coredumpValue is a setting; a context has the process's where it has none.
func coredumpValue(ctx uint64, attr cu.CUcoredumpSettings) []byte {
	coredumps.mu.Lock()
	defer coredumps.mu.Unlock()
	for _, id := range []uint64{ctx, 0} {
		if v, ok := coredumps.values[coredumpKey{id, attr}]; ok {
			return v
		}
	}
	r := &coredumpRows[attr]
	if r.size != 0 {
		v := make([]byte, r.size)
		if attr == cu.CU_COREDUMP_TRIGGER_HOST {
			v[0] = 1
		}
		return v
	}
	return []byte(r.start)
}

func goodCoredump(attr cu.CUcoredumpSettings, global bool) bool {
	return attr > 0 && attr < cu.CU_COREDUMP_MAX && (global || !coredumpRows[attr].global)
}

// getCoredump writes a setting, or its size where there is no room given.
func getCoredump(ctx uint64, attr cu.CUcoredumpSettings, value, size hostmem.Ptr) error {
	if size == hostmem.Nil || !goodCoredump(attr, ctx == 0) {
		return errInvalidValue
	}
	v := coredumpValue(ctx, attr)
	n := uint64(len(v))
	if coredumpRows[attr].size == 0 {
		n++ // the NUL
	}
	room := hostmem.Load[uint64](size)
	if value == hostmem.Nil {
		hostmem.Store(size, n)
		return nil
	}
	if exact := coredumpRows[attr].size != 0; exact && room != n || room < n {
		return errInvalidValue
	}
	out := hostmem.Bytes(value, n)
	clear(out)
	copy(out, v)
	hostmem.Store(size, n)
	return nil
}

// setCoredump takes a setting. Core dumps themselves are not written, and cannot be turned on.
func setCoredump(ctx uint64, attr cu.CUcoredumpSettings, value, size hostmem.Ptr) error {
	if size == hostmem.Nil || value == hostmem.Nil || !goodCoredump(attr, ctx == 0) {
		return errInvalidValue
	}
	r := &coredumpRows[attr]
	n := hostmem.Load[uint64](size)
	if r.size != 0 && n != r.size || r.size == 0 && (n == 0 || n >= maxPath) {
		return errInvalidValue
	}
	v := append([]byte(nil), hostmem.Bytes(value, n)...)
	if r.needs && v[0] != 0 {
		return errNotSupported
	}
	if r.size == 0 {
		text, _, _ := strings.Cut(string(v), "\x00")
		v = []byte(text)
	}
	coredumps.mu.Lock()
	defer coredumps.mu.Unlock()
	if coredumps.values == nil {
		coredumps.values = map[coredumpKey][]byte{}
	}
	coredumps.values[coredumpKey{ctx, attr}] = v
	return nil
}

// forgetCoredumps drops the settings of a context that ended.
func forgetCoredumps(ctx uint64) {
	coredumps.mu.Lock()
	defer coredumps.mu.Unlock()
	for k := range coredumps.values {
		if k.ctx == ctx {
			delete(coredumps.values, k)
		}
	}
}

// CoredumpGetAttribute is a setting of the current context.
func (t *Thread) CoredumpGetAttribute(attr cu.CUcoredumpSettings, value, size hostmem.Ptr) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	return getCoredump(c.id, attr, value, size)
}

// CoredumpGetAttributeGlobal is a setting of the process.
func (t *Thread) CoredumpGetAttributeGlobal(attr cu.CUcoredumpSettings, value, size hostmem.Ptr) error {
	return getCoredump(0, attr, value, size)
}

// CoredumpSetAttribute sets it for the current context.
func (t *Thread) CoredumpSetAttribute(attr cu.CUcoredumpSettings, value, size hostmem.Ptr) error {
	c, err := t.context()
	if err != nil {
		return err
	}
	return setCoredump(c.id, attr, value, size)
}

// CoredumpSetAttributeGlobal sets it for the process.
func (t *Thread) CoredumpSetAttributeGlobal(attr cu.CUcoredumpSettings, value, size hostmem.Ptr) error {
	return setCoredump(0, attr, value, size)
}

const errNoProcess = Result(cu.CUDA_ERROR_OPERATING_SYSTEM)

// checkpointed is about a process: if there is one it runs and cannot be frozen. Who asks need not have started CUDA: it is another
// process that watches one.
func (t *Thread) checkpointed(pid int32) error {
	if pid <= 0 || unix.Kill(int(pid), 0) == unix.ESRCH {
		return errNoProcess
	}
	return errNotSupported
}

// CheckpointProcessGetState tells whether a process is running or frozen.
func (t *Thread) CheckpointProcessGetState(pid int32) (cu.CUprocessState, error) {
	if err := t.checkpointed(pid); err != errNotSupported {
		return 0, err
	}
	return cu.CU_PROCESS_STATE_RUNNING, nil
}

// CheckpointProcessGetRestoreThreadId is the thread that would restore a process.
func (t *Thread) CheckpointProcessGetRestoreThreadId(pid int32) (int32, error) {
	return 0, t.checkpointed(pid)
}

// CheckpointProcessLock keeps a process from making calls.
func (t *Thread) CheckpointProcessLock(pid int32, _ hostmem.Ptr) error { return t.checkpointed(pid) }

// CheckpointProcessCheckpoint takes a process's devices away.
func (t *Thread) CheckpointProcessCheckpoint(pid int32, _ hostmem.Ptr) error {
	return t.checkpointed(pid)
}

// CheckpointProcessRestore gives them back.
func (t *Thread) CheckpointProcessRestore(pid int32, _ hostmem.Ptr) error { return t.checkpointed(pid) }

// CheckpointProcessUnlock lets a process go on.
func (t *Thread) CheckpointProcessUnlock(pid int32, _ hostmem.Ptr) error { return t.checkpointed(pid) }

// notifications are functions of the program to be told when a device wants memory back. None ever does here, as on any
// system where one program cannot evict another's memory.
var notifications struct {
	mu   lockrank.Mutex[lockrank.DriverNotices]
	last uint64
	of   map[cu.CUasyncCallbackHandle]cu.CUdevice
}

// DeviceRegisterAsyncNotification makes a function known.
func (t *Thread) DeviceRegisterAsyncNotification(dev cu.CUdevice, fn cu.CUasyncCallback, _ hostmem.Ptr) (cu.CUasyncCallbackHandle, error) {
	if _, err := t.device(dev); err != nil {
		return 0, err
	}
	if fn == 0 {
		return 0, errInvalidValue
	}
	notifications.mu.Lock()
	defer notifications.mu.Unlock()
	notifications.last += 16 // a handle looks like a pointer
	h := cu.CUasyncCallbackHandle(notifications.last)
	if notifications.of == nil {
		notifications.of = map[cu.CUasyncCallbackHandle]cu.CUdevice{}
	}
	notifications.of[h] = dev
	return h, nil
}

// DeviceUnregisterAsyncNotification forgets it.
func (t *Thread) DeviceUnregisterAsyncNotification(dev cu.CUdevice, h cu.CUasyncCallbackHandle) error {
	if _, err := t.device(dev); err != nil {
		return err
	}
	notifications.mu.Lock()
	defer notifications.mu.Unlock()
	if d, ok := notifications.of[h]; !ok || d != dev {
		return errInvalidValue
	}
	delete(notifications.of, h)
	return nil
}

// FlushGPUDirectRDMAWrites has nothing to do: a device's memory is the machine's, and what other hardware wrote there is seen at
// once by every reader.
func (t *Thread) FlushGPUDirectRDMAWrites(target cu.CUflushGPUDirectRDMAWritesTarget, scope cu.CUflushGPUDirectRDMAWritesScope) error {
	if target != cu.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ||
		scope != cu.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER && scope != cu.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES {
		return errInvalidValue
	}
	_, err := t.context()
	return err
}
