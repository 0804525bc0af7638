// Package quota tells how much memory and how many processors this process may use: the machine's, and what control groups leave of
// them, in versions 1 and 2. A group's limit holds for all that is in it, so that the smallest on the way up counts. It also tells what
// the system counts of a process.
package quota

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// System is what the files under a folder tell.
type System struct{ root string }

// Own is the system that this process runs on.
var Own = System{"/"}

// At is a system whose /proc and /sys lie under root, for tests.
func At(root string) System { return System{root} }

// Memory is the bytes that this process may use in all: the machine's memory or the smallest limit of its groups; 0: not known.
func (s System) Memory() uint64 {
	total := s.meminfo("MemTotal")
	for i, l := range s.memoryLevels() {
		total = smaller(total, l.limit(i == 0))
	}
	return total
}

// Available is the bytes that this process can still get before the machine or one of its groups runs out; 0: not known.
func (s System) Available() uint64 {
	left := s.meminfo("MemAvailable")
	for _, l := range s.memoryLevels() {
		if limit := l.limit(true); limit > 0 {
			left = smaller(left, max(1, limit-min(limit, l.inUse())))
		}
	}
	return left
}

// Processors is how many its groups let this process use at a time, rounded up; 0: as many as there are.
func (s System) Processors() int {
	least := 0.0
	for _, l := range s.levels("cpu") {
		var quota, period float64
		if l.v2 {
			f := strings.Fields(l.read("cpu.max")) // "quota period" or "max period"
			if len(f) != 2 {
				continue
			}
			quota, period = number(f[0]), number(f[1])
		} else {
			quota, period = number(l.read("cpu.cfs_quota_us")), number(l.read("cpu.cfs_period_us"))
		}
		if n := quota / period; quota > 0 && period > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return int(math.Ceil(least))
}

// number is 0 for what is none, such as max.
func number(s string) float64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return float64(n)
}

// smaller is the smaller of two numbers of which 0 is not known.
func smaller(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (s System) read(path string) string { return File(filepath.Join(s.root, path)) }

// File is the text of a file of /proc or /sys, "" if it cannot be read. A dozen of them is a good part of a program's start, and what
// os.ReadFile does besides (the size, which is 0, a poller, a finalizer) takes longer than the reading.
func File(path string) string {
	b := make([]byte, 0, 4096)
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer syscall.Close(fd)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := syscall.Read(fd, b[len(b):cap(b)])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return ""
		case n <= 0:
			return string(b)
		default:
			b = b[:len(b)+n]
		}
	}
}

// meminfo is a row of /proc/meminfo in bytes.
func (s System) meminfo(key string) uint64 { return field(s.read("proc/meminfo"), key+":") << 10 }

// field is the number behind a key at the start of a line.
func field(text, key string) uint64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == key {
			n, _ := strconv.ParseUint(f[1], 10, 64) // 0 is not known
			return n
		}
	}
	return 0
}

// level is a group that this process is in, itself or through those below.
type level struct {
	s   System
	dir string
	v2  bool
}

func (l level) read(file string) string {
	return strings.TrimSpace(l.s.read(filepath.Join(l.dir, file)))
}

// unlimited is where version 1 begins to mean no limit: the largest number of whole pages.
const unlimited = 1 << 60

func (l level) bytes(file string) uint64 {
	n, err := strconv.ParseUint(l.read(file), 10, 64)
	if err != nil || n >= unlimited { // max
		return 0
	}
	return n
}

// limit is the group's limit of memory, 0 if it has none. Beyond memory.high the system slows the group down until it gives memory back,
// which device memory does not. With above, it is that of the groups above too: version 1 tells it in a file that is slow to make, and
// so it is asked for in the process's own group alone.
func (l level) limit(above bool) uint64 {
	if l.v2 {
		return smaller(l.bytes("memory.max"), l.bytes("memory.high"))
	}
	limit := l.bytes("memory.limit_in_bytes")
	if !above {
		return limit
	}
	// The groups above may be outside of what this process sees; they are in here.
	all := field(l.read("memory.stat"), "hierarchical_memory_limit")
	if all >= unlimited {
		all = 0
	}
	return smaller(limit, all)
}

// inUse is the memory of the group that it would not give back for the asking.
func (l level) inUse() uint64 {
	used, cached := l.bytes("memory.usage_in_bytes"), "total_inactive_file"
	if l.v2 {
		used, cached = l.bytes("memory.current"), "inactive_file"
	}
	return used - min(used, field(l.read("memory.stat"), cached))
}

func (s System) memoryLevels() []level { return s.levels("memory") }

// levels are the groups of this process that a controller knows, its own first.
func (s System) levels(controller string) []level {
	one, two := s.groups(controller)
	for _, m := range s.mounts() {
		switch {
		case m.v2 && one == "" && two != "", !m.v2 && one != "" && m.has(controller):
			path := two
			if !m.v2 {
				path = one
			}
			return s.upward(m, path)
		}
	}
	return nil
}

// groups are the paths of this process among the groups of version 1 that the controller has, and of version 2; "" if there are none.
func (s System) groups(controller string) (one, two string) {
	for line := range strings.Lines(s.read("proc/self/cgroup")) { // number:controllers:path, and 0::path for version 2
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[0] == "0" && f[1] == "" {
			two = f[2]
		}
		if has(f[1], controller) {
			one = f[2]
		}
	}
	return one, two
}

func has(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// mount is a tree of groups that can be looked at: which group is its top, and where.
type mount struct {
	top, at string
	options string
	v2      bool
}

func (m mount) has(controller string) bool { return has(m.options, controller) }

// ownMounts are where the trees of groups are, which is the same for as long as a process lives.
var ownMounts = sync.OnceValue(func() []mount { return Own.readMounts() })

func (s System) mounts() []mount {
	if s == Own {
		return ownMounts()
	}
	return s.readMounts()
}

func (s System) readMounts() []mount {
	var all []mount
	for line := range strings.Lines(s.read("proc/self/mountinfo")) {
		head, tail, ok := strings.Cut(line, " - ") // optional fields come before it
		f, t := strings.Fields(head), strings.Fields(tail)
		if !ok || len(f) < 5 || len(t) < 3 || t[0] != "cgroup" && t[0] != "cgroup2" {
			continue
		}
		all = append(all, mount{top: unescape(f[3]), at: unescape(f[4]), options: t[2], v2: t[0] == "cgroup2"})
	}
	return all
}

// unescape undoes the \040 for a space and its like.
func unescape(s string) string {
	for i := 0; i+3 < len(s); i++ {
		if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); s[i] == '\\' && err == nil {
			s = s[:i] + string([]byte{byte(n)}) + s[i+4:]
		}
	}
	return s
}

// upward is the group at path and those above it, as far as the mount shows them. A path that is not below the mount's top, because the
// mount is of another namespace, stands for the top: that is what containers without one of their own see.
func (s System) upward(m mount, path string) []level {
	below, err := filepath.Rel(m.top, path)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		below = "."
	}
	var all []level
	for {
		all = append(all, level{s, filepath.Join(m.at, below), m.v2})
		if below == "." {
			return all
		}
		below = filepath.Dir(below)
	}
}
