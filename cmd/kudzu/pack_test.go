package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
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

// TestPackWheel: the version is in a wheel's name, behind one with underscores, and nothing of the current folder runs.
func TestPackWheel(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	t.Setenv("KUDZU_PACK_DIR", filepath.Join(dir, "packs"))
	wheel := filepath.Join(dir, "foo_bar-2.7.4-cp311-none-any.whl")
	w, err := os.Create(wheel)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(w)
	fat, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 80, Data: []byte(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := z.Create("foo_bar/libbar.so"); err != nil {
		t.Fatal(err)
	} else if _, err := f.Write(fat); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "zipfile.py"), []byte("raise SystemExit('nothing of the current folder runs')"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	var out strings.Builder
	if err := dispatch([]string{"pack", "add", wheel}, &out); err != nil || out.String() != "added libbar 2.7.4: 1 modules, 1 kernels\n" {
		t.Errorf("%v: %s", err, out.String())
	}
}
