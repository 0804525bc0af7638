package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
)

const checkPTX = `.version 8.0
.target sm_80
.address_size 64
.visible .entry good(.param .u64 p) { ret; }
.extern .func ext();
.visible .entry odd(.param .u64 p) { call ext; ret; }
`

func checkFile(t *testing.T, data []byte) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := runCheck([]string{file}, &out)
	return out.String(), err
}

// TestCheck: kernels are listed with what becomes of them, from PTX and from fat binaries, wherever these begin.
func TestCheck(t *testing.T) {
	fat, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 80, Data: []byte(checkPTX)}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := (&cubin.File{SM: 80, Text: checkPTX}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	machine := bytes.ReplaceAll(file, []byte(cubin.Section), []byte(".other.sec"))
	if out, err := checkFile(t, machine); !errors.Is(err, exitNoCode) || !strings.Contains(out, "only machine code for NVIDIA's processors (1 pieces)") {
		t.Errorf("a cubin of NVIDIA's: %v\n%s", err, out)
	}
	for name, data := range map[string][]byte{"ptx": []byte(checkPTX), "assembled": file, "fatbin": fat, "inside": append([]byte("\x50\xed\x55\xbasome bytes before"), fat...)} {
		out, err := checkFile(t, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{"good\tcompiled\n", "odd\tinterpreted: ", "1 modules (sm_80 ×1), 2 kernels"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", name, want, out)
			}
		}
	}
}

// TestCheckLoads: it says which text a load takes of each fat binary, what is taken against the claim, and what cannot be loaded.
func TestCheckLoads(t *testing.T) {
	t.Setenv("KUDZU_COMPUTE_CAPABILITY", "9.0")
	text := func(target string) fatbin.Part {
		sm, _ := fatbin.PTXTarget([]byte(".target " + target))
		return fatbin.Part{Kind: fatbin.PTX, SM: sm.SM, Data: []byte(".version 8.8\n.target " + target + "\n.address_size 64\n.visible .entry k() { ret; }\n")}
	}
	code := fatbin.Part{Kind: fatbin.ELF, SM: 86, Data: []byte("machine")}
	var file []byte
	for _, parts := range [][]fatbin.Part{{text("sm_80"), text("sm_100")}, {text("sm_121"), text("sm_120")}, {text("sm_100a"), code}, {code}} {
		b, err := fatbin.Write(parts)
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, b...)
	}
	out, err := checkFile(t, file)
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"at compute capability 9.0 a load takes the PTX for sm_80 ×1\n",
		"taken although a GPU of 9.0 would refuse it (said once at run time): sm_100a ×1 sm_120 ×1\n",
		"1 fat binaries cannot be loaded (CUDA_ERROR_NO_BINARY_FOR_GPU): they hold ELF sm_86\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestCheckProgram: a file whose name is in the table of programs gets that row's capability, and the variable overrides it.
func TestCheckProgram(t *testing.T) {
	self, err := os.ReadFile("/proc/self/exe") // a program without PTX
	if err != nil {
		t.Fatal(err)
	}
	const row = "blender gets compute capability 8.0: "
	for _, c := range []struct {
		name, variable string
		data           []byte
		want           []string
		row            bool
	}{
		{"blender", "", []byte(checkPTX), []string{row, "at compute capability 8.0 a load takes the PTX for sm_80 ×1\n"}, true},
		{"blender", "9.0", []byte(checkPTX), []string{row, "  but KUDZU_COMPUTE_CAPABILITY says 9.0\n", "at compute capability 9.0 a load"}, true},
		{"blender", "", self, []string{row, "no PTX"}, true},
		{"blenders", "", []byte(checkPTX), []string{"at compute capability " + backend.DefaultCapability.String() + " a load"}, false},
	} {
		t.Setenv("KUDZU_COMPUTE_CAPABILITY", c.variable)
		file := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(file, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := runCheck([]string{"--quiet", "--fast", file}, &out); err != nil && !errors.Is(err, exitNoCode) {
			t.Error(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s, %q: no %q in\n%s", c.name, c.variable, want, out.String())
			}
		}
		if strings.Contains(out.String(), row) != c.row {
			t.Errorf("%s, %q: the row of blender in\n%s", c.name, c.variable, out.String())
		}
		out.Reset()
		if err := runCheck([]string{"--json", "--fast", file}, &out); err != nil && !errors.Is(err, exitNoCode) {
			t.Error(err)
		}
		if strings.Contains(out.String(), `"name": "blender",`) != c.row {
			t.Errorf("%s, %q: %s", c.name, c.variable, out.String())
		}
	}
}

// TestCheckBad: a file without code and a module with errors are told apart from success.
func TestCheckBad(t *testing.T) {
	if out, err := checkFile(t, []byte("\x7fELF nothing")); !errors.Is(err, exitNoCode) || !strings.Contains(out, "no PTX") {
		t.Errorf("%v, %q", err, out)
	}
	out, err := checkFile(t, []byte(strings.Replace(checkPTX, "ret;", "return;", 1)))
	if err == nil || !strings.Contains(out, "line 4") {
		t.Errorf("%v, %q", err, out)
	}
}

// TestCheckEndless: what has no end is refused at once, and a file of any size has one.
func TestCheckEndless(t *testing.T) {
	dir := t.TempDir()
	pipe, huge, zeros := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge"), filepath.Join(dir, "zeros")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, size := range map[string]int64{huge: 1 << 40, zeros: 256 << 20} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		"/dev/zero": "is a device", "/dev/urandom": "is a device", pipe: "is a pipe", dir: "is a directory", huge: "more than any program", zeros: exitNoCode.Error(),
	} {
		for _, verb := range []func(string) error{
			func(f string) error { return runCheck([]string{f}, io.Discard) },
			func(f string) error { return runCompile([]string{"--all", f}, io.Discard) },
		} {
			if err := verb(file); err == nil && file == dir {
				continue // a folder is looked through, and this one has nothing in it
			} else if err == nil || !strings.Contains(err.Error(), want) && !(file == zeros && strings.Contains(err.Error(), "has no kernels")) {
				t.Errorf("%s: %v, want %q", file, err, want)
			}
		}
	}
}

// TestCheckLarge: kernels of large files are lowered only, unless all is asked for; they are told in the file's order.
func TestCheckLarge(t *testing.T) {
	var text strings.Builder
	text.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n")
	for i := range 60 {
		fmt.Fprintf(&text, ".visible .entry k%d(.param .u64 p) { %s ret; }\n", i, strings.Repeat("/* nothing */ ", lowerOnly/60/14+1))
	}
	file := filepath.Join(t.TempDir(), "f.ptx")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for option, stage := range map[string]string{"--sm=0": ", lower ", "--full": ", compile to LLVM's text ", "--fast": ", lower "} {
		var out bytes.Buffer
		if err := runCheck([]string{option, file}, &out); err != nil || !strings.Contains(out.String(), stage) || !strings.Contains(out.String(), "60 kernels compile, 0 are") {
			t.Errorf("%s: %v, want %q in\n%.300s", option, err, stage, out.String())
		}
		for i := range 60 {
			if line, rest, _ := strings.Cut(out.String(), "\n"); line != fmt.Sprintf("k%d\tcompiled", i) {
				t.Fatalf("%s: %q is number %d", option, line, i)
			} else {
				out = *bytes.NewBufferString(rest)
			}
		}
	}
}
