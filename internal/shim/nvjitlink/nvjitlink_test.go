package nvjitlink

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/nvvmir"
	"kudzu/internal/spec/jl"
)

// cmem keeps memory that the tests hand over as C's.
type cmem struct{ pin runtime.Pinner }

func (c *cmem) bytes(b []byte) hostmem.Ptr {
	b = append(bytes.Clone(b), 0)
	c.pin.Pin(&b[0])
	return hostmem.Of(&b[0])
}

func (c *cmem) word() (*uint64, hostmem.Ptr) {
	p := new(uint64)
	c.pin.Pin(p)
	return p, hostmem.Of(p)
}

// create is nvJitLinkCreate with options in one line.
func (c *cmem) create(t *Thread, line string) (*uint64, hostmem.Ptr, error) {
	words := strings.Fields(line)
	list := make([]hostmem.Ptr, len(words)+1)
	for i, w := range words {
		list[i] = c.bytes([]byte(w))
	}
	c.pin.Pin(&list[0])
	h, at := c.word()
	return h, at, t.Create(at, uint32(len(words)), hostmem.Of(&list[0]))
}

// ask reads a result: its code, and its bytes.
func (c *cmem) ask(h uint64, size, get func(jl.NvJitLinkHandle, hostmem.Ptr) error) (int32, string) {
	n, at := c.word()
	if err := size(jl.NvJitLinkHandle(h), at); err != nil {
		return Code(err), ""
	}
	p := c.bytes(make([]byte, *n))
	err := get(jl.NvJitLinkHandle(h), p)
	return Code(err), string(hostmem.Bytes(p, *n))
}

const (
	head    = ".version 8.0\n.target sm_80\n.address_size 64\n"
	good    = head + ".visible .entry k() { ret; }\n"
	faulty  = head + ".visible .entry k() { foo; ret; }\n"
	caller  = head + ".extern .func f();\n.visible .entry k() { call f; ret; }\n"
	defined = head + ".visible .func f() { ret; }\n"
)

