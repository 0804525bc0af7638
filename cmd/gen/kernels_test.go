package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/packed"
)

// TestKernels: PTX of another source, header or flag is refused, without clang; what is packed is clang's text.
func TestKernels(t *testing.T) {
	root := t.TempDir()
	const dir = "internal/shim/cuten/kernels/"
	write := func(path, text string) {
		t.Helper()
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pack := func() ([]byte, error) {
		w := &world{root: root, files: map[string][]byte{}}
		err := writeKernels(w)
		return w.files[dir+packName], err
	}
	text := strings.Repeat("add.u32 %r1, %r2, %r3;\n", 10)
	write(dir+"ten.cu", "#include \"ten.h\"\n")
	write(dir+"ten.h", "#include <stdint.h>\n#include \"../more.h\"\n")
	write("internal/shim/cuten/more.h", "#define TEN 10\n")
	write("clang", "#!/bin/sh\nfor last; do :; done; test \"$last\" = "+dir+"ten.cu || exit 1\nprintf '%s' '"+text+"'\n")

	if _, err := pack(); err == nil || !strings.Contains(err.Error(), dir+"zten.ptx") {
		t.Errorf("PTX that is missing: %v", err)
	}
	if err := compileKernels(root, filepath.Join(root, "clang"), false); err != nil {
		t.Fatal(err)
	}
	file, err := pack()
	if err != nil {
		t.Fatal(err)
	}
	if texts, err := packed.Unpack(file); err != nil || len(texts) != 1 || texts["ten"] != text {
		t.Errorf("packed: %q, %v", texts, err)
	}

	write("internal/shim/cuten/more.h", "#define TEN 11\n")
	if _, err := pack(); err == nil || !strings.Contains(err.Error(), "scripts/kernels.sh") {
		t.Errorf("PTX of another header: %v", err)
	}
	if err := compileKernels(root, filepath.Join(root, "clang"), false); err != nil {
		t.Fatal(err)
	}
	flags := kernelRules[0].flags
	defer func() { kernelRules[0].flags = flags }()
	kernelRules[0].flags += " -g"
	if _, err := pack(); err == nil {
		t.Error("PTX of other flags is taken")
	}
	kernelRules[0].flags = flags
	write(dir+"zold.ptx", "// nobody's\n")
	if _, err := pack(); err == nil || !strings.Contains(err.Error(), "zold.ptx has no source") {
		t.Errorf("PTX without a source: %v", err)
	}
}
