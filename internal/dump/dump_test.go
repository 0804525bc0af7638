package dump_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/dump"
	"kudzu/internal/quota"
)

const limit = 1 << 20

func sample() *dump.File {
	t := backend.Texture{Handle: 1<<20 | 1, Kind: backend.TextureObject, Dims: 2, Format: backend.FormatF32, Channels: 1, Levels: 1, MaxLevel: float32(math.Inf(1))}
	t.Base[0], t.Pitch[0], t.Slice[0], t.Width[0], t.Height[0] = 0x7000_0000_1000, 16, 64, 4, 4
	f := &dump.File{
		Launch: dump.Launch{
			Kernel: "k", Backend: "cpu", Device: "double", Capability: [2]int{9, 0}, Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{32, 1, 1}, Shared: 64,
			Params:  []backend.ParamDecl{{Name: "p", Size: 8, Align: 8}},
			Regions: []dump.Region{{Base: 0x7000_0000_1000, Size: 64}, {Base: 0x7000_0000_2000, Size: 8, Var: "v", Const: true}}, Textures: []backend.Texture{t}, Notes: []string{"note"},
		},
		PTX: ".version 8.0", Values: []byte{1, 2, 3, 4, 5, 6, 7, 8},
		Before: [][]byte{make([]byte, 64), {1, 2, 3, 4, 5, 6, 7, 8}},
	}
	f.After = [][]byte{bytes.Repeat([]byte{7}, 64), f.Before[1]}
	return f
}

