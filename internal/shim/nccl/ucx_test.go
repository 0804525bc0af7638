package nccl

import (
	"os/exec"
	"strings"
	"testing"

	"kudzu/internal/shim/nccl/ucx"
)

const byUCX = "KUDZU_NCCL_TRANSPORT=ucx"

func useUCX() {
	Transports.Add(Transport{Name: "UCX", Ready: ucx.Available, First: ucx.HasRDMA, Open: func(fd int, beside func() (bool, error)) (Link, error) { return ucx.Open(fd, beside) }})
}

func needUCX(t *testing.T) {
	t.Helper()
	if err := ucx.Available(); err != nil {
		t.Skipf("UCX is not installed (libucx0): %v", err)
	}
}

// TestUCX: everything between processes that take each other for other hosts, through UCX.
func TestUCX(t *testing.T) {
	needUCX(t)
	for _, hosts := range []string{"0011", "012"} {
		for _, algo := range []string{"ring", "tree", "direct"} {
			said, err := processes(t, "all", len(hosts), freshID(t), "NCCL_TEST_HOSTS="+hosts, "NCCL_ALGO="+algo, byUCX)
			if err != nil || said != "" {
				t.Errorf("hosts %s, %s: %v\n%s", hosts, algo, err, said)
			}
		}
	}
}

// TestUCXKilled: as TestKilled.
func TestUCXKilled(t *testing.T) {
	needUCX(t)
	for _, algo := range []string{"ring", "tree", "direct"} {
		said, err := processes(t, "kill", 3, freshID(t), "NCCL_TEST_HOSTS=012", "NCCL_ALGO="+algo, byUCX)
		if err == nil || strings.Count(said, "\n") != 2 || strings.Count(said, "rank 2") != 2 {
			t.Errorf("%s: %v\n%s", algo, err, said)
		}
	}
}

// needHosts: UCX asks /sys for interfaces, which shows those of a namespace only where it may be mounted there.
func needHosts(t *testing.T) {
	t.Helper()
	needUCX(t)
	if out, err := exec.Command("unshare", "-rnm", "mount", "-t", "sysfs", "none", "/sys").CombinedOutput(); err != nil {
		t.Skipf("no /sys of a network namespace: %v, %s", err, out)
	}
}

// TestUCXHosts: two hosts, two ranks on each, with a cable between them.
func TestUCXHosts(t *testing.T) {
	needHosts(t)
	said, err := hosts(t, "all", "NCCL_DEBUG=INFO", byUCX)
	if err != nil || strings.Count(said, "of this process: 1, through memory: 1, through UCX: 2") != 2*4 {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestUCXPulledCable: as TestPulledCable.
func TestUCXPulledCable(t *testing.T) {
	needHosts(t)
	said, err := hosts(t, "cut", "KUDZU_NCCL_TIMEOUT=1", byUCX)
	if err != nil || strings.Count(said, "\n") != 4 || strings.Count(said, "was lost") != 4 {
		t.Errorf("%v\n%s", err, said)
	}
}
