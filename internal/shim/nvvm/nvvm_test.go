package nvvm

import (
	"errors"
	"slices"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/hostmem"
	"kudzu/internal/nvvmir"
)

// answering stands in for the compiler.
type answering struct {
	got   *compile.NVVM
	texts string
	err   error
}

func (a *answering) PTX(p *compile.NVVM, texts string) (string, error) {
	a.got, a.texts = p, texts
	return "PTX", a.err
}

// texts are C strings, and pointers to them.
func texts(list ...string) (hostmem.Ptr, []hostmem.Ptr) {
	ptrs := make([]hostmem.Ptr, len(list)+1)
	for i, s := range list {
		b := append([]byte(s), 0)
		ptrs[i] = hostmem.Of(&b[0])
	}
	return hostmem.Of(&ptrs[0]), ptrs
}

func (t *Thread) text(size func(uint64) (uint64, error), get func(uint64, hostmem.Ptr) error, h uint64) string {
	n, err := size(h)
	if err != nil {
		return err.Error()
	}
	b := make([]byte, n)
	if err := get(h, hostmem.Of(&b[0])); err != nil {
		return err.Error()
	}
	return string(b)
}

func TestProgram(t *testing.T) {
	c := &answering{}
	Use(c)
	var th Thread
	h, err := th.CreateProgram()
	if err != nil {
		t.Fatal(err)
	}
	_, s := texts("module", "k.ll", "library", "-arch=compute_90", "-foo")
	if err := th.CompileProgram(h, 0, 0); !errors.Is(err, noModule) {
		t.Errorf("without a module: %v", err)
	}
	if err := th.AddModuleToProgram(h, 0, 4, 0); !errors.Is(err, invalidInput) {
		t.Errorf("NULL: %v", err)
	}
	if err := th.AddModuleToProgram(h, s[0], 6, s[1]); err != nil {
		t.Error(err)
	}
	if err := th.LazyAddModuleToProgram(h, s[2], 7, 0); err != nil {
		t.Error(err)
	}
	good, _ := texts("-arch=compute_90", "-ftz=1")
	if err := th.CompileProgram(h, 2, good); err != nil {
		t.Error(err)
	}
	if want := []compile.NVVMUnit{{Name: "k.ll", Bytes: 6}, {Name: "<unnamed>", Bytes: 7, Lazy: true}}; !slices.Equal(c.got.Units, want) || c.texts != "modulelibrary" {
		t.Errorf("compiled %+v, %q", c.got.Units, c.texts)
	}
	if want := (nvvmir.Options{Arch: "90", Level: 3, FTZ: true}); c.got.Options != want {
		t.Errorf("options %+v", c.got.Options)
	}
	if got := th.text(th.GetCompiledResultSize, th.GetCompiledResult, h); got != "PTX\x00" {
		t.Errorf("result %q", got)
	}
	if got := th.text(th.GetProgramLogSize, th.GetProgramLog, h); got != "\x00" {
		t.Errorf("log %q", got)
	}
	if err := th.VerifyProgram(h, 0, 0); err != nil || !c.got.Options.Verify {
		t.Errorf("verified: %v, %+v", err, c.got.Options)
	}
	lto, _ := texts("-gen-lto")
	if err := th.CompileProgram(h, 1, lto); err != nil || !c.got.Options.LTO {
		t.Errorf("for linking: %v, %+v", err, c.got.Options)
	}
	if got := th.text(th.GetCompiledResultSize, th.GetCompiledResult, h); got != "PTX" {
		t.Errorf("result %q", got)
	}
	bad, _ := texts("-foo")
	if err := th.CompileProgram(h, 1, bad); !errors.Is(err, invalidOption) {
		t.Error(err)
	}
	if got := th.text(th.GetProgramLogSize, th.GetProgramLog, h); got != "libnvvm : error: -foo is an unsupported option\x00" {
		t.Errorf("log %q", got)
	}
	if got := th.text(th.GetCompiledResultSize, th.GetCompiledResult, h); got != "\x00" {
		t.Errorf("result %q", got)
	}
	if err := th.DestroyProgram(hostmem.Of(&h)); err != nil || h != 0 {
		t.Errorf("%v, handle %#x", err, h)
	}
	if err := th.DestroyProgram(hostmem.Of(&h)); !errors.Is(err, invalidProgram) {
		t.Error(err)
	}
	if err := th.CompileProgram(h, 0, 0); !errors.Is(err, invalidProgram) {
		t.Error(err)
	}
}

// How the compiler fails is told by codes and in the log.
func TestFailures(t *testing.T) {
	c := &answering{}
	Use(c)
	var th Thread
	h, _ := th.CreateProgram()
	_, s := texts("m")
	if err := th.AddModuleToProgram(h, s[0], 1, 0); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		err             error
		compile, verify Result
	}{
		{&compile.IRError{Log: "log"}, notCompiled, invalidIR},
		{&compile.IRError{Log: "log", Version: true}, wrongVersion, wrongVersion},
		{&compile.NoCompiler{Why: "log"}, notCompiled, notCompiled},
	} {
		c.err = f.err
		if err := th.CompileProgram(h, 0, 0); !errors.Is(err, f.compile) || Code(err) != int32(f.compile) {
			t.Errorf("%v: compiled %v", f.err, err)
		}
		if err := th.VerifyProgram(h, 0, 0); !errors.Is(err, f.verify) {
			t.Errorf("%v: verified %v", f.err, err)
		}
		if got := th.text(th.GetProgramLogSize, th.GetProgramLog, h); got != f.err.Error()+"\x00" {
			t.Errorf("log %q", got)
		}
	}
	for arch, want := range map[string]int32{"compute_80": 7, "compute_120f": 22} {
		if v, err := th.LLVMVersion(arch); err != nil || v != want {
			t.Errorf("%s: %d, %v", arch, v, err)
		}
	}
	if _, err := th.LLVMVersion("bad"); !errors.Is(err, invalidInput) {
		t.Error(err)
	}
}
