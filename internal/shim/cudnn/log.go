package cudnn

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"kudzu/internal/config"
	"kudzu/internal/hostmem"
	"kudzu/internal/logx"
	"kudzu/internal/spec/dnn"
)

// Messages: one for every call that fails. They go to the program's function, and where CUDNN_LOGDEST_DBG says.

// CallOut calls a function of the program that may call nothing of ours.
type CallOut func(fn, a, b, c, d uint64) uint64

// out is how functions of the program are called; nil where there are none.
var out atomic.Pointer[CallOut]

// Listen names the way to functions of the program.
func Listen(f CallOut) { out.Store(&f) }

// listener is what SetCallback said. A mask has a bit for each severity.
type listener struct {
	mask     uint32
	user, fn uint64
}

var listening atomic.Pointer[listener]

const errorBit = uint32(1) << dnn.CUDNN_SEV_ERROR

// SetCallback names a function that is told messages.
func (t *Thread) SetCallback(mask uint32, user hostmem.Ptr, fn dnn.CudnnCallback_t) error {
	listening.Store(&listener{mask, uint64(user), uint64(fn)})
	return nil
}

// GetCallback tells what SetCallback said.
func (t *Thread) GetCallback(user, fn hostmem.Ptr) (uint32, error) {
	l := listening.Load()
	if l == nil {
		l = &listener{}
	}
	if user != hostmem.Nil {
		hostmem.Store(user, l.user)
	}
	if fn != hostmem.Nil {
		hostmem.Store(fn, l.fn)
	}
	return l.mask, nil
}

// destination is where messages are written, by the variables of cuDNN 9 or 8; nil: nowhere.
var destination = sync.OnceValue(func() io.Writer {
	if level := config.Get("CUDNN_LOGLEVEL_DBG"); (level == "" || level == "0") && config.Get("CUDNN_LOGERR_DBG") != "1" {
		return nil
	}
	switch to := config.Get("CUDNN_LOGDEST_DBG"); to {
	case "", "NULL":
		return nil
	case "stdout":
		return logx.Stdout
	case "stderr":
		return logx.Stderr
	default:
		f, err := os.OpenFile(to, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			return nil
		}
		return f // open until the process ends
	}
})

// tell gives a message to those who want it.
func tell(code int32, text string) {
	now := time.Now()
	if w := destination(); w != nil {
		fmt.Fprintf(w, "E! CUDNN status %d: %s\ne! Time: %s\n", code, text, now.Format(time.RFC3339Nano))
	}
	l, call := listening.Load(), out.Load()
	if l == nil || l.fn == 0 || l.mask&errorBit == 0 || call == nil {
		return
	}
	message := append([]byte(text), 0)
	about := dnn.CudnnDebug_t{CudnnStatus: dnn.CudnnStatus_t(code), Time_sec: uint32(now.Unix()), Time_usec: uint32(now.Nanosecond() / 1000), Pid: uint64(os.Getpid())}
	(*call)(l.fn, uint64(dnn.CUDNN_SEV_ERROR), l.user, uint64(hostmem.Of(&about)), uint64(hostmem.Of(&message[0])))
	runtime.KeepAlive(&about)
	runtime.KeepAlive(message)
}
