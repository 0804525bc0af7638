package toolkit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"kudzu/internal/cubin"
)

// files puts the files of a record into a folder that is the working folder of the test, and gives the rest.
func files(t *testing.T, archive string) string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	record := ""
	for _, f := range a.Files {
		if f.Name == "record" {
			record = string(f.Data)
			continue
		}
		if err := os.WriteFile(f.Name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return record
}

// run is one call of a program: what it prints on either side, and its code.
func run(t *testing.T, program string, args ...string) (out, errs string, code int) {
	t.Helper()
	p, ok := Find(program)
	if !ok {
		t.Fatalf("no program %s", program)
	}
	var a, b bytes.Buffer
	code = p.Run(args, &a, &b)
	return a.String(), b.String(), code
}

// Of what is recorded these parts are ours to choose: counts of registers, times, and the newest version.
var ours = []struct{ from, to string }{
	{`Used \d+ registers`, "Used # registers"}, {`(?m)^ptxas info    : Compile time.*\n`, ""}, {`version is .*`, "version is #"},
}

// TestRecordedPTXAS: messages and exit codes are the assembler's.
func TestRecordedPTXAS(t *testing.T) {
	record := files(t, "ptxas.txtar")
	for _, block := range strings.Split(record, "$ ")[1:] {
		line, want, _ := strings.Cut(block, "\n")
		out, errs, code := run(t, "ptxas", strings.Fields(line)...)
		for _, r := range ours {
			errs = regexp.MustCompile(r.from).ReplaceAllString(errs, r.to)
		}
		if got := errs + fmt.Sprintf("= %d\n", code); got != want || out != "" {
			t.Errorf("ptxas %s\n%swant\n%s%s", line, got, want, out)
		}
	}
	if _, err := os.Stat("x2"); err == nil {
		t.Error("a file was written for compute_80")
	}
}

// TestPTXASWrites: what comes out is a file of ours with the same text.
func TestPTXASWrites(t *testing.T) {
	files(t, "ptxas.txtar")
	text, err := os.ReadFile("a.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"a.ptx"}, {"-v", "-O3", "--input-as-string", string(text)}} {
		if _, errs, code := run(t, "ptxas", append(args, "-arch=sm_80")...); code != 0 {
			t.Fatalf("%d: %s", code, errs)
		}
		b, err := os.ReadFile("elf.o")
		if err != nil {
			t.Fatal(err)
		}
		f, err := cubin.Decode(b)
		if err != nil || f.Text != string(text) || f.Target() != "sm_80" || len(f.Kernels) != 2 {
			t.Fatalf("%+v, %v", f, err)
		}
		k := f.Kernels[0]
		if k.Name != "vadd" || k.Shared != 128 || k.Local != 400 || k.Barriers != 1 || k.MaxThreads != [3]uint32{256, 1, 1} || k.ParamBytes() != 20 {
			t.Errorf("%+v", k)
		}
		if k.Registers < 8 || k.Registers > 24 { // ptxas says 12
			t.Errorf("%d registers", k.Registers)
		}
	}
	// A limit goes into the text, where the compiler finds it.
	if _, errs, code := run(t, "ptxas", "-arch=sm_80", "-maxrregcount=32", "ord.ptx"); code != 0 {
		t.Fatal(errs)
	}
	b, _ := os.ReadFile("elf.o")
	if text, err := cubin.Text(b); err != nil || strings.Count(text, ".maxnreg 32") != 3 {
		t.Errorf("%s, %v", text, err)
	}
}

// TestVersion: the patterns are those of Triton and of XLA.
func TestVersion(t *testing.T) {
	out, _, code := run(t, "ptxas", "--version")
	if code != 0 || !regexp.MustCompile(`(?m)release (\d+\.\d+)`).MatchString(out) || !regexp.MustCompile(`\bV(\d+)\.(\d+)\.(\d+)\b`).MatchString(out) {
		t.Errorf("%d: %s", code, out)
	}
	if out, _, code := run(t, TritonPTXAS, "--version"); code != 0 || !strings.Contains(out, "release 12.6,") {
		t.Errorf("Triton 3.2 knows no release after 12.6: %d, %s", code, out)
	}
	for _, args := range [][]string{nil, {"--help"}, {"-h"}} {
		if out, _, code := run(t, "ptxas", args...); code != 0 || !strings.Contains(out, "--gpu-name") {
			t.Errorf("%v: %d, %s", args, code, out)
		}
	}
}
