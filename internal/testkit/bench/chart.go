package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The chart: a bar for each row on a logarithmic axis that begins at 1 (as fast as native), to the right when Kudzu is
// faster; a dot is the same ratio against PoCL. Colours change with the reader's light or dark page.
const (
	chartLeft, chartRight = 168, 60
	chartWidth            = 900
	chartTop, chartRow    = 92, 20
)

const chartStyle = `<style>
text { font: 12px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.soft, .tick { fill: #59636e; }
.tick { font-size: 11px; }
.value { font-size: 11px; font-variant-numeric: tabular-nums; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
.one { stroke: #59636e; stroke-width: 1.5; }
.fast { fill: #2da44e; } .fair { fill: #8fbf3f; } .slow { fill: #d4a72c; } .bad { fill: #cf4b3f; }
.pocl { fill: none; stroke: #8250df; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .soft, .tick { fill: #9198a1; } .grid { stroke: #3d444d; } .one { stroke: #9198a1; }
  .fast { fill: #3fb950; } .fair { fill: #9acb4a; } .slow { fill: #d9b13b; } .bad { fill: #f0665b; } .pocl { stroke: #ab7df8; }
}
</style>
`

// chart draws the rows, the fastest first.
func chart(rows []row) string {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Kudzu <= 0 || r.native() <= 0 })
	slices.SortFunc(rows, func(a, b row) int {
		if a.ratio() > b.ratio() {
			return -1
		}
		return 1
	})
	lo, hi := -2.0, 2.0 // powers of two
	for i := range rows {
		for _, v := range []float64{rows[i].ratio(), rows[i].pocl()} {
			if v > 0 {
				lo, hi = min(lo, math.Floor(math.Log2(v))), max(hi, math.Ceil(math.Log2(v)))
			}
		}
	}
	lo, hi = max(lo, -5), min(hi, 7)
	x := func(ratio float64) float64 {
		l := min(max(math.Log2(ratio), lo), hi)
		return chartLeft + (l-lo)/(hi-lo)*(chartWidth-chartLeft-chartRight)
	}
	height := chartTop + chartRow*len(rows) + 34
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="Kudzu against native code, row by row">`+"\n", chartWidth, height, chartWidth, height)
	b.WriteString(chartStyle)
	s := scoreOf(rows)
	fmt.Fprintf(&b, `<text class="title" x="16" y="26">Speed of CUDA kernels on Kudzu against native C</text>`+"\n")
	fmt.Fprintf(&b, `<text class="soft" x="16" y="46">time of the best native code / time of Kudzu; right of 1 is faster than native. Geomean %.2f of native`, s.native)
	if s.poclRows > 0 {
		fmt.Fprintf(&b, `, %.1f of PoCL`, s.pocl)
	}
	b.WriteString("</text>\n")
	chartLegend(&b, s.poclRows > 0)
	bottom := chartTop + chartRow*len(rows)
	for l := lo; l <= hi; l++ {
		class := "grid"
		if l == 0 {
			class = "one"
		}
		px := x(math.Exp2(l))
		fmt.Fprintf(&b, `<line class="%s" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", class, px, chartTop-4, px, bottom+4)
		fmt.Fprintf(&b, `<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", px, bottom+20, tick(l))
	}
	for i := range rows {
		r := &rows[i]
		y := chartTop + chartRow*i
		x0, x1 := min(x(1), x(r.ratio())), max(x(1), x(r.ratio()))
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", chartLeft-10, y+14, r.Name)
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"><title>%s: %.2f of native</title></rect>`+"\n", shade(r.ratio()), x0, y+4, max(x1-x0, 1.5), chartRow-7, r.Name, r.ratio())
		at, anchor := x1+6, "start"
		if r.ratio() < 1 {
			at, anchor = x0-6, "end"
		}
		fmt.Fprintf(&b, `<text class="value" x="%.1f" y="%d" text-anchor="%s">%.2f</text>`+"\n", at, y+14, anchor, r.ratio())
		if r.PoCL > 0 {
			fmt.Fprintf(&b, `<circle class="pocl" cx="%.1f" cy="%.1f" r="4"><title>%s: %.2f of PoCL</title></circle>`+"\n", x(r.pocl()), float64(y)+10.5, r.Name, r.pocl())
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func chartLegend(b *strings.Builder, pocl bool) {
	at := 16
	for _, k := range []struct{ class, text string }{{"fast", "1 or more"}, {"fair", "0.7 to 1"}, {"slow", "0.5 to 0.7"}, {"bad", "under 0.5"}} {
		fmt.Fprintf(b, `<rect class="%s" x="%d" y="58" width="12" height="12" rx="2"/><text class="soft" x="%d" y="68">%s</text>`+"\n", k.class, at, at+18, k.text)
		at += 100
	}
	if pocl {
		fmt.Fprintf(b, `<circle class="pocl" cx="%d" cy="64" r="4"/><text class="soft" x="%d" y="68">against PoCL</text>`+"\n", at+6, at+18)
	}
}

func shade(ratio float64) string {
	switch {
	case ratio >= 1:
		return "fast"
	case ratio >= 0.7:
		return "fair"
	case ratio >= 0.5:
		return "slow"
	}
	return "bad"
}

// tick writes a power of two as people read it: 1/4, 1/2, 1, 2, 4.
func tick(l float64) string {
	if l < 0 {
		return fmt.Sprintf("1/%.0f", math.Exp2(-l))
	}
	return fmt.Sprintf("%.0f", math.Exp2(l))
}
