package interp

import (
	"testing"

	"kudzu/internal/devrt"
)

// TestDeviceCalls: what modules may call without a definition is what there is.
func TestDeviceCalls(t *testing.T) {
	for i, c := range devrt.Calls {
		if deviceCalls[c.Name] == nil {
			t.Errorf("%s is named and not there", c.Name)
		}
		for _, spelling := range []string{"cuda" + c.Name, "__cudaCDP2" + c.Name, "__cudaCDP2" + c.Name + "_ptsz"} {
			if got := devrt.CallOf(spelling); got != i {
				t.Errorf("%s means %d, not %d", spelling, got, i)
			}
		}
	}
	if len(devrt.Calls) != len(deviceCalls) {
		t.Errorf("%d names, %d functions", len(devrt.Calls), len(deviceCalls))
	}
	for _, other := range []string{"", "cuda", "cudaNothing", "LaunchDeviceV2", "__cudaCDP2"} {
		if got := devrt.CallOf(other); got >= 0 {
			t.Errorf("%s means %d", other, got)
		}
	}
}
