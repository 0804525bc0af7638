package texels

import (
	"testing"

	"kudzu/internal/ptx/check"
)

// TestPTX: every job's kernel is valid.
func TestPTX(t *testing.T) {
	seen := map[string]bool{}
	for _, j := range Jobs() {
		if s := j.PTX(); !seen[s] {
			seen[s] = true
			if _, err := check.Text(s); err != nil {
				t.Errorf("%s: %s: %v", j.Name, j.Code, err)
			}
		}
	}
}
