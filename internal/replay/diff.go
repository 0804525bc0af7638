package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/dump"
)

// Difference is a place where memory is not as the dump has it.
type Difference struct {
	Region     int
	Offset     uint64
	Want, Got  []byte // 8 bytes, or fewer at the end of a region
	Words      int    // of 32 bits that differ in the region
	Type       *dump.Type
	Ulps       float64
	Param      string // through which the region is reached, or the variable
	Store      *interp.Store
	StoreText  string // the line
	Difference int    // which of the region's it is
}

// perRegion is how many differences of a region are looked at, all how many regions.
const (
	perRegion  = 2
	allRegions = 8
)

// Compare finds where memory differs from what the dump has after the launch by more than the tolerance. words counts those of 32 bits.
func Compare(f *dump.File, got [][]byte, tol dump.Tolerance) (list []Difference, words int) {
	return compare(f, f.After, got, tol)
}

func compare(f *dump.File, want, got [][]byte, tol dump.Tolerance) (list []Difference, words int) {
	regions := 0
	for i := range f.Regions {
		w, g := want[i], got[i]
		if bytes.Equal(w, g) {
			continue
		}
		first, found := len(list), 0
		for off := 0; off < len(w); off += 8 {
			end := min(off+8, len(w))
			a, b := w[off:end], g[off:end]
			if bytes.Equal(a, b) || tol.Within(a, b) {
				continue
			}
			for k := 0; k < len(a); k += 4 {
				if e := min(k+4, len(a)); !bytes.Equal(a[k:e], b[k:e]) {
					found++
				}
			}
			if len(list)-first < perRegion && regions < allRegions {
				list = append(list, Difference{Region: i, Offset: uint64(off), Want: a, Got: b, Difference: len(list) - first, Param: ParamOf(f, i)})
			}
		}
		for k := first; k < len(list); k++ {
			list[k].Words = found
		}
		if found > 0 {
			regions++
		}
		words += found
	}
	return list, words
}

// Explain finds which instructions store to the places, in a run on the interpreter, and what type is there.
func Explain(f *dump.File, list []Difference, opts Options, limit time.Duration) error {
	if len(list) == 0 {
		return nil
	}
	opts.Backend, opts.interp = "interp", interp.With{}
	r, err := Open(f, opts)
	if err != nil {
		return err
	}
	defer r.Close()
	l, err := r.load(f)
	if err != nil {
		return err
	}
	defer l.close()
	args := f.Arguments()
	args.Params = l.translated(dump.Params, args.Params)
	if err := errors.Join(l.restore(), l.k.Prepare(args.Block)); err != nil {
		return err
	}
	var addrs []uint64
	for i := range list {
		addrs = append(addrs, l.base[list[i].Region]+list[i].Offset+list[i].first())
	}
	w := interp.NewWatch(1, addrs...)
	err = interp.RunWith(l.k, args, interp.With{Limit: limit, Watch: w})
	lines := strings.Split(f.PTX, "\n")
	for i := range list {
		d := &list[i]
		if s, ok := w.Last(addrs[i]); ok {
			d.Store = &s
			if s.Line > 0 && s.Line <= len(lines) {
				d.StoreText = dump.Plain(strings.TrimSpace(lines[s.Line-1]))
			}
		}
		d.guess(f.PTX)
	}
	var fault *backend.Fault
	if errors.As(err, &fault) {
		return nil
	}
	return err
}

// first is the first byte that differs.
func (d *Difference) first() uint64 {
	for i := range d.Want {
		if d.Want[i] != d.Got[i] {
			return uint64(i)
		}
	}
	return 0
}

var storeType = regexp.MustCompile(`\.(f64|f32|bf16x2|f16x2|bf16|f16|[subf](?:8|16|32|64|128))\s`)

