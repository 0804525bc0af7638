package nccl

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// done waits for the stream, and gives the communicator's failure: what an operation left then counts for nothing.
func (a *actor) done() error {
	if err := a.sync(); err != nil {
		return err
	}
	code, err := a.CommGetAsyncError(a.comm)
	if err == nil && code != ncclapi.NcclSuccess {
		err = failf(code, "the communicator failed")
	}
	return err
}

// randomOp is an operation of a random kind and size; r is the same on all ranks.
func (a *actor) randomOp(r *rand.Rand, n int) error {
	defer a.free()
	a.ops++
	size := 4 << r.IntN(16)
	size += 4 * r.IntN(size/4)
	if k := r.IntN(len(moves) + 4); k >= len(moves) {
		typ, red := ncclapi.NcclDataType_t(r.IntN(int(ncclapi.NcclNumTypes))), r.IntN(scaled)
		return a.reduceOnce(r, n, typ, red, 200+size/8)
	} else {
		m := moves[k]
		give, want := m.give(a.rank, n, size), m.want(a.rank, n, size)
		send, recv := a.buffer(give), a.buffer(make([]byte, len(want)))
		if err := errors.Join(m.call(a, send, recv, uint64(size/4)), a.done()); err != nil {
			return err
		}
		if !bytes.Equal(hostmem.Bytes(recv, uint64(len(want))), want) {
			return fmt.Errorf("%s of %d bytes: wrong", m.name, size)
		}
	}
	return nil
}

// early is the file that a rank leaves which has no communicator, because another was killed while they were made.
func early() string { return os.Getenv("NCCL_TEST_ID_FILE") + ".early" }

// playStress does random operations. In rounds with a victim the last process is killed at a random time, and the others go on without
// its rank, if they had come together.
func playStress(a *actor, n int) error {
	seed, _ := strconv.ParseUint(os.Getenv("NCCL_TEST_SEED"), 10, 64)
	delay, _ := strconv.Atoi(os.Getenv("NCCL_TEST_KILL")) // milliseconds; 0: nobody
	victim, _ := strconv.Atoi(os.Getenv("NCCL_TEST_VICTIM"))
	if delay > 0 && a.rank == victim {
		dieLater(time.Duration(delay) * time.Millisecond)
	}
	err := a.shareID(os.Getenv("NCCL_TEST_ID_FILE"))
	if err == nil {
		err = a.joinPatiently(n)
	}
	if code := Code(err); err != nil && delay > 0 && (errors.Is(err, errNeverCame) || code == int32(ncclapi.NcclRemoteError)) {
		return os.WriteFile(early(), nil, 0o600)
	} else if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	defer func() { // by one that lives
		if a.ops > 0 && os.Getenv("NCCL_TEST_RANK") == "0" {
			_ = os.WriteFile(os.Getenv("NCCL_TEST_ID_FILE")+".ops", []byte(strconv.Itoa(a.ops)), 0o600)
		}
	}()
	if delay == 0 {
		for range 30 {
			if err := a.randomOp(r, n); err != nil {
				return err
			}
		}
		return errors.Join(a.CommFinalize(a.comm), a.CommDestroy(a.comm))
	}
	if err := a.untilLost(r, n); err != nil {
		return err
	}
	out := int32(victim)
	c, err := a.patiently(func(to, cfg hostmem.Ptr) error {
		return a.CommShrink(a.comm, hostmem.Of(&out), 1, to, cfg, ncclapi.NCCL_SHRINK_ABORT)
	})
	if _, none := os.Stat(early()); err != nil && none == nil && Code(err) == int32(ncclapi.NcclRemoteError) {
		return nil // one of the others is not there either
	}
	if err != nil {
		return err
	}
	if err := a.CommAbort(a.comm); err != nil {
		return err
	}
	rank, err := a.CommUserRank(c)
	a.comm, a.rank = c, int(rank)
	r = rand.New(rand.NewPCG(seed, 2))
	for range 5 {
		err = errors.Join(err, a.randomOp(r, n-1))
	}
	return errors.Join(err, a.CommDestroy(c))
}

