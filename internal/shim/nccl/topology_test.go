package nccl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"kudzu/internal/spec/ncclapi"
)

// TestWays: everything between processes that take each other for other hosts, in each way. reduceOnce wants the bits of rank order.
func TestWays(t *testing.T) {
	for _, hosts := range []string{"0011", "011", "0012", "01234", "0101"} {
		for _, algo := range []string{"ring", "tree", "parts", "direct"} {
			said, err := processes(t, "all", len(hosts), freshID(t), "NCCL_TEST_HOSTS="+hosts, "NCCL_ALGO="+algo)
			if err != nil || said != "" {
				t.Errorf("hosts %s, %s: %v\n%s", hosts, algo, err, said)
			}
		}
	}
}

// playChains sums for each rank, many times: pieces and results go through the same connections.
func playChains(a *actor, n int) error {
	if err := a.join(n); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 60 {
		if err := a.reduceSome(r, n, ncclapi.NcclFloat32, i%n, 20_000+r.IntN(10_000)); err != nil {
			return err
		}
	}
	return errors.Join(a.CommFinalize(a.comm), a.CommDestroy(a.comm))
}

// TestChains: a host's ranks may get results while what they add is still on its way to each other.
func TestChains(t *testing.T) {
	said, err := processes(t, "chains", 4, freshID(t), "NCCL_TEST_HOSTS=0011", "NCCL_ALGO=ring", "NCCL_SHM_DISABLE=1")
	if err != nil || said != "" {
		t.Errorf("%v\n%s", err, said)
	}
}

func membersOn(hosts string) []member {
	list := make([]member, len(hosts))
	for r := range list {
		list[r] = member{Host: [36]byte{hosts[r]}, Space: 1}
	}
	return list
}

func TestLayout(t *testing.T) {
	for hosts, want := range map[string]layout{
		"00":    {[]int{0, 0}, [][]int{{0, 1}}, 2, true},
		"00111": {[]int{0, 0, 1, 1, 1}, [][]int{{0, 1}, {2, 3, 4}}, 2, true},
		"1001":  {[]int{0, 1, 1, 0}, [][]int{{0, 3}, {1, 2}}, 2, false},
	} {
		if got := layoutOf(membersOn(hosts)); !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v", hosts, *got)
		}
	}
	alone := membersOn("00")
	alone[0].Space, alone[1].Space, alone[1].Process = 0, 0, secret{1}
	if got := layoutOf(alone); len(got.ranks) != 2 {
		t.Errorf("processes that cannot reach each other: %+v", *got)
	}
}

// TestAlgo: NCCL_ALGO names ways, or behind ^ those that are not taken.
func TestAlgo(t *testing.T) {
	o := &op{kind: allReduce, typ: ncclapi.NcclFloat32, count: 100, c: &comm{n: 4, layout: layoutOf(membersOn("0011"))}}
	far := &op{kind: allReduce, typ: ncclapi.NcclFloat32, count: 100, c: &comm{n: 4, layout: layoutOf(membersOn("0101"))}}
	for text, want := range map[string]way{"Ring": byRing, "tree": byTree, "direct": direct, "^ring": byTree, "^ring,tree": byParts, "^ring,tree,parts": direct, "Tree,Ring": byRing, "NVLS": direct} {
		t.Setenv("NCCL_ALGO", text)
		if got := o.way(); got != want {
			t.Errorf("%s: %s", text, wayNames[got])
		}
		if got := far.way(); got == byRing {
			t.Errorf("%s: a ring of ranks that do not follow each other", text)
		}
	}
}

// TestChoice: the way by size and number of hosts. The same on all ranks, so it may depend on nothing else.
func TestChoice(t *testing.T) {
	for _, x := range []struct {
		hosts, each int
		kind        kind
		count       uint64
		want        way
	}{
		{1, 8, allReduce, 1 << 24, direct},
		{64, 1, allReduce, 256, byTree},
		{1024, 1, allReduce, 1 << 14, byParts},
		{64, 8, allReduce, 1 << 24, byRing},
		{8, 8, allReduce, 1 << 24, byRing},
		{64, 1, broadcast, 16, byTree},
		{8, 1, broadcast, 1 << 24, byRing},
		{1024, 1, allGather, 16, byTree},
		{64, 1, reduceScatter, 1 << 20, direct},
		{8, 8, reduceScatter, 1 << 20, byRing},
		{2, 8, reduceScatter, 16, direct},
		{8, 1, reduce, 1 << 24, byRing},
		{2, 1, reduce, 1 << 24, direct},
		{8, 1, allToAll, 1 << 20, direct},
	} {
		var hosts []member
		for h := range x.hosts {
			for range x.each {
				hosts = append(hosts, member{Host: [36]byte{byte(h), byte(h >> 8)}, Space: 1})
			}
		}
		o := &op{kind: x.kind, typ: ncclapi.NcclFloat32, count: x.count, c: &comm{n: len(hosts), layout: layoutOf(hosts)}}
		if got := o.way(); got != x.want {
			t.Errorf("%d hosts of %d, %s of %d: %s", x.hosts, x.each, kindNames[x.kind], x.count, wayNames[got])
		}
	}
}

// TestCosts: the table in docs/nccl.md is what the choice is made by. KUDZU_UPDATE=1 writes it.
func TestCosts(t *testing.T) {
	const path, begin, end = "../../../docs/nccl.md", "<!-- costs -->\n", "<!-- end of costs -->\n"
	var b strings.Builder
	b.WriteString("| AllReduce | 1 KB | 64 KB | 1 MB | 64 MB |\n|---|---|---|---|---|\n")
	for _, each := range []int{1, 8} {
		for _, hosts := range []int{2, 8, 64, 1024} {
			var list []member
			for h := range hosts {
				for range each {
					list = append(list, member{Host: [36]byte{byte(h), byte(h >> 8)}, Space: 1})
				}
			}
			fmt.Fprintf(&b, "| %d hosts of %d |", hosts, each)
			c := &comm{n: len(list), layout: layoutOf(list)}
			for _, size := range []uint64{1 << 10, 64 << 10, 1 << 20, 64 << 20} {
				o := &op{kind: allReduce, typ: ncclapi.NcclFloat32, count: size / 4, c: c}
				w := o.way()
				fmt.Fprintf(&b, " %s, %s |", time.Duration(o.cost(w)).Round(10*time.Microsecond), wayNames[w])
			}
			b.WriteString("\n")
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	if have == b.String() {
		return
	}
	if os.Getenv("KUDZU_UPDATE") == "1" {
		err = os.WriteFile(path, []byte(before+begin+b.String()+end+after), 0o644)
	} else {
		t.Errorf("%s has another table; KUDZU_UPDATE=1 writes this one:\n%s", path, b.String())
	}
	if err != nil {
		t.Error(err)
	}
}
