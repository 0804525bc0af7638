package codeobject

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The objects in testdata come from kernels.ll: llc -O1 -mtriple=amdgcn-amd-amdhsa -mcpu=X -filetype=obj (LLVM 19.1.7).
var objects = []string{"gfx1100", "gfx1201", "gfx90a"}

func object(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".elf"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tool finds a program of LLVM 19 or newer, or skips.
func tool(t testing.TB, name string) string {
	t.Helper()
	for _, p := range []string{"/usr/lib/llvm-19/bin/" + name, "/usr/lib/llvm-20/bin/" + name, "/usr/lib/llvm-21/bin/" + name} {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	t.Skipf("%s of LLVM 19 is not installed", name)
	return ""
}

func TestRead(t *testing.T) {
	for _, name := range objects {
		o, err := Read(object(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if o.Target.Name != name || o.Version != 5 || o.Linked || o.Metadata != "amdgcn-amd-amdhsa--"+name {
			t.Errorf("%s: %+v", name, o)
		}
		k := o.Kernel("add")
		if k == nil || o.Kernel("nothing") == nil || o.Kernel("helper") != nil || len(o.Kernels) != 2 {
			t.Fatalf("%s: kernels %v", name, o.Kernels)
		}
		if k.Explicit() != 24 || k.GroupFixed != 256 || k.MaxFlat != 1024 || k.Wave != o.Target.Wave || k.Descriptor.Wave32() != (k.Wave == 32) || k.KernargSize != 280 {
			t.Errorf("%s: add: %+v", name, k)
		}
		if a := k.Args[0]; a.Kind != "by_value" || a.Offset != 0 || a.Size != 24 || a.Hidden() || !k.Args[1].Hidden() {
			t.Errorf("%s: arguments %+v", name, k.Args)
		}
		if !bytes.Equal(pack(nil, mustUnpack(t, o)), mustNote(t, o)) {
			t.Errorf("%s: metadata does not round-trip", name)
		}
	}
}

func mustNote(t *testing.T, o *Object) []byte {
	t.Helper()
	f, err := parseELF(o.data)
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.note()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustUnpack(t *testing.T, o *Object) any {
	t.Helper()
	v, err := (&unpacker{b: mustNote(t, o)}).value()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDescriptor(t *testing.T) {
	f, err := parseELF(object(t, "gfx90a"))
	if err != nil {
		t.Fatal(err)
	}
	s := f.symbol("add.kd")
	b, err := s.bytes(f)
	if err != nil {
		t.Fatal(err)
	}
	d := decodeDescriptor(b)
	if !bytes.Equal(d.Encode(), b) {
		t.Errorf("descriptor %+v\n%x\n%x", d, d.Encode(), b)
	}
}

// TestLink holds what Link makes against the object it came from and, where it is installed, against ld.lld's.
func TestLink(t *testing.T) {
	for _, name := range objects {
		obj := object(t, name)
		out, err := Link(obj)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkLinked(t, name, obj, out)
		from, err := Read(obj)
		if err != nil {
			t.Fatal(err)
		}
		to, err := Read(out)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, b := range to.Bindings {
			names = append(names, b.Name)
		}
		if got := strings.Join(names, " "); got != "counter counter counter maybe" || !to.Bindings[3].Weak || to.Bindings[1].Addend != 12 {
			t.Errorf("%s: bindings %+v", name, to.Bindings)
		}
		for i, k := range to.Kernels {
			want := *from.Kernels[i]
			want.At, want.Descriptor.Entry = k.At, k.Descriptor.Entry
			if !reflect.DeepEqual(&want, k) {
				t.Errorf("%s: kernel changed by linking: %+v, was %+v", name, k, want)
			}
		}
	}
}

func TestLinkAsLLD(t *testing.T) {
	lld := tool(t, "ld.lld")
	dir := t.TempDir()
	for _, name := range objects {
		out := filepath.Join(dir, name)
		if text, err := exec.Command(lld, "-shared", "-o", out, filepath.Join("testdata", name+".elf")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		theirs, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		checkLinked(t, name+" by lld", object(t, name), theirs) // the check is right about a linker that is
		mine, err := Link(object(t, name))
		if err != nil {
			t.Fatal(err)
		}
		a, err := Read(mine)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Read(theirs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Kernels {
			a.Kernels[i].At, b.Kernels[i].At = 0, 0
			a.Kernels[i].Descriptor.Entry, b.Kernels[i].Descriptor.Entry = 0, 0
		}
		if !reflect.DeepEqual(a.Kernels, b.Kernels) || a.Target != b.Target || a.Version != b.Version {
			t.Errorf("%s: %+v, lld has %+v", name, a, b)
		}
	}
}

// checkLinked follows every address in the code of a linked object to the symbol that the relocations of the original name.
func checkLinked(t *testing.T, name string, obj, out []byte) {
	t.Helper()
	from, err := parseELF(obj)
	if err != nil {
		t.Fatal(err)
	}
	to, err := parseELF(out)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if to.kind != etDyn || to.flags != from.flags || to.abi != from.abi {
		t.Errorf("%s: header %+v", name, to)
	}
	where := func(s *symbol, addend int64) uint64 {
		if s.name != "" {
			if x := to.symbol(s.name); x != nil && x.section != nil {
				return x.value + uint64(addend)
			}
		}
		// a section symbol: find a symbol of that section to measure from
		for _, x := range from.symbols {
			if y := to.symbol(x.name); x.name != "" && x.section == s.section && y != nil && y.section != nil {
				return y.value - x.value + s.value + uint64(addend)
			}
		}
		return 0
	}
	text := from.section(".text")
	got := to.section(".got")
	code, err := to.section(".text").bytes(to)
	if err != nil {
		t.Fatal(err)
	}
	base := to.section(".text").addr
	seen := 0
	for i, r := range text.relocs {
		if r.kind != relRel32Lo && r.kind != relGotPC32Lo {
			continue
		}
		hi := text.relocs[i+1]
		v := uint64(binary.LittleEndian.Uint32(code[r.off:])) | uint64(binary.LittleEndian.Uint32(code[hi.off:]))<<32
		target := base + r.off + v - uint64(r.addend) // LLVM adds the distance of the low word from the instruction behind s_getpc_b64
		if r.kind == relGotPC32Lo {
			if target < got.addr || target >= got.addr+got.size || target%8 != 0 {
				t.Errorf("%s: %s: slot %#x outside %#x+%#x", name, r.sym.name, target, got.addr, got.size)
			}
			seen++
			continue
		}
		want := where(r.sym, 0)
		if r.sym.section.name == ".data.rel.ro" { // only the section's symbol names it, with the place in the addend
			if d := to.section(".data.rel.ro"); target+uint64(r.addend)-d.addr < d.size+16 {
				want = target
			}
		}
		if target != want {
			t.Errorf("%s: %s%+d of section %s: %#x, want %#x", name, r.sym.name, r.addend, r.sym.section.name, target, want)
		}
		seen++
	}
	if seen < 6 {
		t.Errorf("%s: %d addresses checked", name, seen)
	}
	for _, k := range []string{"add", "nothing"} {
		kd := to.symbol(k + ".kd")
		b, err := kd.bytes(to)
		if err != nil {
			t.Fatal(err)
		}
		d := decodeDescriptor(b)
		if at := kd.value + uint64(d.Entry); at != to.symbol(k).value {
			t.Errorf("%s: %s: entry %#x, code at %#x", name, k, at, to.symbol(k).value)
		}
	}
}

func TestBind(t *testing.T) {
	out, err := Link(object(t, "gfx1100"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Bind(func(string) (uint64, bool) { return 0, false }); !errors.Is(err, ErrUnbound) || !strings.Contains(err.Error(), "counter") {
		t.Errorf("nothing bound: %v", err)
	}
	const addr = 0x7f0012345678
	bound, err := o.Bind(func(n string) (uint64, bool) { return addr, n == "counter" })
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, o.data) {
		t.Error("binding changed the original")
	}
	f, err := parseELF(bound)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.section(".got").bytes(f)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := f.section(".data.rel.ro").bytes(f)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	if a, b := le.Uint64(got), le.Uint64(got[8:]); a != addr || b != 0 {
		t.Errorf("slots %#x %#x", a, b)
	}
	if a, b := le.Uint64(rel[16:]), le.Uint64(rel[24:]); a != addr || b != addr+12 {
		t.Errorf("table %#x %#x", a, b)
	}
}

// TestDisassembles: LLVM's own reader takes what we link, and shows the same code as in the object.
func TestDisassembles(t *testing.T) {
	objdump := tool(t, "llvm-objdump")
	for _, name := range objects {
		out, err := Link(object(t, name))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, out, 0o644); err != nil {
			t.Fatal(err)
		}
		text, err := exec.Command(objdump, "-d", "--disassemble-symbols=add,nothing", file).CombinedOutput()
		if err != nil || !bytes.Contains(text, []byte("s_endpgm")) || !bytes.Contains(text, []byte("<add>")) || !bytes.Contains(text, []byte("s_barrier")) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		if text, err = exec.Command(objdump, "-p", "--dynamic-syms", file).CombinedOutput(); err != nil || bytes.Contains(text, []byte("warning")) || !bytes.Contains(text, []byte("add.kd")) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// TestProcessors holds the table against LLVM's.
func TestProcessors(t *testing.T) {
	llc := tool(t, "llc")
	src := filepath.Join(t.TempDir(), "k.ll")
	for _, p := range Processors {
		version := "500"
		if p.IsGeneric() {
			version = "600"
		}
		text := "target triple = \"amdgcn-amd-amdhsa\"\ndefine amdgpu_kernel void @k() { ret void }\n!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 " + version + "}\n"
		if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := exec.Command(llc, "-mcpu="+p.Name, "-filetype=obj", "-o", "-", src).Output()
		if err != nil {
			t.Logf("%s: not known to this LLVM", p.Name)
			continue
		}
		o, err := Read(b)
		if err != nil {
			if binary.LittleEndian.Uint32(b[48:])&machMask == 0 { // LLVM ignored a name it does not know
				continue
			}
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		id, err := ParseTarget(p.Name)
		if err != nil || o.Target != id || o.Kernels[0].Wave != p.Wave {
			t.Errorf("%s: LLVM says %+v, wave %d", p.Name, o.Target, o.Kernels[0].Wave)
		}
		if _, err := Link(b); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestTarget(t *testing.T) {
	for _, s := range []string{"gfx1100", "gfx90a:sramecc+:xnack-", "gfx906:sramecc-:xnack-", "gfx942"} {
		x, err := ParseTarget(s)
		if err != nil || x.String() != s {
			t.Errorf("%s: %v, %v", s, x, err)
		}
	}
	for _, s := range []string{"", "gfx", "gfx1100:xnack+", "gfx90a:xnack", "gfx90a:foo+", "gfx90a:xnack++"} {
		if x, err := ParseTarget(s); err == nil {
			t.Errorf("%q is %v", s, x)
		}
	}
	runs := func(code, dev string) bool {
		a, err := ParseTarget(code)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParseTarget(dev)
		if err != nil {
			t.Fatal(err)
		}
		return a.Runs(b)
	}
	if !runs("gfx90a", "gfx90a:sramecc+:xnack-") || runs("gfx90a:xnack+", "gfx90a:sramecc+:xnack-") || !runs("gfx11-generic", "gfx1103") || runs("gfx1100", "gfx1101") {
		t.Error("which code runs where")
	}
}

// FuzzRead: any bytes are an error or a code object, and what links can be read.
func FuzzRead(f *testing.F) {
	for _, name := range objects {
		b := object(f, name)
		f.Add(b)
		if out, err := Link(b); err == nil {
			f.Add(out)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Read(b)
		if err == nil {
			_, _ = o.Bind(func(string) (uint64, bool) { return 1, true })
		}
		out, e := Link(b)
		if e != nil || err != nil {
			return
		}
		if len(out) > 4*len(b)+1<<20 {
			t.Fatalf("%d bytes became %d", len(b), len(out))
		}
		if _, err := Read(out); err != nil {
			t.Fatalf("what was linked: %v", err)
		}
	})
}

// TestDamaged changes every byte of an object, one at a time.
func TestDamaged(t *testing.T) {
	good := object(t, "gfx1100")
	out, err := Link(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range [][]byte{good, out} {
		b := append([]byte(nil), whole...)
		for i := range b {
			for _, x := range []byte{[]byte{0xff, 0x80, 1}[i%3]} {
				b[i] ^= x
				_, _ = Read(b)
				_, _ = Link(b)
				b[i] ^= x
			}
		}
		for i := 0; i < len(whole); i += 7 {
			if _, err := Read(whole[:i]); err == nil && i < ehdrBytes {
				t.Errorf("%d bytes are a code object", i)
			}
		}
	}
}

// TestBuild: what is written reads back, and links.
func TestBuild(t *testing.T) {
	target, err := ParseTarget("gfx90a:sramecc+:xnack-")
	if err != nil {
		t.Fatal(err)
	}
	k := Kernel{Name: "k", Args: []Arg{{Offset: 0, Size: 20, Kind: "by_value"}, {Offset: 24, Size: 4, Kind: "hidden_block_count_x"}}, KernargSize: 32, GroupFixed: 128, Wave: 64, VGPRs: 7, MaxFlat: 256}
	for _, version := range []int{4, 5, 6} {
		obj, err := Build(&Source{Target: target, Version: version, Kernels: []Kernel{k, {Name: "other", Wave: 64}}, Code: [][]byte{{0, 0, 0x81, 0xbf}, {0, 0, 0x81, 0xbf}}, Externs: []string{"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := Link(obj)
		if err != nil {
			t.Fatal(err)
		}
		o, err := Read(out)
		if err != nil {
			t.Fatal(err)
		}
		got := o.Kernel("k")
		if o.Target != target || o.Version != version || len(o.Bindings) != 2 || !reflect.DeepEqual(got.Args, k.Args) || got.VGPRs != 7 || got.Explicit() != 20 || got.GroupFixed != 128 || o.Kernel("other") == nil {
			t.Errorf("version %d: %+v, %+v", version, o, got)
		}
	}
	if _, err := Build(&Source{Target: target, Version: 1}); err == nil {
		t.Error("version 1 was built")
	}
}

func BenchmarkLink(b *testing.B) {
	obj := object(b, "gfx1100")
	for b.Loop() {
		if _, err := Link(obj); err != nil {
			b.Fatal(err)
		}
	}
}
