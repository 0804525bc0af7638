package nvfatbin

import (
	"bytes"
	order "encoding/binary"
	"runtime"
	"strings"
	"testing"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/nvvmir"
	"kudzu/internal/spec/fb"
)

// cmem keeps memory that the tests hand over as C's.
type cmem struct {
	pin runtime.Pinner
	Thread
}

func (c *cmem) bytes(b []byte) hostmem.Ptr {
	b = append(bytes.Clone(b), 0)
	c.pin.Pin(&b[0])
	return hostmem.Of(&b[0])
}

// text is a string of C's; "NULL" is none.
func (c *cmem) text(s string) hostmem.Ptr {
	if s == "NULL" {
		return hostmem.Nil
	}
	return c.bytes([]byte(s))
}

func (c *cmem) word() (*uint64, hostmem.Ptr) {
	p := new(uint64)
	c.pin.Pin(p)
	return p, hostmem.Of(p)
}

func (c *cmem) create(words ...string) (fb.NvFatbinHandle, int32) {
	list := make([]hostmem.Ptr, len(words)+1)
	for i, w := range words {
		list[i] = c.text(w)
	}
	c.pin.Pin(&list[0])
	h, at := c.word()
	err := c.Create(at, hostmem.Of(&list[0]), uint64(len(words)))
	return fb.NvFatbinHandle(*h), Code(err)
}

// result is the fat binary as it is read.
func (c *cmem) result(t *testing.T, h fb.NvFatbinHandle) ([]byte, *fatbin.Container) {
	t.Helper()
	n, at := c.word()
	if err := c.Size(h, at); err != nil {
		t.Fatal(err)
	}
	p := c.bytes(make([]byte, *n))
	if err := c.Get(h, p); err != nil {
		t.Fatal(err)
	}
	b := bytes.Clone(hostmem.Bytes(p, *n))
	made, err := fatbin.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return b, made
}

const good = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"

