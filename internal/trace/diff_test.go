package trace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kudzu/internal/fatbin"
)

// run is a program whose handles and addresses lie at some place, with what changes between runs.
type run struct {
	base    uint64 // of handles and addresses
	polls   int
	swapped bool // the second thread begins first
	size    uint64
	more    bool // one call more
	stop    bool // one call fewer
	suffix  string
}

func (p run) save(t *testing.T) *Trace {
	t.Helper()
	w := NewWriter(int(p.base>>36), 1, false, "app")
	a := w.Thread(10)
	var b, c *ThreadWriter
	if p.swapped {
		c, b = w.Thread(12), w.Thread(11)
	} else {
		b, c = w.Thread(11), w.Thread(12)
	}
	now := int64(p.base & 0xffff)
	call := func(th *ThreadWriter, name string, res uint64, words []uint64, blobs ...Blob) {
		now += 1000
		th.Call(Call{Library: "libcuda.so.1", Name: name, Begin: now, End: now + 10, Result: res, Words: words, Blobs: blobs})
	}
	call(a, "cuInit", 0, []uint64{0})
	call(a, "cuStreamCreate", 0, []uint64{p.base, 0}, out(0, p.base+0x100, 8))
	call(a, "cuMemAlloc_v2", 0, []uint64{p.base + 8, p.size}, out(0, p.base+0x10000, 8))
	for range p.polls {
		call(a, "cuEventQuery", 600, []uint64{p.base + 0x200})
	}
	if p.more {
		call(a, "cuCtxGetCurrent", 0, []uint64{p.base}, out(0, p.base+0x300, 8))
	}
	call(a, "cuMemsetD8_v2", 0, []uint64{p.base + 0x10010, 0, 16})
	call(a, "cuStreamDestroy"+p.suffix, 0, []uint64{p.base + 0x100})
	call(a, "cuStreamCreate", 0, []uint64{p.base, 0}, out(0, p.base+0x100, 8))
	first, second := b, c
	if p.swapped {
		first, second = c, b
	}
	for _, th := range []*ThreadWriter{first, second} {
		if th == b {
			call(b, "cuStreamSynchronize", 0, []uint64{p.base + 0x100})
		} else {
			call(c, "cuMemFree_v2", 0, []uint64{p.base + 0x10000})
		}
	}
	call(a, "cuEventElapsedTime", 0, []uint64{p.base, p.base + 0x200, p.base + 0x208}, out(0, p.base, 4))
	if !p.stop {
		call(a, "cuCtxSynchronize", 0, nil)
	}
	tr, err := Open(save(t, w))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

func TestDiff(t *testing.T) {
	one := run{base: 0x7f0000000000, size: 4096, suffix: "_v2", polls: 1}
	polls := DiffOptions{Ignore: func(n string) bool { return Polls[Base(n)] }, Context: 2}
	for name, c := range map[string]struct {
		change func(*run)
		at     int
		want   string // in what is left of both
	}{
		"nothing":       {func(*run) {}, -1, ""},
		"addresses":     {func(p *run) { p.base = 0x7e1234560000 }, -1, ""},
		"polling":       {func(p *run) { p.polls = 9 }, -1, ""},
		"version":       {func(p *run) { p.suffix = "" }, -1, ""},
		"threads":       {func(p *run) { p.swapped = true }, -1, ""},
		"argument":      {func(p *run) { p.size = 8192 }, 2, "bytesize=4096|bytesize=8192"},
		"call more":     {func(p *run) { p.more = true }, 3, "cuMemsetD8(dstDevice=mem#1+16|cuCtxGetCurrent"},
		"a call missed": {func(p *run) { p.stop = true }, 7, "cuCtxSynchronize|"},
	} {
		t.Run(name, func(t *testing.T) {
			other := one
			other.base += 0x100000000
			c.change(&other)
			found, calls, err := Diff(one.save(t), other.save(t), polls)
			if err != nil {
				t.Fatal(err)
			}
			if c.at < 0 {
				if len(found) != 0 || calls != 10 {
					t.Errorf("%d calls, differences: %+v", calls, found)
				}
				return
			}
			if len(found) != 1 || found[0].At != c.at {
				t.Fatalf("differences: %+v", found)
			}
			left := strings.Join(found[0].LeftA, "\n") + "|" + strings.Join(found[0].LeftB, "\n")
			x, y, _ := strings.Cut(c.want, "|")
			if !strings.Contains(left, x) || !strings.Contains(left, y) || len(found[0].Before) != min(2, c.at) {
				t.Errorf("difference: %+v", found[0])
			}
		})
	}
}

// FuzzDiff: calls with any arguments are compared.
func FuzzDiff(f *testing.F) {
	f.Add("cuMemAlloc_v2", []byte{}, []byte{})
	f.Add("cuMemAlloc_v2", make([]byte, 16), []byte{0, 8, 1})
	f.Add("cuMemFree_v2", []byte{}, []byte{})
	f.Add("cudaMallocPitch", make([]byte, 8), []byte{})
	f.Add("cuLaunchKernel", make([]byte, 24), []byte{})
	d := NewDecoder(f.TempDir())
	f.Fuzz(func(_ *testing.T, name string, words, blobs []byte) {
		c := &Call{Library: "libcuda.so.1", Name: name, Begin: 1, End: 2, Thread: &Thread{Process: &Process{}}, Blobs: blobsOf(blobs)}
		for ; len(words) >= 8; words = words[8:] {
			c.Words = append(c.Words, le.Uint64(words))
		}
		d.Decode(c)
		n := newNormal(map[*Thread]string{})
		for range 2 { // what the first one made is known to the second
			_ = n.call(c)
		}
	})
}

func TestStats(t *testing.T) {
	tr, err := Open(program(t))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	s, err := tr.Stats(nil)
	if err != nil {
		t.Fatal(err)
	}
	get := func(all []*Count, name string) Count {
		for _, c := range all {
			if c.Name == name {
				return *c
			}
		}
		return Count{}
	}
	if s.Calls != 27 || s.Failed != 2 { // out of memory, and cuBLAS; what only waits is no failure
		t.Errorf("%d calls, %d failed", s.Calls, s.Failed)
	}
	if c := get(s.Functions, "cuMemAlloc_v2"); c.Calls != 2 || c.Failed != 1 || c.Total != 3000 || c.Mean() != 1500 || c.Min != 1500 || c.Max != 1500 {
		t.Errorf("cuMemAlloc_v2: %+v", c)
	}
	if c := get(s.Functions, "cuCtxSynchronize"); c.Calls != 1 || c.Total != 0 {
		t.Errorf("a call that did not return: %+v", c)
	}
	if c := get(s.Kernels, "vecadd"); c.Calls != 1 || c.Total != 5000 {
		t.Errorf("vecadd: %+v", c)
	}
	if c := get(s.Kernels, "_Z4scalPff"); c.Calls != 1 || c.Total != 0 {
		t.Errorf("a kernel whose time is not known: %+v", c)
	}
	if c := get(s.Libraries, "libcublas.so.12"); c.Calls != 4 || c.Failed != 1 {
		t.Errorf("cuBLAS: %+v", c)
	}
	if c := get(s.Threads, "thread 2"); c.Calls != 1 {
		t.Errorf("thread 2: %+v", c)
	}
}

// TestPieces: a module is looked into only until a kernel is found.
func TestPieces(t *testing.T) {
	sub := strings.ReplaceAll(vecaddPTX, "vecadd", "vecsub")
	fat, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.ELF, SM: 50, Data: []byte("\x7fELF nothing that can be read")},
		{Kind: fatbin.PTX, SM: 50, Major: 7, Data: []byte(vecaddPTX + "\x00")}, {Kind: fatbin.PTX, SM: 50, Major: 7, Flags: fatbin.FlagLZ4, Data: []byte(sub + "\x00")}})
	if err != nil {
		t.Fatal(err)
	}
	c := &code{kernels: map[string]*kernelCode{}, rest: pieces(fat)}
	for _, step := range []struct {
		kernel string
		left   int
		found  bool
	}{{"vecadd", 2, true}, {"vecadd", 2, true}, {"vecsub", 1, true}, {"none", 0, false}, {"vecadd", 0, true}} {
		if got := c.find(step.kernel); (got != nil) != step.found || len(c.rest) != step.left {
			t.Errorf("%s: %v, %d left", step.kernel, got, len(c.rest))
		}
	}
}

