package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	device "kudzu/internal/backend"
)

// TestAppBadPTX: the code, and in the log a line with the position of each mistake.
func TestAppBadPTX(t *testing.T) {
	const end = "ptxas fatal   : Ptx assembly aborted due to errors"
	at := func(line int, msg string) string {
		return fmt.Sprintf("ptxas application ptx input, line %d; error   : %s", line, msg)
	}
	want := []string{
		"unknown instruction 218 " + at(5, "Not a name of any known instruction: 'frobnicate'"), end,
		"two mistakes 218 " + at(6, "Not a name of any known instruction: 'frobnicate'"), at(8, "Not a name of any known instruction: 'defrobnicate'"), end,
		"truncated in a kernel 218 " + at(6, "Parsing error near '': syntax error"), end,
		"truncated in a word 218 " + at(4, "Parsing error near '.ent': syntax error"), end,
		"unterminated comment 218 " + at(7, "Parsing error near '': unexpected EOF while scanning"), end,
		"unterminated string 218 " + at(4, "Parsing error near '\"': unterminated string"), end,
		"no version 200 error   : Binary format is not recognized: no .version directive at the start",
		"only a version 218 " + at(2, "Missing .target directive"), end,
		"other target 0 ", // taken, with a word on standard error
		"unknown target 218 " + at(2, "Unknown .target 'sm_999'"), end,
		"missing function 218 ptxas fatal   : Unresolved extern function 'f'",
		"not text 200 error   : Binary format is not recognized: no .version directive at the start",
		"ok",
	}
	exe := appProgram(t, "app_ptx")
	onBackends(t, func(t *testing.T, backend string) {
		r := newApp(t, backend, exe).run()
		got := lines(r.stdout)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("line %d\ngot  %q\nwant %q\nstderr %s", i+1, got[i:min(i+1, len(got))], want[i:min(i+1, len(want))], r.stderr)
			}
		}
	})
}

// TestAppText: wherever a text ends, and whatever lies behind it, its kernel runs; code for newer devices is taken with one line.
func TestAppText(t *testing.T) {
	exe := appProgram(t, "app_text")
	onBackends(t, func(t *testing.T, backend string) {
		r := newApp(t, backend, exe).set("KUDZU_COMPUTE_CAPABILITY", "7.5").run()
		r.wantOut(t, "ok\n")
		want := []string{"kudzu: PTX for sm_120 is taken although the device claims compute capability 7.5, on which a GPU would refuse it; KUDZU_COMPUTE_CAPABILITY=12.0 claims what the code is for"}
		if said := lines(r.stderr); !slices.Equal(said, want) {
			t.Errorf("stderr %q\nwant %q", said, want)
		}
	})
}

// TestAppGarbage loads up to 100 MB that are nearly PTX. It ends in seconds, in a few times the text's memory.
func TestAppGarbage(t *testing.T) {
	r := newApp(t, "interp", appProgram(t, "app_ptx"), "big").run()
	if r.code != 0 || !strings.HasSuffix(r.stdout, "\nok\n") {
		t.Fatalf("%v\n%s%s", r.err, r.stdout, r.stderr)
	}
	for _, line := range lines(strings.TrimSuffix(r.stdout, "ok\n")) {
		code := "218"
		switch {
		case strings.HasPrefix(line, "bytes "):
			code = "200" // does not begin as PTX
		case strings.HasPrefix(line, "spaces "):
			code = "0" // an empty module
		}
		if f := strings.Fields(line); !strings.Contains(line, " "+code+" ") && f[len(f)-1] != code {
			t.Errorf("%q, want code %s", line, code)
		}
	}
	if const1GB := int64(1 << 30); r.maxRSS > const1GB {
		t.Errorf("%d MB of memory", r.maxRSS>>20)
	}
}

// TestAppFaults: kernels that go wrong end their context with CUDA's code and one line that says where, and nothing else.
func TestAppFaults(t *testing.T) {
	exe := appProgram(t, "app_faults")
	rows := []struct {
		args string
		code int
		says string // kernel, block, thread and PTX line
	}{
		{"poke 0", 700, "kernel poke: illegal address 0x0 in block (2,0,0), WHO, PTX line 49"},
		{"poke 0 primary", 700, "kernel poke: illegal address 0x0 in block (2,0,0), WHO, PTX line 49"},
		{"poke 0x123456789000", 700, "kernel poke: illegal address 0x123456789000 in block (2,0,0), WHO, PTX line 49"},
		{"poke 0xffffffffffff0000", 700, "kernel poke: illegal address 0xffffffffffff0000 in block (2,0,0), WHO, PTX line 49"},
		{"trapper 0", 719, "kernel trapper: trap in block (2,0,0), thread (13,0,0), PTX line 56"},
		{"asserter 0", 710, "kernel asserter: assertion failed in block (2,0,0), thread (13,0,0), PTX line 65"},
	}
	// Compiled code works on whole warps: which of its threads had the bad address is not known.
	who := map[string]string{"cpu": "warp of thread (0,0,0)", "interp": "thread (13,0,0)"}
	onBackends(t, func(t *testing.T, backend string) {
		for _, row := range rows {
			t.Run(row.args, func(t *testing.T) {
				r := newApp(t, backend, exe, strings.Fields(row.args)...).run()
				r.wantOut(t, fmt.Sprintf("code %d\nok\n", row.code))
				said := lines(r.stderr)
				if row.code == 710 {
					const line = "f.cu:42: main: block: [2,0,0], thread: [13,0,0] Assertion `x>0` failed."
					if said[0] != line {
						t.Errorf("stderr begins %q, want %q", said[0], line)
					}
					said = said[1:]
				}
				if want := "kudzu: " + strings.Replace(row.says, "WHO", who[backend], 1); len(said) != 1 || !strings.HasPrefix(said[0], want) {
					t.Errorf("stderr %q\nwant   %q", r.stderr, want)
				}
			})
		}
	})
}

// TestAppRuns: the plain program, printf and the device heap included.
func TestAppRuns(t *testing.T) {
	exe := appProgram(t, "app_run")
	onBackends(t, func(t *testing.T, backend string) {
		newApp(t, backend, exe, "works", "fill", "printer", "heap", "count").run().
			want(t, "works 0\nfill 0\nthread 2\nprinter 0\nheap 0\ncount 0\n")
	})
}

// TestAppCapability: a program in the table of programs is told that row's compute capability, by the name of its executable;
// KUDZU_COMPUTE_CAPABILITY goes before it.
func TestAppCapability(t *testing.T) {
	exe := appProgram(t, "app_capability")
	row, ok := device.FindPreference("blender")
	if !ok {
		t.Fatal("no row")
	}
	painter := filepath.Join(t.TempDir(), row.Name)
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(painter, data, 0o700); err != nil {
		t.Fatal(err)
	}
	onBackends(t, func(t *testing.T, backend string) {
		newApp(t, backend, exe).run().wantOut(t, device.DefaultCapability.String()+"\n")
		newApp(t, backend, painter).run().wantOut(t, row.Capability.String()+"\n")
		newApp(t, backend, painter).set("KUDZU_COMPUTE_CAPABILITY", "12.1").run().wantOut(t, "12.1\n")
	})
}
