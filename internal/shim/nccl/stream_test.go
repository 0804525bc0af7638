package nccl

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"kudzu/internal/spec/ncclapi"
)

// playStream sums so many elements that each part is several pieces, and the last one is short; some on one thread, some on several.
func playStream(a *actor, n int) error {
	if err := a.join(n); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(7, 8)) // the same on all ranks
	for _, typ := range []ncclapi.NcclDataType_t{ncclapi.NcclFloat32, ncclapi.NcclBfloat16, ncclapi.NcclInt8} {
		for _, count := range []int{200_003, 1_000_003, 2_200_003} {
			if err := errors.Join(a.reduceOnce(r, n, typ, int(ncclapi.NcclSum), count), a.reduceOnce(r, n, typ, int(ncclapi.NcclAvg), count)); err != nil {
				return err
			}
		}
	}
	return errors.Join(a.CommFinalize(a.comm), a.CommDestroy(a.comm))
}

// TestStream: hosts with one rank each, whose AllReduce sends what is reduced while the rest still comes; and one of them that is killed.
func TestStream(t *testing.T) {
	for _, hosts := range []string{"01", "012"} {
		said, err := processes(t, "stream", len(hosts), freshID(t), "NCCL_TEST_HOSTS="+hosts, "NCCL_ALGO=direct")
		if err != nil || said != "" {
			t.Errorf("hosts %s: %v\n%s", hosts, err, said)
		}
	}
	said, err := processes(t, "kill", 3, freshID(t), "NCCL_TEST_HOSTS=012", "NCCL_ALGO=direct")
	if err == nil || strings.Count(said, "\n") != 2 || strings.Count(said, "rank 2") != 2 {
		t.Errorf("%v\n%s", err, said)
	}
}
