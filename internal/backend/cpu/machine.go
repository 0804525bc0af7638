package cpu

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"lukechampine.com/blake3"

	"kudzu/internal/backend"
)

// describe is what device i says of itself: the machine where CUDA asks about size and speed, the numbers of the GPU that it
// claims to be where it asks about limits, so that a program's occupancy arithmetic comes out as there.
func describe(i int, memory uint64, c backend.Capability, workers int) backend.Info {
	name := "Kudzu CPU (" + cpuModel() + ")"
	if len(name) > 255 { // CUDA's buffers
		name = name[:255]
	}
	info := backend.Info{
		Name:         name,
		UUID:         uuid(i),
		PCI:          [3]int{0, i + 1, 0},
		Memory:       memory,
		Processors:   workers,
		ClockKHz:     clockKHz(),
		MemoryKHz:    2400000, // a DDR5 channel's order of magnitude: nothing tells without privileges
		BusWidth:     512,
		L2Bytes:      lastCache(),
		HostPointers: true,
		HostVisible:  true,
		Peers:        true,
		Cooperative:  true,
	}
	info.Claim(c)
	return info
}

// cpuModel is the processor's name as the kernel tells it.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for _, key := range []string{"model name", "Model"} {
			if v := field(string(b), key); v != "" {
				return strings.Join(strings.Fields(v), " ")
			}
		}
	}
	return runtime.GOARCH
}

// field finds "key : value" in a /proc file.
func field(text, key string) string {
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// uuid names device i of this machine, the same in every process and after a restart.
func uuid(i int) [16]byte {
	id := ""
	for _, f := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if b, err := os.ReadFile(f); err == nil {
			id = strings.TrimSpace(string(b))
			break
		}
	}
	if id == "" {
		id, _ = os.Hostname() // a container without an id: better than one id for all
	}
	h := blake3.Sum256(fmt.Appendf(nil, "kudzu cpu device %d of %s", i, id))
	var u [16]byte
	copy(u[:], h[:])
	u[6] = u[6]&0x0f | 0x80 // version 8: made by a rule of one's own
	u[8] = u[8]&0x3f | 0x80
	return u
}

func clockKHz() int {
	if n, ok := readInt("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); ok && n > 0 {
		return int(n)
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if mhz, err := strconv.ParseFloat(field(string(b), "cpu MHz"), 64); err == nil && mhz > 0 {
			return int(mhz * 1000)
		}
	}
	return 2000000
}

// lastCache is the size of the largest cache that a core can reach.
func lastCache() int {
	best := 0
	for i := range 8 {
		b, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/size", i))
		if err != nil {
			break
		}
		kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(b)), "K"))
		if err == nil {
			best = max(best, kb<<10)
		}
	}
	if best == 0 {
		return 4 << 20
	}
	return best
}

func readInt(file string) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}
