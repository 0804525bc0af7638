package nvrtc

import (
	"errors"
	"strings"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nvrtcapi"
)

// answering stands in for the compiler.
type answering struct {
	got   *compile.CUDA
	texts string
	code  compile.CUDACode
	err   error
	key   [32]byte // of what was kept last
	kept  []byte

	adopted [2]int // file and process
}

func (a *answering) Adopt(fd, pid int) { a.adopted = [2]int{fd, pid} }

func (a *answering) CUDA(p *compile.CUDA, texts string) (*compile.CUDACode, error) {
	a.got, a.texts = p, texts
	c := a.code
	return &c, a.err
}

func (a *answering) Keep(key [32]byte, answer []byte) { a.key, a.kept = key, answer }

func (a *answering) Tools() []compile.CUDAFile {
	return []compile.CUDAFile{{Path: "/tool", Size: 3, Nanos: 4}}
}

// texts are pointers to C strings, and the address of their list.
func texts(list ...string) (hostmem.Ptr, []hostmem.Ptr) {
	ptrs := make([]hostmem.Ptr, len(list)+1)
	for i, s := range list {
		b := append([]byte(s), 0)
		ptrs[i] = hostmem.Of(&b[0])
	}
	return hostmem.Of(&ptrs[0]), ptrs
}

type get func(nvrtcapi.NvrtcProgram, hostmem.Ptr) error

