package toolkit

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"kudzu/internal/fatbin"
)

// dumped has the record's files: PTX, what our assembler makes of it, and a container with both.
func dumped(t *testing.T) (record string) {
	t.Helper()
	record = files(t, "cuobjdump.txtar")
	if _, errs, code := run(t, "ptxas", "-arch=sm_80", "k.ptx", "-o", "k.cubin"); code != 0 {
		t.Fatal(errs)
	}
	text, err := os.ReadFile("k.ptx")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("k.cubin")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, parts ...fatbin.Part) {
		b, err := fatbin.Write(parts)
		if err == nil {
			err = os.WriteFile(name, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	elf := fatbin.Part{Kind: fatbin.ELF, SM: 80, Major: 1, Minor: 8, Data: code}
	write("k.fatbin", elf, fatbin.Part{Kind: fatbin.PTX, SM: 80, Major: 8, Flags: fatbin.FlagLZ4, Data: text})
	write("ours.fatbin", elf)
	return record
}

// TestRecordedCuobjdump: what is printed is what NVIDIA's prints.
func TestRecordedCuobjdump(t *testing.T) {
	record := dumped(t)
	for _, block := range strings.Split(record, "$ ")[1:] {
		line, want, _ := strings.Cut(block, "\n")
		out, errs, code := run(t, "cuobjdump", strings.Fields(line)...)
		if got := out + errs + fmt.Sprintf("= %d\n", code); got != want {
			t.Errorf("cuobjdump %s\n%swant\n%s", line, got, want)
		}
	}
}

// TestCuobjdump: what is in files of our assembler.
func TestCuobjdump(t *testing.T) {
	dumped(t)
	text, _ := os.ReadFile("k.ptx")
	for _, file := range []string{"k.cubin", "ours.fatbin"} {
		out, errs, code := run(t, "cuobjdump", "-ptx", "-res-usage", file)
		if code != 0 || errs != "" {
			t.Fatalf("%s: %d, %s", file, code, errs)
		}
		for _, want := range []string{"st.shared.u32 [s], %r0;\n", "  GLOBAL:4\n Function k:\n  REG:", " STACK:0 SHARED:128 LOCAL:0 CONSTANT[0]:364 TEXTURE:0 SURFACE:0 SAMPLER:0\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", file, want, out)
			}
		}
	}
	if _, errs, code := run(t, "cuobjdump", "-xptx", "all", "k.fatbin"); code != 0 {
		t.Fatal(errs)
	}
	if got, err := os.ReadFile("k.1.sm_80.ptx"); err != nil || string(got) != string(text) {
		t.Errorf("extracted %q, %v", got, err)
	}
	for _, args := range [][]string{{"-sass", "k.cubin"}, {"-elf", "k.fatbin"}} {
		if _, errs, code := run(t, "cuobjdump", args...); code != 1 || !strings.HasPrefix(errs, "cuobjdump fatal   : machine code is not read here") {
			t.Errorf("%v: %d, %s", args, code, errs)
		}
	}
	if out, _, code := run(t, "cuobjdump", "--version"); code != 0 || !strings.Contains(out, "release ") {
		t.Errorf("%d: %s", code, out)
	}
	if out, _, code := run(t, "cuobjdump"); code != 0 || !strings.Contains(out, "--dump-ptx") {
		t.Errorf("%d: %s", code, out)
	}
	if err := os.WriteFile("bad.fatbin", []byte("\x50\xed\x55\xba\x01\x00\x10\x00\xff\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := run(t, "cuobjdump", "bad.fatbin"); code != 1 || !strings.Contains(errs, "Invalid fatbin header") {
		t.Errorf("%d: %s", code, errs)
	}
}

// TestIdentifier: an entry's name and its assembler's options, as cuobjdump 13.4 prints them of what nvFatbin made.
func TestIdentifier(t *testing.T) {
	t.Chdir(t.TempDir())
	options := "-O3 -v"
	b, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 80, Major: 8, Name: "name", Options: &options, Data: []byte(".version 8.0\n.target sm_80\n")}})
	if err == nil {
		err = os.WriteFile("k.fatbin", b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := "\nFatbin ptx code:\n================\narch = sm_80\ncode version = [8,0]\nhost = linux\ncompile_size = 64bit\nidentifier = name\nptxasOptions = -O3 -v\n"
	if out, errs, code := run(t, "cuobjdump", "k.fatbin"); out != want || errs != "" || code != 0 {
		t.Errorf("%d, %s%swant\n%s", code, errs, out, want)
	}
}