// TestOptions: codes and logs as release 13.5 gave them.
func TestOptions(t *testing.T) {
	c, th := &cmem{}, &Thread{}
	defer c.pin.Unpin()
	for _, r := range []struct {
		line string
		code int32
		log  string
	}{
		{"", 2, ""}, {"-arch=sm_80", 0, ""}, {"-arch=sm_80 -foo", 1, "unrecognized option: -foo\n"},
		{"-arch=sm_999", 16, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (compute_999)\n"},
		{"-arch=foo", 1, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (-arch=foo)\n"},
		{"-arch=sm_XX", 1, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (-arch=sm_XX)\n"},
		{"-arch=sm_20", 17, "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (compute_20)\n"},
		{"-arch=compute_80", 11, "ERROR: virtual arch requires -ptx\n"}, {"-arch=sm_80 -ptx", 11, "ERROR: -ptx requires -lto\n"},
		{"-arch=compute_80 -lto -ptx", 0, ""},
		{"-arch=sm_80 -O3", 0, ""}, {"-arch=sm_80 -O2", 1, "unsupported value of -O: 2. Only 0 and 3 are supported.\n"},
		{"-arch=sm_80 -maxrregcount=32 -ftz=3 -kernels-used=k -Xptxas=-v -g", 0, ""}, {"-arch sm_80", 1, "unrecognized option: -arch\n"},
		{"-arch=sm_80 -kernels-used=", 1, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (-kernels-used=)\n"},
		{"-arch=sm_80 -variables-used", 1, "unrecognized option: -variables-used\n"},
		{"-arch=sm_80 -Xptxas=", 1, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (-Xptxas=)\n"},
		{"--arch=sm_80", 1, "unrecognized option: --arch=sm_80\n"}, {"-arch=sm_90a -lineinfo -fma=0 -prec-div=1 -split-compile=4 -no-cache -time", 0, ""},
	} {
		h, at, err := c.create(th, r.line)
		_, log := c.ask(*h, th.GetErrorLogSize, th.GetErrorLog)
		log = strings.TrimSuffix(log, "\x00")
		if Code(err) != r.code || log != r.log {
			t.Errorf("%s: %d, %q; want %d, %q", r.line, Code(err), log, r.code, r.log)
		}
		if err := th.Destroy(at); err != nil || *h != 0 {
			t.Errorf("%s: destroy %v, %#x", r.line, err, *h)
		}
	}
}

// link is a complete link of PTX.
func (c *cmem) link(t *testing.T, th *Thread, options string, texts ...string) uint64 {
	t.Helper()
	h, _, err := c.create(th, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if err := th.AddData(jl.NvJitLinkHandle(*h), jl.NVJITLINK_INPUT_PTX, c.bytes([]byte(text)), uint64(len(text)), hostmem.Nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := th.Complete(jl.NvJitLinkHandle(*h)); err != nil {
		t.Fatal(err)
	}
	return *h
}

// TestUsedKernels: which kernels stay, as in release 13.5; functions and variables do.
func TestUsedKernels(t *testing.T) {
	c, th := &cmem{}, &Thread{}
	defer c.pin.Unpin()
	const text = head + ".visible .global .u32 v;\n.visible .func f() { ret; }\n.visible .entry a() { ret; }\n.visible .entry b() { call f; ret; }\n"
	for options, want := range map[string]string{
		"": "a b", "-kernels-used=a": "a", "-kernels-used=a -kernels-used=b": "a b", "-kernels-used=a,b": "", "-kernels-used=c": "",
		"-variables-used=v": "", "-variables-used=v -kernels-used=b": "b",
	} {
		h := c.link(t, th, "-arch=sm_80 "+options, text)
		_, file := c.ask(h, th.GetLinkedCubinSize, th.GetLinkedCubin)
		f, err := cubin.Decode([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, k := range f.Kernels {
			names = append(names, k.Name)
		}
		if got := strings.Join(names, " "); got != want || len(f.Vars) != 1 || !strings.Contains(f.Text, ".func f") {
			t.Errorf("%q: kernels %q, want %q, and %d variables", options, got, want, len(f.Vars))
		}
	}
}

// TestTimes: -time writes a line for every input and two for the link.
func TestTimes(t *testing.T) {
	c, th := &cmem{}, &Thread{}
	defer c.pin.Unpin()
	h := c.link(t, th, "-arch=sm_80 -time", good, defined)
	_, log := c.ask(h, th.GetInfoLogSize, th.GetInfoLog)
	want := regexp.MustCompile(`^(nvJitLink time until Add_Cubin: \d+\.\d{6}\n){2}nvJitLink time until Complete: \d+\.\d{6}\nnvJitLinkComplete time to finish: \d+\.\d{6}\n\x00$`)
	if !want.MatchString(log) {
		t.Errorf("log %q", log)
	}
}

// TestLinks: what inputs come to, in codes and logs of release 13.5 where it links the same things.
func TestLinks(t *testing.T) {
	c, th := &cmem{}, &Thread{}
	defer c.pin.Unpin()
	file := func(text string) string {
		b, err := (&cubin.File{SM: 80, Text: text}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	fat, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 80, Data: []byte(good)}})
	if err != nil {
		t.Fatal(err)
	}
	machine := strings.ReplaceAll(file(good), cubin.Section, ".other.sec")
	const ptxType, any = jl.NVJITLINK_INPUT_PTX, jl.NVJITLINK_INPUT_ANY
	for _, r := range []struct {
		what     string
		kind     jl.NvJitLinkInputType
		in       []string
		add      int32 // of the last
		complete int32
		log      string
	}{
		{"PTX", ptxType, []string{good}, 0, 0, ""}, {"with a NUL", ptxType, []string{good + "\x00"}, 0, 0, ""}, {"of any type", any, []string{good}, 0, 0, ""},
		{"a fat binary", jl.NVJITLINK_INPUT_FATBIN, []string{string(fat)}, 0, 0, ""}, {"a file of ours", jl.NVJITLINK_INPUT_CUBIN, []string{file(good)}, 0, 0, ""},
		{"two", any, []string{caller, file(defined)}, 0, 0, ""}, {"nothing", ptxType, nil, 0, 0, ""},
		{"faulty", ptxType, []string{faulty}, 4, 0, "ptxas application ptx input, line 4; error   : Not a name of any known instruction: 'foo'\n" +
			"ptxas fatal   : Ptx assembly aborted due to errors\nERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (in0)\n"},
		{"for a newer target", ptxType, []string{strings.Replace(good, "sm_80", "sm_90", 1)}, 4, 0,
			"ptxas fatal   : SM version specified by .target is higher than default SM version assumed\nERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (in0)\n"},
		{"a missing function", ptxType, []string{caller}, 0, 6, "error   : Undefined reference to 'f' in 'in0'\nERROR 1: complete\n"},
		{"no PTX", ptxType, []string{"garbage"}, 12, 0, "ERROR 1: bad input: does not match type NVJITLINK_INPUT_PTXin0\n"},
		{"PTX as a cubin", jl.NVJITLINK_INPUT_CUBIN, []string{good}, 12, 0, "ERROR 1: bad input: does not match type NVJITLINK_INPUT_CUBINin0\n"},
		{"no fat binary", jl.NVJITLINK_INPUT_FATBIN, []string{"garbage"}, 12, 0, "ERROR 1: bad input: does not match type NVJITLINK_INPUT_FATBINin0\n"},
		{"LTO-IR", jl.NVJITLINK_INPUT_LTOIR, []string{"garbage"}, 12, 0, "ERROR 1: bad input: does not match type NVJITLINK_INPUT_LTOIRin0\n"},
		{"type 99", 99, []string{good}, 12, 0, "unsupported input type: in0\n"},
		{"machine code", jl.NVJITLINK_INPUT_CUBIN, []string{machine}, 8, 0, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_INPUT: machine code for sm_80 cannot be linked here; PTX is needed (in0)\n"},
		{"defined twice", ptxType, []string{good, good}, 0, 6, "error   : in1: Multiple definition of 'k' in in1, first defined in in0\nERROR 1: complete\n"},
	} {
		h, at, err := c.create(th, "-arch=sm_80")
		if err != nil {
			t.Fatal(err)
		}
		for i, in := range r.in {
			err = th.AddData(jl.NvJitLinkHandle(*h), r.kind, c.bytes([]byte(in)), uint64(len(in)), c.bytes(fmt.Appendf(nil, "in%d", i)))
		}
		done := th.Complete(jl.NvJitLinkHandle(*h))
		_, log := c.ask(*h, th.GetErrorLogSize, th.GetErrorLog)
		log = strings.TrimSuffix(log, "\x00")
		if Code(err) != r.add || Code(done) != r.complete || log != r.log {
			t.Errorf("%s: add %d, complete %d, %q", r.what, Code(err), Code(done), log)
		}
		code, out := c.ask(*h, th.GetLinkedCubinSize, th.GetLinkedCubin)
		if code != r.complete || r.complete == 0 && !cubin.Ours([]byte(out)) {
			t.Errorf("%s: cubin %d, %d bytes", r.what, code, len(out))
		}
		if code, _ := c.ask(*h, th.GetLinkedPtxSize, th.GetLinkedPtx); code != int32(invalidInput) {
			t.Errorf("%s: PTX %d", r.what, code)
		}
		if err := th.Destroy(at); err != nil {
			t.Error(err)
		}
	}
}

// TestResults: PTX on demand, statistics, files, and handles that are none.
func TestResults(t *testing.T) {
	c, th := &cmem{}, &Thread{}
	defer c.pin.Unpin()
	path := filepath.Join(t.TempDir(), "in.ptx")
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	h, at, err := c.create(th, "-arch=sm_80 -lto -ptx -verbose -maxrregcount=40")
	if err != nil {
		t.Fatal(err)
	}
	link := jl.NvJitLinkHandle(*h)
	if code, _ := c.ask(*h, th.GetLinkedPtxSize, th.GetLinkedPtx); code != int32(internal) {
		t.Errorf("PTX before the link: %d", code)
	}
	for _, r := range []struct {
		err  error
		code Result
	}{
		{th.AddFile(link, jl.NVJITLINK_INPUT_PTX, c.bytes([]byte(path+"x"))), invalidInput}, {th.AddFile(link, jl.NVJITLINK_INPUT_PTX, 0), nullInput},
		{th.AddData(link, jl.NVJITLINK_INPUT_PTX, 0, 1, 0), invalidInput}, {th.Complete(0), nullInput}, {th.Complete(77), invalidInput},
		{th.Destroy(0), nullInput}, {th.Create(0, 0, 0), nullInput}, {th.GetErrorLogSize(link, 0), nullInput},
	} {
		if Code(r.err) != int32(r.code) {
			t.Errorf("%v, want %v", r.err, r.code)
		}
	}
	if err := th.AddFile(link, jl.NVJITLINK_INPUT_PTX, c.bytes([]byte(path))); err != nil {
		t.Fatal(err)
	}
	if err := th.Complete(link); err != nil {
		t.Fatal(err)
	}
	if code, text := c.ask(*h, th.GetLinkedPtxSize, th.GetLinkedPtx); code != 0 || !strings.Contains(text, ".maxnreg 40") || !strings.HasSuffix(text, "\x00") {
		t.Errorf("%d: %s", code, text)
	}
	_, log := c.ask(*h, th.GetInfoLogSize, th.GetInfoLog)
	log = strings.TrimSuffix(log, "\x00")
	want := `^ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
ptxas         \.     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used \d+ registers, used 0 barriers, 352 bytes cmem\[0\]
ptxas info    : Compile time = [\d.]+ ms
$`
	if !regexp.MustCompile(want).MatchString(log) {
		t.Errorf("%q", log)
	}
	if err := th.Destroy(at); err != nil {
		t.Fatal(err)
	}
	*h = uint64(link)
	if err := th.Destroy(at); Code(err) != int32(invalidInput) {
		t.Errorf("a second time: %v", err)
	}
}

// compiling stands in for the compiler of LTO-IR.
type compiling struct {
	got   *compile.NVVM
	texts string
	err   error
}

func (c *compiling) PTX(p *compile.NVVM, texts string) (string, error) {
	c.got, c.texts = p, texts
	if p.Options.LTO {
		return string(nvvmir.LTO([]byte("both"))), c.err
	}
	return caller, c.err
}

// TestLTO: what libNVVM made for linking is compiled as one program when the link is complete, and linked with PTX.
func TestLTO(t *testing.T) {
	c, th, who := &cmem{}, &Thread{}, &compiling{}
	defer c.pin.Unpin()
	Use(who)
	defer Use(nil)
	h, _, err := c.create(th, "-arch=sm_90a -lto -ftz=1 -fma=0 -O0")
	if err != nil {
		t.Fatal(err)
	}
	one, two := nvvmir.LTO([]byte("one")), nvvmir.LTO([]byte("two"))
	add := func(kind jl.NvJitLinkInputType, b []byte) error {
		return th.AddData(jl.NvJitLinkHandle(*h), kind, c.bytes(b), uint64(len(b)), c.bytes([]byte("x.ltoir")))
	}
	if err := add(jl.NVJITLINK_INPUT_PTX, one); Code(err) != int32(wrongType) {
		t.Errorf("as PTX: %v", err)
	}
	for _, in := range []error{add(jl.NVJITLINK_INPUT_LTOIR, one), add(jl.NVJITLINK_INPUT_ANY, two), add(jl.NVJITLINK_INPUT_PTX, []byte(defined))} {
		if in != nil {
			t.Error(in)
		}
	}
	who.err = &compile.IRError{Log: "x.ltoir: error"}
	if err := th.Complete(jl.NvJitLinkHandle(*h)); Code(err) != int32(badIR) {
		t.Errorf("a mistake: %v", err)
	}
	who.err = nil
	if err := th.Complete(jl.NvJitLinkHandle(*h)); err != nil {
		_, log := c.ask(*h, th.GetErrorLogSize, th.GetErrorLog)
		t.Fatalf("%v: %s", err, log)
	}
	if want := (nvvmir.Options{Arch: "90a", FTZ: true, NoFMA: true}); who.got.Options != want || len(who.got.Units) != 2 || who.texts != string(one)+string(two) {
		t.Errorf("compiled %+v, %q", who.got, who.texts)
	}
	if code, b := c.ask(*h, th.GetLinkedCubinSize, th.GetLinkedCubin); code != 0 || len(b) == 0 {
		t.Errorf("code %d, %d bytes", code, len(b))
	}
	// Release 13.5: what was linked, once it is; without -lto nothing ever is.
	for range 2 {
		if code, b := c.ask(*h, th.GetLinkedLTOIRSize, th.GetLinkedLTOIR); code != 0 || b != string(nvvmir.LTO([]byte("both"))) {
			t.Errorf("LTO-IR: code %d, %q", code, b)
		}
	}
	if !who.got.Options.LTO || len(who.got.Units) != 2 || who.texts != string(one)+string(two) {
		t.Errorf("linked %+v, %q", who.got, who.texts)
	}
	for line, want := range map[string]Result{"-arch=sm_80 -lto": internal, "-arch=sm_80": invalidInput} {
		h, _, err := c.create(th, line)
		if err != nil {
			t.Fatal(err)
		}
		if code, _ := c.ask(*h, th.GetLinkedLTOIRSize, th.GetLinkedLTOIR); code != int32(want) {
			t.Errorf("%s: LTO-IR of no link: %d, want %d", line, code, want)
		}
	}
}
