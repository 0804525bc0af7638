package driver

import (
	"encoding/binary"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// TestExportHoldsNobodyUp: memory that is made visible to other processes waits for the device's work. What that work waits for may
// come from a thread that frees memory first.
func TestExportHoldsNobodyUp(t *testing.T) {
	th, _, _ := onInterp(t)
	gate := make(chan struct{})
	current.Load().callBack = func(_, _, _, _, _ uint64) uint64 {
		<-gate
		return 0
	}
	var d [2]DevPtr
	for i := range d {
		var err error
		d[i], err = th.MemAlloc(1 << 21)
		want(t, "alloc", err, 0)
	}
	shared, other := d[0], d[1]
	busy, err := th.StreamCreate(1)
	want(t, "stream", err, 0)
	free, err := th.StreamCreate(1)
	want(t, "stream", err, 0)
	want(t, "host function", th.LaunchHostFunc(busy, 1, 0), 0)
	exported := make(chan error, 1)
	go func() {
		mine := &Thread{ID: threadIDs.Add(1)}
		err := mine.CtxSetCurrent(cu.CUcontext(th.Stack[th.Depth-1]))
		if err == nil {
			_, err = mine.IpcGetMemHandle(shared)
		}
		exported <- err
	}()
	time.Sleep(20 * time.Millisecond) // for it to wait
	freed := make(chan error, 1)
	go func() { freed <- th.MemFreeAsync(other, free) }()
	select {
	case err := <-freed:
		want(t, "free", err, 0)
	case <-time.After(10 * time.Second):
		t.Error("a free waits for the export")
	}
	close(gate)
	want(t, "export", <-exported, 0)
}

// fileWord reads the first word of what a handle names, from its file, as another process sees it.
func fileWord(t *testing.T, b [64]byte) uint32 {
	t.Helper()
	h, ok := parseHandle(b, ipcMemory)
	if !ok {
		t.Fatalf("not a handle: %x", b)
	}
	var w [4]byte
	if _, err := syscall.Pread(int(h.fd), w[:], int64(h.off)); err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.Uint32(w[:])
}

// TestExportNeighbours: small allocations share pages. Each that has a handle stays visible whichever else gets one or ends.
func TestExportNeighbours(t *testing.T) {
	th, _, _ := onInterp(t)
	var d [3]DevPtr
	var h [3][64]byte
	export := func(i int) {
		m, err := th.IpcGetMemHandle(d[i])
		want(t, "export", err, 0)
		h[i] = m.Reserved
	}
	seen := func(i int, v uint32) {
		t.Helper()
		want(t, "set", th.MemsetD32(d[i], v, 1), 0)
		want(t, "sync", th.CtxSynchronize(), 0)
		if w := fileWord(t, h[i]); w != v {
			t.Errorf("allocation %d holds %d, others see %d", i, v, w)
		}
	}
	for i := range d {
		var err error
		d[i], err = th.MemAlloc(256)
		want(t, "alloc", err, 0)
	}
	export(0)
	export(1)
	seen(0, 10)
	seen(1, 11)
	want(t, "free", th.MemFree(d[1]), 0)
	seen(0, 12)
	want(t, "free", th.MemFree(d[0]), 0)
	export(2)
	seen(2, 13)
	again, err := th.MemAlloc(256)
	want(t, "alloc", err, 0)
	d[0] = again
	export(0)
	seen(0, 14)
	seen(2, 15)
}

// TestPoolFiles: a pool's file is taken as one only if it is sealed, and its memory stays in one file while the pool has it.
func TestPoolFiles(t *testing.T) {
	th, c, _ := onInterp(t)
	props := cu.CUmemPoolProps{AllocType: cu.CU_MEM_ALLOCATION_TYPE_PINNED, HandleTypes: cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}
	props.Location.Type = cu.CU_MEM_LOCATION_TYPE_DEVICE
	pool, err := th.MemPoolCreate(&props)
	want(t, "pool", err, 0)
	at := c.words(0)
	want(t, "export", th.MemPoolExportToShareableHandle(at, pool, cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), 0)
	fd := int(hostmem.Load[int32](at))
	h, err := readPoolFile(fd)
	if want(t, "read", err, 0); h.pool != current.Load().pools.Get(handleValue(pool)).number {
		t.Errorf("the file names pool %d", h.pool)
	}
	if _, err := syscall.Pwrite(fd, []byte{1}, 0); err == nil {
		t.Error("the file can be changed")
	}
	var b [64]byte
	_, _ = syscall.Pread(fd, b[:], 0)
	open, err := unix.MemfdCreate("open", 0)
	want(t, "file", err, 0)
	_, _ = syscall.Pwrite(open, b[:], 0)
	_, err = th.MemPoolImportFromShareableHandle(hostmem.Ptr(open), cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)
	want(t, "a file that is not sealed", err, 999)
	_ = syscall.Close(open)
	_ = syscall.Close(fd)

	var last cu.CUmemPoolPtrExportData
	for i := range 3 {
		p, err := th.MemAllocFromPoolAsync(4096, pool, 0)
		want(t, "alloc", err, 0)
		d, err := th.MemPoolExportPointer(p)
		want(t, "export", err, 0)
		k, ok := parseHandle(d.Reserved, ipcPoolPointer)
		if before, _ := parseHandle(last.Reserved, ipcPoolPointer); !ok || k.off != 0 || i > 0 && (k.fd != before.fd || k.token == before.token) {
			t.Errorf("round %d: %+v after %+v", i, k, before)
		}
		if last = d; !k.sealed(int(k.fd)) {
			t.Error("the handle opens nothing")
		}
		want(t, "free", th.MemFreeAsync(p, 0), 0)
		if k.sealed(int(k.fd)) {
			t.Error("the handle of freed memory opens it")
		}
	}
	want(t, "sync", th.CtxSynchronize(), 0)
	want(t, "trim", th.MemPoolTrimTo(pool, 0), 0)
	if n := len(current.Load().sharing.lie); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

// TestPoolImportWithoutContext: a process that was just started can import a pool before it has a context.
func TestPoolImportWithoutContext(t *testing.T) {
	th, _, _ := newThread(t, 1)
	fd, err := (&Pool{number: 77}).poolFile()
	want(t, "file", err, 0)
	defer unix.Close(fd)
	h, err := th.MemPoolImportFromShareableHandle(hostmem.Ptr(fd), cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)
	if want(t, "import", err, 0); h == 0 {
		t.Error("no pool")
	}
	again, err := th.MemPoolImportFromShareableHandle(hostmem.Ptr(fd), cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)
	if want(t, "import", err, 0); again != h {
		t.Error("the same pool twice")
	}
}
