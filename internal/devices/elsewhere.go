package devices

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/backend"
	"kudzu/internal/dump"
)

// elsewhere has launches replayed by `kudzu compare`, which started the program and listens at a socket: we are in somebody else's process
// and start none of our own there. A launch is a file beside the socket; the request is its name, the answer a Replayed, each a line.
type elsewhere struct{ socket string }

// Replayed is the answer: a fault, or why it could not be done, or nothing. The memory is in the same file then.
type Replayed struct {
	Fault string `json:"fault,omitempty"`
	Kind  uint8  `json:"kind,omitempty"`
	Error string `json:"error,omitempty"`
	Late  bool   `json:"late,omitempty"`
}

// ReplayRequest is one launch to replay.
type ReplayRequest struct {
	File    string  `json:"file"`
	Seconds float64 `json:"seconds"`
}

// Replay runs the launch there.
func (e *elsewhere) Replay(f *dump.File, limit time.Duration) ([][]byte, *backend.Fault, error) {
	file, err := os.CreateTemp(filepath.Dir(e.socket), "launch-*.kzd")
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(file.Name())
	if err := errors.Join(f.Encode(file), file.Close()); err != nil {
		return nil, nil, err
	}
	a, err := e.ask(&ReplayRequest{file.Name(), limit.Seconds()})
	switch {
	case err != nil:
		return nil, nil, err
	case a.Late:
		return nil, nil, backend.ErrTime
	case a.Error != "":
		return nil, nil, errors.New(a.Error)
	case a.Fault != "":
		return nil, &backend.Fault{Kind: backend.FaultKind(a.Kind), Kernel: f.Kernel, Detail: a.Fault}, nil
	}
	after, err := dump.Open(file.Name(), dump.DefaultLimit())
	if err != nil {
		return nil, nil, err
	}
	other := errors.New("the answer has other memory")
	if len(after.After) != len(f.Regions) {
		return nil, nil, other
	}
	for i := range after.After {
		if uint64(len(after.After[i])) != f.Regions[i].Size {
			return nil, nil, other
		}
	}
	return after.After, nil, nil
}

// ask sends a request and waits for the answer.
func (e *elsewhere) ask(r *ReplayRequest) (*Replayed, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: e.socket}); err != nil {
		return nil, fmt.Errorf("%s: %w; kudzu compare listens there", e.socket, err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	for b = append(b, '\n'); len(b) > 0; {
		n, err := unix.SendmsgN(fd, b, nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		b = b[n:]
	}
	var answer []byte
	for buf := make([]byte, 4096); len(answer) < 1<<20; {
		n, err := unix.Read(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		answer = append(answer, buf[:n]...)
	}
	a := &Replayed{}
	if err := json.Unmarshal(answer, a); err != nil {
		return nil, fmt.Errorf("answer %.80q: %w", answer, err)
	}
	return a, nil
}
