package image

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"testing"
)

// TestDebugObject reads what a debugger gets back with the standard library's readers.
func TestDebugObject(t *testing.T) {
	im := &Image{Machine: X86_64, Text: 100, Meta: Meta{Lines: []Line{{5, 3}, {10, 0}, {12, 4}, {300 - 240, 2}}}}
	const base = 0x7f0000001000
	obj := im.DebugObject(base, "k_32x1x1", "mod.ptx", func(n int) int { return n + 1000 })
	f, err := elf.NewFile(bytes.NewReader(obj))
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols()
	if err != nil || len(syms) != 1 || syms[0].Name != "k_32x1x1" || syms[0].Size != 100 || f.Sections[syms[0].Section].Addr != base {
		t.Errorf("symbols %v, %v", syms, err)
	}
	section := func(n string) []byte {
		b, err := f.Section(n).Data()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	d, err := dwarf.New(section(".debug_abbrev"), nil, nil, section(".debug_info"), section(".debug_line"), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := d.Reader().Next()
	if err != nil || unit.Val(dwarf.AttrName) != "mod.ptx" {
		t.Fatal(unit, err)
	}
	if r, err := d.Ranges(unit); err != nil || len(r) != 1 || r[0] != [2]uint64{base, base + 100} {
		t.Errorf("ranges %x, %v", r, err)
	}
	lr, err := d.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		at   uint64
		line int
	}{{0, 1003}, {11, 1003}, {12, 1004}, {60, 1002}, {99, 1002}} {
		var e dwarf.LineEntry
		if err := lr.SeekPC(base+want.at, &e); err != nil || e.Line != want.line || e.File.Name != "mod.ptx" {
			t.Errorf("offset %d: %+v, %v; want line %d", want.at, e, err, want.line)
		}
	}
}
