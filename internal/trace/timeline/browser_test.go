package timeline

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	program = flag.String("browser", "", "Chromium for TestBrowser, such as chromium")
	shots   = flag.String("shots", "", "folder in which TestBrowser leaves pictures of the page")
	pageOf  = flag.String("page", "", "a page for TestBrowser to take pictures of, instead of its own")
)

const drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

// TestBrowser uses a page of 200,000 spans as a person would: wheel, keys, clicks, search, selection. The limits are far above what
// was measured (docs/tools.md), and far below what would make the page unusable.
func TestBrowser(t *testing.T) {
	if *program == "" {
		t.Skip("no -browser chromium: the page is not opened in a browser")
	}
	b := startBrowser(t, *program, 1360, 800)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "light"}}}, nil)
	if *pageOf != "" {
		picture(t, b, *pageOf)
		return
	}
	tl := synthetic(200_000)
	file := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := tl.HTML(f); err != nil {
		t.Fatal(err)
	}
	at, _ := f.Seek(0, 1)
	f.Close()
	t.Logf("%d spans and points, page of %.1f MiB", tl.Len(), float64(at)/(1<<20))
	b.open(file)
	b.eval(drawn, nil)
	b.open(file) // again: the first time the browser itself was starting
	var shown float64
	b.eval(drawn+".then(() => kudzu.shown)", &shown)
	var first, full, script, decoded, firstTook float64
	var n int
	b.eval("kudzu.began", &script)
	b.eval("kudzu.decoded", &decoded)
	b.eval("kudzu.firstTook", &firstTook)
	b.eval("kudzu.data.n", &n)
	b.eval("kudzu.firstDraw", &first)
	b.eval("kudzu.draw(); kudzu.lastDraw", &full)
	t.Logf("%d spans: first drawing %.0f ms after the page was asked for (scripts began after %.0f ms, data were unpacked %.0f ms later, drawing took %.0f ms), in sight after %.0f ms, a drawing of everything takes %.1f ms", n, first, script, decoded, firstTook, shown, full)
	if first > 5_000 || full > 500 {
		t.Error("too slow to be used")
	}
	b.wheelAndKeys(t)
	b.searchAndSelect(t)
}

func (b *browser) spanShown() float64 {
	var v float64
	b.eval(drawn+".then(() => kudzu.view.t1 - kudzu.view.t0)", &v)
	return v
}

func (b *browser) wheelAndKeys(t *testing.T) {
	before := b.spanShown()
	worst := 0.0
	for range 12 {
		b.mouse("mouseWheel", 800, 400, map[string]any{"deltaX": 0, "deltaY": -240})
		var took float64
		b.eval(drawn+".then(() => kudzu.lastDraw)", &took)
		worst = max(worst, took)
	}
	after := b.spanShown()
	t.Logf("12 turns of the wheel: from %.1f ms to %.3f ms in sight, slowest drawing %.1f ms", before/1e6, after/1e6, worst)
	if after > before/100 || worst > 500 {
		t.Errorf("zooming from %v to %v, %v ms a drawing", before, after, worst)
	}
	b.key("s")
	if wider := b.spanShown(); wider <= after {
		t.Errorf("S shows %v after %v", wider, after)
	}
	var t0, t1 float64
	b.eval("kudzu.view.t0", &t0)
	b.key("d")
	b.eval(drawn+".then(() => kudzu.view.t0)", &t1)
	if t1 <= t0 {
		t.Errorf("D goes from %v to %v", t0, t1)
	}
	b.mouse("mousePressed", 900, 500, map[string]any{"button": "left", "clickCount": 1})
	b.mouse("mouseMoved", 1000, 500, map[string]any{"button": "left", "buttons": 1})
	b.mouse("mouseReleased", 1000, 500, map[string]any{"button": "left", "clickCount": 1})
	b.eval(drawn+".then(() => kudzu.view.t0)", &t0)
	if t0 >= t1 {
		t.Errorf("dragging goes from %v to %v", t1, t0)
	}
	b.key("0")
	if all := b.spanShown(); all < before {
		t.Errorf("0 shows %v of %v", all, before)
	}
}

