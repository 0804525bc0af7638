package driver

import (
	"os"
	"testing"

	"kudzu/internal/spec/cu"
)

// TestCheckpointState: a supervisor asks about another process, and has not started CUDA itself.
func TestCheckpointState(t *testing.T) {
	th := &Thread{}
	for _, r := range []struct {
		pid  int32
		code int
	}{{int32(os.Getpid()), 0}, {int32(os.Getppid()), 0}, {-1, 304}, {0, 304}, {1<<31 - 1, 304}} {
		if s, err := th.CheckpointProcessGetState(r.pid); code(err) != r.code || s != cu.CU_PROCESS_STATE_RUNNING {
			t.Errorf("process %d: %v, %v", r.pid, s, err)
		}
	}
	want(t, "lock", th.CheckpointProcessLock(int32(os.Getppid()), 0), 801)
}
