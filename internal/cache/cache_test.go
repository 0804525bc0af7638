package cache

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func key(i int) Key { return Key{byte(i), byte(i >> 8), 7} }

func fresh(t testing.TB, cfg Config) *Cache {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = filepath.Join(t.TempDir(), "cache")
	}
	cfg.Warn = func(s string) { t.Errorf("warning: %s", s) }
	c := Open(cfg)
	if !c.On() {
		t.Fatal("cache is off")
	}
	return c
}

func TestPutGet(t *testing.T) {
	c := fresh(t, Config{})
	if _, ok := c.Get(key(1)); ok {
		t.Error("hit in an empty cache")
	}
	for i, v := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("code"), 100000)} {
		if err := c.Put(key(i), v); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get(key(i)); !ok || !bytes.Equal(got, v) {
			t.Errorf("entry %d: %d bytes, %v", i, len(got), ok)
		}
	}
	if err := c.Put(key(1), []byte("y")); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Get(key(1)); string(got) != "y" {
		t.Errorf("after a second Put: %q", got)
	}
	s := c.Stat()
	if s.Entries != 3 || s.Hits != 4 || s.Misses != 1 || s.Bytes < 400000 {
		t.Errorf("%+v", s)
	}
	if info, err := os.Stat(c.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory %v, %v", info.Mode(), err)
	}
	if err := c.Remove(key(1)); err != nil {
		t.Error(err)
	}
	if _, ok := c.Get(key(1)); ok {
		t.Error("hit after Remove")
	}
	if err := c.Clear(); err != nil {
		t.Error(err)
	}
	if all, err := c.List(); err != nil || len(all) != 0 {
		t.Errorf("after Clear: %v, %v", all, err)
	}
}

// Every kind of damage is a miss, is counted and is gone afterwards.
func TestCorrupt(t *testing.T) {
	c := fresh(t, Config{})
	payload := bytes.Repeat([]byte("kernel"), 50)
	whole := seal(key(1), payload)
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-1] ^= 1
	damage := map[string][]byte{
		"empty": {}, "cut in the header": whole[:20], "cut in the payload": whole[:100], "flipped bit": flipped,
		"another key's": seal(key(2), payload), "garbage": bytes.Repeat([]byte{0xff}, 500), "longer": append(bytes.Clone(whole), 0),
	}
	n := uint64(0)
	for name, b := range damage {
		if err := c.Put(key(1), payload); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.path(key(1)), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get(key(1)); ok {
			t.Errorf("%s: hit", name)
		}
		n++
		if _, err := os.Stat(c.path(key(1))); !os.IsNotExist(err) || c.Stat().Corrupt != n {
			t.Errorf("%s: %v, counted %d", name, err, c.Stat().Corrupt)
		}
	}
	// What is no file at all does not hang and is no hit either.
	if err := os.MkdirAll(c.path(key(3)), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(key(3)); ok {
		t.Error("a directory is a hit")
	}
	if err := os.Symlink("/dev/zero", c.path(key(1))); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(key(1)); ok {
		t.Error("a link is a hit")
	}
}

func TestUnusableDirectory(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	open := filepath.Join(base, "open")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"":                          "neither",
		file:                        "not a directory",
		filepath.Join(file, "x"):    "not a directory",
		open:                        "written by others",
		"/proc/kudzu/no/such/place": "no such file",
	} {
		var said []string
		c := Open(Config{Dir: dir, Warn: func(s string) { said = append(said, s) }})
		if c.On() || len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("%q: on %v, said %q, want %q", dir, c.On(), said, want)
		}
		if err := c.Put(key(1), []byte("x")); err != nil {
			t.Errorf("%q: Put: %v", dir, err)
		}
		if _, ok := c.Get(key(1)); ok {
			t.Errorf("%q: hit", dir)
		}
		if all, err := c.List(); err != nil || all != nil || c.Clear() != nil || c.Remove(key(1)) != nil || len(said) != 1 {
			t.Errorf("%q: a cache that is off does things", dir)
		}
	}
	if os.Geteuid() == 0 { // as root we can make a directory foreign
		foreign := filepath.Join(base, "foreign")
		if err := os.Mkdir(foreign, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(foreign, 12345, 12345); err != nil {
			t.Skip(err)
		}
		if c := Open(Config{Dir: foreign}); c.On() {
			t.Error("a foreign directory is trusted")
		}
	}
	var none *Cache
	if _, ok := none.Get(key(1)); ok || none.Put(key(1), nil) != nil || none.On() || none.Dir() != "" || none.Stat() != (Stat{}) {
		t.Error("nil is not a cache that is off")
	}
	said := 0
	if c := Open(Config{Off: true, Dir: open, Warn: func(string) { said++ }}); c.On() || said != 0 {
		t.Error("CUDA_CACHE_DISABLE still looks at the directory")
	}
}