// untilLost goes on until another rank is lost.
func (a *actor) untilLost(r *rand.Rand, n int) error {
	for start := time.Now(); time.Since(start) < 30*time.Second; {
		err := a.randomOp(r, n)
		if err == nil {
			continue
		}
		if Code(err) == int32(ncclapi.NcclRemoteError) {
			return nil
		}
		return err
	}
	return errors.New("heard nothing of the rank that was killed")
}

// shareID has rank 0 make the id, and the others read it from a file.
func (a *actor) shareID(path string) error {
	var id ncclapi.NcclUniqueId
	if a.rank == 0 {
		var err error
		if id, err = a.GetUniqueId(); err != nil {
			return err
		}
	}
	return a.shareThis(path, id)
}

// shareThis is shareID with an id that rank 0 has.
func (a *actor) shareThis(path string, id ncclapi.NcclUniqueId) error {
	if a.rank == 0 {
		text := hex.EncodeToString(id.Internal[:])
		return errors.Join(os.Setenv("NCCL_TEST_ID", text), os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path))
	}
	for range 4000 {
		if b, err := os.ReadFile(path); err == nil {
			return os.Setenv("NCCL_TEST_ID", string(b))
		}
		if longDead() {
			return errNeverCame
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("rank 0 made no id")
}

// TestStress: random operations of four processes, of which one is killed in three rounds of four: no wrong result, nobody waits for ever,
// and who is left goes on. NCCL_TEST_SECONDS makes it longer: see scripts/nccl-stress.sh.
func TestStress(t *testing.T) {
	const n = 4
	seconds, err := strconv.Atoi(os.Getenv("NCCL_TEST_SECONDS"))
	if err != nil {
		seconds = 2
	}
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("NCCL_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	dir, rounds, kills, ops, apart := t.TempDir(), 0, 0, 0, 0
	layouts, ways := []string{"", "", "", "0011", "0001", "0123", "0101"}, []string{"", "ring", "tree", "parts", "direct"}
	for start := time.Now(); time.Since(start) < time.Duration(seconds)*time.Second && !t.Failed(); rounds++ {
		s := seed + uint64(rounds)
		r := rand.New(rand.NewPCG(s, 3))
		delay, victim := 0, r.IntN(n)
		if r.IntN(4) > 0 {
			delay = 1 + r.IntN(250)
			kills++
		}
		said, last := processes(t, "stress", n, fmt.Sprint("NCCL_TEST_SEED=", s), fmt.Sprint("NCCL_TEST_KILL=", delay), fmt.Sprint("NCCL_TEST_VICTIM=", victim),
			fmt.Sprint("NCCL_TEST_TURN=", (victim+1)%n), fmt.Sprint("NCCL_SHM_DISABLE=", r.IntN(2)), "NCCL_TEST_ID_FILE="+filepath.Join(dir, fmt.Sprint(rounds)),
			"NCCL_TEST_HOSTS="+layouts[r.IntN(len(layouts))], "NCCL_ALGO="+ways[r.IntN(len(ways))])
		if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(rounds)) + ".ops"); err == nil {
			done, _ := strconv.Atoi(string(b))
			ops += done
		}
		file := filepath.Join(dir, fmt.Sprint(rounds))
		if _, err := os.Stat(file + ".early"); err == nil && last != nil { // then who lives ended without a communicator, and said why if it knows
			if strings.Contains(said, "goroutine ") {
				t.Errorf("seed %d, rank %d killed after %d ms: %v\n%s", s, victim, delay, last, said)
			}
			apart++
			continue
		}
		if lines := strings.Count(said, "\n"); delay == 0 && (last != nil || lines != 0) || delay > 0 && (last == nil || lines != n-1 || strings.Count(said, "was lost") != n-1) {
			t.Errorf("seed %d, rank %d killed after %d ms: %v\n%s", s, victim, delay, last, said)
		}
	}
	t.Logf("seeds %d to %d, %d rounds, %d operations, %d kills, %d before all had come", seed, seed+uint64(rounds), rounds, ops, kills, apart)
	if ops == 0 && apart < rounds {
		t.Error("no operation was counted")
	}
}
