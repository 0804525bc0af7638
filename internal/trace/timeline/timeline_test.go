package timeline

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLanes(t *testing.T) {
	spans := []Span{{Start: 0, Dur: 100}, {Start: 10, Dur: 20}, {Start: 12, Dur: 5}, {Start: 40, Dur: 80}, {Start: 50, Dur: 5}, {Start: 105, Dur: 3}, {Start: 120, Dur: 0}, {Start: 120, Dur: 0}}
	got, used := lanes(spans)
	want := []uint8{0, 1, 2, 1, 2, 0, 0, 1} // the fourth outlives the first, whose lane is free for the sixth
	if !bytes.Equal(got, want) || used != 3 {
		t.Errorf("lanes %v of %d, want %v of 3", got, used, want)
	}
	frames := make([]Span, 2000) // three at a time, none in another
	for i := range frames {
		frames[i] = Span{Start: int64(10 * i), Dur: 25}
	}
	lane, used := lanes(frames)
	ends := map[uint8]int64{}
	for i, s := range frames {
		if s.Start < ends[lane[i]] {
			t.Fatalf("span %d overlaps another of lane %d", i, lane[i])
		}
		ends[lane[i]] = s.Start + s.Dur
	}
	if used != 3 {
		t.Errorf("%d lanes for three frames at a time", used)
	}
	deep := make([]Span, 1000)
	for i := range deep {
		deep[i] = Span{Start: int64(i), Dur: int64(5000 - 2*i)}
	}
	if _, used := lanes(deep); used > 256 {
		t.Errorf("%d lanes", used)
	}
}

// TestOrder: rows come unsorted and with clocks that disagree; the first thing that happened is at 0.
func TestOrder(t *testing.T) {
	tl := &Timeline{Rows: []Row{{Spans: []Span{{Start: 500, Dur: -3}, {Start: 200, Dur: 10}, {Start: 200, Dur: 50}}}, {Points: []Point{{Time: 900, Value: 1}, {Time: 150, Value: 2}}}}}
	tl.finish()
	r := tl.Rows[0].Spans
	if r[0].Dur != 50 || r[0].Start != 50 || r[1].Dur != 10 || r[2].Start != 350 || r[2].Dur != 0 {
		t.Errorf("spans %+v", r)
	}
	if p := tl.Rows[1].Points; p[0] != (Point{0, 2}) || p[1] != (Point{750, 1}) {
		t.Errorf("points %+v", p)
	}
}

// TestPage: one file, nothing from the network, and no text of the program in it that a browser could run.
func TestPage(t *testing.T) {
	tl := synthetic(500)
	tl.Title = `</title><script>alert(1)</script>`
	tl.Rows[2].Spans[0].Name = `</script><img src=x onerror=alert(1)>` + "\xff"
	var out bytes.Buffer
	if err := tl.HTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, bad := range []string{"alert(1)</script>", "onerror=alert", "http://", "https://", "@@"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if regexp.MustCompile(`(?i)<(link|img|iframe)|\bsrc=|@import|url\(`).MatchString(page) {
		t.Error("the page names other files")
	}
	if n := strings.Count(page, "<script"); n != 3 {
		t.Errorf("%d scripts", n)
	}
}

func TestEmpty(t *testing.T) {
	var out bytes.Buffer
	if err := (&Timeline{Title: "nothing"}).HTML(&out); err != nil {
		t.Error(err)
	}
	out.Reset()
	if err := (&Timeline{}).Perfetto(&out); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("%v: %s", err, out.Bytes())
	}
}

func TestPerfetto(t *testing.T) {
	tl := synthetic(2000)
	tl.Rows[2].Spans[0].Name = "a\"b\n\xff"
	tl.Rows[8].Spans = append(tl.Rows[8].Spans, Span{Start: 1900000, Dur: 1700000, Kind: Compile, Name: "late"}) // overlaps two
	var out bytes.Buffer
	if err := tl.Perfetto(&out); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []struct {
			Ph, Name, Cat string
			Pid, Tid, ID  int
			Ts, Dur       float64
			Args          map[string]any
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	begun, ends := map[int]float64{}, map[int][]float64{}
	for _, e := range doc.TraceEvents {
		count[e.Ph]++
		if e.Pid != 4711 || e.Tid == 0 {
			t.Fatalf("%+v is of no thread", e)
		}
		switch e.Ph {
		case "X": // nested or apart, on each track
			track := ends[e.Tid]
			for len(track) > 0 && track[len(track)-1] <= e.Ts+1e-4 { // floats
				track = track[:len(track)-1]
			}
			if len(track) > 0 && e.Ts+e.Dur > track[len(track)-1]+1e-4 {
				t.Errorf("%s at %v overlaps what ends at %v", e.Name, e.Ts, track[len(track)-1])
			}
			ends[e.Tid] = append(track, e.Ts+e.Dur)
		case "s":
			begun[e.ID] = e.Ts
		case "f":
			if at, ok := begun[e.ID]; !ok || at > e.Ts {
				t.Fatalf("arrow %d ends at %v and begins at %v, %v", e.ID, e.Ts, at, ok)
			}
		}
	}
	spans, marks, work := 0, 0, 0
	for _, r := range tl.Rows {
		for _, s := range r.Spans {
			spans++
			if s.Kind == Mark {
				marks++
			}
			if s.Kind == Kernel || s.Kind == Copy {
				work++
			}
		}
	}
	if count["X"] != spans-marks || count["i"] != marks || count["s"] != work || count["f"] != work || count["C"] != len(tl.Rows[1].Points) || count["M"] == 0 {
		t.Errorf("%v of %d spans, %d marks, %d arrows", count, spans, marks, work)
	}
}

// TestLogic runs page/core.js on what encode wrote: drawing in few steps, searching, statistics.
func TestLogic(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: the page's JavaScript is not run")
	}
	tl := synthetic(20000)
	tl.Rows = append(tl.Rows, Row{Label: "overlapping", Level: 1, Shape: Queue, Device: true, PID: 4711, Spans: []Span{ // two at a time, a pause, inside another
		{Start: 1000000, Dur: 100, Kind: Fill}, {Start: 1000050, Dur: 100, Kind: Fill}, {Start: 1000120, Dur: 100, Kind: Fill},
		{Start: 1000300, Dur: 100, Kind: Fill}, {Start: 1000310, Dur: 10, Kind: Fill}}})
	tl.finish()
	raw, err := encode(tl)
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(data, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var want struct {
		N, Kernels, Launches int
		Time, Inside         int64
		First                []int64
		Overlap              int64 // time in which the row of that name is busy
	}
	const t0, t1 = 3e6, 9e6
	for _, r := range tl.Rows {
		for _, s := range r.Spans {
			want.N++
			if s.Kind == Kernel {
				want.Kernels++
				want.Time += s.Dur
				want.Inside += max(0, min(t1, s.Start+s.Dur)-max(t0, s.Start))
			}
			if s.Name == "cudaLaunchKernel" {
				want.Launches++
				want.First = append(want.First, s.Start)
			}
		}
	}
	want.First = want.First[:5]
	want.Overlap = 220 + 100
	js, _ := json.Marshal(want)
	view := filepath.Join(t.TempDir(), "view.js")
	if err := os.WriteFile(view, []byte(pageView()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, "--check", view).CombinedOutput(); err != nil {
		t.Errorf("the page's parts, joined: %v\n%s", err, out)
	}
	out, err := exec.Command(node, "testdata/logic.cjs", data, string(js)).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
