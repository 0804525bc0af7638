package nccl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/spec/ncclapi"
)

// hostsScript makes two hosts: network namespaces with a cable between them, and two ranks on each. /sys shows a host's own interfaces,
// where it may be mounted: UCX looks there.
const hostsScript = `
mount -t sysfs none /sys 2>/dev/null
ip link set lo up
ip link add ka type veth peer name kb
unshare -nm sh -c 'mount -t sysfs none /sys 2>/dev/null; exec sleep 120' &
b=$!
trap 'kill $b' EXIT
while [ "$(readlink /proc/$b/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
ip link set kb netns $b
for i in 1 2 3 4 5 6 7 8 9 10; do grep -q sleep /proc/$b/comm && break; sleep 0.1; done
ip addr add 10.77.0.1/24 dev ka
ip link set ka up
nsenter -t $b -n sh -c 'ip link set lo up; ip addr add 10.77.0.2/24 dev kb; ip link set kb up'
list=
half=$((NCCL_TEST_RANKS / 2))
for rank in $(seq 0 $((half - 1))); do NCCL_TEST_RANK=$rank NCCL_HOSTID=a NCCL_SOCKET_IFNAME=ka "$0" & list="$list $!"; done
for rank in $(seq $half $((NCCL_TEST_RANKS - 1))); do NCCL_TEST_RANK=$rank NCCL_HOSTID=b NCCL_SOCKET_IFNAME=kb nsenter -t $b -n -m "$0" & list="$list $!"; done
failed=0
for p in $list; do wait $p || failed=1; done
exit $failed
`

// hosts runs a part on two hosts, and gives what its ranks said.
func hosts(t testing.TB, part string, env ...string) (string, error) {
	t.Helper()
	for _, name := range []string{"ip", "unshare", "nsenter"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no network namespaces without %s (iproute2, util-linux)", name)
		}
	}
	if out, err := exec.Command("unshare", "-rn", "ip", "link", "add", "ka", "type", "veth", "peer", "name", "kb").CombinedOutput(); err != nil {
		t.Skipf("the kernel makes no network namespaces for this user: %v, %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 90*time.Second)
	defer stop()
	c := exec.CommandContext(ctx, "unshare", "-rnm", "sh", "-c", hostsScript, self)
	c.Env = append(os.Environ(), "NCCL_TEST_PART="+part, "NCCL_TEST_RANKS=4", "KUDZU_DEVICES=1", "KUDZU_THREADS=1", "NCCL_COMM_ID=10.77.0.1:4799")
	c.Env = append(c.Env, env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err = c.Run()
	return out.String(), err
}

// TestHosts: everything between two hosts, two ranks on each: within a host through memory, between them through TCP.
func TestHosts(t *testing.T) {
	said, err := hosts(t, "all", "NCCL_DEBUG=INFO")
	if err != nil || strings.Count(said, "NCCL version 2.32.3") == 0 ||
		strings.Count(said, "of this process: 1, through memory: 1, through TCP: 2") != 2*4 { // and those of a split
		t.Errorf("%v\n%s", err, said)
	}
}

// BenchmarkHosts says how long an AllReduce of two hosts takes, one rank on each and two, through TCP and through UCX.
func BenchmarkHosts(b *testing.B) {
	for _, env := range []string{"KUDZU_NCCL_TRANSPORT=tcp", byUCX} {
		for _, ranks := range []string{"2", "4"} {
			said, err := hosts(b, "time", env, "NCCL_TEST_RANKS="+ranks)
			if err != nil {
				b.Error(err)
			}
			b.Logf("%s, %s ranks\n%s", env, ranks, said)
		}
	}
}

// playCut: the cable between the hosts is pulled while they work; every rank must hear of it.
func playCut(a *actor, n int) error {
	if err := a.join(n); err != nil {
		return err
	}
	p := a.buffer(make([]byte, 1<<20))
	for i, start := 0, time.Now(); time.Since(start) < 30*time.Second; i++ {
		if a.rank == 0 && i == 5 {
			if out, err := exec.Command("ip", "link", "set", "ka", "down").CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
		}
		err := a.AllReduce(p, p, 1<<18, ncclapi.NcclFloat32, ncclapi.NcclSum, a.comm, a.stream)
		if err != nil && Code(err) != int32(ncclapi.NcclRemoteError) {
			return err
		}
		if err := a.sync(); err != nil {
			return err
		}
		if code, err := a.CommGetAsyncError(a.comm); code == ncclapi.NcclRemoteError {
			return errors.Join(err, a.CommAbort(a.comm))
		}
	}
	return errors.New("heard nothing of the cable")
}

// TestPulledCable: each rank says in one line which rank of the other host was lost.
func TestPulledCable(t *testing.T) {
	said, err := hosts(t, "cut", "KUDZU_NCCL_TIMEOUT=1")
	if err != nil || strings.Count(said, "\n") != 4 || strings.Count(said, "was lost") != 4 {
		t.Errorf("%v\n%s", err, said)
	}
}