func (b *browser) searchAndSelect(t *testing.T) {
	var took float64
	var count, selected int
	b.key("/")
	b.call("Input.insertText", map[string]any{"text": "softmax_f"}, nil)
	b.eval("(() => { const t = performance.now(); kudzu.look(); kudzu.draw(); return performance.now() - t })()", &took)
	b.eval("kudzu.found().length", &count)
	if count < 1000 {
		t.Errorf("%d found", count)
	}
	for range 3 {
		b.key("Enter")
	}
	b.eval("kudzu.selected()", &selected)
	var third, name string
	var is bool
	b.eval("kudzu.found()[2] === kudzu.selected()", &is)
	b.eval("document.getElementById('found').textContent", &third)
	b.eval("kudzu.data.names[kudzu.data.name[kudzu.selected()]]", &name)
	if !is || name != "softmax_forward" || third[:4] != "3 of" {
		t.Errorf("the third is %d, %s: %s", selected, name, third)
	}
	t.Logf("search: %d of softmax_f found and drawn in %.1f ms", count, took)
	b.eval("document.getElementById('canvas').focus()", nil)
	b.key("f") // and a click on the canvas selects what is there
	b.eval(drawn, nil)
	var xy []float64
	b.eval("(() => { const i = kudzu.selected(), d = kudzu.data, box = document.getElementById('canvas').getBoundingClientRect(); const a = [box.left + kudzu.X(d.start[i] + d.dur[i] / 2), box.top + kudzu.place(i)]; kudzu.select(-1); return a })()", &xy)
	b.mouse("mouseMoved", xy[0], xy[1], nil)
	b.mouse("mousePressed", xy[0], xy[1], map[string]any{"button": "left", "clickCount": 1})
	b.mouse("mouseReleased", xy[0], xy[1], map[string]any{"button": "left", "clickCount": 1})
	var clicked int
	var text, tip string
	b.eval(drawn+".then(() => kudzu.selected())", &clicked)
	b.eval("document.getElementById('details').textContent", &text)
	b.eval("document.getElementById('tip').textContent", &tip)
	if clicked != selected || !contains(text, "enqueue", "← cudaLaunchKernel") || !contains(tip, "softmax_forward", "enqueue") {
		t.Errorf("a click at %v selects %d, not %d: %s; %s", xy, clicked, selected, text, tip)
	}
	if *shots != "" {
		b.screenshot(filepath.Join(*shots, "click.png"))
	}
	b.key("Escape")
	b.key("0")
	// The ruler is below the overview.
	var top float64
	b.eval("document.getElementById('canvas').getBoundingClientRect().top", &top)
	b.mouse("mousePressed", 500, top+48, map[string]any{"button": "left", "clickCount": 1})
	b.mouse("mouseMoved", 900, top+48, map[string]any{"button": "left", "buttons": 1})
	b.mouse("mouseReleased", 900, top+48, map[string]any{"button": "left", "clickCount": 1})
	b.eval("(() => { const s = kudzu.span(), t = performance.now(); kudzu.choose(s.a, s.b); return performance.now() - t })()", &took)
	var rows, spans int
	b.eval("document.querySelectorAll('#statistics tbody tr').length", &rows)
	b.eval("kudzu.statistics().count", &spans)
	t.Logf("statistics of a selection with %d spans in %.1f ms, %d names", spans, took, rows)
	if rows < 8 || spans < 10_000 || took > 1000 {
		t.Errorf("a selection has %d rows of %d spans, %v ms", rows, spans, took)
	}
	var open, closed int
	b.eval("kudzu.data.rows.filter(r => r.open).length", &open)
	b.mouse("mousePressed", 60, top+100, map[string]any{"button": "left", "clickCount": 1})
	b.mouse("mouseReleased", 60, top+100, map[string]any{"button": "left", "clickCount": 1})
	b.eval("kudzu.data.rows.filter(r => r.open).length", &closed)
	if closed != open-1 {
		t.Errorf("a click on a label: %d rows open, then %d", open, closed)
	}
	if *shots != "" {
		b.screenshot(filepath.Join(*shots, "selection.png"))
		b.key("t")
		b.eval(drawn, nil)
		b.screenshot(filepath.Join(*shots, "dark.png"))
	}
}

func contains(s string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// picture leaves a page's first sight, and one with its longest kernel selected, below -shots.
func picture(t *testing.T, b *browser, page string) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1360, "height": 650, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.open(page)
	b.eval("document.getElementById('panel').style.height = '160px'", nil)
	b.eval(drawn, nil)
	b.screenshot(filepath.Join(*shots, "all.png"))
	b.eval(`(() => { const d = kudzu.data; let best = -1; for (let i = 0; i < d.n; i++) if (d.kinds[d.kind[i]] === "kernel" && d.cause[i] && (best < 0 || d.dur[i] > d.dur[best])) best = i;
		if (best >= 0) kudzu.select(best, true); })()`, nil)
	b.eval(drawn, nil)
	b.screenshot(filepath.Join(*shots, "kernel.png"))
	var n int
	var first float64
	b.eval("kudzu.data.n", &n)
	b.eval("kudzu.firstDraw", &first)
	t.Logf("%s: %d spans, first drawing after %.0f ms", filepath.Base(page), n, first)
}
