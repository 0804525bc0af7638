package cpu

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"lukechampine.com/blake3"

	"kudzu/internal/backend"
	"kudzu/internal/quota"
)

// describe is what device i says of itself: the machine where CUDA asks about size and speed, the numbers of the GPU that it
// claims to be where it asks about limits, so that a program's occupancy arithmetic comes out as there.
func describe(i int, memory uint64, c backend.Capability, workers int) backend.Info {
	first := cpuInfo()
	name := "Kudzu CPU (" + cpuModel(first) + ")"
	if len(name) > 255 { // CUDA's buffers
		name = name[:255]
	}
	info := backend.Info{
		Name:         name,
		UUID:         uuid(i),
		PCI:          [3]int{0, i + 1, 0},
		Memory:       memory,
		Processors:   workers,
		ClockKHz:     clockKHz(first),
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

// cpuInfo is what the kernel tells of the first processors. It asks each of them how fast it runs while it writes the file, so that
// reading all of it takes milliseconds on a large machine.
func cpuInfo() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, 4096)
	n, _ := f.Read(b) // nothing is known then
	return string(b[:n])
}

// cpuModel is the processor's name as the kernel tells it.
func cpuModel(info string) string {
	for _, key := range []string{"model name", "Model"} {
		if v := field(info, key); v != "" {
			return strings.Join(strings.Fields(v), " ")
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
		if id = strings.TrimSpace(quota.File(f)); id != "" {
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

func clockKHz(info string) int {
	if n, ok := readInt("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); ok && n > 0 {
		return int(n)
	}
	if mhz, err := strconv.ParseFloat(field(info, "cpu MHz"), 64); err == nil && mhz > 0 {
		return int(mhz * 1000)
	}
	return 2000000
}

// lastCache is the size of the largest cache that a core can reach.
func lastCache() int {
	best := 0
	for i := range 8 {
		text := quota.File("/sys/devices/system/cpu/cpu0/cache/index" + strconv.Itoa(i) + "/size")
		if text == "" {
			break
		}
		kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), "K"))
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
	n, err := strconv.ParseInt(strings.TrimSpace(quota.File(file)), 10, 64)
	return n, err == nil
}
