package cudacc

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestOptions: codes and logs of options are those that both releases gave.
func TestOptions(t *testing.T) {
	f, err := os.Open("testdata/options.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var releases, log, beside string
		var list []string
		var code int
		if err := json.Unmarshal(lines.Bytes(), &[]any{&releases, &list, &code, &log, &beside}); err != nil {
			t.Fatal(err)
		}
		for _, r := range []Release{Release12, Release13} {
			if major, _ := r.Version(); !strings.Contains(releases, map[int32]string{12: "12", 13: "13"}[major]) {
				continue
			}
			n++
			got, gotLog, gotBeside := answer(r, list)
			if got != code || gotLog != log || gotBeside != beside {
				t.Errorf("%d %q: %d %q %q, want %d %q %q", r, list, got, gotLog, gotBeside, code, log, beside)
			}
		}
	}
	if n < 1600 {
		t.Errorf("%d rows", n)
	}
}

// answer is what a compilation with these options would say of them.
func answer(r Release, list []string) (code int, log, beside string) {
	o, log, err := Parse(r, list)
	var bad *OptionError
	switch {
	case errors.As(err, &bad) && bad.Compiler:
		return 6, bad.Log, ""
	case err != nil:
		return 5, err.Error(), ""
	case o.TimeFile == NoFile || o.TraceFile == NoFile:
		return 12, log + "nvrtc: error: failed to open file  for writing!", ""
	case o.LTO:
		beside = "lto"
	case o.Cubin:
		beside = "cubin"
	}
	return 0, log, beside
}

// TestTuning: the pass that takes most of the time is off where clang can be told so; older ones do not know the option.
func TestTuning(t *testing.T) {
	o, _, err := Parse(Release13, nil)
	if err != nil {
		t.Fatal(err)
	}
	for major, want := range map[int]bool{19: false, 21: false, 22: true} {
		p := &Place{Major: major}
		for name, args := range map[string][]string{"nvrtc": o.Args(p, "x.cu", "d"), "nvcc": (&Compiler{Options: *o}).Device(p)} {
			if got := slices.Contains(args, "-opt-disable=slsr"); got != want {
				t.Errorf("%s, clang %d: %v", name, major, got)
			}
		}
	}
}

// TestTargetSDK: the release that clang is told is one that the oldest clang knows, whatever release is presented.
func TestTargetSDK(t *testing.T) {
	for _, r := range []Release{Release12, Release13} {
		c := &Compiler{Options: Options{Release: r, Arch: "80"}}
		if args := c.both(&Place{Major: 19}); !slices.Contains(args, "-Xclang=-target-sdk-version=12.0") {
			t.Errorf("%d: %q", r, args)
		}
	}
}
