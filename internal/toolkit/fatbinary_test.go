package toolkit

import (
	"os"
	"strings"
	"testing"

	"kudzu/internal/fatbin"
)

// TestFatbinary: what release 13.4 says of bad command lines, and files that can be read.
func TestFatbinary(t *testing.T) {
	dumped(t)
	for _, c := range []struct{ line, errs string }{
		{"--create=o -64 --image3=kind=bar,sm=80,file=k.ptx", "fatbinary fatal   : Missing or unknown kind in image3\n"},
		{"--create=o -64 --image3=kind=ptx,file=k.ptx", "fatbinary fatal   : Missing sm in image3\n"},
		{"--create=o -64 --image3=kind=ptx,sm=80", "fatbinary fatal   : Missing file in image\n"},
		{"--create=o -64 --foo", "fatbinary fatal   : Unknown option '-foo'\n"},
		{"--create=o -64 --image3=kind=elf,sm=90,file=k.cubin", "\nnvFatbin error: fatbinary elf mismatch: elf arch does not match user-specified arch\n"},
		{"--create=o -64 --image3=kind=ptx,sm=80,file=k.cubin", "\nnvFatbin error: could not find ptx version\n"},
		{"--create=o -64 --image3=kind=ptx,sm=80,file=none", "fatbinary fatal   : Could not open input file 'none'\n"},
	} {
		if out, errs, code := run(t, "fatbinary", strings.Fields(c.line)...); code != 1 || errs != c.errs || out != "" {
			t.Errorf("%s: %d, %q, %q", c.line, code, errs, out)
		}
		if _, err := os.Stat("o"); err == nil {
			t.Fatalf("%s: a file was written", c.line)
		}
	}
	text, _ := os.ReadFile("k.ptx")
	for _, line := range []string{
		"--create=both.fatbin --64 --image3=kind=elf,sm=80,file=k.cubin --image3=kind=ptx,sm=80,file=k.ptx",
		"--create both.fatbin -64 --compress-all --image=profile=sm_80,file=k.cubin --image=profile=compute_80,file=k.ptx",
		"--create both.fatbin -64 --compress=false --image3 kind=elf,sm=80,file=k.cubin --image3 kind=ptx,sm=80,file=k.ptx",
	} {
		if _, errs, code := run(t, "fatbinary", strings.Fields(line)...); code != 0 || errs != "" {
			t.Fatalf("%s: %d, %s", line, code, errs)
		}
		b, err := os.ReadFile("both.fatbin")
		if err != nil {
			t.Fatal(err)
		}
		c, err := fatbin.Parse(b)
		if err != nil || len(c.Entries) != 2 || c.Entries[0].Kind != fatbin.ELF || c.Entries[1].Major != 8 || c.Entries[1].SM != 80 {
			t.Fatalf("%s: %+v, %v", line, c, err)
		}
		if got, err := c.Entries[1].Text(); err != nil || strings.TrimRight(string(got), "\x00") != string(text) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
		if small := c.Entries[1].Compressed(); small == strings.Contains(line, "false") {
			t.Errorf("%s: compressed %v", line, small)
		}
	}
	if out, _, code := run(t, "fatbinary"); code != 0 || !strings.Contains(out, "--image3") {
		t.Errorf("%d: %s", code, out)
	}
}
