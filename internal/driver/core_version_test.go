package driver

import (
	"testing"

	"kudzu/internal/ptx/isa"
)

func TestVersions(t *testing.T) {
	for s, want := range map[string]int{"13.0": 13000, "13.4": 13040, "11.8": 11080, "14.1": 14010} {
		if v, ok := parseVersion(s); !ok || v != want || VersionText(v) != s {
			t.Errorf("%s is %d, %v", s, v, ok)
		}
	}
	for _, s := range []string{"", "13", "13.", ".4", "13.10", "13.0.1", "10.2", "x", "13.-1", "130.0", "+13.0"} {
		if v, ok := parseVersion(s); ok {
			t.Errorf("%q is %d", s, v)
		}
	}
	if r := Release(); r.CUDA != Version() || r.PTX != isa.Latest {
		t.Errorf("version %d is release %v", Version(), r)
	}
}
