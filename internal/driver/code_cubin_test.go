package driver

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// assembledFile is what our assembler makes of a text.
func assembledFile(t *testing.T, sm int, text string) []byte {
	t.Helper()
	b, err := (&cubin.File{SM: sm, Text: text}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCubinLoads: files of our assembler are taken wherever machine code is.
func TestCubinLoads(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	file := assembledFile(t, 80, fakePTX)
	fat := func(parts ...fatbin.Part) string {
		b, err := fatbin.Write(parts)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	newer := strings.Replace(fakePTX, "sm_80", "sm_100", 1)
	newer = strings.Replace(newer, "7.8", "8.6", 1)
	container := fat(fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: file})
	for what, image := range map[string]hostmem.Ptr{
		"file":                       c.str(string(file)),
		"fat binary":                 c.str(container),
		"compressed":                 c.str(fat(fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: file, Flags: fatbin.FlagZstd})),
		"besides PTX of newer ones":  c.str(fat(fatbin.Part{Kind: fatbin.PTX, SM: 100, Data: []byte(newer)}, fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: file})),
		"besides NVIDIA's":           c.str(fat(fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: []byte("\x7fELF")}, fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: file})),
		"wrapper, as cudart sees it": c.str(string(fatbin.WriteWrapper(uint64(c.str(container))))),
	} {
		m, err := th.ModuleLoadData(image)
		want(t, what, err, 0)
		if n, err := th.ModuleGetFunctionCount(m); err != nil || n != 8 {
			t.Errorf("%s: %d kernels, %v", what, n, err)
		}
		want(t, what, th.ModuleUnload(m), 0)
		l, err := th.LibraryLoadData(image, 0, 0, 0, 0, 0, 0)
		want(t, what, err, 0)
		_, err = th.LibraryGetKernel(l, "add")
		want(t, what, err, 0)
		want(t, what, th.LibraryUnload(l), 0)
	}
	path := filepath.Join(t.TempDir(), "a.cubin")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := th.ModuleLoad(path)
	want(t, "from a file", err, 0)
	want(t, "unload", th.ModuleUnload(m), 0)
}

// TestCubinLinks: a file of our assembler is an input of the linker, alone and in an archive.
func TestCubinLinks(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	file := assembledFile(t, 70, linkB)
	for _, in := range [][]byte{file, library(map[string][]byte{"b.o": file})} {
		l, err := th.LinkCreate(0, 0, 0)
		want(t, "create", err, 0)
		want(t, "text", th.LinkAddData(l, cu.CU_JIT_INPUT_PTX, c.str(linkA), uint64(len(linkA)), 0, 0, 0, 0), 0)
		want(t, "file", th.LinkAddData(l, cu.CU_JIT_INPUT_CUBIN, c.str(string(in)), uint64(len(in)), 0, 0, 0, 0), 0)
		out := c.words(0)
		_, err = th.LinkComplete(l, out)
		want(t, "complete", err, 0)
		want(t, "destroy", th.LinkDestroy(l), 0)
	}
}

// TestForeignCubins: machine code of NVIDIA's is refused by its name, and a damaged file of ours as no image.
func TestForeignCubins(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	file, err := (&cubin.File{SM: 80, Text: fakePTX, Kernels: []cubin.Kernel{{Name: "vadd"}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	foreign := bytes.ReplaceAll(file, []byte(cubin.Section), []byte(".other.sec"))
	damaged := bytes.Replace(file, []byte("KZPT"), []byte("KZ??"), 1)
	for _, r := range []struct {
		what  string
		image []byte
		code  int
		log   string
	}{
		{"NVIDIA's", foreign, 209, "machine code only; PTX is needed (machine code for sm_80, kernel vadd)"},
		{"damaged", damaged, 200, "no PTX in " + cubin.Section},
		{"an archive", library(nil), 209, "an archive"},
	} {
		if code, log, _, _ := load(th, c, string(r.image)); code != r.code || !strings.Contains(log, r.log) {
			t.Errorf("%s: %d, %q", r.what, code, log)
		}
		l, err := th.LinkCreate(0, 0, 0)
		want(t, "create", err, 0)
		if r.what != "an archive" {
			want(t, r.what, th.LinkAddData(l, cu.CU_JIT_INPUT_CUBIN, c.str(string(r.image)), uint64(len(r.image)), 0, 0, 0, 0), r.code)
		}
		want(t, "destroy", th.LinkDestroy(l), 0)
	}
}
