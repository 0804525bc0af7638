package compare

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/backend/tap"
	"kudzu/internal/config"
	"kudzu/internal/demangle"
	"kudzu/internal/dump"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// Line is what is written about a launch: JSON, one line each, added to the end of the file, so that several processes add up.
type Line struct {
	Program string `json:"program"`
	Kernel  string `json:"kernel"`
	// Function is the name that C++ gives the kernel, if that is another one.
	Function string    `json:"function,omitempty"`
	Text     string    `json:"text"` // hash of the kernel's text: the same kernel in several modules is one
	Grid     [3]uint32 `json:"grid"`
	Block    [3]uint32 `json:"block"`
	Shared   uint32    `json:"shared,omitempty"`
	Outcome  string    `json:"outcome"`
	Why      string    `json:"why,omitempty"`
	Seconds  float64   `json:"seconds,omitempty"` // that the reference took
	Touched  int       `json:"touched,omitempty"` // bytes in the chunks that either changed
	Params   []string  `json:"params,omitempty"`
	Where    []Where   `json:"where,omitempty"`
	Dump     string    `json:"dump,omitempty"`
	// Launches is how many the program made, compared or not, in a line with the outcome Ran.
	Launches uint64 `json:"launches,omitempty"`
}

// name is the kernel's for people: that of C++, cut where its template's arguments are long.
func (l *Line) name() string {
	if l.Function == "" {
		return l.Kernel
	}
	return demangle.Column(l.Kernel, mostOfName)
}

// mostOfName is how many characters of a name a line has; JSON has all.
const mostOfName = 160

// Where is a region in which memory differs.
type Where struct {
	Base      string `json:"base"`
	Size      int    `json:"size"`
	Offset    int    `json:"offset"` // of the first difference
	Words     int    `json:"words"`  // of 32 bits that differ
	Device    string `json:"device"` // the first
	Reference string `json:"reference"`
	// Places are the first that differ.
	Places []Place `json:"places,omitempty"`
}

// Place is 8 bytes that differ, or fewer at the end of a region.
type Place struct {
	Address           uint64 `json:"address"`
	Device, Reference []byte
}

// maxPlaces is how many places of a region a line has.
const maxPlaces = 2

type report struct {
	program string
	mu      lockrank.Mutex[lockrank.CompareReport]
	f       *os.File // guarded by mu; nil: nobody asked
}

// Reporter adds lines of others to a report.
type Reporter struct{ r *report }

// NewReporter makes one for a file; "": differences are only said aloud.
func NewReporter(path string) *Reporter { return &Reporter{newReport(path)} }

// Add writes a line, and says it aloud if it is of a difference.
func (r *Reporter) Add(l *Line) { r.r.add(l) }

func newReport(path string) *report {
	r := &report{}
	if self, err := os.Readlink("/proc/self/exe"); err == nil {
		r.program = filepath.Base(self)
	}
	if path == "" {
		return r
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		logx.Warnf(config.CompareReport+": %v", err)
		return r
	}
	r.f = f
	return r
}

// add writes a line, and says it aloud if the two differ.
func (r *report) add(l *Line) {
	l.Program = r.program
	if name := demangle.Name(l.Kernel); name != l.Kernel {
		l.Function = name
	}
	if l.Outcome == Different {
		what := l.Why
		if len(l.Where) > 0 {
			w := &l.Where[0]
			what = strings.TrimSpace(fmt.Sprintf("%d words of the %d bytes at %s, first at +%d: %s, reference %s %s", w.Words, w.Size, w.Base, w.Offset, w.Device, w.Reference, l.Why))
		}
		logx.Warnf("kernel %s, grid %v, block %v differs from the reference: %s", l.name(), l.Grid, l.Block, what)
	}
	b, err := json.Marshal(l)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		return
	}
	if _, err := r.f.Write(append(b, '\n')); err != nil {
		logx.Once("compare report", config.CompareReport+": %v", err)
	}
}

// maxWhere is how many regions a line names.
const maxWhere = 8

// where sums differences up by region.
func where(im tap.Image, all []tap.Delta) []Where {
	var list []Where
	last := -1
	for i := range all {
		d := &all[i]
		if d.At.Region != last {
			if last = d.At.Region; len(list) == maxWhere {
				break
			}
			r := &im[last]
			list = append(list, Where{Base: fmt.Sprintf("%#x", r.Base), Size: len(r.Live), Offset: -1})
		}
		w := &list[len(list)-1]
		for at := 0; at < len(d.Device); at += 4 {
			a, b := word(d.Device[at:]), word(d.Reference[at:])
			if a == b {
				continue
			}
			if from := at &^ 7; len(w.Places) < maxPlaces && (from == at || bytes.Equal(d.Device[from:at], d.Reference[from:at])) { // not twice
				end := min(from+8, len(d.Device))
				w.Places = append(w.Places, Place{im[d.At.Region].Base + uint64(d.At.Offset+from), bytes.Clone(d.Device[from:end]), bytes.Clone(d.Reference[from:end])})
			}
			if w.Words++; w.Offset < 0 {
				w.Offset, w.Device, w.Reference = d.At.Offset+at, show(a), show(b)
			}
		}
	}
	return list
}

// word is the first 32 bits of b, or what there is of them at the end of a region.
func word(b []byte) uint32 {
	var w [4]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint32(w[:])
}

// show is a word in the ways it may be meant.
func show(w uint32) string {
	return fmt.Sprintf("%#08x (f32 %g, f16 %g %g)", w, math.Float32frombits(w), dump.Half(uint16(w)), dump.Half(uint16(w>>16)))
}

// params is the parameters of a launch; addresses are given as a place in a region.
func params(im tap.Image, decl *backend.KernelDecl, l *backend.Launch) []string {
	var list []string
	if decl == nil {
		return nil
	}
	for _, p := range decl.Params {
		if p.Offset+p.Size > len(l.Params) {
			break
		}
		b := l.Params[p.Offset : p.Offset+p.Size]
		s := fmt.Sprintf("%x", b)
		switch p.Size {
		case 4:
			s = fmt.Sprintf("%#x", load(b))
		case 8:
			x := load(b)
			s = fmt.Sprintf("%#x", x)
			for i := range im {
				if x-im[i].Base < uint64(len(im[i].Live)) {
					s += fmt.Sprintf(" = %#x+%d", im[i].Base, x-im[i].Base)
				}
			}
		}
		list = append(list, s)
	}
	return list
}
