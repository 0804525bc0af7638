package driver

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/spec/cu"
)

// logLines is how many of the last messages are kept.
const logLines = 100

// logs is what the driver said to standard error, for cuLogsDump. A message's number counts from 1.
var logs struct {
	mu    lockrank.Mutex[lockrank.DriverLogs]
	lines []string // guarded by mu: the newest
	total uint64   // guarded by mu: messages so far

	last      uint64                                  // guarded by mu: handle
	listeners map[cu.CUlogsCallbackHandle]logListener // guarded by mu
}

// logListener is a function of the program that is told each message.
type logListener struct {
	fn   cu.CUlogsCallback
	user hostmem.Ptr
}

// complain says something about the program's trouble, and keeps it.
func complain(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	logx.Errorf("%s", text)
	logs.mu.Lock()
	logs.total++
	logs.lines = append(logs.lines, time.Now().UTC().Format("15:04:05.000")+" [ERROR] "+text)
	if len(logs.lines) > logLines {
		logs.lines = logs.lines[1:]
	}
	tell := slices.Collect(maps.Values(logs.listeners))
	logs.mu.Unlock()
	if s := current.Load(); len(tell) > 0 && s != nil && s.callQuiet != nil {
		s.tell(tell, text)
	}
}

// tell calls functions of the program with a message. They may not call us: the driver may be in the middle of something.
func (s *state) tell(list []logListener, text string) {
	addr, length, err := mapHost(uint64(len(text)) + 1)
	if err != nil {
		return // the message was printed and is kept
	}
	defer unmapHost(addr, length)
	copy(hostmem.Bytes(hostmem.Ptr(addr), uint64(len(text))), text) // the mapping is zero behind it
	for _, l := range list {
		s.callQuiet(uint64(l.fn), uint64(l.user), uint64(cu.CU_LOG_LEVEL_ERROR), addr, uint64(len(text)))
	}
}

// maxListeners bounds what a program can register.
const maxListeners = 1 << 10

// LogsRegisterCallback makes a function known that is told each message.
func (t *Thread) LogsRegisterCallback(fn cu.CUlogsCallback, user hostmem.Ptr) (cu.CUlogsCallbackHandle, error) {
	if fn == 0 {
		return 0, errInvalidValue
	}
	if s := current.Load(); s == nil || s.callQuiet == nil {
		return 0, errNotSupported
	}
	logs.mu.Lock()
	defer logs.mu.Unlock()
	if len(logs.listeners) >= maxListeners {
		return 0, errOutOfMemory
	}
	if logs.listeners == nil {
		logs.listeners = map[cu.CUlogsCallbackHandle]logListener{}
	}
	logs.last += 16 // a handle looks like a pointer
	h := cu.CUlogsCallbackHandle(logs.last)
	logs.listeners[h] = logListener{fn, user}
	return h, nil
}

// LogsUnregisterCallback forgets it. A message that is just being told may still arrive.
func (t *Thread) LogsUnregisterCallback(h cu.CUlogsCallbackHandle) error {
	logs.mu.Lock()
	defer logs.mu.Unlock()
	if _, ok := logs.listeners[h]; !ok {
		return errInvalidValue
	}
	delete(logs.listeners, h)
	return nil
}

// since is the messages after a number, and the number of the newest.
func since(at uint64) (string, uint64) {
	logs.mu.Lock()
	defer logs.mu.Unlock()
	var b strings.Builder
	for i, line := range logs.lines {
		if logs.total-uint64(len(logs.lines))+uint64(i)+1 > at {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String(), logs.total
}

// LogsCurrent is a place behind all messages so far.
func (t *Thread) LogsCurrent(uint32) (cu.CUlogIterator, error) {
	_, at := since(^uint64(0))
	return cu.CUlogIterator(at), nil
}

// LogsDumpToMemory writes the messages after a place, or all, and moves the place. What does not fit is the older part.
func (t *Thread) LogsDumpToMemory(place, buffer, size hostmem.Ptr, _ uint32) error {
	if buffer == hostmem.Nil || size == hostmem.Nil {
		return errInvalidValue
	}
	room := hostmem.Load[uint64](size)
	if room == 0 { // no room for anything: the place stays
		return nil
	}
	text, at := since(from(place))
	for uint64(len(text)) >= room {
		_, rest, found := strings.Cut(text, "\n")
		if text = rest; !found {
			text = ""
		}
	}
	hostmem.PutString(buffer, int(min(room, 1<<30)), text)
	hostmem.Store(size, uint64(len(text)))
	move(place, at)
	return nil
}

// from is the number at a place; without one, that of the beginning.
func from(place hostmem.Ptr) uint64 {
	if place == hostmem.Nil {
		return 0
	}
	return uint64(hostmem.Load[cu.CUlogIterator](place))
}

func move(place hostmem.Ptr, at uint64) {
	if place != hostmem.Nil {
		hostmem.Store(place, cu.CUlogIterator(at))
	}
}

// LogsDumpToFile appends them to a file.
func (t *Thread) LogsDumpToFile(place hostmem.Ptr, path string, _ uint32) error {
	text, at := since(from(place))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return errInvalidValue
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return errNoProcess
	}
	move(place, at)
	return nil
}
