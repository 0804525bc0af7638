package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	for name, data := range map[string][]byte{"ptx": []byte(checkPTX), "fatbin": fat, "inside": append([]byte("\x50\xed\x55\xbasome bytes before"), fat...)} {
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