// guess finds the type: what the storing instruction says; where that is only a size, floats if the kernel computes with them and
// both values look like such.
func (d *Difference) guess(ptx string) {
	m := storeType.FindStringSubmatch(d.StoreText)
	name := "b32"
	if m != nil {
		name = strings.TrimSuffix(m[1], "x2")
	}
	set := func(names ...string) {
		for _, n := range names {
			t := dump.TypeOf(n)
			if t == nil || t.Size > len(d.Want) {
				continue
			}
			at := 0
			for at+2*t.Size <= len(d.Want) && bytes.Equal(d.Want[at:at+t.Size], d.Got[at:at+t.Size]) {
				at += t.Size
			}
			if bytes.Equal(d.Want[at:at+t.Size], d.Got[at:at+t.Size]) { // what differs is behind the last whole one
				continue
			}
			if t.Float && (len(names) > 1) && !(plausible(t, d.Want[at:]) && plausible(t, d.Got[at:]) && strings.Contains(ptx, "."+n)) {
				continue
			}
			d.Offset += uint64(at)
			d.Want, d.Got = d.Want[at:at+t.Size], d.Got[at:at+t.Size]
			d.Type, d.Ulps = t, t.Ulps(d.Want, d.Got)
			return
		}
	}
	switch name {
	case "b8":
		set("u8")
	case "b16":
		set("f16", "bf16", "u16")
	case "b32":
		set("f32", "f16", "u32", "u8")
	case "b64", "b128":
		set("f64", "f32", "u64", "u32", "u8")
	default:
		set(name)
	}
}

// plausible reports a value that a program might compute with.
func plausible(t *dump.Type, b []byte) bool {
	v := math.Abs(t.Value(b[:t.Size]))
	return v == 0 || math.IsNaN(v) || math.IsInf(v, 0) || v > 1e-18 && v < 1e18
}

// String is one line.
func (d *Difference) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s+%#x: ", d.Param, d.Offset)
	if d.Type != nil {
		fmt.Fprintf(&s, "%s %s, expected %s", d.Type.Name, show(d.Type, d.Got), show(d.Type, d.Want))
		unit := "apart"
		if d.Type.Float {
			unit = "ulp apart"
		}
		fmt.Fprintf(&s, ", %s %s", strconv.FormatFloat(d.Ulps, 'f', -1, 64), unit)
	} else {
		fmt.Fprintf(&s, "%x, expected %x", d.Got, d.Want)
	}
	if d.Store != nil {
		fmt.Fprintf(&s, "; stored by PTX line %d, `%s`, thread %v of block %v", d.Store.Line, d.StoreText, d.Store.Thread, d.Store.Block)
	} else {
		s.WriteString("; nothing stores there on the interpreter")
	}
	return s.String()
}

func show(t *dump.Type, b []byte) string {
	v := t.Value(b)
	raw := make([]byte, 8)
	copy(raw, b)
	if t.Float {
		return fmt.Sprintf("%.9g (0x%0*x)", v, 2*t.Size, binary.LittleEndian.Uint64(raw))
	}
	if t.Size == 8 {
		return fmt.Sprintf("%d (%#x)", binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint64(raw))
	}
	return fmt.Sprintf("%d (%#x)", int64(v), binary.LittleEndian.Uint64(raw))
}

// ParamOf says through which parameter a region is reached, or which variable it is.
func ParamOf(f *dump.File, region int) string {
	r := &f.Regions[region]
	if r.Var != "" {
		return "variable " + r.Var
	}
	name := ""
	dump.NewFinder(f.Regions, nil).Words(dump.Params, f.Values, func(w dump.Word) {
		if name != "" || w.To != region {
			return
		}
		for i, p := range f.Params {
			if uint64(p.Offset) <= w.Offset && w.Offset < uint64(p.Offset+p.Size) {
				name = fmt.Sprintf("parameter %d (%s)", i, p.Name)
				if off := binary.LittleEndian.Uint64(f.Values[w.Offset:]) - r.Base; off != 0 {
					name += fmt.Sprintf(", %#x into its memory", off)
				}
			}
		}
	})
	if name == "" {
		return fmt.Sprintf("memory at %#x", r.Base)
	}
	return name
}

// At is the difference at an address of the dump's, with what the device and the reference left there.
func At(f *dump.File, addr uint64, device, reference []byte) (Difference, bool) {
	for i := range f.Regions {
		r := &f.Regions[i]
		if off := addr - r.Base; off < r.Size && uint64(len(device)) <= r.Size-off && len(device) == len(reference) {
			return Difference{Region: i, Offset: off, Want: reference, Got: device, Param: ParamOf(f, i)}, true
		}
	}
	return Difference{}, false
}