func encoded(t testing.TB, f *dump.File) []byte {
	var b bytes.Buffer
	if err := f.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(b []byte) (*dump.File, error) {
	return dump.Read(bytes.NewReader(b), int64(len(b)), limit)
}

// What is written is read, and nothing else changes a file that is there.
func TestRoundTrip(t *testing.T) {
	f := sample()
	got, err := read(encoded(t, f))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, f) || got.Same(0) || !got.Same(1) || got.Bytes() != 72 || got.Threads() != 64 {
		t.Errorf("%+v", got)
	}
	path := filepath.Join(t.TempDir(), "f.kzd")
	if err := f.Write(path, true); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(path, true); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	if got, err := dump.Open(path, limit); err != nil || !reflect.DeepEqual(got, f) {
		t.Errorf("%v, %v", got, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Each thing that cannot be is said.
func TestRefused(t *testing.T) {
	for what, change := range map[string]func(f *dump.File){
		"no kernel":            func(f *dump.File) { f.Kernel = "" },
		"grid":                 func(f *dump.File) { f.Grid[1] = 0 },
		"block":                func(f *dump.File) { f.Block = [3]uint32{64, 64, 1} },
		"overlap":              func(f *dump.File) { f.Regions[1].Base = f.Regions[0].Base + 8 },
		"region":               func(f *dump.File) { f.Regions[0].Base = 1 << 60 },
		"more than":            func(f *dump.File) { f.Regions[0].Size, f.Regions[1].Size = limit, limit },
		"outside":              func(f *dump.File) { f.Textures[0].Height[0] = 5 },
		"pitch":                func(f *dump.File) { f.Textures[0].Pitch[0] = 1 << 60 },
		"texture 0 cannot":     func(f *dump.File) { f.Textures[0].Format = 99 },
		"before/0: 64 bytes":   func(f *dump.File) { f.Regions[0].Size, f.Textures = 32, nil },
		"kernel: no name":      func(f *dump.File) { f.Kernel = "k\x1b[2J" },
		"parameter 0: no name": func(f *dump.File) { f.Params[0].Name = "p\nq" },
		"region 1: no name":    func(f *dump.File) { f.Regions[1].Var = "v\u202e" },
		"parameter p":          func(f *dump.File) { f.Params[0].Offset = -1 },
		"8 bytes at 4 of 8":    func(f *dump.File) { f.Params[0].Offset = 4 },
		"cluster [1 0 0]":      func(f *dump.File) { f.Cluster[0] = 1 },
		"cluster [2 3 4]":      func(f *dump.File) { f.Grid, f.Cluster = [3]uint32{2, 3, 4}, [3]uint32{2, 3, 4} },
		"cluster [2 2 1]":      func(f *dump.File) { f.Cluster = [3]uint32{2, 2, 1} },
		"0 lies outside":       func(f *dump.File) { f.Textures[0].Pitch[0], f.Textures[0].Height[0] = 1<<40, 1<<24+1 },
		"before/1: 4 bytes":    func(f *dump.File) { f.Before[1] = f.Before[1][:4]; f.After[1] = f.Before[1] },
	} {
		f := sample()
		change(f)
		if _, err := read(encoded(t, f)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := read([]byte("PK, but no more")); err == nil || !strings.Contains(err.Error(), "not a dump") {
		t.Errorf("no archive: %v", err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("launch.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(`{"version": 2}`)); err != nil {
		t.Fatal(err)
	}
	if w, err = z.Create("textures"); err != nil || w == nil || z.Close() != nil {
		t.Fatal(err)
	}
	if _, err := read(b.Bytes()); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("a later version: %v", err)
	}
}

// What of a file is only shown does nothing to a terminal.
func TestPlain(t *testing.T) {
	f := sample()
	f.Device, f.Notes = "a\x1b]0;b\a", []string{"one\ntwo \u009b2J\u202e \u00fc"}
	got, err := read(encoded(t, f))
	if err != nil || got.Device != `a\x1b]0;b\a` || got.Notes[0] != `one\ntwo \u009b2J\u202e ü` {
		t.Errorf("%q %q, %v", got.Device, got.Notes, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encoded(f, sample()))
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if g, err := read(b); err == nil {
			dump.NewFinder(g.Regions, g.Textures).Reach(g.Values, nil, g.Textures, func(i int) []byte { return g.Before[i] })
			if _, err := read(encoded(t, g)); err != nil {
				t.Errorf("written again: %v", err)
			}
		}
	})
}

func words(list ...uint64) (b []byte) {
	for _, w := range list {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// Addresses in parameters and in memory lead on, through textures too; what nothing leads to is not reached.
func TestReach(t *testing.T) {
	regions := []dump.Region{{Base: 0x1000, Size: 16}, {Base: 0x2000, Size: 16}, {Base: 0x3000, Size: 16}, {Base: 0x4000, Size: 16}, {Base: 0x5000, Size: 16}, {Base: 0x6000, Size: 8}}
	content := [][]byte{words(0x200f, 0), words(0, 99), words(0x1000, 0), words(7, 0), words(0, 0), words(0x3001)}
	textures := []backend.Texture{{Handle: 99, Levels: 1}, {Handle: 98, Levels: 1}}
	textures[0].Base[0], textures[1].Base[0] = 0x4000, 0x5000
	for _, c := range []struct {
		name     string
		params   []byte
		roots    []int
		regions  []int
		textures []int
	}{
		{"a chain", words(0x1008), nil, []int{0, 1, 3}, []int{0}},
		{"behind the end", words(0x1010), nil, nil, nil},
		{"at a word of 32 bits", append(make([]byte, 4), words(0x2000)...), nil, []int{1, 3}, []int{0}},
		{"a variable", nil, []int{5}, []int{0, 1, 2, 3, 5}, []int{0}},
		{"a handle", words(98), nil, []int{4}, []int{1}},
		{"numbers", words(5, 0, 0x0fff), nil, nil, nil},
	} {
		got, seen := dump.NewFinder(regions, textures).Reach(c.params, c.roots, textures, func(i int) []byte { return content[i] })
		if !slices.Equal(set(got), c.regions) || !slices.Equal(set(seen), c.textures) {
			t.Errorf("%s: regions %v, textures %v", c.name, set(got), set(seen))
		}
	}
	if !dump.Names("ld.const.u32 %r1, [abc];", "abc") || dump.Names("ld.const.u32 %r1, [abcd];", "abc") || dump.Names("xabc", "abc") {
		t.Error("names in a text")
	}
}

// Addresses are aligned where they lie: a region that begins in the middle of a word has them elsewhere than at multiples of 8.
func TestReachUnaligned(t *testing.T) {
	regions := []dump.Region{{Base: 0x1004, Size: 20}, {Base: 0x2000, Size: 8}}
	content := [][]byte{append(make([]byte, 4), words(0x2000, 0)...), words(0)}
	got, _ := dump.NewFinder(regions, nil).Reach(words(0x1004), nil, nil, func(i int) []byte { return content[i] })
	if !got[1] {
		t.Error("the address at 0x1008 was not found")
	}
}

// A file of few bytes that says it is of many takes no memory for them, and what is read takes as much as it is.
func TestMemory(t *testing.T) {
	f := sample()
	f.Regions, f.Textures = f.Regions[:1], nil
	f.Regions[0].Size = limit - 100
	f.Before = [][]byte{make([]byte, limit-100)}
	f.After = f.Before
	b := encoded(t, f)
	got, err := read(b)
	if err != nil || cap(got.Before[0]) > limit {
		t.Fatalf("%d bytes, %v", cap(got.Before[0]), err)
	}
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[uint64]string{3: "bytes of 3 in the file", 1 << 40: "bytes of 1099511627776 in the file", 1<<64 - 2: "bytes of 18446744073709551614 in the file"} {
		var kept bytes.Buffer
		z := zip.NewWriter(&kept)
		for _, e := range r.File {
			in, err := e.OpenRaw()
			h := e.FileHeader
			if e.Name == "before/0" {
				in, h.CompressedSize64 = strings.NewReader("abc"), said
			}
			if err != nil {
				t.Fatal(err)
			}
			if w, err := z.CreateRaw(&h); err != nil {
				t.Fatal(err)
			} else if _, err := io.Copy(w, in); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := read(kept.Bytes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v", said, err)
		}
	}
	if n := quota.Own.Memory(); n > 0 && 3*dump.DefaultLimit() >= n {
		t.Errorf("three times %d bytes of %d", dump.DefaultLimit(), n)
	}
}

func set(b []bool) (list []int) {
	for i, on := range b {
		if on {
			list = append(list, i)
		}
	}
	return list
}

func TestTolerance(t *testing.T) {
	f32 := func(list ...float32) (b []byte) {
		for _, x := range list {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	near := math.Nextafter32(math.Nextafter32(1000, 2000), 2000)
	for _, c := range []struct {
		tol  string
		a, b []byte
		want bool
	}{
		{"f32=2ulp", f32(1000, 1), f32(near, 1), true},
		{"f32=1ulp", f32(1000, 1), f32(near, 1), false},
		{"f32=1e-06", f32(1000, 1), f32(near, 1), true},
		{"f32=1e-09,f32=2ulp", f32(1000, 1), f32(near, 1), true},
		{"f32=0.5abs", f32(1000, 1), f32(1000.5, 1), true},
		{"f32=100ulp", words(1), words(2), false}, // integers are no subnormal floats
		{"u32=1abs", words(1), words(2), true},
		{"f32=1e+09", f32(float32(math.NaN()), 1), f32(1, 1), false},
		{"f64=4ulp", words(math.Float64bits(1.5)), words(math.Float64bits(1.5) + 4), true},
		{"f64=4ulp", words(math.Float64bits(1.5)), words(math.Float64bits(1.5) + 5), false},
		{"f64=4ulp", words(math.Float64bits(-1.5)), words(math.Float64bits(-1.5) + 250), false},
		{"f64=4ulp", words(math.Float64bits(0x1p-300)), words(math.Float64bits(0x1p-300) + 1), true},
		{"f64=1e-12", words(math.Float64bits(0x1p-300)), words(math.Float64bits(0x1p-300) + 1), true},
		{"f32=1ulp", f32(0x1p-110), f32(math.Nextafter32(0x1p-110, 1)), true},
		{"u64=100abs", words(1 << 62), words(1<<62 + 200), false},
		{"u64=200abs", words(1 << 63), words(1<<63 + 200), true},
		{"u64=1abs", words(1), words(math.MaxUint64), false},
		{"s64=3abs", words(1), words(math.MaxUint64), true}, // 1 and -1
		{"s64=100abs", words(1 << 62), words(1<<62 + 200), false},
		{"f16=1ulp", []byte{0, 0x3c, 0, 0x3c}, []byte{1, 0x3c, 0, 0x3c}, true},
	} {
		tol, err := dump.ParseTolerance(c.tol)
		if err != nil {
			t.Fatal(err)
		}
		if got := tol.Within(c.a, c.b); got != c.want {
			t.Errorf("%s: %v", c.tol, got)
		}
		if tol.String() != c.tol {
			t.Errorf("%s is printed as %s", c.tol, tol)
		}
	}
	for _, bad := range []string{"", "f31=1", "f32", "f32=-1", "f32=x", "f32=infulp"} {
		if _, err := dump.ParseTolerance(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	all, err := dump.ReadTolerances(strings.NewReader("# some\n^sum f32=4ulp # near\n. f64=1e-9\n"))
	if err != nil || all.Of("sums").String() != "f32=4ulp" || all.Of("x").String() != "f64=1e-09" {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := dump.ReadTolerances(strings.NewReader("\nfoo\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}
