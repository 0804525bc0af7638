package cpu

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"kudzu/internal/config"
	"kudzu/internal/engine"
	"kudzu/internal/logx"

	"golang.org/x/sys/unix"
)

// A report is a file that `kudzu run --stats` gives its program in KUDZU_STATS: counters that every process of the
// program adds to, and lines about kernels behind them. The program may end in any way, even by a signal; whoever made
// the file reads it then. Layout: ReportCounters words of 64 bits, then ReportSlots pairs of them for the kernels that ran, then
// the lines; the last counter is where they end.

// The counters of a report, in order.
const (
	ReportCompiled    = iota // kernel variants compiled
	ReportCompileNs          // time waited for them
	ReportBehind             // kernel variants compiled in the background, for which no launch waited
	ReportBehindNs           // their time
	ReportCached             // kernel variants found in the cache
	ReportFallbacks          // kernels that are interpreted
	ReportLaunches           // launches of compiled kernels
	ReportInterpreted        // launches that were interpreted
	ReportKernelNs           // time that threads spent in compiled kernels, all threads together
	ReportCopies             // copies, and their bytes
	ReportCopyBytes
	ReportFills
	ReportFillBytes
	ReportCollectives     // NCCL's operations in memory that Go put into a queue
	ReportFastCollectives // and those that C did without it
	ReportProcesses       // that used the backend
	ReportWaiting         // kernel variants whose optimised code is asked for and not there; what ended left its own
	ReportKernels         // pairs in use
	ReportText            // bytes of lines
	ReportCounters
)

const (
	// ReportSize is the size of the file.
	ReportSize = 1 << 20
	// ReportSlots is for how many kernels the file has times: nanoseconds of all threads, and launches.
	ReportSlots = 2048
	// ReportLines is where the lines begin.
	ReportLines = 8*ReportCounters + 16*ReportSlots
)

type report struct {
	counters *[ReportCounters]atomic.Uint64
	kernels  *[ReportSlots][2]atomic.Uint64
	text     []byte
}

// openReport maps the file that KUDZU_STATS names; without one, nothing is counted.
func openReport(path string) *report {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		logx.Warnf(config.Stats+": %v", err)
		return nil
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() != ReportSize {
		logx.Warnf(config.Stats+": %s is no report file", path)
		return nil
	}
	b, err := unix.Mmap(int(f.Fd()), 0, ReportSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		logx.Warnf(config.Stats+": %v", err)
		return nil
	}
	r := &report{counters: (*[ReportCounters]atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(b))), text: b[ReportLines:]}
	r.kernels = (*[ReportSlots][2]atomic.Uint64)(unsafe.Pointer(&b[8*ReportCounters]))
	r.counters[ReportProcesses].Add(1)
	engine.CountKernels(uintptr(unsafe.Pointer(&r.counters[ReportKernelNs]))) // the mapping stays for good
	engine.CountMeets(uintptr(unsafe.Pointer(&r.counters[ReportCollectives])))
	return r
}

func (r *report) add(i int, n uint64) {
	if r != nil {
		r.counters[i].Add(n)
	}
}

// place is where the engine adds up a kernel's time; nil: nobody asked, or too many kernels ran.
func (r *report) place() (slot uint64, at *[2]atomic.Uint64) {
	if r == nil {
		return 0, nil
	}
	n := r.counters[ReportKernels].Add(1) - 1
	if n >= ReportSlots {
		return 0, nil
	}
	return n, &r.kernels[n] // the mapping stays for good
}

// ran says whose time is at a variant's place.
func (r *report) ran(v *variant, compiled time.Duration) {
	if r != nil && v.meter.own == nil && v.meter.at != nil {
		r.line("ran\t%s\t%d %s %s %.1f", v.kernel.decl.Name, v.meter.slot, v.shape, v.tier, float64(compiled.Microseconds())/1e3)
	}
}

// meter is where the engine adds up a variant's time, nanoseconds of all threads and launches; nil: nowhere.
type meter struct {
	at   *[2]atomic.Uint64
	slot uint64        // of the report
	own  *engine.Words // its memory, if no report has it
}

// newMeter takes a place in a report, or memory of its own if there has to be one.
func newMeter(r *report, needed bool) meter {
	if slot, at := r.place(); at != nil || !needed {
		return meter{at: at, slot: slot}
	}
	w := engine.NewWords([]uint64{0, 0})
	return meter{at: (*[2]atomic.Uint64)(w.Pointer()), own: w}
}

// address is for the engine.
func (m meter) address() uintptr { return uintptr(unsafe.Pointer(m.at)) }

// nanos is the time so far, launches how many there were.
func (m meter) nanos() uint64    { return m.at[0].Load() }
func (m meter) launches() uint64 { return m.at[1].Load() }

func (m meter) free() {
	if m.own != nil {
		m.own.Free()
	}
}

// line notes something about a kernel; what does not fit is left out.
func (r *report) line(format string, args ...any) {
	if r == nil {
		return
	}
	s := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ") + "\n"
	end := r.counters[ReportText].Add(uint64(len(s)))
	if end <= uint64(len(r.text)) {
		copy(r.text[end-uint64(len(s)):], s)
	}
}

func (r *report) copied(n uint64) {
	r.add(ReportCopies, 1)
	r.add(ReportCopyBytes, n)
}