// The directory is taken away while the process runs: one warning, no failure.
func TestDirectoryVanishes(t *testing.T) {
	said := 0
	dir := filepath.Join(t.TempDir(), "cache")
	c := Open(Config{Dir: dir, Warn: func(string) { said++ }})
	if err := c.Put(key(1), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, ok := c.Get(key(1)); ok {
			t.Error("hit")
		}
		if err := c.Put(key(1), []byte("x")); err == nil {
			t.Error("Put into nothing succeeds")
		}
	}
	if said != 1 {
		t.Errorf("%d warnings", said)
	}
}

func TestEvict(t *testing.T) {
	c := fresh(t, Config{Size: 100_000})
	value := make([]byte, 10_000)
	for i := range 9 {
		if err := c.Put(key(i), value); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(time.Duration(i-100) * 24 * time.Hour)
		if err := os.Chtimes(c.path(key(i)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := c.Get(key(0)); !ok { // the oldest becomes the newest
		t.Fatal("miss before the limit")
	}
	stale := filepath.Join(c.Dir(), tempPrefix+"left")
	if err := os.WriteFile(stale, value, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * staleAfter)
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	for i := 9; i < 12; i++ {
		if err := c.Put(key(i), value); err != nil {
			t.Fatal(err)
		}
	}
	s := c.Stat()
	if s.Bytes > 100_000 || s.Evicted == 0 {
		t.Errorf("%+v", s)
	}
	for i, want := range map[int]bool{0: true, 1: false, 11: true} {
		if _, ok := c.Get(key(i)); ok != want {
			t.Errorf("entry %d: %v", i, ok)
		}
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Error("a stale temporary file stays")
	}
	if err := c.Put(key(50), make([]byte, 200_000)); err == nil {
		t.Error("an entry larger than the cache is kept")
	}
}

// pattern is a value that depends on all of the key, so that any mixture shows.
func pattern(i int) []byte { return bytes.Repeat([]byte(fmt.Sprintf("%08d", i)), 5000) }

// hammer puts and gets the same keys over and over; a hit must be right.
func hammer(c *Cache, rounds int) error {
	for n := range rounds {
		i := n % 16
		if got, ok := c.Get(key(i)); ok && !bytes.Equal(got, pattern(i)) {
			return fmt.Errorf("entry %d is wrong", i)
		}
		if err := c.Put(key(i), pattern(i)); err != nil {
			return err
		}
		if n%50 == 0 {
			_ = c.Remove(key(i))
		}
	}
	return nil
}

func TestTwoProcesses(t *testing.T) {
	if dir := os.Getenv("KUDZU_TEST_CACHE"); dir != "" {
		c := fresh(t, Config{Dir: dir, Size: 400_000})
		if err := hammer(c, 400); err != nil {
			t.Error(err)
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "shared")
	cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$")
	cmd.Env = append(os.Environ(), "KUDZU_TEST_CACHE="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := fresh(t, Config{Dir: dir, Size: 400_000}) // small, so that both evict as well
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := hammer(c, 200); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := cmd.Wait(); err != nil {
		t.Errorf("other process: %v\n%s", err, out.String())
	}
	if n := c.Stat().Corrupt; n != 0 {
		t.Errorf("%d damaged entries", n)
	}
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		env  string
		want Config
	}{
		{"HOME=/h", Config{Dir: "/h/.cache/kudzu", Size: DefaultSize}},
		{"HOME=/h XDG_CACHE_HOME=/x", Config{Dir: "/x/kudzu", Size: DefaultSize}},
		{"HOME=/h XDG_CACHE_HOME=x", Config{Dir: "/h/.cache/kudzu", Size: DefaultSize}},
		{"HOME=/h CUDA_CACHE_PATH=/c CUDA_CACHE_MAXSIZE=1000000", Config{Dir: "/c/kudzu", Size: 1000000}},
		{"KUDZU_CACHE_DIR=/k CUDA_CACHE_PATH=/c KUDZU_CACHE_SIZE=2G CUDA_CACHE_MAXSIZE=5", Config{Dir: "/k", Size: 2 << 30}},
		{"KUDZU_CACHE_DIR=/k KUDZU_CACHE_SIZE=64MiB CUDA_CACHE_DISABLE=1", Config{Dir: "/k", Size: 64 << 20, Off: true}},
		{"KUDZU_CACHE_DIR=/k KUDZU_CACHE_SIZE=lots CUDA_CACHE_DISABLE=0", Config{Dir: "/k", Size: DefaultSize}},
		{"KUDZU_CACHE_DIR=/k KUDZU_CACHE_SIZE=99999999999T", Config{Dir: "/k", Size: DefaultSize}},
		{"", Config{Size: DefaultSize}},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		got := FromEnv(func(k string) string { return env[k] })
		if got.Dir != c.want.Dir || got.Size != c.want.Size || got.Off != c.want.Off {
			t.Errorf("%s: %+v", c.env, got)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(seal(key(1), []byte("payload")))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if payload, err := open(key(1), b); err == nil && !bytes.Equal(seal(key(1), payload), b) {
			t.Error("accepted what seal does not write")
		}
	})
}

func BenchmarkGet(b *testing.B) {
	c := fresh(b, Config{})
	if err := c.Put(key(1), make([]byte, 20_000)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := c.Get(key(1)); !ok {
			b.Fatal("miss")
		}
	}
}

// TestWritableByOthers: an entry that somebody else may have written, or put where it lies, is no entry.
func TestWritableByOthers(t *testing.T) {
	rows := []struct {
		name string
		mode os.FileMode
		what func(path string) string
	}{
		{"file, others", 0o606, func(p string) string { return p }},
		{"file, group", 0o660, func(p string) string { return p }},
		{"folder, others", 0o707, filepath.Dir},
		{"folder, group", 0o770, filepath.Dir},
	}
	for _, row := range rows {
		c := fresh(t, Config{})
		if err := c.Put(key(1), []byte("code")); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Get(key(1)); !ok {
			t.Fatal("no entry")
		}
		if err := os.Chmod(row.what(c.path(key(1))), row.mode); err != nil {
			t.Fatal(err)
		}
		if b, ok := c.Get(key(1)); ok {
			t.Errorf("%s: %q is taken", row.name, b)
		}
	}
}

// TestRecount has another process list the directory only if the last listing is old or found it nearly full.
func TestRecount(t *testing.T) {
	c := fresh(t, Config{Size: 100_000})
	put := func(c *Cache, i, size int) {
		t.Helper()
		if err := c.Put(key(i), make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	put(c, 0, 10_000)
	if err := c.write(key(1), seal(key(1), make([]byte, 95_000))); err != nil { // what another process wrote since
		t.Fatal(err)
	}
	lately := Open(Config{Dir: c.Dir(), Size: 100_000})
	put(lately, 2, 10_000)
	if s := lately.Stat(); s.Evicted != 0 {
		t.Errorf("listed again: %+v", s)
	}
	old := time.Now().Add(-2 * recount)
	if err := os.Chtimes(filepath.Join(c.Dir(), lockName), old, old); err != nil {
		t.Fatal(err)
	}
	later := Open(Config{Dir: c.Dir(), Size: 100_000})
	put(later, 3, 1000)
	if s := later.Stat(); s.Evicted == 0 || s.Bytes > 100_000 {
		t.Errorf("not listed after %v: %+v", 2*recount, s)
	}
	put(later, 4, 80_000)
	later.evict() // records more than three quarters
	full := Open(Config{Dir: c.Dir(), Size: 100_000})
	put(full, 5, 30_000)
	if s := full.Stat(); s.Bytes > 100_000 {
		t.Errorf("not listed though nearly full: %+v", s)
	}
}
