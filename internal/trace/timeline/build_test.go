package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/trace"
)

// recorded is a trace with one of each event, of two threads.
func recorded(t testing.TB) *trace.Trace {
	t.Helper()
	dir := t.TempDir()
	w := trace.NewWriter(4711, 1, false, "/opt/bin/app", "-x")
	main, worker := w.Thread(4711), w.Thread(4712)
	shape := [4]uint64{8 | 2<<32, 1 | 256<<32, 1 | 1<<32, 512 | 2<<32}
	main.Event(trace.Event{Type: trace.Domain, Values: [4]uint64{7}, Text: "net"})
	main.Event(trace.Event{Type: trace.RangeBegin, Begin: 900, End: 900, Text: "step", Values: [4]uint64{0, 0xff76b900}})
	main.Event(trace.Event{Type: trace.RangeBegin, Begin: 950, End: 950, Text: "send", Values: [4]uint64{7}})
	main.Event(trace.Event{Type: trace.RangeBegin, Begin: 960, End: 960, Text: "whole", Values: [4]uint64{0, 0, 99}})
	stream := main.Call(trace.Call{Library: "libcuda.so.1", Name: "cuStreamCreate", Begin: 1000, End: 1500, Words: []uint64{0x7fff0000, 0}})
	main.Event(trace.Event{Type: trace.Queue, Call: stream, Begin: 1200, End: 1200, Stream: 0x55, Values: [4]uint64{1}, Text: "stream 2"})
	launch := main.Call(trace.Call{Library: "libcuda.so.1", Name: "cuLaunchKernel", Begin: 2000, End: 3000, Words: []uint64{0x99, 8, 2, 1, 256, 1, 1, 512, 0x55, 0, 0}})
	main.Event(trace.Event{Type: trace.Enqueue, Call: launch, Begin: 2200, End: 2800, Stream: 0x55, Values: shape, Text: "_Z4gemmPfS_"})
	worker.Event(trace.Event{Type: trace.Compile, Begin: 2100, End: 2700, Text: "_Z4gemmPfS_", Values: [4]uint64{1, 1, 500, 4096}})
	worker.Event(trace.Event{Type: trace.Kernel, Call: launch, Begin: 3100, End: 9100, Stream: 0x55, Values: shape, Text: "_Z4gemmPfS_"})
	worker.Event(trace.Event{Type: trace.Copy, Begin: 9200, End: 9300, Stream: 1, Values: [4]uint64{4096, 1 | 2<<32}})
	worker.Event(trace.Event{Type: trace.Fill, Begin: 9300, End: 9400, Stream: 1, Values: [4]uint64{64}})
	worker.Event(trace.Event{Type: trace.HostFunction, Begin: 9400, End: 9500, Stream: 1, Text: "host function"})
	main.Event(trace.Event{Type: trace.Memory, Begin: 1600, End: 1600, Values: [4]uint64{1 << 20}})
	main.Event(trace.Event{Type: trace.Mark, Begin: 4000, End: 4000, Text: "here"})
	main.Event(trace.Event{Type: trace.RangeEnd, Begin: 9600, End: 9600, Values: [4]uint64{0}})
	main.Event(trace.Event{Type: trace.RangeEnd, Begin: 9650, End: 9650, Values: [4]uint64{0}}) // nothing is open
	worker.Event(trace.Event{Type: trace.RangeEnd, Begin: 9700, End: 9700, Values: [4]uint64{0, 0, 99}})
	main.Event(trace.Event{Type: trace.ThreadName, Begin: 9700, End: 9700, Values: [4]uint64{4712}, Text: "pump"})
	main.Event(trace.Event{Type: trace.Fault, Begin: 9800, End: 9800, Text: "illegal address"})
	main.Event(trace.Event{Type: 200, Begin: 9800, End: 9800})
	main.Call(trace.Call{Library: "libcuda.so.1", Name: "cuCtxSynchronize", Begin: 9900, End: trace.Running})
	worker.Call(trace.Call{Library: "libcudart.so.12", Name: "cudaFree", Begin: 9950, End: 10000, Words: []uint64{0}})
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

func TestBuild(t *testing.T) {
	tl, err := Build(recorded(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl.finish()
	cause := causes(tl)
	var out strings.Builder
	var names []string
	for i := range tl.Rows {
		for j := range tl.Rows[i].Spans {
			names = append(names, tl.Rows[i].Spans[j].Name)
		}
	}
	fmt.Fprintln(&out, tl.Title)
	n := 0
	for i := range tl.Rows {
		r := &tl.Rows[i]
		fmt.Fprintf(&out, "%s%s\n", strings.Repeat("  ", r.Level), r.Label)
		for _, p := range r.Points {
			fmt.Fprintf(&out, "%s  %d: %d %s\n", strings.Repeat("  ", r.Level), p.Time, p.Value, r.Unit)
		}
		for _, s := range r.Spans {
			fmt.Fprintf(&out, "%s  %d+%d %s %q", strings.Repeat("  ", r.Level), s.Start, s.Dur, s.Kind, s.Name)
			if s.Color != 0 {
				fmt.Fprintf(&out, " #%x", s.Color)
			}
			if cause[n] != 0 {
				fmt.Fprintf(&out, " of %s", names[cause[n]-1])
			}
			if s.Detail != "" {
				fmt.Fprintf(&out, " {%s}", strings.ReplaceAll(s.Detail, "\n", "; "))
			}
			fmt.Fprintln(&out)
			n++
		}
	}
	file := filepath.Join("testdata", "build.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestFunctionNames: kernels of C++ are shown by the names that the program's text has.
func TestFunctionNames(t *testing.T) {
	for in, want := range map[string]string{
		"vecadd": "vecadd", "_Z6vecaddPfS_": "vecadd", "_ZN2at6native4foldIfEEvv": "at::native::fold<float>", "_Z4gemmIfLi4EEvPT_": "gemm<float, 4>",
		"_ZL5quickv": "quick", "_ZN12_GLOBAL__N_11fEv": "(anonymous namespace)::f", "_Z": "_Z", "_Z99x": "_Z99x", "_ZN": "_ZN", "_Z0": "_Z0", "_ZNK3abc3defEv": "abc::def", "_Z99999999999999999999x": "_Z99999999999999999999x",
	} {
		got := (&builder{short: map[string]string{}, taken: map[string]int{}}).kernel(in)
		if got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
	b := &builder{short: map[string]string{}, taken: map[string]int{}}
	long := "_Z1fI" + strings.Repeat("3abc", 40) + "E"
	if x, y, again := b.kernel(long+"vv"), b.kernel(long+"vi"), b.kernel(long+"vv"); !strings.Contains(x, "…") || y != x+" #2" || again != x {
		t.Errorf("%s, %s, %s", x, y, again)
	}
	b.Mangled = true
	if s := b.kernel("_Z1fIfEvv"); s != "_Z1fIfEvv" {
		t.Error(s)
	}
}

// FuzzBuild: whatever events and calls a file has, in whatever order, both forms are written. Files themselves are FuzzRead's.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("\x01abc\x0d\x00\x02\x09\xff\xff\xff\x0a_ZN1\x0e"), "_ZN1xIfE", int64(5), int64(-9))
	f.Add(bytes.Repeat([]byte{9, 1, 0, 10, 200, 3}, 40), "\xff\n: ", int64(-1<<62), int64(1<<62))
	f.Fuzz(func(t *testing.T, b []byte, text string, begin, end int64) {
		w := trace.NewWriter(1, 0, false, text)
		threads := []*trace.ThreadWriter{w.Thread(1), w.Thread(2)}
		text = text[:min(len(text), 1000)]
		for i := 0; i+6 <= len(b) && i < 600; i += 6 {
			th, wide := threads[b[i+1]%2], uint64(b[i+2])<<uint(b[i+3]%64)
			if b[i] == 0 {
				th.Call(trace.Call{Library: "libcuda.so.1", Name: text, Begin: begin, End: end, Words: []uint64{wide, uint64(b[i+4])}})
				continue
			}
			th.Event(trace.Event{Type: trace.EventType(b[i] % 17), Call: uint64(b[i+4]), Begin: begin + int64(i), End: end, Device: int(b[i+5] % 3), Stream: wide, Values: [4]uint64{wide, uint64(b[i+4]), uint64(b[i+5] % 4), wide}, Text: text})
		}
		dir := t.TempDir()
		if err := w.Save(dir); err != nil {
			t.Fatal(err)
		}
		tr, err := trace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		tl, err := Build(tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tl.HTML(io.Discard); err != nil {
			t.Error(err)
		}
		var out bytes.Buffer
		if err := tl.Perfetto(&out); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%v: %s", err, out.Bytes())
		}
	})
}
