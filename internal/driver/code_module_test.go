package driver

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

const ptxHead = ".version 7.8\n.target sm_80\n.address_size 64\n"

// load is cuModuleLoadDataEx with both logs and further options.
func load(th *Thread, c *cmem, src string, opts ...uint64) (code int, errLog, infoLog string, values []uint64) {
	e, i := c.words(make([]uint64, 512)...), c.words(make([]uint64, 512)...)
	names := []uint64{}
	vals := []uint64{uint64(e), 4096, uint64(i), 4096}
	ids := []uint64{5, 6, 3, 4}
	for k := 0; k+1 < len(opts); k += 2 {
		ids, vals = append(ids, opts[k]), append(vals, opts[k+1])
	}
	for k := 0; k < len(ids); k += 2 {
		w := ids[k] & 0xffffffff
		if k+1 < len(ids) {
			w |= ids[k+1] << 32
		}
		names = append(names, w)
	}
	slots := c.words(vals...)
	_, err := th.ModuleLoadDataEx(c.str(src), uint32(len(ids)), c.words(names...), slots)
	if err != nil {
		code = int(err.(Result))
	}
	return code, hostmem.String(e), hostmem.String(i), hostmem.Slice[uint64](slots, len(vals))
}

func TestLoadCodesAndLogs(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	for _, r := range []struct {
		what, src string
		opts      []uint64
		code      int
		log       string // must be in the error log; "" means it is empty
	}{
		{"good", fakePTX, nil, 0, ""},
		{"options", fakePTX, []uint64{0, 16, 1, 64, 2, 0, 7, 1, 12, 1, 11, 1, 13, 1}, 0, ""},
		{"target 70", fakePTX, []uint64{9, 70}, 218, "SM version specified by .target is higher"},
		{"target 90", fakePTX, []uint64{9, 90}, 0, ""},
		{"target 100", fakePTX, []uint64{9, 100}, 300, ""},
		{"option 100", fakePTX, []uint64{100, 0}, 1, ""},
		{"option -1", fakePTX, []uint64{0xffffffff, 0}, 1, ""},
		{"garbage", "garbage", nil, 200, "not recognized"},
		{"empty", "", nil, 200, "not recognized"},
		{"no version", ".target sm_80\n", nil, 200, "not recognized"},
		{"only a header", ptxHead, nil, 0, ""},
		{"version 99", ".version 99.0\n.target sm_80\n.address_size 64\n", nil, 222, "Unsupported .version 99.0"},
		{"newer than the device", ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k() {ret;}", nil, 0, ""},
		{"of another chip", ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k() {ret;}", nil, 0, ""},
		{"newer than the target asked for", ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k() {ret;}", []uint64{9, 90}, 218, "higher"},
		{"of no known target", ".version 8.6\n.target sm_999\n.address_size 64\n.visible .entry k() {ret;}", nil, 218, "sm_999"},
		{"sm_90a", ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {ret;}", nil, 0, ""},
		{"32 bits", ".version 7.8\n.target sm_80\n.address_size 32\n.visible .entry k() {ret;}", nil, 218, "32-Bit compilation is no longer supported"},
		{"cut off", ptxHead + ".visible .entry k() {\n ret;\n", nil, 218, "ptxas application ptx input, line"},
		{"open comment", ptxHead + "/* open", nil, 218, "line 4"},
		{"unresolved function", ptxHead + ".extern .func foo();\n.visible .entry k() { call foo; ret; }", nil, 218, "ptxas fatal   : Unresolved extern function 'foo'"},
		{"system function", ptxHead + ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.visible .entry k() { .param .b64 n; .param .b64 r; call (r), malloc, (n); ret; }", nil, 0, ""},
		{"unused extern function", ptxHead + ".extern .func foo();\n.visible .entry k() { ret; }", nil, 0, ""},
		{"unknown instruction", ptxHead + ".visible .entry k() {\n foo.u32 %r1;\n ret;\n}\n", nil, 218, "line 5; error   : "},
	} {
		code, log, _, _ := load(th, c, r.src, r.opts...)
		if code != r.code || (log == "") != (r.log == "") || !strings.Contains(log, r.log) {
			t.Errorf("%s: code %d, log %q; want %d, %q", r.what, code, log, r.code, r.log)
		}
	}
	_, log, _, v := load(th, c, "garbage")
	if v[1] != uint64(len(log)) || v[3] != 0 {
		t.Errorf("sizes %d and %d for a log of %d bytes", v[1], v[3], len(log))
	}
	_, _, _, v = load(th, c, fakePTX, 2, 0)
	if ms := math.Float32frombits(uint32(v[4])); ms <= 0 || ms > 60000 {
		t.Errorf("wall time %v", ms)
	}
	_, log, _, _ = load(th, c, ptxHead+".visible .entry k() {\n foo.u32 %r1;\n bar2.u32 %r1;\n ret;\n}\n")
	if strings.Count(log, "error   :") < 2 {
		t.Errorf("not every error is listed: %q", log)
	}
}

func TestSmallLog(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	buf := c.words(0x5a5a5a5a5a5a5a5a, 0x5a5a5a5a5a5a5a5a, 0x5a5a5a5a5a5a5a5a, 0x5a5a5a5a5a5a5a5a)
	slots := c.words(uint64(buf), 20)
	_, err := th.ModuleLoadDataEx(c.str("garbage"), 2, c.words(5|6<<32), slots)
	want(t, "load", err, 200)
	b := hostmem.Bytes(buf, 32)
	if b[19] != 0 || b[20] != 'Z' || hostmem.Load[uint64](slots+8) != 20 {
		t.Errorf("log %q, size %d", b, hostmem.Load[uint64](slots+8))
	}
}

func TestImages(t *testing.T) {
	th, c, _, dev := withPrimary(t)
	put := func(b []byte) hostmem.Ptr {
		p := c.words(make([]uint64, len(b)/8+1)...)
		copy(hostmem.Bytes(p, uint64(len(b))), b)
		return p
	}
	fat := func(parts ...fatbin.Part) []byte {
		b, err := fatbin.Write(parts)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ptx := []byte(fakePTX)
	elf := append([]byte("\x7fELF\x02\x01"), make([]byte, 64)...)
	new_ := []byte(strings.Replace(strings.Replace(fakePTX, "sm_80", "sm_100", 1), ".version 7.8", ".version 8.6", 1))
	for _, flags := range []uint64{0, fatbin.FlagLZ4, fatbin.FlagZstd} {
		b := put(fat(fatbin.Part{Kind: fatbin.ELF, SM: 90, Data: elf}, fatbin.Part{Kind: fatbin.PTX, SM: 80, Flags: flags, Data: ptx}))
		for what, p := range map[string]hostmem.Ptr{"container": b, "wrapper": put(fatbin.WriteWrapper(uint64(b)))} {
			m, err := th.ModuleLoadFatBinary(p)
			if err != nil {
				_, why := readImage(p, claim{sm: 90})
				t.Fatalf("%s, flags %#x: %v: %v", what, flags, err, why)
			}
			mustFn(t, th, m, "empty")
		}
	}
	list := c.words(uint64(put(fat(fatbin.Part{Kind: fatbin.ELF, SM: 90, Data: elf}))), uint64(put(fat(fatbin.Part{Kind: fatbin.PTX, SM: 80, Data: ptx}))), 0)
	w2 := fatbin.WriteWrapper(0)
	w2[4] = 2
	p2 := put(w2)
	hostmem.Store(p2+16, uint64(list))
	_, err := th.ModuleLoadData(p2)
	want(t, "wrapper version 2", err, 0)
	for what, r := range map[string]struct {
		p    hostmem.Ptr
		code int
	}{
		"ELF only":      {put(fat(fatbin.Part{Kind: fatbin.ELF, SM: 90, Data: elf})), 209},
		"bare ELF":      {put(elf), 209},
		"newer only":    {put(fat(fatbin.Part{Kind: fatbin.PTX, SM: 100, Data: new_})), 0},
		"empty fatbin":  {put(fat()), 209},
		"NULL":          {0, 1},
		"empty wrapper": {put(fatbin.WriteWrapper(0)), 200},
		"bad container": {put([]byte("\x50\xed\x55\xba\x01\x00\x00\x00________")), 200},
	} {
		_, err := th.ModuleLoadData(r.p)
		want(t, what, err, r.code)
	}
	// A device that a vendor's driver compiles for answers as that driver does.
	dev.info.OwnPTX = true
	_, err = th.ModuleLoadData(put(fat(fatbin.Part{Kind: fatbin.PTX, SM: 100, Data: new_})))
	want(t, "newer only, a vendor's driver", err, 209)
	_, err = th.ModuleLoadData(c.str(string(new_)))
	want(t, "newer text, a vendor's driver", err, 218)
}

func TestFiles(t *testing.T) {
	th, _, _, _ := withPrimary(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "k.ptx")
	if err := os.WriteFile(name, []byte(fakePTX), 0o600); err != nil {
		t.Fatal(err)
	}
	b, _ := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 80, Flags: fatbin.FlagZstd, Data: []byte(fakePTX)}})
	os.WriteFile(name+".fatbin", b, 0o600)
	os.WriteFile(name+".txt", []byte("root:x:0:0"), 0o600)
	for f, codes := range map[string]int{name: 0, name + ".fatbin": 0, name + ".txt": 200, dir: 301, filepath.Join(dir, "nope"): 301, "": 1} {
		_, err := th.ModuleLoad(f)
		want(t, f, err, codes)
	}
}

func TestModuleContents(t *testing.T) {
	th, c, m, dev := withPrimary(t)
	for name, codes := range map[string]int{"k": 0, "nope": 500, "": 1, "gv": 500} {
		_, err := th.ModuleGetFunction(m, name)
		want(t, name, err, codes)
	}
	if first, second := mustFn(t, th, m, "k"), mustFn(t, th, m, "k"); first != second {
		t.Error("two handles for one function")
	}
	p, n, err := th.ModuleGetGlobal(m, "gv")
	if n != 16 || err != nil {
		t.Fatal(n, err)
	}
	back := c.words(0, 0)
	want(t, "read", th.MemcpyDtoH(back, p, 16), 0)
	if v := hostmem.Load[[4]uint32](back); v != [4]uint32{1, 2, 3, 4} {
		t.Error(v)
	}
	want(t, "free a variable", th.MemFree(p), 1)
	if base, size, err := th.MemGetAddressRange(p + 4); base != p || size != 16 || err != nil {
		t.Error(base, size, err)
	}
	_, n, err = th.ModuleGetGlobal(m, "cv")
	if n != 4 || err != nil {
		t.Error(n, err)
	}
	_, _, err = th.ModuleGetGlobal(m, "zz")
	want(t, "unknown variable", err, 500)
	if n, _ := th.ModuleGetFunctionCount(m); n != 8 {
		t.Errorf("%d functions", n)
	}
	list := c.words(make([]uint64, 16)...)
	want(t, "enumerate", th.ModuleEnumerateFunctions(list, 16, m), 0)
	if got := hostmem.Load[cu.CUfunction](list); got != mustFn(t, th, m, "k") {
		t.Error("first function is not k")
	}
	out := c.words()
	f := mustFn(t, th, m, "k")
	want(t, "name of no function", th.FuncGetName(out, 0), 1)
	want(t, "name of no kernel", th.KernelGetName(out, 0), 1)
	want(t, "name", th.FuncGetName(out, f), 0)
	if s := hostmem.String(hostmem.Load[hostmem.Ptr](out)); s != "k" {
		t.Errorf("name %q", s)
	}
	if h, err := th.FuncGetModule(f); h != m || err != nil {
		t.Error(h, err)
	}
	for i, w := range [][3]uint64{{0, 8, 0}, {8, 4, 0}, {0, 0, 1}} {
		off, size, err := th.FuncGetParamInfo(f, uint64(i))
		if off != w[0] || size != w[1] || code(err) != int(w[2]) {
			t.Error(i, off, size, err)
		}
	}
	before := dev.progs.Load()
	want(t, "unload", th.ModuleUnload(m), 0)
	if dev.progs.Load() != before-1 {
		t.Error("program still loaded")
	}
	want(t, "unload twice", th.ModuleUnload(m), 400)
	_, err = th.ModuleGetFunction(m, "k")
	want(t, "stale module", err, 400)
	want(t, "stale function", th.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), 400)
	want(t, "stale variable", th.MemcpyDtoH(back, p, 4), 1)
}

func TestFunctionAttributes(t *testing.T) {
	th, _, m, _ := withPrimary(t)
	k, e := mustFn(t, th, m, "k"), mustFn(t, th, m, "empty")
	for _, r := range []struct {
		f    cu.CUfunction
		attr cu.CUfunction_attribute
		v    int32
		code int
	}{{k, 0, 512, 0}, {k, 1, 1024, 0}, {k, 5, 80, 0}, {k, 6, 90, 0}, {k, 8, 48128, 0}, {k, 9, -1, 0}, {e, 0, 1024, 0}, {e, 8, 49152, 0}, {k, 16, 0, 1}, {k, -1, 0, 1}} {
		v, err := th.FuncGetAttribute(r.attr, r.f)
		want(t, "get", err, r.code)
		if v != r.v {
			t.Errorf("attribute %d is %d, want %d", r.attr, v, r.v)
		}
	}
	for _, r := range [][3]int32{{8, 49152, 0}, {8, 48129, 0}, {8, 232448, 1}, {8, 231424, 0}, {8, 231425, 1}, {8, -1, 1}, {8, 0, 0}, {9, 50, 0}, {9, -1, 0}, {9, 101, 1}, {9, -2, 1}, {0, 5, 1}, {10, 1, 1}, {14, 1, 0}, {30, 0, 1}} {
		want(t, "set", th.FuncSetAttribute(k, cu.CUfunction_attribute(r[0]), r[1]), int(r[2]))
	}
	want(t, "cache", th.FuncSetCacheConfig(k, 1), 0)
	want(t, "cache 7", th.FuncSetCacheConfig(k, 7), 1)
}

func TestOccupancy(t *testing.T) {
	th, _, m, _ := withPrimary(t)
	e := mustFn(t, th, m, "empty")
	for _, r := range []struct {
		block int32
		dyn   uint64
		n     int32
		code  int
	}{{0, 0, 0, 1}, {1, 0, 32, 0}, {32, 0, 32, 0}, {64, 0, 32, 0}, {128, 0, 16, 0}, {256, 0, 8, 0}, {1024, 0, 2, 0}, {1025, 0, 0, 0}, {-1, 0, 0, 1}, {256, 40000, 5, 0}, {256, 48000, 4, 0}, {256, 60000, 0, 0}} {
		n, err := th.OccupancyMaxActiveBlocksPerMultiprocessor(e, r.block, r.dyn)
		want(t, "occupancy", err, r.code)
		if n != r.n {
			t.Errorf("block %d dynamic %d: %d, want %d", r.block, r.dyn, n, r.n)
		}
	}
	want(t, "opt out", th.FuncSetAttribute(e, 8, 0), 0)
	if n, err := th.OccupancyMaxActiveBlocksPerMultiprocessor(e, 256, 40000); n != 5 || err != nil {
		t.Errorf("what needs no opt-in is gone: %d %v", n, err)
	}
	want(t, "opt in again", th.FuncSetAttribute(e, 8, 49152), 0)
	for _, r := range [][4]int32{{0, 264, 1024, 0}, {100, 4224, 64, 0}, {1000, 528, 512, 0}, {-1, 0, 0, 1}} {
		g, b, err := th.OccupancyMaxPotentialBlockSize(e, 0, 0, r[0])
		if g != r[1] || b != r[2] || code(err) != int(r[3]) {
			t.Errorf("limit %d: grid %d block %d %v", r[0], g, b, err)
		}
	}
	for _, r := range [][4]int32{{1, 128, 49152, 0}, {16, 128, 14592, 0}, {32, 64, 7296, 0}, {33, 64, 0, 1}, {0, 64, 0, 1}, {1, 0, 0, 1}} {
		n, err := th.OccupancyAvailableDynamicSMemPerBlock(e, r[0], r[1])
		if n != uint64(r[2]) || code(err) != int(r[3]) {
			t.Errorf("%v: %d %v", r, n, err)
		}
	}
	// The program's own function from block size to shared memory: 2 bytes a thread.
	if _, b, err := th.OccupancyMaxPotentialBlockSize(e, 1, 0, 0); b == 0 || err != nil {
		t.Error(b, err)
	}
}

func TestLibraries(t *testing.T) {
	th, b, c := newThread(t, 1)
	dev := b.devs[0].(*fakeDevice)
	for _, bad := range []string{"garbage", ptxHead + "foo;"} { // as the real driver: found out at first use
		l, err := th.LibraryLoadData(c.str(bad), 0, 0, 0, 0, 0, 0)
		want(t, "load", err, 0)
		if _, err := th.LibraryGetKernel(l, "k"); err == nil {
			t.Errorf("kernel of %q", bad)
		}
		want(t, "unload", th.LibraryUnload(l), 0)
	}
	_, err := th.LibraryLoadData(0, 0, 0, 0, 0, 0, 0)
	want(t, "NULL", err, 1)
	l, err := th.LibraryLoadData(c.str(fakePTX), 0, 0, 0, 0, 0, 0)
	want(t, "load", err, 0)
	k, err := th.LibraryGetKernel(l, "k")
	want(t, "kernel", err, 0)
	_, err = th.LibraryGetKernel(l, "zz")
	want(t, "unknown kernel", err, 500)
	_, err = th.KernelGetFunction(k)
	want(t, "function without a context", err, 201)
	if v, err := th.KernelGetAttribute(0, k, 0); v != 512 || err != nil {
		t.Error(v, err)
	}
	_, err = th.KernelGetAttribute(0, 0, 0)
	want(t, "NULL kernel", err, 400)
	want(t, "set", th.KernelSetAttribute(8, 100000, k, 0), 0)
	ctx, _ := th.CtxCreate(0, 0)
	f, err := th.KernelGetFunction(k)
	want(t, "function", err, 0)
	if v, _ := th.FuncGetAttribute(8, f); v != 100000 {
		t.Errorf("attribute set on the kernel is %d on its function", v)
	}
	_, err = th.FuncGetAttribute(8, cu.CUfunction(k))
	want(t, "attribute of a CUkernel", err, 400)
	_, err = th.FuncGetModule(cu.CUfunction(k))
	want(t, "module of a CUkernel", err, 400)
	_, err = th.OccupancyMaxActiveBlocksPerMultiprocessor(cu.CUfunction(k), 32, 0)
	want(t, "occupancy of a CUkernel", err, 0)
	m, _ := th.LibraryGetModule(l)
	if mustFn(t, th, m, "k") != f {
		t.Error("two functions for one kernel")
	}
	p, _ := th.MemAlloc(4)
	want(t, "launch a CUkernel", th.LaunchKernel(cu.CUfunction(k), 1, 1, 1, 1, 1, 1, 0, 0, c.params(uint64(p), 7), 0), 0)
	if n, _ := th.LibraryGetKernelCount(l); n != 8 {
		t.Error(n)
	}
	if _, n, err := th.LibraryGetGlobal(l, "gv"); n != 16 || err != nil {
		t.Error(n, err)
	}
	want(t, "unload its module", th.ModuleUnload(m), 800)
	want(t, "unload", th.LibraryUnload(l), 0)
	want(t, "unload twice", th.LibraryUnload(l), 400)
	want(t, "stale kernel", th.LaunchKernel(cu.CUfunction(k), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0), 400)
	want(t, "destroy", th.CtxDestroy(ctx), 0)
	if dev.progs.Load() != 0 || Leaks() != "" && !strings.HasPrefix(Leaks(), "1 contexts") { // the primary one stays
		t.Error(dev.progs.Load(), Leaks())
	}
}

// TestGarbage loads 100 MB that is not PTX; it must fail fast.
func TestGarbage(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB")
	}
	th, c, _, _ := withPrimary(t)
	_, err := th.ModuleLoadData(c.str(strings.Repeat("garbage ", 100<<20/8)))
	want(t, "garbage", err, 200)
}
