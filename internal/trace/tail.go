package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Tail reads a trace's folder while programs write to it.
type Tail struct {
	dir     string
	files   map[string]*tailed
	order   []*tailed
	start   int64
	started bool
	Start   time.Time // of the first process that was seen
}

// tailed is a file, and how far each of its threads was read.
type tailed struct {
	*file
	at      map[*Thread]int // the chunk that is being filled
	running []ref           // calls that had not returned
}

// NewTail follows a folder, in which there need be nothing yet.
func NewTail(dir string) *Tail { return &Tail{dir: dir, files: map[string]*tailed{}} }

// Poll gives what was written since the last time, in the order of time. A call that has not returned is given at once, and
// again, as Resumed, when it has.
func (t *Tail) Poll() ([]Record, error) {
	paths, err := traceFiles(t.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := t.open(paths); err != nil {
		return nil, err
	}
	var all []Record
	for _, f := range t.order {
		got, err := t.poll(f)
		if err != nil {
			return all, fmt.Errorf("%s: %w", filepath.Join(t.dir, f.process.File), err)
		}
		all = append(all, got...)
	}
	slices.SortStableFunc(all, func(x, y Record) int { return cmp.Compare(x.Time, y.Time) })
	return all, nil
}

// open takes the files that are new, the one that began first first.
func (t *Tail) open(paths []string) error {
	var found []*tailed
	for _, p := range paths {
		if t.files[p] != nil {
			continue
		}
		f, err := openFile(p)
		if errors.Is(err, ErrFormat) { // its header is not there yet
			continue
		}
		if err != nil {
			return err
		}
		t.files[p] = &tailed{file: f, at: map[*Thread]int{}}
		found = append(found, t.files[p])
	}
	slices.SortStableFunc(found, func(x, y *tailed) int { return cmp.Compare(x.clock.mono0, y.clock.mono0) })
	for _, f := range found {
		f.process.place = len(t.order)
		t.order = append(t.order, f)
		if !t.started {
			t.started, t.start, t.Start = true, int64(f.clock.mono0), f.process.Start
		}
	}
	return nil
}

// Processes are those seen so far.
func (t *Tail) Processes() []*Process {
	var all []*Process
	for _, f := range t.order {
		all = append(all, f.process)
	}
	return all
}

// Close lets the files go.
func (t *Tail) Close() {
	for _, f := range t.order {
		f.close()
	}
	t.order, t.files = nil, map[string]*tailed{}
}

func (t *Tail) poll(f *tailed) ([]Record, error) {
	if err := f.refresh(); err != nil {
		return nil, err
	}
	all, err := t.resumed(f)
	if err != nil {
		return all, err
	}
	for _, th := range f.process.Threads {
		// What refresh found after a chunk was begun when the chunk was full: it is complete.
		for i := f.at[th]; i < len(th.chunks); i++ {
			got, err := t.chunk(f, th, i)
			if err != nil {
				return all, err
			}
			all = append(all, got...)
			f.at[th] = i
		}
	}
	return all, nil
}

// chunk gives the new records of one.
func (t *Tail) chunk(f *tailed, th *Thread, i int) ([]Record, error) {
	c := &th.chunks[i]
	b, err := f.read(c, c.read)
	if err != nil {
		return nil, err
	}
	var all []Record
	for len(b) > 0 {
		n := span(b)
		if n == 0 {
			break
		}
		f.note(th, b[:n])
		when, _ := f.begins(th, b[:n])
		if rec, ok := f.record(th, b[:n:n], when, t.start); ok {
			all = append(all, rec)
			if rec.Call != nil && !rec.Call.Returned() {
				f.running = append(f.running, ref{when, f.file, th, int32(i), int32(c.read)})
			}
		}
		c.read += int64(n)
		b = b[n:]
	}
	return all, nil
}

// resumed gives the calls that have returned since they were given.
func (t *Tail) resumed(f *tailed) ([]Record, error) {
	var all []Record
	still := f.running[:0]
	for _, r := range f.running {
		c := &r.thread.chunks[r.chunk]
		var head [callHeader]byte
		if n, err := f.r.ReadAt(head[:], c.at+int64(r.at)); n < len(head) {
			return all, err
		}
		n := int64(le.Uint32(head[:]))
		if le.Uint64(head[atT1:]) == 0 {
			still = append(still, r)
			continue
		}
		if n < callHeader || n > c.size-int64(r.at) {
			continue
		}
		b := make([]byte, n)
		got, err := f.r.ReadAt(b, c.at+int64(r.at))
		if err != nil && err != io.EOF {
			return all, err
		}
		if rec, ok := f.record(r.thread, b[:got], r.time, t.start); ok {
			rec.Resumed = true
			all = append(all, rec)
		}
	}
	f.running = still
	return all, nil
}
