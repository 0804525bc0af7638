package interp

import (
	"kudzu/internal/backend"
	"kudzu/internal/ptx"
)

// state is whether a thread can go on.
type state uint8

const (
	running state = iota
	waiting       // at a barrier or a *.sync instruction
	exited
)

// thread is one CUDA thread.
type thread struct {
	r     []uint64 // registers of the current function
	code  *code
	pc    int32
	state state
	lane  uint8
	carry uint64 // CC.CF
	tid   [3]uint32
	w     *warp

	calls []frame
	local []byte // local memory: frames, then what alloca took
	fp    uint32 // the current frame
	sp    uint32 // first free byte

	// While waiting at a *.sync instruction.
	syncSig  int
	syncMask uint32
	syncArg  [2]uint64
	syncDst  [2]int32
	syncDo   func(w *warp, members uint32)

	barResult    func(bar *barrier, t *thread) // what bar.red gives a thread that waits
	clusterPhase uint64                        // one more than the phase of the cluster barrier it arrived in

	lastRun uint64
}

// frame is a caller that waits for its callee.
type frame struct {
	r      []uint64
	code   *code
	pc     int32
	fp, sp uint32
	call   *callSite
}

// maxLocal is how much local memory a thread may have, as on hardware.
const maxLocal = 512 << 10

// addr orders threads: the lowest runs first.
func (t *thread) addr() int32 { return t.code.base + t.pc }

// stop ends the launch; it is recovered in grid.run.
type stop struct {
	kind   backend.FaultKind
	t      *thread
	addr   uint64
	detail string
}

func (t *thread) fault(kind backend.FaultKind, detail string) {
	panic(stop{kind: kind, t: t, detail: detail})
}

func (t *thread) faultAddr(kind backend.FaultKind, addr uint64, detail string) {
	panic(stop{kind: kind, t: t, addr: addr, detail: detail})
}

// grow takes n bytes of local memory above fp.
func (t *thread) grow(n uint32) {
	if n > maxLocal || t.fp+n > maxLocal {
		t.fault(backend.FaultStack, "more than 512 KB of local memory")
	}
	t.sp = t.fp + n
	if int(t.sp) > len(t.local) {
		more := make([]byte, max(int(t.sp), 2*len(t.local)))
		copy(more, t.local)
		t.local = more
	}
}

// exit ends the thread.
func (t *thread) exit() {
	t.state = exited
	t.calls = nil
	t.w.exited(t)
}

// ret returns to the caller; from the kernel it ends the thread.
func (t *thread) ret() {
	n := len(t.calls)
	if n == 0 {
		t.exit()
		return
	}
	f := t.calls[n-1]
	t.calls = t.calls[:n-1]
	callee, calleeFP := t.r, t.fp
	from := t.code
	t.r, t.code, t.pc, t.fp, t.sp = f.r, f.code, f.pc, f.fp, f.sp
	f.call.results(t, from, callee, calleeFP)
}

// lineOf is the PTX line the thread is at.
func (u *unit) lineOf(c *code, pc int32) int {
	if int(pc) >= len(c.insts) {
		return 0
	}
	line, _ := u.mod.Position(ptx.Pos(c.insts[pc].pos))
	return u.line(line)
}