// TestExtract: PTX comes out of every container once, and a second time is a link.
func TestExtract(t *testing.T) {
	if n, bytes, err := Modules(t.TempDir()); n != 0 || bytes != 0 || err != nil {
		t.Error(n, bytes, err)
	}
	dir := t.TempDir()
	modules := filepath.Join(dir, ModulesDir)
	if err := os.MkdirAll(modules, 0o755); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(vecaddPTX, "sm_50", "sm_80", 1)
	fat, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 50, Major: 7, Data: []byte(vecaddPTX + "\x00")}, {Kind: fatbin.PTX, SM: 80, Major: 7, Flags: fatbin.FlagLZ4, Data: []byte(other + "\x00")}})
	if err != nil {
		t.Fatal(err)
	}
	twice := strings.Replace(vecaddPTX, "vecadd", "vecsub", -1)
	one := fatbin.Part{Kind: fatbin.PTX, SM: 50, Major: 7, Data: []byte(vecaddPTX + "\x00")}
	two, err := fatbin.Write([]fatbin.Part{one, {Kind: fatbin.PTX, SM: 50, Major: 7, Data: []byte(twice + "\x00")}, one}) // as relocatable code has it
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"e0.fatbin": two, "f0.fatbin": append(two, make([]byte, 8)...), "a0.fatbin": fat, "b0.fatbin": append(fat, make([]byte, 8)...), "c0.ptx": []byte(vecaddPTX + "\x00"), "d0.other": {0x7f, 'E', 'L', 'F', 0}} {
		if err := os.WriteFile(filepath.Join(modules, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second finds what the first left
		if n, bytes, err := Modules(dir); n != 6 || bytes < int64(4*len(vecaddPTX)) || err != nil {
			t.Error(n, bytes, err)
		}
		x, err := Extract(dir)
		if err != nil {
			t.Fatal(err)
		}
		if x != (Extracted{Modules: 6, Texts: 3}) {
			t.Errorf("%+v", x)
		}
	}
	for name, want := range map[string]string{"a0.sm_50.ptx": vecaddPTX, "a0.sm_80.ptx": other, "b0.sm_50.ptx": vecaddPTX, "b0.sm_80.ptx": other,
		"e0.sm_50.ptx": vecaddPTX, "e0.sm_50.2.ptx": twice, "f0.sm_50.ptx": vecaddPTX, "f0.sm_50.2.ptx": twice} {
		b, err := os.ReadFile(filepath.Join(modules, name))
		if err != nil || strings.TrimRight(string(b), "\x00") != want { // a link may lead to a module of text
			t.Errorf("%s: %q, %v", name, b, err)
		}
		to, err := os.Readlink(filepath.Join(modules, name))
		if name[0] > 'b' {
			continue
		}
		if link := strings.HasPrefix(name, "b0"); link != (err == nil) || link && to != "a0"+name[2:] {
			t.Errorf("%s leads to %q: %v", name, to, err)
		}
	}
}

// TestForged: what a program calls its kernels and ranges is one line, and nothing that a terminal acts on.
func TestForged(t *testing.T) {
	th := &Thread{Process: &Process{}, Number: 1}
	const name = "k\n[1] cuInit(Flags=0) = CUDA_SUCCESS\x1b[2J\u202e\xff é"
	var got bytes.Buffer
	p := NewPrinter(&got, NewDecoder(t.TempDir()))
	p.NoTime = true
	for _, r := range []*Record{{Thread: th, Event: &Event{Thread: th, Type: Mark, Text: name}}, {Thread: th, Call: &Call{Thread: th, Name: name, End: 1}}} {
		if err := p.Record(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `k\n[1] cuInit(Flags=0) = CUDA_SUCCESS\x1b[2J\u202e\xff é`
	if got.String() != "[1] -- mark "+want+"\n[1] "+want+"()\n" {
		t.Errorf("%s", got.String())
	}
	if s := newNormal(nil).call(&Call{Thread: th, Name: name, Begin: 1, End: 2}); s != want+"()" {
		t.Errorf("%s", s)
	}
}

// TestStream: calls that return soon are whole lines in order; one that does not is written, and again when it has.
func TestStream(t *testing.T) {
	p := &Process{}
	th := &Thread{Process: p, Number: 1}
	var got bytes.Buffer
	d := NewDecoder(t.TempDir())
	printer := NewPrinter(&got, d)
	printer.NoTime = true
	s := NewStream(d, printer)
	rec := func(id uint64, name string, end int64, resumed bool) Record {
		return Record{Thread: th, Time: int64(id), Resumed: resumed, Call: &Call{Thread: th, ID: id, Name: name, Library: "libcuda.so.1", End: end}}
	}
	var lines []string
	add := func(last bool, rs ...Record) {
		t.Helper()
		got.Reset()
		if err := s.Add(rs, last); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%q", strings.Split(got.String(), "\n")))
	}
	add(false, rec(1, "a", 5, false), rec(2, "b", Running, false), rec(3, "c", 5, false))
	add(false, rec(2, "b", 9, true))
	add(false, rec(4, "d", Running, false), rec(5, "e", 5, false))
	add(false)
	add(false)
	add(false, rec(4, "d", 5, true), rec(6, "f", Running, false))
	add(true)
	want := []string{
		`["[1] a() = 0" ""]`, `["[1] b() = 0" "[1] c() = 0" ""]`, `[""]`, `[""]`, `["[1] d() ..." "[1] e() = 0" ""]`,
		`["[1] ... d resumed() = 0" ""]`, `["[1] f() ..." ""]`,
	}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}