func ours(t *testing.T) []byte {
	t.Helper()
	b, err := (&cubin.File{SM: 80, Text: good, Kernels: []cubin.Kernel{{Name: "k"}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOptions: codes as release 13.4 gave them.
func TestOptions(t *testing.T) {
	c := &cmem{}
	defer c.pin.Unpin()
	for line, want := range map[string]int32{
		"": 0, "-64": 0, "-32": 0, "-c": 0, "-compress=true": 0, "-compress=false": 0, "-compress=foo": 8, "-compress": 8, "-compress-all": 0,
		"-compress-mode=size": 0, "-compress-mode=foo": 8, "-compress-mode": 8, "-concat": 0, "-cuda": 0, "-g": 0, "-host=linux": 0, "-host=windows": 0,
		"-host=mac": 0, "-host=foo": 8, "-opencl": 0, "-foo": 8, "foo": 8, "--64": 8, "-64=1": 8, "-32 -64": 8, "-64 -64": 0, "-32 -32": 0, "-compress=1": 8,
		"-compress=TRUE": 8, "-g=1": 8, "-host": 8, "-c=1": 8, "-cuda -opencl": 8, "-opencl -cuda": 8, "-compress=true -compress=false": 0,
		"-host=linux -host=windows": 0, "NULL": 5,
	} {
		h, code := c.create(strings.Fields(line)...)
		if code != want || h == 0 {
			t.Errorf("%q: %d, handle %#x", line, code, h)
		}
	}
	if err := c.Create(hostmem.Nil, hostmem.Nil, 0); Code(err) != 5 {
		t.Errorf("no place for the handle: %v", err)
	}
	// Of options with a bad one none counts.
	h, _ := c.create("-32", "-foo")
	if err := c.AddCubin(h, c.bytes(ours(t)), uint64(len(ours(t))), c.text("80"), c.text("id")); err != nil {
		t.Error(err)
	}
}

// TestCodes: what is wrong with inputs, as release 13.4 says it.
func TestCodes(t *testing.T) {
	c := &cmem{}
	defer c.pin.Unpin()
	file := ours(t)
	host := bytes.Clone(file)
	host[18] = 62
	for _, r := range []struct {
		what, data, arch string
		size             int // 0: all, -1: none
		code             int32
	}{
		{"ptx", good, "80", 0, 0}, {"ptx", good, "sm_80", 0, 9}, {"ptx", good, "90a", 0, 0}, {"ptx", good, "100f", 0, 0}, {"ptx", good, "foo", 0, 9},
		{"ptx", good, "", 0, 0}, {"ptx", good, "a", 0, 0}, {"ptx", good, "NULL", 0, 5}, {"ptx", good, "80 ", 0, 9}, {"ptx", good, " 80", 0, 0},
		{"ptx", good, "+80", 0, 0}, {"ptx", good, "-80", 0, 9}, {"ptx", good, "80b", 0, 9}, {"ptx", good, "80af", 0, 9}, {"ptx", good, "4294967376", 0, 9},
		{"ptx", good, "999", 0, 0}, {"ptx", good, "80", -1, 11}, {"ptx", "NULL", "80", 0, 5}, {"ptx", ".target sm_80\n", "80", 0, 4},
		{"ptx", ".version 8.0\n", "80", 0, 0}, {"ptx", "hello", "80", 0, 4}, {"ptx", ".version x\n", "80", 0, 4}, {"ptx", ".version 7\n", "80", 0, 4},
		{"ptx", good + "foo", "80", 0, 0}, {"ptx", "\x00", "80", 0, 11}, {"ptx", "hello", "foo", 0, 9}, {"ptx", good, "foo", -1, 11},
		{"cubin", string(file), "80", 0, 0}, {"cubin", string(file), "90", 0, 2}, {"cubin", string(file), "sm_80", 0, 9}, {"cubin", string(file), "80a", 0, 0},
		{"cubin", string(file), "NULL", 0, 5}, {"cubin", string(file), "80", 100, 0}, {"cubin", string(file), "80", 40, 2}, {"cubin", string(file), "80", -1, 11},
		{"cubin", "NULL", "80", 0, 5}, {"cubin", string(host), "80", 0, 2}, {"cubin", strings.Repeat("j", 100), "80", 0, 3},
		{"lto", "hello", "80", 0, 10}, {"lto", "BC\xc0\xde" + strings.Repeat("\x00", 60), "80", 0, 1}, {"lto", ltoMagic + strings.Repeat("\x00", 60), "80", 0, 0},
		{"lto", string(nvvmir.LTO([]byte("BC"))), "80", 0, 0}, {"lto", "hello", "foo", 0, 9}, {"lto", "hello", "80", -1, 11}, {"lto", "NULL", "80", 0, 5},
		{"index", "hello", "", 0, 15}, {"index", "NULL", "", 0, 5}, {"index", "hello", "", -1, 11},
		{"reloc", "hello", "", 0, 11}, {"reloc", "NULL", "", 0, 5}, {"reloc", "hello", "", -1, 11},
		{"tile", "hello", "", 0, 1}, {"tile", "NULL", "", 0, 5}, {"tile", "hello", "", -1, 11}, {"tile", tileMagic + strings.Repeat("\x00", 50), "", 0, 0},
	} {
		h, _ := c.create()
		code, arch, id := c.text(r.data), c.text(r.arch), c.text("id")
		size := uint64(len(r.data))
		if r.size != 0 {
			size = uint64(max(r.size, 0))
		}
		var err error
		switch r.what {
		case "ptx":
			err = c.AddPTX(h, code, size, arch, id, c.text(""))
		case "cubin":
			err = c.AddCubin(h, code, size, arch, id)
		case "lto":
			err = c.AddLTOIR(h, code, size, arch, id, c.text(""))
		case "index":
			err = c.AddIndex(h, code, size, id)
		case "reloc":
			err = c.AddReloc(h, code, size)
		case "tile":
			err = c.AddTileIR(h, code, size, id, c.text(""))
		}
		if Code(err) != r.code {
			t.Errorf("%s %.20q for %q: %d, recorded %d", r.what, r.data, r.arch, Code(err), r.code)
		}
		if _, made := c.result(t, h); (len(made.Entries) > 0) != (r.code == 0) {
			t.Errorf("%s %.20q for %q: %d entries", r.what, r.data, r.arch, len(made.Entries))
		}
	}
	for name, err := range map[string]error{
		"ptx": c.AddPTX(0, c.text(good), 5, c.text("80"), c.text(""), c.text("")), "size": c.Size(0, hostmem.Nil), "get": c.Get(0, hostmem.Nil), "destroy": c.Destroy(hostmem.Nil),
	} {
		if Code(err) != 5 {
			t.Errorf("%s without a handle: %v", name, err)
		}
	}
}

// TestLayout: the header of an entry has what NVIDIA's has at the same places.
func TestLayout(t *testing.T) {
	c := &cmem{}
	defer c.pin.Unpin()
	h, _ := c.create("-g")
	p := c.bytes(nil)
	if err := c.Get(h, p); Code(err) != 1 {
		t.Errorf("before the size was asked for: %v", err)
	}
	long := good + strings.Repeat(".global .u32 v;\n", 20)
	for _, err := range []error{
		c.AddPTX(h, c.text(long), uint64(len(long)+1), c.text("90a"), c.text("12345678"), c.text("-O3 -v")),
		c.AddCubin(h, c.bytes(ours(t)), uint64(len(ours(t))), c.text("80"), hostmem.Nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b, made := c.result(t, h)
	le := order.LittleEndian
	head := b[16:]
	for at, want := range map[int]uint32{0: 0x01010001, 4: 96, 20: 80, 24: 8 << 16, 28: 90, 32: 64, 36: 8, 40: 0x102013, 80: 88, 84: 6} {
		if got := le.Uint32(head[at:]); got != want {
			t.Errorf("at %d: %#x, want %#x", at, got, want)
		}
	}
	text, err := made.Entries[0].Text()
	if e := made.Entries[0]; err != nil || string(bytes.TrimRight(text, "\x00")) != long || e.Name != "12345678" || e.Options != "-O3 -v" {
		t.Errorf("%+v, %q, %v", e, text, err)
	}
	if e := made.Entries[1]; e.Kind != fatbin.ELF || !bytes.Equal(e.Payload, ours(t)) || e.Flags != 0x13 || e.Major != 1 || e.Minor != 8 || e.Name != "" {
		t.Errorf("%+v", e)
	}
}

// TestReloc: the PTX of an object's fat binaries is added, each name once.
func TestReloc(t *testing.T) {
	c := &cmem{}
	defer c.pin.Unpin()
	inner, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 80, Major: 8, Name: "a.cu", Data: []byte(good)}, {Kind: fatbin.ELF, SM: 80, Data: ours(t)}})
	if err != nil {
		t.Fatal(err)
	}
	object := hostObject(".nv_fatbin", inner)
	h, _ := c.create()
	if err := c.AddReloc(h, c.bytes(object), uint64(len(object))); err != nil {
		t.Fatal(err)
	}
	if _, made := c.result(t, h); len(made.Entries) != 1 || made.Entries[0].Name != "a.cu" {
		t.Errorf("%+v", made.Entries)
	}
	object = hostObject(".nv_fatbin", append(bytes.Clone(inner), inner...))
	if err := c.AddReloc(h, c.bytes(object), uint64(len(object))); Code(err) != 16 {
		t.Errorf("the same name twice: %v", err)
	}
}

// hostObject is an ELF file of x86-64 with one section.
func hostObject(name string, data []byte) []byte {
	le := order.LittleEndian
	names := "\x00" + name + "\x00.shstrtab\x00"
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 1)
	le.PutUint16(b[18:], 62)
	le.PutUint32(b[20:], 1)
	b = append(b, data...)
	at := len(b)
	b = append(b, names...)
	b = append(b, make([]byte, 8-len(b)%8)...)
	le.PutUint64(b[40:], uint64(len(b)))
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[58:], 64)
	le.PutUint16(b[60:], 3)
	le.PutUint16(b[62:], 2)
	section := func(nameAt, typ uint32, offset, size int) {
		h := make([]byte, 64)
		le.PutUint32(h, nameAt)
		le.PutUint32(h[4:], typ)
		le.PutUint64(h[24:], uint64(offset))
		le.PutUint64(h[32:], uint64(size))
		b = append(b, h...)
	}
	section(0, 0, 0, 0)
	section(1, 1, 64, len(data))
	section(uint32(len(name)+2), 3, at, len(names))
	return b
}
