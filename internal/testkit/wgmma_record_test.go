package testkit

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/softfloat"
	"kudzu/internal/testkit/compiled"
)

var groupDir = flag.String("wgmma", "", "write case files of wgmma below this folder, for TestRecord to run with -cases on a card")

// TestWriteWarpgroup writes what a card must be asked about wgmma: the products of small integers that TestWarpgroup makes, which say where
// elements lie, and random bits, which say how they are added up.
func TestWriteWarpgroup(t *testing.T) {
	if *groupDir == "" {
		t.Skip("no folder was named with -wgmma: cases are written for a machine that has a card")
	}
	for i, f := range groupForms(false) {
		writeGroupCase(t, "layout", fmt.Sprintf("%03d", i), f, []*Run{f.prepare(uint64(i))})
		writeGroupCase(t, "sums", fmt.Sprintf("%03d", i), f, f.sums(i))
	}
}

// sums are four products of random bits. The form is made as small as there is one.
func (f *groupForm) sums(seed int) []*Run {
	f.n, f.modeA, f.modeB, f.shift, f.drop = 8, 0, 0, 0, false
	var runs []*Run
	for kind := range 4 {
		r := f.prepare(uint64(1000 + seed))
		delete(r.Want, 0)
		for _, arg := range []int{1, 3, 4} {
			randomBits(rand.New(rand.NewPCG(uint64(seed), uint64(kind*8+arg))), r.Args[arg].Values, f.typeOf(arg), kind)
		}
		runs = append(runs, r)
	}
	return runs
}

// typeOf is the type of what a buffer of the kernel holds: c, or elements of a and b.
func (f *groupForm) typeOf(arg int) string {
	if arg == 3 {
		return f.d
	}
	return f.a
}

// groupFormats are the bits of the types that are numbers with a point.
var groupFormats = map[string]struct{ width, exp, man, bias int }{
	"f16": {16, 5, 10, 15}, "bf16": {16, 8, 7, 127}, "tf32": {32, 8, 23, 127}, "f32": {32, 8, 23, 127}, "e4m3": {8, 4, 3, 7}, "e5m2": {8, 5, 2, 15},
}

// randomBits fills words with elements: near 1, with exponents far apart, subnormal and small, or any bits.
func randomBits(rng *rand.Rand, words []uint64, elem string, kind int) {
	l, ok := groupFormats[elem]
	for i := range words {
		words[i] = uint64(rng.Uint32())
		if !ok || kind == 3 {
			continue
		}
		words[i] = 0
		for at := 0; at < 32; at += l.width {
			e := l.bias - 1 + rng.IntN(3)
			switch kind {
			case 1:
				e = max(0, l.bias-12) + rng.IntN(min(24, 2*l.bias-1))
			case 2:
				e = rng.IntN(4)
			}
			v := uint64(rng.IntN(2)<<(l.width-1)) | uint64(e)<<l.man | uint64(rng.IntN(1<<l.man))
			words[i] |= v << at
		}
	}
}

// groupRecord is what an H200 gave for the sums: a line with the form, then one of each run's results, eight digits a word. The products of
// small integers that TestWarpgroup has were those that are written there.
const groupRecord = "../../testdata/isa/wgmma.gz"

// recordedSums reads it.
func recordedSums(t *testing.T) map[string][][]uint64 {
	t.Helper()
	f, err := os.Open(groupRecord)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	record := map[string][][]uint64{}
	form := ""
	for in := bufio.NewScanner(z); in.Scan(); {
		line := in.Text()
		if name, ok := strings.CutPrefix(line, "wgmma "); ok {
			form = name
			continue
		}
		words := make([]uint64, len(line)/8)
		for i := range words {
			if words[i], err = strconv.ParseUint(line[8*i:8*i+8], 16, 32); err != nil {
				t.Fatal(err)
			}
		}
		record[form] = append(record[form], words)
	}
	return record
}

// TestWarpgroupRecord: the interpreter adds up as the card did, bit for bit. Compiled code is exact with integers, and elsewhere as near as the
// card's own cutting off allows.
func TestWarpgroupRecord(t *testing.T) {
	record := recordedSums(t)
	oracle := openFirst(t, interp.New(interp.Config{}))
	t.Run("interp", func(t *testing.T) { compareSums(t, record, oracle, nil) })
	t.Run("cpu", func(t *testing.T) { compareSums(t, record, openFirst(t, devices.CPU(compiled.Config(t))), oracle) })
	t.Run("baseline", func(t *testing.T) {
		compiled.Baseline(t)
		compareSums(t, record, openFirst(t, devices.CPU(compiled.Config(t))), oracle)
	})
}

func openFirst(t *testing.T, b backend.Backend) backend.Device {
	t.Helper()
	devs, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	return devs[0]
}

