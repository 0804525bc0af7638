package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
)

// TestCheckApp: a script, a package and a folder, with PTX, with machine code only, and with a pack for it.
func TestCheckApp(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	t.Setenv("PYTHONPATH", filepath.Join(dir, "site-packages"))
	t.Setenv("KUDZU_PACK_DIR", filepath.Join(dir, "packs"))
	const text = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\tret;\n}\n"
	put := func(name string, data []byte) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fat := func(p fatbin.Part) []byte {
		b, err := fatbin.Write([]fatbin.Part{p})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	code, err := (&cubin.File{SM: 90, Text: "x", Kernels: []cubin.Kernel{{Name: "k", Params: []cubin.Param{{Size: 8}}}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	code = []byte(strings.ReplaceAll(string(code), cubin.Section, ".other.sec"))
	put("site-packages/kzopen/__init__.py", nil)
	put("site-packages/kzopen/libopen.so.1.0", fat(fatbin.Part{Kind: fatbin.PTX, SM: 80, Data: []byte(text)}))
	put("site-packages/kzclosed/__init__.py", []byte("raise SystemExit('nothing of a package runs')"))
	put("site-packages/kzclosed/libopen.so.1.0", fat(fatbin.Part{Kind: fatbin.ELF, SM: 90, Data: code}))
	put("both.py", []byte("import os\nimport kzopen as k\nfrom kzclosed import x\n"))
	put("plain.py", []byte("import os, sys\n"))
	put("lacks.py", []byte("import diffusers\n"))
	put("listed.py", []byte("import os, kzopen.sub as k, torchaudio # all of them\n"))
	put("optional.py", []byte("try:\n    import diffusers\nexcept ImportError:\n    diffusers = None\n"))
	put("backend.py", []byte("import keras\n"))
	put("site-packages/keras/__init__.py", nil)
	for _, name := range []string{"json.py", "importlib.py", "sysconfig.py"} { // a project that was downloaded
		put("project/"+name, []byte("raise SystemExit('nothing of the current folder runs')"))
	}
	t.Chdir(filepath.Join(dir, "project"))
	script := func(name string) string { return filepath.Join(dir, name) }
	for _, r := range []struct {
		app  string
		want []string
		code error
	}{
		{"kzopen", []string{"1 modules with device code; PTX for sm_80; machine code for none", "nothing stands between it and running", "Type: kudzu run -- python3 YOUR_SCRIPT"}, nil},
		{"kzclosed", []string{"machine code for sm_90", "1 of them are machine code only", "kudzu pack add FILE_OF_THAT_BUILD --version=1.0", "none of its device code can run"}, exitNoCode},
		{script("both.py"), []string{"1 of 2 libraries cannot run", "Type: kudzu run -- python3 " + script("both.py")}, nil},
		{script("plain.py"), []string{"no device code in its packages", "Type: kudzu run"}, nil},
		{script("lacks.py"), []string{"diffusers is imported and not installed", "cannot start"}, errNotInstalled},
		{script("listed.py"), []string{"PTX for sm_80", "torchaudio is imported and not installed"}, errNotInstalled},
		{script("optional.py"), []string{"no device code in its packages"}, nil},
		{script("backend.py"), []string{"no device code in its packages"}, nil},
		{script("site-packages/kzclosed"), []string{"machine code only"}, exitNoCode},
	} {
		var out strings.Builder
		err := dispatch([]string{"check", r.app}, &out)
		if !errors.Is(err, r.code) {
			t.Errorf("%s: %v", r.app, err)
		}
		for _, want := range r.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", r.app, want, out.String())
			}
		}
	}
	if err := dispatch([]string{"pack", "add", "kzopen"}, &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := dispatch([]string{"check", "kzclosed"}, &out); err != nil || !strings.Contains(out.String(), "the PTX pack libopen 1.0 has 1 of its 1 kernels") {
		t.Errorf("with a pack: %v\n%s", err, out.String())
	}
	if err := dispatch([]string{"check", "no_such_package_here"}, &out); err == nil {
		t.Error("a name that is nothing is checked")
	}
}
