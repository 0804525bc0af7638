package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
)

// TestPack: the verbs of the store, and what check says of a library before and after.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KUDZU_PACK_DIR", filepath.Join(dir, "packs"))
	const text = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry same(.param .u64 p)\n{\n\tret;\n}\n.visible .entry grown(.param .u64 p)\n{\n\tret;\n}\n"
	code := &cubin.File{SM: 80, Text: "x", Kernels: []cubin.Kernel{{Name: "same", Params: []cubin.Param{{Size: 8}}}, {Name: "grown", Params: []cubin.Param{{Size: 4}}}}}
	b, err := code.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte(cubin.Section), []byte(".other.sec"))
	put := func(name string, p fatbin.Part) string {
		fat, err := fatbin.Write([]fatbin.Part{p})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, fat, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	with := put("a/libfoo.so.1.2", fatbin.Part{Kind: fatbin.PTX, SM: 80, Data: []byte(text)})
	without := put("b/libfoo.so.1.2", fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: b})
	nameless := put("libfoo.so", fatbin.Part{Kind: fatbin.PTX, SM: 80, Data: []byte(text)})
	for _, r := range []struct {
		args []string
		want string // of what it writes, or of the error
	}{
		{[]string{"check", "--quiet", without}, "kudzu pack add FILE_OF_THAT_BUILD --version=1.2"},
		{[]string{"pack", "add", without}, "has no PTX"},
		{[]string{"pack", "add", nameless}, "say it with --version=V"},
		{[]string{"pack", "add", with}, "added libfoo 1.2: 1 modules, 2 kernels\n"},
		{[]string{"pack", "add", filepath.Dir(with)}, "added libfoo 1.2: 1 modules, 2 kernels\n"},
		{[]string{"pack", "ls"}, "1 packs in "},
		{[]string{"check", "--quiet", without}, "the PTX pack libfoo 1.2 has 1 of its 2 kernels, in 1 modules\n       1 kernels are refused: its parameters are\n         grown\n"},
		{[]string{"check", "--json", without}, `"found": 1,`},
		{[]string{"pack", "rm", "libfoo", "1.3"}, "no pack libfoo 1.3"},
		{[]string{"pack", "rm", "libfoo"}, "removed libfoo 1.2\n"},
		{[]string{"pack"}, "0 packs in "},
		{[]string{"pack", "mend"}, "there are add, ls, rm and dir"},
		{[]string{"pack", "add", "no_such_package_here"}, "no package of python3"},
	} {
		var out strings.Builder
		err := dispatch(r.args, &out)
		got := out.String()
		if err != nil {
			got += err.Error()
		}
		if !strings.Contains(got, r.want) {
			t.Errorf("%v: %q, want %q", r.args, got, r.want)
		}
	}
}
