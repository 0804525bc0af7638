package toolkit

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"kudzu/internal/cubin"
)

var (
	ownNumbers  = regexp.MustCompile(`\.L_(x_)?\d+`)
	ownRegister = regexp.MustCompile(`REGISTERS=\d+`)
	shownPTX    = regexp.MustCompile(`(?m)^ {35}.*\n`)
)

// TestRecordedNvdisasm: messages, codes, and how sections are written.
func TestRecordedNvdisasm(t *testing.T) {
	record := files(t, "nvdisasm.txtar")
	if _, errs, code := run(t, "ptxas", "-arch=sm_80", "k.ptx", "-o", "k.cubin"); code != 0 {
		t.Fatal(errs)
	}
	for _, block := range strings.Split(record, "$ ")[1:] {
		line, want, _ := strings.Cut(block, "\n")
		out, errs, code := run(t, "nvdisasm", strings.Fields(line)...)
		out = ownRegister.ReplaceAllString(ownNumbers.ReplaceAllString(out, ".L_#"), "REGISTERS=#")
		if got := shownPTX.ReplaceAllString(out, "") + errs + fmt.Sprintf("= %d\n", code); got != want {
			t.Errorf("nvdisasm %s\n%swant\n%s", line, got, want)
		}
	}
}

// TestNvdisasm: PTX where code would be, one kernel by its symbol, and what is refused.
func TestNvdisasm(t *testing.T) {
	files(t, "nvdisasm.txtar")
	if _, errs, code := run(t, "ptxas", "-arch=sm_80", "k.ptx", "-o", "k.cubin"); code != 0 {
		t.Fatal(errs)
	}
	out, errs, code := run(t, "nvdisasm", "-c", "k.cubin")
	if code != 0 || errs != "" || !strings.Contains(out, "st.shared.u32 [s], %r1;\n") || strings.Contains(out, ".nv.global") {
		t.Errorf("%d, %s%s", code, errs, out)
	}
	b, err := os.ReadFile("k.cubin")
	if err != nil {
		t.Fatal(err)
	}
	l, err := cubin.List(b)
	if err != nil {
		t.Fatal(err)
	}
	last := fmt.Sprint(len(l.Owners) - 1)
	if out, _, code := run(t, "nvdisasm", "-c", "-fun", last, "k.cubin"); code != 0 || strings.Contains(out, ".text.k:") || !strings.Contains(out, ".text.k2:") {
		t.Errorf("%d, %s", code, out)
	}
	real := bytes.ReplaceAll(b, []byte(cubin.Section), []byte(".other.sec"))
	host := bytes.Clone(real)
	host[18] = 62
	for name, data := range map[string][]byte{"real": real, "host": host, "cut": b[:len(b)/2]} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"real":          "real is machine code for sm_80, 2 kernels, the first is k, which is not read here",
		"host":          "host is not a supported Elf file",
		"cut":           "File cut is an invalid ELF file",
		"-json k.cubin": "machine code is not read here; without -json, -cfg, -bbcfg and -b PTX is shown",
		"-b SM80 real":  "machine code is not read here; without -json, -cfg, -bbcfg and -b PTX is shown",
	} {
		if _, errs, code := run(t, "nvdisasm", strings.Fields(line)...); code != 1 || errs != "nvdisasm fatal   : "+want+"\n" {
			t.Errorf("nvdisasm %s: %d, %s", line, code, errs)
		}
	}
	for _, line := range []string{"--version", "--help", ""} {
		if out, errs, code := run(t, "nvdisasm", strings.Fields(line)...); code != 0 || errs != "" || !strings.Contains(out, "nvdisasm") {
			t.Errorf("nvdisasm %s: %d, %s%s", line, code, out, errs)
		}
	}
}
