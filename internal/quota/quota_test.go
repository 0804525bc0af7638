package quota

import (
	"os"
	"path/filepath"
	"testing"
)

const (
	mib = 1 << 20
	gib = 1 << 30
	v1  = "25 20 0:21 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n" +
		"26 20 0:22 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	v2      = "29 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	none    = "9223372036854771712\n"
	meminfo = "MemTotal:       16777216 kB\nMemFree:         1000 kB\nMemAvailable:   12582912 kB\n"
)

func system(t *testing.T, files map[string]string) System {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		f := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return At(root)
}

// TestQuota: limits in nested groups of both versions, in namespaces and outside.
func TestQuota(t *testing.T) {
	rows := []struct {
		name              string
		cgroup, mountinfo string
		files             map[string]string // under sys/fs/cgroup
		memory, available uint64
		processors        int
	}{
		{name: "no groups", memory: 16 * gib, available: 12 * gib},
		{name: "version 2, no limits", cgroup: "0::/user.slice/app\n", mountinfo: v2, memory: 16 * gib, available: 12 * gib,
			files: map[string]string{"user.slice/app/memory.max": "max\n", "user.slice/app/memory.current": "1000\n", "user.slice/app/cpu.max": "max 100000\n"}},
		{name: "version 2, the parent's is the smallest", cgroup: "0::/a/b/c\n", mountinfo: v2, memory: 2 * gib, available: 2*gib - 512*mib, processors: 2,
			files: map[string]string{
				"a/memory.max": "8589934592\n", "a/memory.current": "1073741824\n", "a/cpu.max": "400000 100000\n",
				"a/b/memory.max": "2147483648\n", "a/b/memory.current": "1073741824\n", "a/b/memory.stat": "anon 5\ninactive_file 536870912\n", "a/b/cpu.max": "150000 100000\n",
				"a/b/c/memory.max": "4294967296\n", "a/b/c/memory.current": "0\n", "a/b/c/cpu.max": "max 100000\n"}},
		{name: "version 2, throttled before", cgroup: "0::/a\n", mountinfo: v2, memory: 3 * gib, available: 2 * gib,
			files: map[string]string{"a/memory.max": "8589934592\n", "a/memory.high": "3221225472\n", "a/memory.current": "1073741824\n"}},
		{name: "version 2, full", cgroup: "0::/a\n", mountinfo: v2, memory: gib, available: 1,
			files: map[string]string{"a/memory.max": "1073741824\n", "a/memory.current": "1073750000\n"}},
		{name: "version 2, a namespace", cgroup: "0::/\n", mountinfo: v2, memory: gib, available: gib - 100*mib,
			files: map[string]string{"memory.max": "1073741824\n", "memory.current": "104857600\n"}},
		{name: "version 2, a mount of a namespace outside", cgroup: "0::/\n", mountinfo: "29 22 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n", memory: gib, available: gib,
			files: map[string]string{"memory.max": "1073741824\n"}},
		{name: "version 2, a container without a namespace", cgroup: "0::/docker/1234\n", mountinfo: "29 22 0:26 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", memory: gib, available: gib,
			files: map[string]string{"memory.max": "1073741824\n"}},
		{name: "version 2, moved out of its namespace", cgroup: "0::/../other\n", mountinfo: v2, memory: gib, available: gib,
			files: map[string]string{"memory.max": "1073741824\n"}},
		{name: "version 2, colons and spaces", cgroup: "0::/a:b/c d\n", mountinfo: "29 22 0:26 / /sys/fs/cgroup/my\\040groups rw - cgroup2 cgroup2 rw\n", memory: gib, available: gib,
			files: map[string]string{"my groups/a:b/c d/memory.max": "1073741824\n"}},
		{name: "version 1, nested", cgroup: "5:memory:/outer/inner\n4:cpu,cpuacct:/outer\n0::/\n", mountinfo: v1, memory: gib, available: gib - 412*mib, processors: 3,
			files: map[string]string{
				"memory/memory.limit_in_bytes": none, "memory/memory.usage_in_bytes": "8589934592\n",
				"memory/outer/memory.limit_in_bytes": "1073741824\n", "memory/outer/memory.usage_in_bytes": "536870912\n", "memory/outer/memory.stat": "cache 7\ntotal_inactive_file 104857600\nhierarchical_memory_limit 1073741824\n",
				"memory/outer/inner/memory.limit_in_bytes": none, "memory/outer/inner/memory.usage_in_bytes": "0\n",
				"cpu,cpuacct/outer/cpu.cfs_quota_us": "250000\n", "cpu,cpuacct/outer/cpu.cfs_period_us": "100000\n", "cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"}},
		{name: "version 1, a limit above what is seen", cgroup: "5:memory:/docker/1\n", mountinfo: "25 20 0:21 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", memory: 2 * gib, available: gib,
			files: map[string]string{"memory/memory.limit_in_bytes": none, "memory/memory.usage_in_bytes": "1073741824\n", "memory/memory.stat": "hierarchical_memory_limit 2147483648\n"}},
		{name: "version 1 beside 2", cgroup: "5:memory:/a\n0::/a\n", mountinfo: "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" + v1, memory: gib, available: gib,
			files: map[string]string{"unified/a/memory.max": "1\n", "memory/a/memory.limit_in_bytes": "1073741824\n"}},
		{name: "nonsense", cgroup: "0\n::\nx:y\n0::/a\n", mountinfo: "1 2\n - cgroup2\n" + v2, memory: 16 * gib, available: 12 * gib,
			files: map[string]string{"a/memory.max": "a lot\n", "a/memory.high": "-3\n", "a/cpu.max": "1\n", "cpu.max": "x y z\n"}},
		{name: "larger than the machine", cgroup: "0::/a\n", mountinfo: v2, memory: 16 * gib, available: 12 * gib,
			files: map[string]string{"a/memory.max": "1099511627776\n", "a/memory.current": "0\n"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			files := map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": row.cgroup, "proc/self/mountinfo": row.mountinfo}
			for f, text := range row.files {
				files["sys/fs/cgroup/"+f] = text
			}
			s := system(t, files)
			if m, a, p := s.Memory(), s.Available(), s.Processors(); m != row.memory || a != row.available || p != row.processors {
				t.Errorf("%d bytes, %d available, %d processors; want %d, %d, %d", m, a, p, row.memory, row.available, row.processors)
			}
		})
	}
	if s := system(t, nil); s.Memory() != 0 || s.Available() != 0 || s.Processors() != 0 {
		t.Errorf("without files: %d, %d, %d", s.Memory(), s.Available(), s.Processors())
	}
	if m, a := Own.Memory(), Own.Available(); m == 0 || a == 0 || a > m {
		t.Errorf("here: %d available of %d", a, m)
	}
}
