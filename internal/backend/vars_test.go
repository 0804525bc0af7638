package backend

import (
	"encoding/binary"
	"errors"
	"testing"
)

func TestVars(t *testing.T) {
	decls := []VarDecl{
		{Name: "a", Size: 3, Init: []byte{1, 2}},
		{Name: "outside", Size: 8, Extern: true},
		{Name: "b", Size: 16, Align: 64, Const: true, Relocs: []VarReloc{{Offset: 0, Size: 8, Symbol: "a", Addend: 1}, {Offset: 8, Size: 4, Symbol: "f"}}},
		{Name: "empty"},
	}
	s, err := LayVars(decls, 4096, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	s.PlaceAt(0x10000)
	b := make([]byte, s.Total())
	if err := s.Initialise(b, func(name string) uint64 { return uint64(len(name)) }); err != nil {
		t.Fatal(err)
	}
	at, n, err := s.Var("b")
	if at != 0x10040 || n != 16 || err != nil {
		t.Errorf("b is at %#x, %d bytes, %v", at, n, err)
	}
	if b[0] != 1 || b[1] != 2 || b[2] != 0 || binary.LittleEndian.Uint64(b[64:]) != 0x10001 || b[72] != 1 {
		t.Errorf("begins as %v", b)
	}
	if p, ok := s.Find("b"); !ok || !p.Const {
		t.Error("b is constant")
	}
	e, _ := s.Find("empty")
	if e.Addr != 0x10050 || s.Total() != 0x51 {
		t.Errorf("a variable of no bytes is at %#x of %#x", e.Addr, s.Total())
	}
	if _, _, err := s.Var("outside"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an extern without a place: %v", err)
	}
}

func TestVarsRefused(t *testing.T) {
	for name, decls := range map[string][]VarDecl{
		"alignment is no power of two": {{Name: "a", Size: 4, Align: 24}},
		"alignment too large":          {{Name: "a", Size: 4, Align: 8192}},
		"more bytes than size":         {{Name: "a", Size: 1, Init: []byte{1, 2}}},
		"twice":                        {{Name: "a", Size: 1}, {Name: "a", Size: 1}},
		"too much":                     {{Name: "a", Size: 1 << 19}, {Name: "b", Size: 1<<19 + 1}},
		"wraps around":                 {{Name: "a", Size: 1}, {Name: "b", Size: 1<<64 - 1}},
	} {
		if _, err := LayVars(decls, 4096, 1<<20); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s, err := LayVars([]VarDecl{{Name: "a", Size: 8, Relocs: []VarReloc{{Offset: 4, Size: 8, Symbol: "a"}}}}, 4096, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if s.Initialise(make([]byte, s.Total()), nil) == nil {
		t.Error("an address that ends behind its variable was written")
	}
}
