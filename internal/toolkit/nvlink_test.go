package toolkit

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"kudzu/internal/cubin"
)

// TestNvlink: what release 13.4 says, and a file in which the function is found.
func TestNvlink(t *testing.T) {
	t.Chdir(t.TempDir())
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n"
	for name, text := range map[string]string{
		"a.ptx": head + ".extern .func f();\n.visible .entry k() { call f; ret; }\n", "b.ptx": head + ".visible .func f() { ret; }\n",
		"b90.ptx": strings.Replace(head, "sm_80", "sm_90", 1) + ".visible .func f() { ret; }\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		arch := "-arch=sm_80"
		if name == "b90.ptx" {
			arch = "-arch=sm_90"
		}
		if _, errs, code := run(t, "ptxas", "-c", arch, name, "-o", strings.TrimSuffix(name, "ptx")+"cubin"); code != 0 {
			t.Fatal(errs)
		}
	}
	for _, c := range []struct {
		line, errs string
		code       int
	}{
		{"", "nvlink fatal   : Unknown arch name '(null)'\n", 1},
		{"a.cubin b.cubin -o o.cubin", "nvlink fatal   : Unknown arch name '(null)'\n", 1},
		{"-arch=sm_80 a.cubin -o o.cubin", "nvlink error   : Undefined reference to 'f' in 'a.cubin'\n", 255},
		{"-arch=sm_80 a.cubin b.cubin", "nvlink fatal   : Must specify output file with -o option\n", 1},
		{"-arch=sm_80 b.cubin b.cubin -o o.cubin", "nvlink error   : Multiple definition of 'f' in 'b.cubin', first defined in 'b.cubin'\nnvlink fatal   : merge_elf failed\n", 1},
		{"-arch=sm_80 none -o o.cubin", "nvlink fatal   : Could not open input file 'none'\n", 1},
		{"-arch=sm_80 b90.cubin -o o.cubin", "nvlink fatal   : Input file 'b90.cubin' arch does not match target 'sm_80'\n", 1},
		{"-arch=foo a.cubin", "nvlink fatal   : Value 'foo' is not defined for option 'arch'\n", 1},
		{"-foo", "nvlink fatal   : Unknown option 'foo'\n", 1},
		{"-arch=sm_80 -o o.cubin", "nvlink fatal   : No input files specified; use option --help for more information\n", 1},
		{"-arch=sm_80 -r a.cubin -o r.cubin", "", 0},
		{"-arch=sm_80 -v a.cubin b.cubin -o k.cubin", "nvlink info    : 0 bytes gmem\nnvlink info    : Function properties for 'k':\n" +
			"nvlink info    : used # registers, used 0 barriers, 0 stack, 0 bytes smem, 352 bytes cmem[0], 0 bytes lmem\n", 0},
	} {
		out, errs, code := run(t, "nvlink", strings.Fields(c.line)...)
		errs = regexp.MustCompile(`used \d+ registers`).ReplaceAllString(errs, "used # registers")
		if code != c.code || errs != c.errs || out != "" {
			t.Errorf("nvlink %s: %d\n%s%s", c.line, code, errs, out)
		}
		if _, err := os.Stat("o.cubin"); err == nil {
			t.Fatalf("nvlink %s: a file was written", c.line)
		}
	}
	b, err := os.ReadFile("k.cubin")
	if err != nil {
		t.Fatal(err)
	}
	if f, err := cubin.Decode(b); err != nil || len(f.Kernels) != 1 || !strings.Contains(f.Text, ".func f") || f.Relocatable {
		t.Errorf("%+v, %v", f, err)
	}
	if out, _, code := run(t, "nvlink", "--version"); code != 0 || !strings.Contains(out, "release ") {
		t.Errorf("%d: %s", code, out)
	}
}
