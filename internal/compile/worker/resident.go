package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"kudzu/internal/compile"

	"golang.org/x/sys/unix"
)

// resident is a clang that has started and waits before its main; it forks for every compilation (c/clang/clang.c). Files go to it through
// a socket of packets, the ends of processes come back.
type resident struct {
	cmd  *exec.Cmd // nil if another process has started it
	fd   int       // of sock
	sock *os.File

	mu      sync.Mutex
	greeted bool             // it is a clang, and waits; guarded by mu
	gone    bool             // guarded by mu
	next    uint32           // guarded by mu
	turns   map[uint32]*turn // of processes that have not ended; guarded by mu
}

// turn is one process of a resident.
type turn struct {
	of     *resident
	id     uint32
	begun  chan int32 // the process, or -errno; closed if there will be none
	ended  chan int32 // its status; closed if that is not known
	copied sync.WaitGroup
}

// residentLibrary is what has a clang wait, in the folder of our libraries.
const residentLibrary = "lib/libkudzu-clang.so"

// errAlone is a process that was not begun because its resident is none, or could not: the program has to be started for it.
var errAlone = errors.New("no clang waits")

// The kinds of packets, and their length: struct message of clang.c.
const (
	packetHello, packetStarted, packetEnded = 'H', 'P', 'E'
	packetRun, packetKill                   = 'R', 'K'
	packetSize                              = 24
)

// residentFile is the socket of a clang that was started beside us.
const residentFile = 3

// adopt takes over a clang that was started with the socket fd, if it is the one that we would start.
func (f *clangs) adopt(program string, fd int) {
	unix.CloseOnExec(fd)
	if program != compile.Clang() {
		unix.Close(fd) // by which it ends
		return
	}
	_ = unix.SetNonblock(fd, true) // if not, then read() waits with a thread
	r := &resident{fd: fd, sock: os.NewFile(uintptr(fd), "clang"), turns: map[uint32]*turn{}}
	f.mu.Lock()
	f.resident = r
	f.mu.Unlock()
	go r.read()
}

// stop ends it by force.
func (r *resident) stop() {
	if r.cmd == nil {
		r.end()
		return
	}
	_ = r.cmd.Process.Kill() // it may just have ended
}

func startResident(program, library string) (*resident, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "requests")
	defer theirs.Close()
	_ = unix.SetNonblock(pair[0], true) // a descriptor that was just made
	r := &resident{cmd: exec.Command(program, "-cc1", "@"+argsFile), fd: pair[0], sock: os.NewFile(uintptr(pair[0]), "clang"), turns: map[uint32]*turn{}}
	r.cmd.Env = []string{"LC_ALL=C", "LD_BIND_NOW=1", "LD_PRELOAD=" + library}
	r.cmd.Dir = "/"
	r.cmd.ExtraFiles = []*os.File{theirs}
	if err := r.cmd.Start(); err != nil {
		r.sock.Close()
		return nil, err
	}
	go r.read()
	return r, nil
}

// read hears of processes until there is no resident any more, which ends them all.
func (r *resident) read() {
	var b [packetSize]byte
	for {
		n, err := r.sock.Read(b[:])
		if err != nil || n != packetSize {
			break
		}
		kind, id, value := binary.NativeEndian.Uint32(b[:]), binary.NativeEndian.Uint32(b[4:]), int32(binary.NativeEndian.Uint32(b[8:]))
		r.mu.Lock()
		t := r.turns[id]
		switch {
		case kind == packetHello:
			r.greeted = true
		case t == nil:
		case kind == packetStarted:
			if value < 0 {
				delete(r.turns, id)
			}
			t.begun <- value // has room
		case kind == packetEnded:
			delete(r.turns, id)
			t.ended <- value // has room
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	r.gone = true
	for _, t := range r.turns {
		close(t.begun)
		close(t.ended)
	}
	r.turns = nil
	r.mu.Unlock()
	r.end()
	if r.cmd != nil {
		_ = r.cmd.Wait() // its status says nothing
	}
}

// is reports whether it waits, as far as is known, and whether it ever did.
func (r *resident) is() (there, greeted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.gone, r.greeted
}

// end has it end, and its processes with it.
func (r *resident) end() { r.sock.Close() }

// packet sends a message with files.
func (r *resident) packet(kind, id uint32, filter []unix.SockFilter, memory uint64, files ...int) error {
	ne := binary.NativeEndian
	b := ne.AppendUint32(nil, kind)
	b = ne.AppendUint32(b, id)
	b = ne.AppendUint32(b, uint32(len(files)))
	b = ne.AppendUint32(b, uint32(len(filter)))
	b = ne.AppendUint64(b, memory)
	for _, i := range filter {
		b = ne.AppendUint16(b, i.Code)
		b = append(b, i.Jt, i.Jf)
		b = ne.AppendUint32(b, i.K)
	}
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	return unix.Sendmsg(r.fd, b, rights, nil, unix.MSG_NOSIGNAL)
}

// run asks for a process with files as its standard output, standard error, arguments and dependencies, which then are its own.
func (r *resident) run(confined bool, read []string, files ...*os.File) (*turn, error) {
	t := &turn{of: r, begun: make(chan int32, 1), ended: make(chan int32, 1)}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	var calls []unix.SockFilter
	if confined {
		calls = filter(slices.Concat(allowed, openCalls))
		if rules, ok := readRules(read); ok {
			defer unix.Close(int(rules))
			fds = append(fds, int(rules))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return nil, errAlone
	}
	r.next++
	t.id = r.next
	if err := r.packet(packetRun, t.id, calls, memoryLimit(), fds...); err != nil {
		return nil, err
	}
	r.turns[t.id] = t
	return t, nil
}

// deafLimit is how long a resident may take to end a process.
const deafLimit = 5 * time.Second

// kill ends the process, if it has not ended: with its resident, if that does not do it.
func (t *turn) kill() {
	r := t.of
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return
	}
	if !r.greeted || r.packet(packetKill, t.id, nil, 0) != nil {
		r.stop()
		return
	}
	time.AfterFunc(deafLimit, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.turns[t.id] == t {
			r.stop()
		}
	})
}

// wait waits for the end, for as long as timeout.
func (t *turn) wait(timeout time.Duration) (st syscall.WaitStatus, inTime bool, err error) {
	late := time.AfterFunc(timeout, t.kill)
	pid, ok := <-t.begun
	status, ended := int32(syscall.SIGKILL), false // it is killed with the resident
	if ok && pid >= 0 {
		if value, known := <-t.ended; known {
			status = value
		}
		ended = true
	}
	inTime = late.Stop()
	t.copied.Wait()
	if _, greeted := t.of.is(); inTime && !ended && (ok || !greeted) {
		return 0, true, errAlone
	}
	return syscall.WaitStatus(status), inTime, nil
}

// collect has what is written to a pipe copied, as far as it has room. It returns the pipe's end for writing.
func (c *clang) collect(to *bytes.Buffer, left int) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.pipes = append(c.pipes, r)
	c.limits = append(c.limits, &limited{to: to, left: left})
	return w, nil
}

// waiting gives the clang that waits, started if there is none yet; nil if there is none for this program.
func (f *clangs) waiting() *resident {
	library := filepath.Join(f.home, residentLibrary)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.resident != nil {
		there, greeted := f.resident.is()
		if there {
			return f.resident
		}
		f.alone = f.alone || !greeted
		f.resident = nil
	}
	if f.alone || !exists(library) {
		return nil
	}
	r, err := startResident(compile.Clang(), library)
	if err != nil {
		return nil // starting clang says so
	}
	f.resident = r
	return r
}