// compareSums runs the recorded sums on a device. Without an oracle results must be the same; with one, it says what the magnitudes add up to,
// and so how far apart two orders of additions may be.
func compareSums(t *testing.T, record map[string][][]uint64, d, oracle backend.Device) {
	for i, f := range groupForms(false) {
		if oracle != nil && i%5 != 0 && os.Getenv("KUDZU_FULL") == "" { // each is compiled
			continue
		}
		runs := f.sums(i)
		want := record[fmt.Sprintf("%d %s", i, f)]
		if len(want) != len(runs) {
			t.Fatalf("%s: %d results in the record", f, len(want))
		}
		got := f.execute(t, d, runs)
		var most []*Outcome
		if oracle != nil && f.d != "s32" {
			most = f.magnitudes(t, oracle, runs)
		}
		for n := range runs {
			for at, w := range want[n] {
				g := got[n].Results[0][at]
				if g == w || most != nil && f.near(g, w, most[n].Results[0][at]) {
					continue
				}
				t.Errorf("%s, run %d: word %d is %#x, recorded %#x", f, n, at, g, w)
				break
			}
		}
	}
}

func (f *groupForm) execute(t *testing.T, d backend.Device, runs []*Run) []*Outcome {
	t.Helper()
	c := &Case{PTX: groupHeader + f.kernel("k"), Runs: runs}
	out, err := c.Execute(d, func(ptx string) (*backend.Module, error) { return driver.Describe("wgmma", ptx, 90) })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// magnitudes are the sums of the same numbers without their signs.
func (f *groupForm) magnitudes(t *testing.T, d backend.Device, runs []*Run) []*Outcome {
	t.Helper()
	g := *f
	g.scaleA, g.scaleB = 1, 1
	var plain []*Run
	for _, r := range runs {
		p := *r
		p.Args = slices.Clone(r.Args)
		for _, arg := range []int{1, 3, 4} {
			p.Args[arg].Values = slices.Clone(r.Args[arg].Values)
			signs := map[int]uint64{8: 0x80808080, 16: 0x80008000, 32: 0x80000000}[groupFormats[f.typeOf(arg)].width]
			for i := range p.Args[arg].Values {
				p.Args[arg].Values[i] &^= signs
			}
		}
		plain = append(plain, &p)
	}
	return g.execute(t, d, plain)
}

// near reports whether two words of results are as near as orders of additions make them. Where the magnitudes overflow, so may any of the
// sums on the way.
func (f *groupForm) near(got, want, most uint64) bool {
	format, width := softfloat.F32, 32
	if f.d == "f16" {
		format, width = softfloat.F16, 16
	}
	unit := 0x1p-20
	if groupFormats[f.a].width == 8 {
		unit = 0x1p-11 // cut off 13 bits below the largest, three times: addends, c, the sum
	}
	value := func(v uint64, at int) float64 {
		return math.Float64frombits(format.Convert(softfloat.F64, v>>at&(1<<width-1), softfloat.Env{}))
	}
	for at := 0; at < 32; at += width {
		g, w, m := value(got, at), value(want, at), value(most, at)
		within := unit * m
		if f.d == "f16" {
			within = max(within, math.Abs(w)*0x1p-10, 0x1p-24)
		}
		same := g == w || math.IsNaN(g) && math.IsNaN(w)
		if !same && !math.IsInf(m, 0) && !(math.Abs(g-w) <= within) {
			return false
		}
	}
	return true
}

func writeGroupCase(t *testing.T, folder, name string, f *groupForm, runs []*Run) {
	var b strings.Builder
	fmt.Fprintf(&b, "wgmma %s\n-- kernel.ptx --\n%s%s-- run --\n", f, groupHeader, f.kernel("k"))
	list := func(v []uint64) string {
		s := make([]string, len(v))
		for i, x := range v {
			s[i] = fmt.Sprintf("%#x", x)
		}
		return strings.Join(s, " ")
	}
	for _, r := range runs {
		var args []string
		for _, a := range r.Args {
			switch {
			case a.Result >= 0:
				args = append(args, fmt.Sprintf("o[%d]%s", len(a.Values), a.Type))
			case a.Buffer:
				args = append(args, fmt.Sprintf("{%s}%s", list(a.Values), a.Type))
			default:
				args = append(args, fmt.Sprintf("%#x:%s", a.Values[0], a.Type))
			}
		}
		fmt.Fprintf(&b, "k<<<1,128,%d>>>(%s)\n", r.Shared, strings.Join(args, ", "))
		if want, ok := r.Want[0]; ok {
			fmt.Fprintf(&b, "  o0 == %s\n", list(want))
		}
	}
	path := filepath.Join(*groupDir, folder, name+".txtar")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
