package testkit

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var groupDir = flag.String("wgmma", "", "write case files of wgmma below this folder, for TestRecord to run with -cases on a card")

// TestWriteWarpgroup writes what a card must be asked about wgmma: the products of small integers that TestWarpgroup makes, which say where
// elements lie, and random bits, which say how they are added up.
func TestWriteWarpgroup(t *testing.T) {
	if *groupDir == "" {
		t.Skip("no folder was named with -wgmma: cases are written for a machine that has a card")
	}
	for i, f := range groupForms(false) {
		r := f.prepare(uint64(i))
		writeGroupCase(t, "layout", fmt.Sprintf("%03d", i), f, []*Run{r})
		f.n, f.modeA, f.modeB, f.shift, f.drop = 8, 0, 0, 0, false
		var runs []*Run
		for kind := range 4 {
			r := f.prepare(uint64(1000 + i))
			delete(r.Want, 0)
			for _, arg := range []int{1, 3, 4} {
				elem := f.a
				if arg == 3 {
					elem = f.d
				}
				randomBits(rand.New(rand.NewPCG(uint64(i), uint64(kind*8+arg))), r.Args[arg].Values, elem, kind)
			}
			runs = append(runs, r)
		}
		writeGroupCase(t, "sums", fmt.Sprintf("%03d", i), f, runs)
	}
}

// randomBits fills words with elements: near 1, with exponents far apart, subnormal and small, or any bits.
func randomBits(rng *rand.Rand, words []uint64, elem string, kind int) {
	type layout struct{ width, exp, man, bias int }
	l, ok := map[string]layout{"f16": {16, 5, 10, 15}, "bf16": {16, 8, 7, 127}, "tf32": {32, 8, 23, 127}, "f32": {32, 8, 23, 127}, "e4m3": {8, 4, 3, 7}, "e5m2": {8, 5, 2, 15}}[elem]
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
