package cpu

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"kudzu/internal/config"
	"kudzu/internal/engine"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// debug shows kernels to tools that look at the process from outside: perf (KUDZU_PERF=1: names in /tmp/perf-PID.map) and GDB
// (KUDZU_GDB=1: names and PTX lines). Both cost memory that is never given back, so they have to be asked for.
type debug struct {
	gdb bool

	mu   lockrank.Mutex[lockrank.CPUDebug]
	perf *os.File // nil: nobody asked, or it could not be made; guarded by mu
}

// newDebug gives nil where nobody asked.
func newDebug(env func(string) string) *debug {
	d := &debug{gdb: env(config.GDB) == "1"}
	if env(config.Perf) == "1" {
		f, err := openPerfMap(fmt.Sprintf("/tmp/perf-%d.map", os.Getpid())) // where perf looks, whatever TMPDIR says
		if err != nil {
			logx.Warnf("no names for perf: %v", err)
		}
		d.perf = f
	}
	if !d.gdb && d.perf == nil {
		return nil
	}
	return d
}

// openPerfMap makes the file anew. Its name can be guessed, so what lies there must not be somebody else's, nor a link.
func openPerfMap(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil {
		if sys, ok := st.Sys().(*syscall.Stat_t); !ok || !st.Mode().IsRegular() || sys.Nlink != 1 || int(sys.Uid) != os.Geteuid() {
			err = fmt.Errorf("%s is there and is not ours", path)
		}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// show makes a variant known. The function it gives takes it back; nil where there is nothing to take back.
func (d *debug) show(v *variant) (forget func()) {
	if d == nil {
		return nil
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' {
			return '_'
		}
		return r
	}, v.kernel.decl.Name)
	if v.block != ([3]uint32{}) {
		name += fmt.Sprintf("_%dx%dx%d", v.block[0], v.block[1], v.block[2])
	}
	d.mu.Lock()
	if d.perf != nil {
		if _, err := fmt.Fprintf(d.perf, "%x %x %s\n", v.mapping.Base(), v.image.Text, name); err != nil {
			logx.Warnf("no more names for perf: %v", err)
			d.perf.Close()
			d.perf = nil
		}
	}
	d.mu.Unlock()
	if !d.gdb {
		return nil
	}
	return engine.ShowCode(v.image.DebugObject(uint64(v.mapping.Base()), name, v.kernel.p.m.Name+".ptx", v.slice))
}
