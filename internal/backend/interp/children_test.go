package interp

import (
	"testing"

	"kudzu/internal/backend"
)

// TestDeviceRuntime: what modules may call without a definition is what there is.
func TestDeviceRuntime(t *testing.T) {
	names := backend.DeviceRuntimeNames()
	for _, n := range names {
		if deviceCalls[n] == nil {
			t.Errorf("%s is named and not there", n)
		}
		for _, spelling := range []string{"cuda" + n, "__cudaCDP2" + n, "__cudaCDP2" + n + "_ptsz"} {
			if got := backend.DeviceRuntime(spelling); got != n {
				t.Errorf("%s means %q", spelling, got)
			}
		}
	}
	if len(names) != len(deviceCalls) {
		t.Errorf("%d names, %d functions", len(names), len(deviceCalls))
	}
	for _, other := range []string{"", "cuda", "cudaNothing", "LaunchDeviceV2", "__cudaCDP2"} {
		if got := backend.DeviceRuntime(other); got != "" {
			t.Errorf("%s means %q", other, got)
		}
	}
}
