package main

import (
	"cmp"
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
.head { font-weight: 600; }
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

// chart draws the rows of both groups, the fastest of each first.
func chart(rows []row) string {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Kudzu <= 0 || r.native() <= 0 })
	c := newCanvas(rows)
	lines := len(rows)
	for _, group := range []string{coreGroup, programGroup} {
		if len(inGroup(rows, group)) > 0 {
			lines++
		}
	}
	bottom := chartTop + chartRow*lines
	height := bottom + 34
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="Kudzu against native code, row by row">`+"\n", chartWidth, height, chartWidth, height)
	c.WriteString(chartStyle)
	s := scoreOf(rows)
	c.WriteString(`<text class="title" x="16" y="26">Speed of CUDA kernels on Kudzu against native C</text>` + "\n")
	c.WriteString(`<text class="soft" x="16" y="46">time of the best native code / time of Kudzu; right of 1 is faster than native` + "</text>\n")
	chartLegend(&c.Builder, s.poclRows > 0)
	for l := c.lo; l <= c.hi; l++ {
		class := "grid"
		if l == 0 {
			class = "one"
		}
		px := c.x(math.Exp2(l))
		fmt.Fprintf(c, `<line class="%s" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", class, px, chartTop-4, px, bottom+4)
		fmt.Fprintf(c, `<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", px, bottom+20, tick(l))
	}
	y := chartTop
	for _, group := range []string{coreGroup, programGroup} {
		y = c.group(group, inGroup(rows, group), y)
	}
	c.WriteString("</svg>\n")
	return c.String()
}

// canvas is a chart being drawn; its axis goes from 2^lo to 2^hi.
type canvas struct {
	strings.Builder
	lo, hi float64
}

func newCanvas(rows []row) *canvas {
	c := &canvas{lo: -2, hi: 2}
	for i := range rows {
		for _, v := range []float64{rows[i].ratio(), rows[i].pocl()} {
			if v > 0 {
				c.lo, c.hi = min(c.lo, math.Floor(math.Log2(v))), max(c.hi, math.Ceil(math.Log2(v)))
			}
		}
	}
	c.lo, c.hi = max(c.lo, -5), min(c.hi, 7)
	return c
}

func (c *canvas) x(ratio float64) float64 {
	l := min(max(math.Log2(ratio), c.lo), c.hi)
	return chartLeft + (l-c.lo)/(c.hi-c.lo)*(chartWidth-chartLeft-chartRight)
}

// group draws a heading and the rows of a group from y on, and returns where it ended.
func (c *canvas) group(name string, rows []row, y int) int {
	if len(rows) == 0 {
		return y
	}
	s := scoreOf(rows)
	fmt.Fprintf(c, `<text class="head" x="16" y="%d">%s: median %.2f, capped geomean %.2f</text>`+"\n", y+14, name, s.median, s.capped)
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.ratio(), a.ratio()) })
	for i := range rows {
		y += chartRow
		c.bar(&rows[i], y)
	}
	return y + chartRow
}

func (c *canvas) bar(r *row, y int) {
	x0, x1 := min(c.x(1), c.x(r.ratio())), max(c.x(1), c.x(r.ratio()))
	fmt.Fprintf(c, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", chartLeft-10, y+14, r.Name)
	fmt.Fprintf(c, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="2"><title>%s: %.2f of native</title></rect>`+"\n", shade(r.ratio()), x0, y+4, max(x1-x0, 1.5), chartRow-7, r.Name, r.ratio())
	at, anchor := x1+6, "start"
	if r.ratio() < 1 {
		at, anchor = x0-6, "end"
	}
	fmt.Fprintf(c, `<text class="value" x="%.1f" y="%d" text-anchor="%s">%.2f</text>`+"\n", at, y+14, anchor, r.ratio())
	if r.PoCL > 0 {
		fmt.Fprintf(c, `<circle class="pocl" cx="%.1f" cy="%.1f" r="4"><title>%s: %.2f of PoCL</title></circle>`+"\n", c.x(r.pocl()), float64(y)+10.5, r.Name, r.pocl())
	}
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
