package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func sample() *File {
	return &File{
		SM: 80, Text: ".version 8.0\n.target sm_80\n" + strings.Repeat("// kernel\n", 50),
		Kernels: []Kernel{
			{Name: "empty", Registers: 4},
			{Name: "vadd", Registers: 12, Barriers: 1, Shared: 128, Local: 400, Params: []Param{{0, 8}, {8, 8}, {16, 4}}, MaxThreads: [3]uint32{256, 1, 1}},
		},
		Vars: []Var{
			{Name: "cc", Const: true, Size: 16, Align: 4, Init: []byte("0123456789abcdef")},
			{Name: "gi", Global: true, Size: 4, Align: 4, Init: []byte{7, 0, 0, 0}},
			{Name: "gv", Size: 64, Align: 8},
		},
	}
}

func encode(t testing.TB, f *File) []byte {
	t.Helper()
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	for _, f := range []*File{sample(), {SM: 120, Suffix: "a", Relocatable: true, Text: "short"}} {
		got, err := Decode(encode(t, f))
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Vars { // alignment is the section's
			f.Vars[i].Align = 0
		}
		byName := func(a, b Var) int { return strings.Compare(a.Name, b.Name) }
		slices.SortFunc(got.Vars, byName)
		if !reflect.DeepEqual(got, f) {
			t.Errorf("got  %+v\nwant %+v", got, f)
		}
		if text, err := Text(encode(t, f)); err != nil || text != f.Text {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// TestLooksLikeCubin reads the file with somebody else's eyes, and compares with what ptxas 12.9 made of the same module.
func TestLooksLikeCubin(t *testing.T) {
	b := encode(t, sample())
	if v := le.Uint32(b[20:]); v != 0x81 {
		t.Errorf("version %#x", v)
	}
	le.PutUint32(b[20:], 1) // which is all that debug/elf takes
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != Machine || f.Type != elf.ET_EXEC || f.OSABI != 0x33 || f.ABIVersion != 7 {
		t.Errorf("header %+v", f.FileHeader)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, s := range syms {
		if s.Name != "" {
			got = append(got, fmt.Sprintf("%s %v %v %#x %s", s.Name, elf.ST_TYPE(s.Info), elf.ST_BIND(s.Info), s.Other, f.Sections[s.Section].Name))
		}
		if s.Name == "vadd" {
			// The symbol and the registers; one barrier.
			text := f.Section(".text.vadd")
			if text.Info != 12<<24|uint32(i+1) || text.Flags != 0x100006 {
				t.Errorf(".text.vadd: info %#x, flags %#x", text.Info, text.Flags)
			}
			if info, _ := f.Section(".nv.info").Data(); !bytes.Contains(info, []byte{4, 0x2f, 8, 0, byte(i + 1), 0, 0, 0, 12, 0, 0, 0}) {
				t.Errorf(".nv.info: %x", info)
			}
		}
	}
	want := []string{"cc STT_OBJECT STB_LOCAL 0x0 .nv.constant3", "gv STT_OBJECT STB_LOCAL 0x0 .nv.global", "gi STT_OBJECT STB_GLOBAL 0x0 .nv.global.init",
		"empty STT_FUNC STB_GLOBAL 0x10 .text.empty", "vadd STT_FUNC STB_GLOBAL 0x10 .text.vadd"}
	if !slices.Equal(got, want) {
		t.Errorf("symbols\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name, size := range map[string]uint64{".nv.shared.vadd": 128, ".nv.constant0.vadd": 372, ".nv.constant0.empty": 352, ".nv.global": 64, ".nv.constant3": 16} {
		if s := f.Section(name); s == nil || s.Size != size {
			t.Errorf("%s: %+v", name, s)
		}
	}
	// As recorded, from the size of the parameters on, without the places of exits.
	recorded, _ := hex.DecodeString("03191400" + "04170c00000000000200100000f01100" + "04170c00000000000100080000f02100" + "04170c00000000000000000000f02100" +
		"031bff00" + "04050c00000100000100000001000000")
	if info, _ := f.Section(".nv.info.vadd").Data(); !bytes.HasSuffix(info, recorded) {
		t.Errorf(".nv.info.vadd: %x", info)
	}
}

// TestFlags: the header's flags by target, as ptxas 12.9 writes them of a text for the same target.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		sm     int
		suffix string
		abi    byte
		flags  uint32
	}{{52, "", 7, 0x340534}, {80, "", 7, 0x500550}, {90, "a", 7, 0x5a0d5a}, {100, "", 8, 0x6006402}, {100, "a", 8, 0x600640a}, {120, "", 8, 0x6007802}} {
		b := encode(t, &File{SM: c.sm, Suffix: c.suffix, Text: "x"})
		if got := le.Uint32(b[48:]); got != c.flags || b[8] != c.abi {
			t.Errorf("sm_%d%s: flags %#x, want %#x; form %d", c.sm, c.suffix, got, c.flags, b[8])
		}
	}
}

func TestForeign(t *testing.T) {
	ours := encode(t, sample())
	if !Ours(ours) {
		t.Error("our file is not known")
	}
	cubin := bytes.ReplaceAll(ours, []byte(Section), []byte(".other.sec"))
	host := slices.Clone(cubin)
	le.PutUint16(host[18:], 62)
	for want, b := range map[string][]byte{
		"machine code for sm_80, 2 kernels, the first is empty": cubin,
		"an ELF file for machine 62":                            host,
	} {
		_, err := Text(b)
		var f *Foreign
		if !errors.As(err, &f) || f.What != want || Ours(b) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	f, err := Decode(cubin)
	if err != nil || f.Text != "" || len(f.Kernels) != 2 || f.Kernels[1].Registers != 12 {
		t.Errorf("a cubin of NVIDIA's: %+v, %v", f, err)
	}
}

func TestHostile(t *testing.T) {
	b := encode(t, sample())
	for n := range b {
		if _, err := Decode(b[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	at := bytes.Index(b, []byte("KZPT"))
	for name, put := range map[string]func(b []byte){
		"size":    func(b []byte) { le.PutUint32(b[at+8:], 1<<31) },
		"sum":     func(b []byte) { b[at+12]++ },
		"version": func(b []byte) { b[at+4]++ },
		"magic":   func(b []byte) { b[at]++ },
		"table":   func(b []byte) { le.PutUint64(b[40:], 1<<63) },
	} {
		c := slices.Clone(b)
		put(c)
		if _, err := Text(c); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&File{SM: 80, Kernels: make([]Kernel, 1<<16)}).Encode(); err == nil {
		t.Error("65536 kernels fit into one file")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, sample()))
	f.Add(encode(f, &File{SM: 100, Suffix: "a", Text: "x"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Decode(b)
		if err != nil {
			var foreign *Foreign
			if !errors.Is(err, ErrFormat) && !errors.As(err, &foreign) {
				t.Fatal(err)
			}
			return
		}
		if Ours(b) != (file.Text != "") && len(file.Text) > 0 {
			t.Fatal("PTX in a file that is not ours")
		}
		_, _ = Text(b)
		_, _ = List(b)
	})
}
