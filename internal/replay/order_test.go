package replay_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/cache"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
)

// turns has each block write when it began.
const turns = `.version 8.0
.target sm_90
.address_size 64
.visible .entry plain(.param .u64 counter, .param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %i, %n, %t;
	.reg .b64 %c, %o, %f;
	ld.param.u64 %c, [counter];
	ld.param.u64 %o, [out];
	mov.u32 %i, %ctaid.x;
	mov.u32 %t, %tid.x;
	setp.ne.u32 %p, %t, 0;
	@%p ret;
	atom.global.add.u32 %n, [%c], 1;
	mul.wide.u32 %f, %i, 4;
	add.u64 %o, %o, %f;
	st.global.u32 [%o], %n;
	ret;
}
`

const turnOf, blocks = "KUDZU_TEST_ORDER", 64

// TestOrderChild is what TestOrder starts: a process has one engine, and one order.
func TestOrderChild(t *testing.T) {
	name := os.Getenv(turnOf)
	if name == "" {
		t.Skip("TestOrder's process")
	}
	order, err := backend.ParseOrder(name)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	devs, err := devices.CPU(devices.Config{Compiler: []string{self, verb}, Cache: cache.Open(cache.Config{Dir: t.TempDir()}), Strict: true, Order: order}).Open()
	if err != nil {
		t.Fatal(err)
	}
	d := devs[0]
	m, err := driver.Describe("m", turns, 90)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("plain")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(0)
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	for range 2 {
		a, err := d.Memory().Alloc(4*blocks, 256)
		if err != nil {
			t.Fatal(err)
		}
		params = binary.LittleEndian.AppendUint64(params, uint64(a))
	}
	out := binary.LittleEndian.Uint64(params[8:])
	for _, cluster := range []uint32{0, 2} {
		for _, at := range []uint64{binary.LittleEndian.Uint64(params), out} {
			fill(at, make([]byte, 4*blocks))
		}
		l := &backend.Launch{Grid: [3]uint32{blocks, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: params}
		if cluster > 0 {
			l.Cluster = [3]uint32{cluster, 1, 1}
		}
		for range 3 { // the first launches are measured, the later ones shared out by that
			fill(binary.LittleEndian.Uint64(params), make([]byte, 4))
			if err := q.Launch(k, l); err != nil {
				t.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		var when []string
		for i := range blocks {
			when = append(when, fmt.Sprint(binary.LittleEndian.Uint32(look(out+uint64(4*i), 4))))
		}
		fmt.Printf("cluster %d: %s\n", cluster, strings.Join(when, " "))
	}
}

// TestOrder: blocks of compiled code begin in the order that was asked for, each once; of clusters, whole ones change places.
func TestOrder(t *testing.T) {
	run := func(order string) [2][]int {
		t.Helper()
		cmd := exec.Command(os.Args[0], "-test.run", "^TestOrderChild$")
		cmd.Env = append(os.Environ(), turnOf+"="+order, "KUDZU_THREADS=1")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var lists [2][]int
		for i, cluster := range []int{0, 2} {
			_, after, ok := strings.Cut(string(text), fmt.Sprintf("cluster %d: ", cluster))
			line, _, _ := strings.Cut(after, "\n")
			for _, f := range strings.Fields(line) {
				n := 0
				if _, err := fmt.Sscan(f, &n); err != nil {
					t.Fatal(err)
				}
				lists[i] = append(lists[i], n)
			}
			sorted := slices.Sorted(slices.Values(lists[i]))
			for j, n := range sorted {
				if n != j {
					t.Fatalf("%s: blocks begin at %v", order, lists[i])
				}
			}
			if !ok || len(sorted) != blocks {
				t.Fatalf("%s: %s", order, text)
			}
		}
		return lists
	}
	forward, reverse, random, other := run("forward"), run("reverse"), run("random:7"), run("random:8")
	for i := range blocks {
		if forward[0][i] != i || reverse[0][i] != blocks-1-i {
			t.Fatalf("forward %v, reverse %v", forward[0], reverse[0])
		}
		if forward[1][i]/2 != i/2 || reverse[1][i]/2 != (blocks-1-i)/2 {
			t.Fatalf("clusters: forward %v, reverse %v", forward[1], reverse[1])
		}
		if random[1][i]/2 != random[1][i^1]/2 {
			t.Fatalf("clusters: random %v", random[1])
		}
	}
	if slices.Equal(random[0], forward[0]) || slices.Equal(random[0], other[0]) || slices.Equal(random[0], reverse[0]) {
		t.Errorf("random %v, and of another seed %v", random[0], other[0])
	}
	if again := run("random:7"); !slices.Equal(random[0], again[0]) {
		t.Errorf("random %v, and then %v", random[0], again[0])
	}
}