func text(t *testing.T, size, copied get, h nvrtcapi.NvrtcProgram) string {
	t.Helper()
	var n uint64
	if err := size(h, hostmem.Of(&n)); err != nil {
		t.Fatal(err)
	}
	if err := size(h, 0); !errors.Is(err, invalidInput) {
		t.Errorf("no room for a size: %v", err)
	}
	if err := copied(h, 0); !errors.Is(err, invalidInput) {
		t.Errorf("no room: %v", err)
	}
	b := make([]byte, n+1)
	if err := copied(h, hostmem.Of(&b[0])); err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

const kernel = ".version 8.8\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"

func TestProgram(t *testing.T) {
	driver.Start(nil)
	c := &answering{code: compile.CUDACode{Code: kernel, Names: []string{"_Z1kv", ""}, Log: "careful\n"}}
	Use(c)
	var th Thread
	var h nvrtcapi.NvrtcProgram
	_, s := texts("source", "name.cu", "k", "zz")
	headers, _ := texts("one", "three")
	names, _ := texts("1.h", "3.h")
	for want, err := range map[Result]error{
		invalidProgram: th.CreateProgram(0, s[0], 0, 0, 0, 0, Release12),
		invalidInput:   errors.Join(th.CreateProgram(hostmem.Of(&h), 0, 0, 0, 0, 0, Release12), th.CreateProgram(hostmem.Of(&h), s[0], 0, -1, 0, 0, Release12), th.CreateProgram(hostmem.Of(&h), s[0], 0, 1, 0, 0, Release12)),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if err := th.CreateProgram(hostmem.Of(&h), s[0], s[1], 2, headers, names, Release12); err != nil {
		t.Fatal(err)
	}
	if ptx, log := text(t, th.GetPTXSize, th.GetPTX, h), text(t, th.GetProgramLogSize, th.GetProgramLog, h); ptx != "\x00" || log != "\x00" {
		t.Errorf("before: %q %q", ptx, log)
	}
	var name hostmem.Ptr
	if err := th.GetLoweredName(h, s[2], hostmem.Of(&name)); !errors.Is(err, tooEarly) {
		t.Errorf("name: %v", err)
	}
	for _, e := range s[2:4] {
		if err := th.AddNameExpression(h, e); err != nil {
			t.Error(err)
		}
	}
	options, _ := texts("-arch=sm_80", "-DX=1")
	if err := th.CompileProgram(h, 2, options); err != nil {
		t.Fatal(err, text(t, th.GetProgramLogSize, th.GetProgramLog, h))
	}
	if c.kept != nil {
		t.Errorf("an answer is kept that nobody asked for")
	}
	if p := c.got; c.texts != "sourceonethree" || p.Name != "name.cu" || p.Bytes != 6 || p.Headers[1] != (compile.CUDAHeader{Name: "3.h", Bytes: 5}) || p.Options.Arch != "80" || p.Options.Macros[0].Text != "X=1" {
		t.Errorf("asked for %+v %q", p, c.texts)
	}
	if ptx, log := text(t, th.GetPTXSize, th.GetPTX, h), text(t, th.GetProgramLogSize, th.GetProgramLog, h); ptx != kernel+"\x00" || log != "careful\n\x00" {
		t.Errorf("%q %q", ptx, log)
	}
	if b := text(t, th.GetCUBINSize, th.GetCUBIN, h); !strings.HasPrefix(b, "\x7fELF") {
		t.Errorf("cubin %.10q", b)
	}
	if err := th.GetLoweredName(h, s[2], hostmem.Of(&name)); err != nil || hostmem.String(name) != "_Z1kv" {
		t.Errorf("name: %v", err)
	}
	if err := th.GetLoweredName(h, s[3], hostmem.Of(&name)); !errors.Is(err, unknownName) {
		t.Errorf("name: %v", err)
	}
	if err := th.AddNameExpression(h, s[2]); !errors.Is(err, tooLate) {
		t.Errorf("a name after compiling: %v", err)
	}
	if err := th.GetPCHCreateStatus(h); !errors.Is(err, noPCH) {
		t.Errorf("PCH: %v", err)
	}
	if err := th.DestroyProgram(hostmem.Of(&h)); err != nil || h != 0 {
		t.Errorf("%v, handle %#x", err, h)
	}
	if err := th.CompileProgram(h, 0, 0); !errors.Is(err, invalidProgram) {
		t.Error(err)
	}
}

// TestKeep: a compilation that c/base has a key for is kept under it, unless it failed or did more than give its results.
func TestKeep(t *testing.T) {
	c := &answering{code: compile.CUDACode{Code: kernel, Names: []string{"_Z1kv", ""}, Files: []compile.CUDAFile{{Path: "/h", Size: 1, Nanos: 2}}}}
	Use(c)
	key := [32]byte{1, 2, 31: 3}
	for option, kept := range map[string]bool{"-DX": true, "-time=/nowhere/x": false, "-pch": false, "-Xptxas=-v": false, "--foo": false} {
		th := Thread{AnswerKey: uint64(hostmem.Of(&key[0]))}
		var h nvrtcapi.NvrtcProgram
		_, s := texts("source", "k", "zz")
		if err := errors.Join(th.CreateProgram(hostmem.Of(&h), s[0], 0, 0, 0, 0, Release13), th.AddNameExpression(h, s[1]), th.AddNameExpression(h, s[2])); err != nil {
			t.Fatal(err)
		}
		c.kept = nil
		list, _ := texts(option)
		err := th.CompileProgram(h, 1, list)
		if (c.kept != nil) != kept || kept && (err != nil || c.key != key || !strings.Contains(string(c.kept), kernel) || !strings.Contains(string(c.kept), "/tool\x00")) {
			t.Errorf("%s: %v, kept %q under %x", option, err, c.kept, c.key)
		}
	}
}

// TestAdopt: a compiler process that was started for a call is the compiler's, whatever becomes of the call.
func TestAdopt(t *testing.T) {
	c := &answering{}
	Use(c)
	th := Thread{Compiler: 1234<<32 | 57}
	if err := th.CompileProgram(0, 0, 0); !errors.Is(err, invalidProgram) || c.adopted != [2]int{56, 1234} || th.Compiler != 0 {
		t.Errorf("%v, adopted %v, left %#x", err, c.adopted, th.Compiler)
	}
	c.adopted = [2]int{}
	if err := th.CompileProgram(0, 0, 0); !errors.Is(err, invalidProgram) || c.adopted != [2]int{} {
		t.Errorf("%v, adopted %v where there is none", err, c.adopted)
	}
}

// How a compilation fails is told by codes and in the log.
func TestFailures(t *testing.T) {
	c := &answering{code: compile.CUDACode{Code: "bitcode"}}
	Use(c)
	var th Thread
	var h nvrtcapi.NvrtcProgram
	_, s := texts("source")
	if err := th.CreateProgram(hostmem.Of(&h), s[0], 0, 0, 0, 0, Release13); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		err    error
		option string
		want   Result
		log    string
	}{
		{&compile.CUDAError{Log: "x(1): error: no\n"}, "-DX", notCompiled, "x(1): error: no\n"},
		{&compile.CUDAError{Log: "install clang\n", Missing: true}, "-DX", noBuiltins, "install clang\n"},
		{&compile.NoCompiler{Why: "log"}, "-DX", internal, "nvrtc: error: no compiler: log\n"},
		{nil, "--foo", invalidOption, "nvrtc: error: unrecognized option --foo found\n"},
		{nil, "-arch=sm_70", invalidOption, "nvrtc: error: invalid value for --gpu-architecture (-arch)\n"},
		{nil, "-arch=sm_90f", notCompiled, "Command-line error: invalid or no value specified with --nv_arch flag\n\n1 catastrophic error detected in this compilation.\nCompilation terminated.\n"},
		{nil, "-optix-ir", notCompiled, "nvrtc: error: OptiX-IR is not made here\n"},
		{nil, "-time=", noTimeFile, "nvrtc: error: failed to open file  for writing!"},
	} {
		c.err = f.err
		option, _ := texts(f.option)
		if err := th.CompileProgram(h, 1, option); !errors.Is(err, f.want) || Code(err) != int32(f.want) {
			t.Errorf("%v, %s: %v", f.err, f.option, err)
		}
		if log := text(t, th.GetProgramLogSize, th.GetProgramLog, h); log != f.log+"\x00" {
			t.Errorf("log %q", log)
		}
	}
	c.err = nil
	option, _ := texts("-dlto")
	if err := th.CompileProgram(h, 1, option); err != nil || !c.got.Options.LTO || text(t, th.GetLTOIRSize, th.GetLTOIR, h) != "bitcode" {
		t.Errorf("for linking: %v", err)
	}
	if err := th.CompileProgram(h, -1, 0); !errors.Is(err, invalidInput) {
		t.Error(err)
	}
	if err := th.CompileProgram(h, 1, 0); !errors.Is(err, invalidOption) {
		t.Error(err)
	}
}

func TestGeneral(t *testing.T) {
	var th Thread
	for r, want := range map[cudacc.Release]int32{Release12: 19, Release13: 12} {
		n, _ := th.GetNumSupportedArchs(r)
		if got := n; got != want {
			t.Errorf("%v, want %v", got, want)
		}
		list := make([]int32, n)
		if err := th.GetSupportedArchs(hostmem.Of(&list[0]), r); err != nil || list[n-1] != 121 {
			t.Errorf("%v %v", list, err)
		}
	}
	var n uint64
	if err := errors.Join(th.GetPCHHeapSize(hostmem.Of(&n)), th.SetPCHHeapSize(5)); err != nil || n != 256<<20 {
		t.Errorf("heap %d, %v", n, err)
	}
	if err := th.GetPCHHeapSize(hostmem.Of(&n)); err != nil || n != 5 {
		t.Errorf("heap %d, %v", n, err)
	}
}
