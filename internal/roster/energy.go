package roster

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/lockrank"
)

// Where the system has the energy counters of processor packages (RAPL). Reading them may need rights.
const powercap = "/sys/class/powercap"

// packages are the folders of whole processors: a colon more is a part of one.
func packages(class string) []string {
	found, _ := filepath.Glob(filepath.Join(class, "intel-rapl:*"))
	var all []string
	for _, dir := range found {
		if strings.Count(filepath.Base(dir), ":") == 1 {
			all = append(all, dir)
		}
	}
	return all
}

// total adds a file's number over all packages; ok is false unless every package tells.
func total(class, file string) (sum uint64, ok bool) {
	all := packages(class)
	for _, dir := range all {
		v, err := strconv.ParseUint(text(filepath.Join(dir, file)), 10, 64)
		if err != nil {
			return 0, false
		}
		sum += v
	}
	return sum, len(all) > 0
}

// Energy is what the processors used since their counters began, in microjoules; ok is false where the system does not tell.
func Energy() (uint64, bool) { return total(powercap, "energy_uj") }

// PowerLimit is what the processors may use for long, in microwatts.
func PowerLimit() (uint64, bool) { return total(powercap, "constraint_0_power_limit_uw") }

// Meter turns the energy counter into power.
type Meter struct {
	mu     lockrank.Mutex[lockrank.RosterEnergy]
	at     time.Time // guarded by mu, as the rest
	energy uint64
	last   uint64
}

// Microwatts is the power since the last call. Without a recent one it takes a short while.
func (m *Meter) Microwatts() (uint64, bool) { return m.read(Energy) }

func (m *Meter) read(energy func() (uint64, bool)) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if since := time.Since(m.at); since < shortest {
		return m.last, true
	} else if since > longest {
		before, ok := energy()
		if !ok {
			return 0, false
		}
		m.at, m.energy = time.Now(), before
		time.Sleep(shortest)
	}
	now, ok := energy()
	if !ok {
		return 0, false
	}
	since := time.Since(m.at)
	if now > m.energy { // else the counter began again: the last answer holds
		m.last = (now - m.energy) * uint64(time.Second/time.Microsecond) / uint64(since/time.Microsecond)
	}
	m.at, m.energy = time.Now(), now
	return m.last, true
}
