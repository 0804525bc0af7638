package nccl

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// How communicators are made while a rank is killed. A rank that was killed before it came to the hub of a unique id is one that never
// comes: its survivors abort. In all other cases they hear of it.

// killed is the file that a victim leaves when it is about to die.
func killed() string { return os.Getenv("NCCL_TEST_ID_FILE") + ".killed" }

// dieLater has this process killed at some time.
func dieLater(d time.Duration) {
	time.AfterFunc(d, func() {
		_ = os.WriteFile(killed(), nil, 0o600)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
}

// longDead reports that a rank was killed, and everybody had time to hear of it.
func longDead() bool {
	st, err := os.Stat(killed())
	return err == nil && time.Since(st.ModTime()) > 3*time.Second
}

var errNeverCame = errors.New("a rank was killed before it came")

// patiently makes a communicator without blocking, and aborts it if a rank was killed and nobody said so.
func (a *actor) patiently(call func(out, cfg hostmem.Ptr) error) (ncclapi.NcclComm_t, error) {
	var h uint64
	cfg := ncclapi.NcclConfig_t{Size: 64, Magic: ncclapi.NCCL_API_MAGIC, Blocking: 0}
	if err := call(hostmem.Of(&h), hostmem.Of(&cfg)); err != nil && err != inProgress {
		return 0, err
	}
	c := ncclapi.NcclComm_t(h)
	made, err := lookup(c)
	if err != nil {
		return 0, err
	}
	for {
		code, err := a.CommGetAsyncError(c)
		switch {
		case err != nil || code == ncclapi.NcclSuccess:
			return c, err
		case code != ncclapi.NcclInProgress:
			return 0, errors.Join(failf(code, "a communicator was not made"), a.CommAbort(c))
		case longDead():
			if err := a.CommAbort(c); err != nil {
				return 0, err
			}
			select {
			case <-made.ready:
				return 0, errNeverCame
			case <-time.After(5 * time.Second):
				return 0, errors.New("an abort does not end the wait")
			}
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// joinPatiently is join for ranks of which one may never come.
func (a *actor) joinPatiently(n int) (err error) {
	id, err := idOf(os.Getenv("NCCL_TEST_ID"))
	if err != nil {
		return err
	}
	a.comm, err = a.patiently(func(out, cfg hostmem.Ptr) error { return a.CommInitRankConfig(out, int32(n), id, int32(a.rank), cfg) })
	return err
}

// makings are the ways to make a communicator, again and again; old are all ranks but a new one.
var makings = map[string]func(a *actor, n, round int) (ncclapi.NcclComm_t, error){
	"init": func(a *actor, n, round int) (ncclapi.NcclComm_t, error) {
		if err := a.shareID(fmt.Sprint(os.Getenv("NCCL_TEST_ID_FILE"), ".", round)); err != nil {
			return 0, err
		}
		before := a.comm
		err := a.joinPatiently(n)
		made := a.comm
		a.comm = before
		return made, err
	},
	"split":  splitBackwards,
	"revoke": splitBackwards,
	"shrink": func(a *actor, n, _ int) (ncclapi.NcclComm_t, error) { return a.shrink(0, int32(n-1)) },
	"abort": func(a *actor, n, _ int) (ncclapi.NcclComm_t, error) {
		return a.shrink(ncclapi.NCCL_SHRINK_ABORT, int32(n-1))
	},
	"grow": func(a *actor, n, round int) (ncclapi.NcclComm_t, error) {
		var id ncclapi.NcclUniqueId
		rank, at := int32(-1), hostmem.Nil
		if a.rank == 0 || a.comm == 0 {
			if a.rank == 0 {
				var err error
				if id, err = a.CommGetUniqueId(a.comm); err != nil {
					return 0, err
				}
			}
			if err := a.shareThis(fmt.Sprint(os.Getenv("NCCL_TEST_ID_FILE"), ".", round), id); err != nil {
				return 0, err
			}
			var err error
			if id, err = idOf(os.Getenv("NCCL_TEST_ID")); err != nil {
				return 0, err
			}
			at = hostmem.Of(&id)
		}
		if a.comm == 0 {
			rank = int32(a.rank)
		}
		return a.patiently(func(out, cfg hostmem.Ptr) error { return a.CommGrow(a.comm, int32(n), at, rank, out, cfg) })
	},
}

func splitBackwards(a *actor, _, _ int) (ncclapi.NcclComm_t, error) {
	var h uint64
	err := a.CommSplit(a.comm, 0, int32(-a.rank), hostmem.Of(&h), hostmem.Nil)
	return ncclapi.NcclComm_t(h), err
}

// playMaking makes communicators until a rank is killed, which every other must hear of.
func playMaking(a *actor, n int) error {
	how := os.Getenv("NCCL_TEST_MAKE")
	victim, _ := strconv.Atoi(os.Getenv("NCCL_TEST_VICTIM"))
	delay, _ := strconv.Atoi(os.Getenv("NCCL_TEST_KILL"))
	if err := a.shareID(os.Getenv("NCCL_TEST_ID_FILE")); err != nil {
		return err
	}
	old := n
	if how == "grow" {
		old--
	}
	if a.rank < old {
		p := a.buffer(make([]byte, 4)) // all have the first one before one is killed
		if err := errors.Join(a.join(old), a.AllReduce(p, p, 1, ncclapi.NcclInt32, ncclapi.NcclSum, a.comm, a.stream), a.sync()); err != nil {
			return err
		}
	}
	if how == "revoke" {
		if err := a.CommRevoke(a.comm, ncclapi.NCCL_REVOKE_DEFAULT); err != nil {
			return err
		}
	}
	if a.rank == victim {
		dieLater(time.Duration(delay) * time.Microsecond)
	}
	for round, start := 0, time.Now(); time.Since(start) < 30*time.Second; round++ {
		if (how == "shrink" || how == "abort") && a.rank == n-1 { // takes no part
			if time.Sleep(time.Millisecond); longDead() {
				return a.CommAbort(a.comm)
			}
			continue
		}
		c, err := makings[how](a, n, round)
		if err == nil {
			err = a.CommDestroy(c)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, errNeverCame):
			// A new rank may come to the hub when rank 0, which has it, was killed, or has heard of another and is gone.
			if how != "init" && (how != "grow" || victim != old && a.rank != old) {
				return err
			}
			return nil
		case Code(err) == int32(ncclapi.NcclRemoteError):
			return nil
		}
		return err
	}
	return errors.New("heard nothing of the rank that was killed")
}

// TestKilledMaking: a rank is killed at a random moment while communicators are made. Nobody waits for it for ever, and who hears of it
// says so in one line for each communicator.
func TestKilledMaking(t *testing.T) {
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("NCCL_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	rounds, err := strconv.Atoi(os.Getenv("NCCL_TEST_ROUNDS"))
	if err != nil {
		rounds = 1
	}
	r := rand.New(rand.NewPCG(seed, 5))
	for _, how := range []string{"init", "split", "revoke", "shrink", "abort", "grow"} {
		for round := range rounds {
			const n = 4
			victim := r.IntN(n)
			if how == "shrink" || how == "abort" {
				victim = r.IntN(n - 1)
			}
			delay := int(math.Exp(r.Float64() * math.Log(60_000)))
			file := filepath.Join(dir, fmt.Sprint(how, round))
			said, last := processes(t, "making", n, "NCCL_TEST_MAKE="+how, fmt.Sprint("NCCL_TEST_KILL=", delay), fmt.Sprint("NCCL_TEST_VICTIM=", victim),
				fmt.Sprint("NCCL_TEST_TURN=", (victim+1)%n), "NCCL_TEST_ID_FILE="+file)
			list := strings.Split(strings.TrimSpace(said), "\n")
			same := 1
			if how == "init" { // the old communicator and the new one have the same ranks: the words are the same too
				same = 2
			}
			count := map[string]int{}
			bad := len(list) > 2*n || slices.ContainsFunc(list, func(s string) bool {
				count[s]++
				return s != "" && !strings.Contains(s, "NCCL: rank ") || count[s] > same
			})
			if last == nil || bad || how != "init" && how != "grow" && !strings.Contains(said, "was lost") {
				t.Errorf("seed %d, %s: rank %d killed after %d µs: %v\n%s", seed, how, victim, delay, last, said)
			}
		}
	}
}

// TestAbortWhileMaking: an abort of the old communicator ends the wait for a rank of a new one, and so does one of the new one itself.
func TestAbortWhileMaking(t *testing.T) {
	for _, flags := range []int32{ncclapi.NCCL_SHRINK_DEFAULT, ncclapi.NCCL_SHRINK_ABORT} {
		list := actors(t, 3)
		ended := make(chan error, 1)
		go func() { _, err := list[0].shrink(flags, 2); ended <- err }()
		time.Sleep(20 * time.Millisecond) // rank 1 never comes
		if err := list[0].CommAbort(list[0].comm); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("made without rank 1")
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the abort does not end the wait")
		}
		if _, err := list[1].shrink(ncclapi.NCCL_SHRINK_ABORT, 2); Code(err) == 0 {
			t.Error("rank 1 comes late, and does not hear that it is alone")
		}
	}
}

// TestFinalizeKilled: the end of a communicator does not wait for work that a lost rank has no part in any more.
func TestFinalizeKilled(t *testing.T) {
	list := actors(t, 2)
	p := list[0].buffer(make([]byte, 40_000))
	if err := list[0].AllReduce(p, p, 10_000, ncclapi.NcclInt32, ncclapi.NcclSum, list[0].comm, list[0].stream); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- list[0].CommFinalize(list[0].comm) }()
	select {
	case err := <-ended:
		t.Fatalf("ended before its work: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if err := list[1].CommAbort(list[1].comm); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if Code(err) != int32(ncclapi.NcclRemoteError) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("waits for a lost rank")
	}
}
