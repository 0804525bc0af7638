package backend

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestParseCapability(t *testing.T) {
	for s, want := range map[string]Capability{"": {7, 5}, "8.6": {8, 6}, "90": {9, 0}, "120": {12, 0}, "12.1": {12, 1}} {
		if c, err := ParseCapability(s, Capability{7, 5}); err != nil || c != want {
			t.Errorf("%s: %v, %v", s, c, err)
		}
	}
	for _, s := range []string{"x", "9", "9.x", "99.0", "1.0", "9.10"} {
		if c, err := ParseCapability(s, DefaultCapability); err == nil {
			t.Errorf("%q is %v", s, c)
		}
	}
}

// TestLimits: the table is in order, and what goes with a capability is what NVIDIA's devices of it answer: an H200 (recorded in
// testdata/transcripts), and what deviceQuery prints on an RTX 4090, an RTX 5090 and a DGX Spark.
func TestLimits(t *testing.T) {
	for i := range limits[1:] {
		if limits[i].from.SM() >= limits[i+1].from.SM() {
			t.Errorf("%v stands before %v", limits[i].from, limits[i+1].from)
		}
	}
	small := Limits{SharedOptin: 101376, SharedSM: 102400, ThreadsPerSM: 1536, BlocksPerSM: 24}
	for c, want := range map[Capability]Limits{
		{9, 0}: {SharedOptin: 232448, SharedSM: 233472, ThreadsPerSM: 2048, BlocksPerSM: 32}, {8, 9}: small, {12, 0}: small, {12, 1}: small,
	} {
		if got := c.Limits(); got != want {
			t.Errorf("%v: %+v, want %+v", c, got, want)
		}
	}
	// What a device says itself stays.
	i := Info{SharedSM: 5, WarpSize: 64}
	i.Claim(Capability{8, 6})
	if i.SharedSM != 5 || i.WarpSize != 64 || i.Major != 8 || i.Minor != 6 || i.SharedOptin != 99<<10 || i.MaxBlock != [3]int{1024, 1024, 64} {
		t.Errorf("%+v", i)
	}
}

// TestPreference: a program is known by the name of its executable, a library with any version; the variable goes before the table.
func TestPreference(t *testing.T) {
	old := preferences
	t.Cleanup(func() { preferences = old })
	preferences = []Preference{{"painter", Capability{7, 5}, "x"}, {"libpaint.so", Capability{12, 1}, "y"}}
	for _, c := range []struct {
		variable string
		files    string
		want     Capability
	}{
		{"", "", DefaultCapability}, {"", "/usr/bin/painter", Capability{7, 5}}, {"8.6", "/usr/bin/painter", Capability{8, 6}},
		{"", "painter", Capability{7, 5}}, {"", "/usr/bin/painters", DefaultCapability}, {"", "/painter/python3", DefaultCapability},
		{"", "/usr/bin/python3 /lib/libpaint.so.2.6", Capability{12, 1}}, {"", "python3 libpaint.so", Capability{12, 1}},
		{"", "python3 libpaint.sox libpaint2.so painter.2", DefaultCapability}, {"", "libpaint.so.1 painter", Capability{7, 5}},
	} {
		if got, err := ClaimedCapability(c.variable, strings.Fields(c.files)...); err != nil || got != c.want {
			t.Errorf("%q, %s: %v, %v; want %v", c.variable, c.files, got, err, c.want)
		}
	}
	if _, err := ClaimedCapability("x", "painter"); err == nil {
		t.Error("a variable that says nothing is passed over")
	}
}

// TestPreferences: every row says why, wants another capability than the default, can be found and is documented.
func TestPreferences(t *testing.T) {
	page, err := os.ReadFile("../../docs/compute-capability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range preferences {
		if got, ok := FindPreference("/somewhere/" + p.Name); !ok || got != p {
			t.Errorf("%s: found %+v", p.Name, got)
		}
		if p.Why == "" || p.Capability == DefaultCapability {
			t.Errorf("%+v", p)
		}
		if row := fmt.Sprintf("| `%s` | %v |\n", p.Name, p.Capability); !strings.Contains(string(page), row) {
			t.Errorf("docs/compute-capability.md has no row %q", row)
		}
	}
}

// TestProcessFiles: this test's own program, and each file of a process once.
func TestProcessFiles(t *testing.T) {
	files := ProcessFiles()
	self, err := os.Executable()
	if err != nil || len(files) == 0 || files[0] != self {
		t.Errorf("%s, %v: %q", self, err, files)
	}
	const maps = `00400000-00401000 r--p 00000000 fe:00 17 /usr/bin/python3.11
00401000-00405000 r-xp 00001000 fe:00 17 /usr/bin/python3.11
00a00000-00a21000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000001000 r--p 00000000 fe:00 18 /opt/with space/libpaint.so.2.6
7f0000001000-7f0000002000 rw-p 00000000 00:00 0
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]
`
	if got, want := mappedFiles(maps), []string{"/usr/bin/python3.11", "/opt/with space/libpaint.so.2.6"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
