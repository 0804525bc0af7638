package trace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// sample is a process of two threads: calls that nest, one that never returns, an event, a module, a large record.
func sample() *Writer {
	w := NewWriter(41, 1, false, "/bin/app", "-x", "two words")
	a, b := w.Thread(41), w.Thread(42)
	a.Call(Call{Library: "libcuda.so.1", Name: "cuInit", Begin: 100, End: 300, Words: []uint64{0}})
	a.Call(Call{Library: "libcublas.so.12", Name: "cublasCreate_v2", Begin: 400, End: 900, Words: []uint64{0x1000},
		Blobs: []Blob{{Arg: 0, What: Out, Filled: true, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}}}})
	id := a.Call(Call{Library: "libcuda.so.1", Name: "cuModuleLoadData", Begin: 500, End: 600, Depth: 1, Words: []uint64{1, 2}})
	a.Module(Module{Call: id, Bytes: 77, Hash: strings.Repeat("ab", 16), Ext: "ptx"})
	b.Call(Call{Library: "libcuda.so.1", Name: "cuMemcpyHtoD_v2", Begin: 550, End: 560, Words: []uint64{7, 8, 9},
		Blobs: []Blob{{Arg: 1, What: Array, Cut: true, Data: bytes.Repeat([]byte{5}, 2*chunkSize)}}})
	b.Event(Event{Type: Kernel, Begin: 450, End: 700, Call: id, Device: 1, Stream: 0x20, Values: [4]uint64{1, 2, 3, 4}, Text: "vecadd"})
	b.Event(Event{Type: ThreadName, Begin: 450, End: 450, Text: "worker"})
	b.Call(Call{Library: "libcuda.so.1", Name: "cuCtxSynchronize", Begin: 1000, End: Running})
	return w
}

