package trace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Ext is how the names of a trace's files end.
const Ext = ".kzt"

// MetaFile and ModulesDir are in a trace's folder.
const (
	MetaFile   = "meta.json"
	ModulesDir = "modules"
)

// Meta is what the command line wrote about a trace; all of it may be missing.
type Meta struct {
	Command  []string  `json:"command"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end,omitzero"`
	Version  string    `json:"version"` // Kudzu's
	CUDA     string    `json:"cuda,omitempty"`
	Machine  string    `json:"machine,omitempty"`
	Backend  string    `json:"backend,omitempty"`
	Real     []string  `json:"real,omitempty"` // folders of NVIDIA's libraries
	ExitCode *int      `json:"exit_code,omitempty"`
}

// Trace is a folder of files, or one of them.
type Trace struct {
	Dir       string
	Meta      Meta
	Processes []*Process // by their start
	Start     time.Time  // of the first process
	Calls     int

	files []*file
	start int64 // the same by the monotonic clock
	refs  []ref
}

// ref is a record's place.
type ref struct {
	time   int64
	file   *file
	thread *Thread
	chunk  int32
	at     int32 // in the chunk
}

// Open reads a trace: a folder, or one .kzt file. What is written to it later is not seen.
func Open(path string) (*Trace, error) {
	t := &Trace{Dir: path}
	paths, err := t.find(path)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		f, err := openFile(p)
		if err != nil {
			t.Close()
			return nil, err
		}
		t.files = append(t.files, f)
	}
	if err := t.index(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// find lists the files of a trace and reads what is known about it.
func (t *Trace) find(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		t.Dir = filepath.Dir(path)
		return []string{path}, nil
	}
	paths, err := traceFiles(path)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no %s file in it: %w", path, Ext, ErrFormat)
	}
	t.Meta, err = ReadMeta(path)
	return paths, err
}

func traceFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), Ext) && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// ReadMeta reads a folder's meta.json. Without one there is nothing known and no error.
func ReadMeta(dir string) (Meta, error) {
	var m Meta
	b, err := os.ReadFile(filepath.Join(dir, MetaFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(dir, MetaFile), err)
	}
	return m, nil
}

// Write puts it into a folder.
func (m Meta) Write(dir string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, MetaFile), append(b, '\n'), 0o644)
}

// index finds every record and puts them in order.
func (t *Trace) index() error {
	slices.SortStableFunc(t.files, func(x, y *file) int {
		return cmp.Or(cmp.Compare(x.clock.mono0, y.clock.mono0), cmp.Compare(x.process.PID, y.process.PID), cmp.Compare(x.process.Number, y.process.Number))
	})
	for i, f := range t.files {
		if i == 0 {
			t.start, t.Start = int64(f.clock.mono0), f.process.Start
		}
		if err := f.refresh(); err != nil {
			return fmt.Errorf("%s: %w", f.process.File, err)
		}
		for _, th := range f.process.Threads {
			if err := t.indexThread(f, th); err != nil {
				return fmt.Errorf("%s: %w", f.process.File, err)
			}
		}
		f.process.place = i
		t.Processes = append(t.Processes, f.process)
	}
	slices.SortStableFunc(t.refs, func(x, y ref) int { return cmp.Compare(x.time, y.time) })
	return nil
}

func (t *Trace) indexThread(f *file, th *Thread) error {
	for i := range th.chunks {
		c := &th.chunks[i]
		b, err := f.load(c)
		if err != nil {
			return err
		}
		at := chunkHeader
		for at < len(b) {
			n := span(b[at:])
			if n == 0 {
				break
			}
			rec := b[at : at+n]
			f.note(th, rec)
			when, ok := f.begins(th, rec)
			if le.Uint16(rec[4:]) == kindCall && ok {
				t.Calls++
			}
			if ok {
				t.refs = append(t.refs, ref{when, f, th, int32(i), int32(at)})
			}
			at += n
		}
		c.read = int64(at)
	}
	return nil
}

// Len is how many records there are.
func (t *Trace) Len() int { return len(t.refs) }

// Each calls do for the records of all processes and threads in the order of time, until it returns false.
func (t *Trace) Each(do func(r *Record) bool) error {
	for i := range t.refs {
		r := &t.refs[i]
		b, err := r.file.keep(&r.thread.chunks[r.chunk])
		if err != nil {
			return fmt.Errorf("%s: %w", r.file.process.File, err)
		}
		if int(r.at) >= len(b) {
			continue // cut off meanwhile
		}
		n := span(b[r.at:])
		if n == 0 {
			continue
		}
		rec, ok := r.file.record(r.thread, b[int(r.at):int(r.at)+n], r.time, t.start)
		if !ok {
			continue
		}
		if !do(&rec) {
			return nil
		}
	}
	return nil
}

// Close lets the files go.
func (t *Trace) Close() {
	for _, f := range t.files {
		f.close()
	}
	t.files, t.refs = nil, nil
}
