package testkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outsideLike says whose record stands for a place that has none of its own.
var outsideLike = map[string]string{
	"dynamic-1K": "shared", "dynamic-64K": "shared", "static-48K": "shared", "shared-plus": "shared", "shared-minus": "shared", "local-minus": "local",
}

// outsideKnown are the probes that we answer otherwise than the hardware, by the start of their names, with the reason.
var outsideKnown = map[string][]struct{ probe, got, why string }{
	"": {
		{"generic-local atom 4G", "700", "behind the window on local memory the hardware has the one on shared memory"},
		{"generic-local ld 4G", "700", "likewise"},
		{"generic-local st 4G", "700", "likewise"},
	},
	"cpu": {
		{"generic-local atom -0x1000", "0", "memory of the worker that this launch does not use"},
		{"generic-local ld -0x1000", "0", "likewise"},
		{"generic-local st -0x1000", "0", "likewise"},
		{"shared ldmatrix 4G-0x1000", "700", "a gather takes it for an offset below 0"},
		{"shared stmatrix 4G-0x1000", "700", "likewise"},
	},
	"interp": {
		{"generic-shared atom 4G-16", "715", "the window of the interpreter begins with the first variable"},
		{"generic-shared ld 4G-16", "715", "likewise"},
		{"generic-shared st 4G-16", "715", "likewise"},
	},
}

func knownOutside(backend, probe, got string) bool {
	for _, b := range []string{"", backend} {
		for _, k := range outsideKnown[b] {
			if strings.HasPrefix(probe, k.probe) && got == k.got {
				return true
			}
		}
	}
	return false
}

// TestAppOutside compares what accesses outside shared and local memory end in with what an H200 (driver 580) makes of them. Where the
// hardware lets one pass, because it gives memory in larger pieces, we may refuse it; what is inside must work.
func TestAppOutside(t *testing.T) {
	onBackends(t, func(t *testing.T, backend string) {
		outside(t, backend, newApp(t, backend, appProgram(t, "outside"), "2"))
	})
}

// TestAppOutsideNarrow: the same where address space is short, and code tests its offsets. Generic addresses are not offsets.
func TestAppOutsideNarrow(t *testing.T) {
	appLibraries(t)
	outside(t, "cpu", newApp(t, "cpu", "/bin/sh", "-c", `ulimit -v 16000000; exec "$0" 2`, appProgram(t, "outside")))
}

func outside(t *testing.T, backend string, a *app) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "testdata/apps/outside.want"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, l := range lines(string(text)) {
		i := strings.LastIndexByte(l, ' ')
		want[l[:i]] = l[i+1:]
	}
	narrow := strings.Contains(t.Name(), "Narrow")
	r := a.set("KUDZU_COMPUTE_CAPABILITY", recordedOn).run()
	seen := 0
	for _, l := range lines(r.stdout) {
		i := strings.LastIndexByte(l, ' ')
		probe, got := l[:i], l[i+1:]
		place, rest, _ := strings.Cut(probe, " ")
		if like, ok := outsideLike[place]; ok {
			place = like
		}
		w, ok := want[place+" "+rest]
		if !ok || narrow && strings.HasPrefix(place, "generic") {
			continue
		}
		seen++
		inside := strings.HasSuffix(probe, " last") || strings.HasSuffix(place, "-r64") && (strings.HasSuffix(probe, " 4G") || strings.HasSuffix(probe, " 256G"))
		slack := w == "0" && !inside && (got == "700" || got == "715")
		if got != w && !slack && !knownOutside(backend, probe, got) {
			t.Errorf("%s: %s, the hardware answers %s", probe, got, w)
		}
	}
	if most := 400; r.code != 0 || seen < most {
		t.Fatalf("exit code %d, %d answers that are recorded, want %d\n%s", r.code, seen, most, r.stderr)
	}
}