func save(t *testing.T, w *Writer) string {
	t.Helper()
	dir := t.TempDir()
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// line is a record in short.
func line(r *Record) string {
	switch {
	case r.Call != nil:
		return fmt.Sprintf("%d %d %s %s %d %v", r.Time, r.Thread.Number, r.Call.Library, r.Call.Name, r.Call.Duration(), r.Call.Words)
	case r.Event != nil:
		return fmt.Sprintf("%d %d event %d %d %s", r.Time, r.Thread.Number, r.Event.Type, r.Event.End, r.Event.Text)
	}
	return fmt.Sprintf("%d %d module %s", r.Time, r.Thread.Number, r.Module.File())
}

func lines(t *testing.T, tr *Trace) []string {
	t.Helper()
	var all []string
	if err := tr.Each(func(r *Record) bool { all = append(all, line(r)); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

var sampleLines = []string{
	"100 1 libcuda.so.1 cuInit 200 [0]",
	"400 1 libcublas.so.12 cublasCreate_v2 500 [4096]",
	"450 2 event 1 700 vecadd",
	"450 2 event 12 450 worker",
	"500 1 libcuda.so.1 cuModuleLoadData 100 [1 2]",
	"500 1 module " + strings.Repeat("ab", 16) + ".ptx",
	"550 2 libcuda.so.1 cuMemcpyHtoD_v2 10 [7 8 9]",
	"1000 2 libcuda.so.1 cuCtxSynchronize 0 []",
}

func TestRead(t *testing.T) {
	dir := save(t, sample())
	if err := (Meta{Command: []string{"app"}, Version: "1"}).Write(dir); err != nil {
		t.Fatal(err)
	}
	tr, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if got := lines(t, tr); !reflect.DeepEqual(got, sampleLines) {
		t.Errorf("records:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(sampleLines, "\n"))
	}
	p := tr.Processes[0]
	if p.PID != 41 || p.PPID != 1 || p.Real || !reflect.DeepEqual(p.Args, []string{"/bin/app", "-x", "two words"}) {
		t.Errorf("process: %+v", p)
	}
	if len(p.Threads) != 2 || p.Threads[1].TID != 42 || p.Threads[1].Name != "worker" {
		t.Errorf("threads: %+v", p.Threads)
	}
	if tr.Meta.Command[0] != "app" || tr.Start.UnixNano() != startReal {
		t.Errorf("meta %+v, start %v", tr.Meta, tr.Start)
	}
	var loaded *Call
	err = tr.Each(func(r *Record) bool {
		if r.Call != nil && r.Call.Name == "cuModuleLoadData" {
			loaded = r.Call
		}
		if r.Call != nil && r.Call.Name == "cuMemcpyHtoD_v2" {
			if bl := r.Call.Blobs[0]; len(bl.Data) != 2*chunkSize || !bl.Cut || bl.Filled || bl.What != Array || bl.Arg != 1 {
				t.Errorf("the blob of a large record: %d bytes, %+v", len(bl.Data), bl.What)
			}
		}
		return true
	})
	if err != nil || loaded == nil || loaded.Module == nil || loaded.Module.Bytes != 77 || loaded.Depth != 1 {
		t.Errorf("the call that loads a module: %+v, %v", loaded, err)
	}
	one, err := Open(filepath.Join(dir, "41-0.kzt"))
	if err != nil || one.Len() != len(sampleLines) {
		t.Errorf("a single file: %v", err)
	}
	one.Close()
}

// TestCutOff: a file that ends anywhere gives what is before that place.
func TestCutOff(t *testing.T) {
	whole := sample().Bytes()
	seen := map[int]bool{}
	for n := 0; n < len(whole); n += 731 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "1-0.kzt"), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := Open(dir)
		if err != nil {
			if n >= headerSize || !errors.Is(err, ErrFormat) {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		seen[tr.Len()] = true
		if got := lines(t, tr); len(got) != tr.Len() {
			t.Errorf("%d bytes: %d of %d records", n, len(got), tr.Len())
		}
		tr.Close()
	}
	if !seen[0] || !seen[4] || !seen[len(sampleLines)] {
		t.Errorf("numbers of records that were seen: %v", seen)
	}
}

func TestRefused(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"magic":   func(b []byte) { b[0] = 'X' },
		"version": func(b []byte) { b[atVersion] = 9 },
		"chunk":   func(b []byte) { le.PutUint32(b[atChunk:], 8) },
		"odd":     func(b []byte) { le.PutUint32(b[atChunk:], 65533) },
		"header":  func(b []byte) { le.PutUint32(b[atHeader:], 1<<31) },
	} {
		w := sample()
		change(w.Bytes())
		if _, err := Open(save(t, w)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrFormat) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestThreadNumberAgain: the system gives the number of a thread that has ended to another one.
func TestThreadNumberAgain(t *testing.T) {
	w := NewWriter(1, 0, false)
	for range 2 {
		w.Thread(7).Call(Call{Library: "l", Name: "f", Begin: 1, End: 2})
	}
	tr, err := Open(save(t, w))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if n := len(tr.Processes[0].Threads); n != 2 || tr.Len() != 2 {
		t.Errorf("%d threads, %d records", n, tr.Len())
	}
}

// TestTail: a file that grows chunk by chunk and record by record gives each record once, and calls again that come back.
func TestTail(t *testing.T) {
	dir := t.TempDir()
	tail := NewTail(dir)
	defer tail.Close()
	poll := func(w *Writer, want ...string) {
		t.Helper()
		if w != nil {
			if err := w.Save(dir); err != nil {
				t.Fatal(err)
			}
		}
		got, err := tail.Poll()
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for i := range got {
			s := line(&got[i])
			if got[i].Resumed {
				s = "again " + s
			}
			have = append(have, s)
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
	}
	poll(nil)
	if err := os.WriteFile(filepath.Join(dir, "5-0.kzt"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	poll(nil)
	w := NewWriter(5, 1, false)
	a := w.Thread(5)
	poll(w)
	a.Call(Call{Library: "l", Name: "f", Begin: 10, End: Running, Words: []uint64{3}})
	record := a.at - callHeader - 8
	poll(w, "10 1 l f 0 [3]")
	poll(w)
	a.Call(Call{Library: "l", Name: "g", Begin: 20, End: 30, Depth: 1, Blobs: []Blob{{Data: make([]byte, chunkSize-200)}}})
	a.Call(Call{Library: "l", Name: "h", Begin: 40, End: 41, Depth: 1, Blobs: []Blob{{Data: make([]byte, chunkSize-200)}}})
	b := w.Thread(6)
	b.Call(Call{Library: "l", Name: "f", Begin: 15, End: 16})
	poll(w, "15 2 l f 1 []", "20 1 l g 10 []", "40 1 l h 1 []")
	le.PutUint64(w.buf[record+atT1:], ticks(99))
	poll(w, "again 10 1 l f 89 [3]")
	poll(w)
}

// TestTailOrder: of processes that are found together, the one that began first is the first.
func TestTailOrder(t *testing.T) {
	dir := t.TempDir()
	for pid := 5; pid <= 6; pid++ {
		w := NewWriter(pid, 1, false)
		w.Thread(pid).Call(Call{Library: "l", Name: "f", Begin: 1, End: 2})
		le.PutUint64(w.buf[atMono0:], uint64(startMono+1000*(7-pid)))
		le.PutUint64(w.buf[atMono1:], uint64(startMono+1000*(7-pid))+1_000_000_000)
		if err := w.Save(dir); err != nil {
			t.Fatal(err)
		}
	}
	tail := NewTail(dir)
	defer tail.Close()
	got, err := tail.Poll()
	if err != nil || len(got) != 2 || got[0].Time != 1 || got[0].Thread.Process.PID != 6 || got[1].Time != 1001 || tail.Processes()[0].PID != 6 {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestMany: a million records are read in seconds.
func TestMany(t *testing.T) {
	n := 100_000
	w := NewWriter(1, 0, false)
	threads := []*ThreadWriter{w.Thread(1), w.Thread(2), w.Thread(3)}
	for i := range n {
		threads[i%3].Call(Call{Library: "libcuda.so.1", Name: "cuLaunchKernel", Begin: int64(10 * i), End: int64(10*i + 5), Words: make([]uint64, 11)})
	}
	tr, err := Open(save(t, w))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	last, count := int64(-1), 0
	err = tr.Each(func(r *Record) bool {
		if r.Time <= last {
			t.Errorf("record %d at %d after %d", count, r.Time, last)
		}
		last = r.Time
		count++
		return true
	})
	if err != nil || count != n {
		t.Errorf("%d records, %v", count, err)
	}
}

// FuzzRead: any bytes are read or refused.
func FuzzRead(f *testing.F) {
	f.Add(sample().Bytes()[:headerSize+2048])
	w := NewWriter(1, 0, true, "x")
	w.Thread(1).Call(Call{Library: "libcuda.so.1", Name: "cuInit"})
	f.Add(w.Bytes()[:headerSize+512])
	f.Fuzz(func(t *testing.T, b []byte) {
		size := func() (int64, error) { return int64(len(b)), nil }
		fl, err := newFile(bytes.NewReader(b), size, "1-0.kzt")
		if err != nil {
			return
		}
		fl.close = func() error { return nil }
		tr := &Trace{files: []*file{fl}}
		if tr.index() == nil {
			_ = tr.Each(func(r *Record) bool { _ = line(r); return true })
		}
		again, err := newFile(bytes.NewReader(b), size, "1-0.kzt")
		if err != nil {
			t.Fatal(err)
		}
		tail := &tailed{file: again, at: map[*Thread]int{}}
		for range 2 {
			_, _ = NewTail("").poll(tail)
		}
	})
}

// TestUntimed: an event without a time is of that of the call before it, for who reads all and for who follows; room for parameters that
// were never there is no blob.
func TestUntimed(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(7, 1, false, "app")
	a, b := w.Thread(7), w.Thread(8)
	a.Event(Event{Type: Enqueue, Begin: untimed, Text: "first"})
	id := a.Call(Call{Library: "libcuda.so.1", Name: "cuInit", Begin: 5000, End: 6000, Words: []uint64{0}, Blobs: []Blob{{What: Params, Data: make([]byte, 8)}}})
	b.Call(Call{Library: "libcuda.so.1", Name: "cuInit", Begin: 9000, End: 9500, Words: []uint64{0}})
	a.Event(Event{Type: Enqueue, Begin: untimed, Call: id, Text: "second"})
	later := bytes.Index(w.Bytes(), []byte{0, byte(Params), 0, 0, 8, 0, 0, 0})
	w.Bytes()[later+2] = blobLater
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	check := func(name string, records []Record) {
		times := map[string]int64{}
		for _, r := range records {
			if r.Call != nil && len(r.Call.Blobs) != 0 {
				t.Errorf("%s: %+v", name, r.Call.Blobs)
			}
			if r.Event != nil {
				times[r.Event.Text] = r.Event.Begin
				if r.Time != r.Event.Begin || r.Event.End != r.Event.Begin {
					t.Errorf("%s: %d, %+v", name, r.Time, r.Event)
				}
			}
		}
		if len(times) != 2 || times["first"] != 0 || times["second"] != 5000 {
			t.Errorf("%s: %v", name, times)
		}
	}
	tr, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var all []Record
	if err := tr.Each(func(r *Record) bool { all = append(all, *r); return true }); err != nil {
		t.Fatal(err)
	}
	check("all", all)
	tail := NewTail(dir)
	defer tail.Close()
	got, err := tail.Poll()
	if err != nil {
		t.Fatal(err)
	}
	check("tail", got)
}
