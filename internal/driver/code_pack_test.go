package driver

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/pack"
)

// TestPackLoads: a module with machine code only is loaded with the text of a pack of the same library and version; a kernel whose
// parameters differ is not there, and without the pack the module is refused as ever.
func TestPackLoads(t *testing.T) {
	th, _, _, _ := withPrimary(t)
	t.Setenv("KUDZU_PACK_DIR", filepath.Join(t.TempDir(), "packs"))
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n"
	const entries = ".visible .entry same(.param .u64 p, .param .u32 n)\n{\n\tret;\n}\n.visible .entry grown(.param .u64 p, .param .u64 n)\n{\n\tret;\n}\n"
	code := &cubin.File{SM: 80, Text: "x", Kernels: []cubin.Kernel{
		{Name: "same", Params: []cubin.Param{{Offset: 0, Size: 8}, {Offset: 8, Size: 4}}},
		{Name: "grown", Params: []cubin.Param{{Offset: 0, Size: 8}, {Offset: 8, Size: 4}}}}}
	b, err := code.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte(cubin.Section), []byte(".other.sec"))
	fat, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.ELF, SM: 80, Data: b}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := map[string]string{"fat binary": put("libfoo.so.1.2", fat), "machine code": put("libbar.so.1.2", b)}
	other := put("libfoo.so.1.3", fat) // another version
	for what, file := range files {    // before there is a store: a process asks for a file's pack once
		_, err := th.ModuleLoad(file)
		want(t, what+" without a pack", err, 209)
	}
	for what, file := range files {
		a, err := pack.Begin(pack.NameOf(file), "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Module(head + entries); err != nil {
			t.Fatal(err)
		}
		if err := a.Done(); err != nil {
			t.Fatal(err)
		}
		m, err := th.ModuleLoad(file)
		want(t, what, err, 0)
		_, err = th.ModuleGetFunction(m, "same")
		want(t, what+": same", err, 0)
		_, err = th.ModuleGetFunction(m, "grown")
		want(t, what+": grown", err, 209)
		_, err = th.ModuleGetFunction(m, "never")
		want(t, what+": a kernel of neither", err, 500)
		if why := pack.WhyNot("grown"); why == "" {
			t.Errorf("%s: nobody says why grown is refused", what)
		}
		want(t, what, th.ModuleUnload(m), 0)
		l, err := th.LibraryLoadFromFile(file, 0, 0, 0, 0, 0, 0)
		want(t, what+" as a library", err, 0)
		_, err = th.LibraryGetKernel(l, "grown")
		want(t, what+" as a library: grown", err, 209)
		want(t, what, th.LibraryUnload(l), 0)
	}
	_, err = th.ModuleLoad(other)
	want(t, "another version", err, 209)
}
