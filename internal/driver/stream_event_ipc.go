package driver

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// eventFile is an event that several processes see: two numbers in a page of a file, the records asked for and the last of
// them that was reached. Who waits looks again and again: records are rare, and no process can wake another's threads.
type eventFile struct {
	fd    int
	page  uint64
	token ipcToken
	users atomic.Int32 // the event, and work that will touch the page
}

// eventWords is the content of the page.
type eventWords struct{ asked, reached uint64 }

const eventPage = 4096

func (f *eventFile) words() *eventWords { return hostmem.At[eventWords](hostmem.Ptr(f.page)) }

// mapEvent maps a file.
func mapEvent(fd int) (*eventFile, error) {
	p, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, eventPage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED, uintptr(fd), 0)
	if errno != 0 {
		_ = syscall.Close(fd)
		return nil, errOutOfMemory
	}
	f := &eventFile{fd: fd, page: uint64(p)}
	f.users.Store(1)
	return f, nil
}

// drop takes a user away; the last unmaps.
func (f *eventFile) drop() {
	if f.users.Add(-1) == 0 {
		unmapHost(f.page, eventPage)
		_ = syscall.Close(f.fd)
	}
}

// last is the number of the newest record.
func (f *eventFile) last() uint64 { return atomic.LoadUint64(&f.words().asked) }

func (f *eventFile) reached(n uint64) bool { return atomic.LoadUint64(&f.words().reached) >= n }

// reach notes that a record was reached; records of other streams may have overtaken it.
func (f *eventFile) reach(n uint64) {
	w := &f.words().reached
	for {
		old := atomic.LoadUint64(w)
		if old >= n || atomic.CompareAndSwapUint64(w, old, n) {
			return
		}
	}
}

// wait waits for a record.
func (f *eventFile) wait(n uint64) {
	pause := 20 * time.Microsecond
	for !f.reached(n) {
		time.Sleep(pause)
		pause = min(2*pause, time.Millisecond)
	}
}

// record has the stream note when it gets here, after a fault too where the device can.
func (f *eventFile) record(st *Stream) error {
	if err := st.begin(); err != nil {
		return err
	}
	defer st.end()
	n := atomic.AddUint64(&f.words().asked, 1)
	f.users.Add(1)
	done := func() {
		f.reach(n)
		f.drop()
	}
	var err error
	if q, ok := st.q.(backend.Callbacks); ok {
		err = q.Callback(func(error) { done() })
	} else {
		err = st.q.Host(done)
	}
	if err != nil {
		done()
	}
	return st.ctx.fail(err)
}

// hold has the stream wait for the newest record.
func (f *eventFile) hold(st *Stream) error {
	n := f.last()
	if f.reached(n) {
		return nil
	}
	if err := st.begin(); err != nil {
		return err
	}
	defer st.end()
	f.users.Add(1)
	err := st.q.Host(func() {
		f.wait(n)
		f.drop()
	})
	if err != nil {
		f.drop()
	}
	return st.ctx.fail(err)
}

// shared is the event's file, if others see it.
func (e *Event) shared() *eventFile {
	if e.flags&eventInterproc == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file
}

func (e *Event) unshare() {
	e.mu.Lock()
	f := e.file
	e.file = nil
	e.mu.Unlock()
	if f != nil {
		f.drop()
	}
}

// IpcGetEventHandle names an event for other processes.
func (t *Thread) IpcGetEventHandle(event cu.CUevent) (h cu.CUipcEventHandle, err error) {
	if event == 0 {
		if _, err := t.enter(); err != nil {
			return h, err
		}
		return h, errInvalidValue
	}
	e, err := t.event(event)
	if err != nil {
		return h, err
	}
	if e.flags&eventInterproc == 0 || e.given {
		return h, errInvalidHandle
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == nil {
		fd, err := unix.MemfdCreate("kudzu-event", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			return h, errOutOfMemory
		}
		token, err := seal(fd, eventPage)
		if err != nil {
			_ = syscall.Close(fd)
			return h, err
		}
		f, err := mapEvent(fd)
		if err != nil {
			return h, err
		}
		f.token = token
		e.file = f
		if last := e.fence; last != nil { // a record from before counts
			f.words().asked = 1
			f.users.Add(1)
			go func() {
				_ = last.Sync() // a fault is told where the event's context is asked
				f.reach(1)
				f.drop()
			}()
		}
	}
	k := ipcHandle{kind: ipcEventFile, pid: uint32(os.Getpid()), fd: uint32(e.file.fd), size: eventPage, length: eventPage, token: e.file.token}
	h.Reserved = k.bytes()
	return h, nil
}

// IpcOpenEventHandle is an event of another process.
func (t *Thread) IpcOpenEventHandle(h cu.CUipcEventHandle) (cu.CUevent, error) {
	if _, err := t.context(); err != nil {
		return 0, err
	}
	k, err := readHandle(h.Reserved, ipcEventFile)
	if err != nil {
		return 0, err
	}
	fd, err := k.open()
	if err != nil {
		return 0, err
	}
	f, err := mapEvent(fd)
	if err != nil {
		return 0, err
	}
	event, err := t.EventCreate(eventUntimed | eventInterproc)
	if err != nil {
		f.drop()
		return 0, err
	}
	e, err := t.event(event)
	if err != nil {
		f.drop()
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.file, e.given = f, true
	return event, nil
}
