// Package cache keeps bytes in files named by a 32-byte key: native images of kernels, indexes of large modules. It
// holds code that will be executed, so the directory must belong to us and be closed to others, and every entry
// carries a checksum. Several processes may use one directory; files appear by rename and are never changed.
//
// A cache never makes anything fail: without a usable directory every Get is a miss and every Put does nothing, and
// the user is told once.
package cache

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"lukechampine.com/blake3"

	"kudzu/internal/lockrank"
)

// Key names an entry: a cryptographic hash of everything the entry depends on.
type Key [32]byte

// String is the key in hexadecimal, as in the file's name.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Entry describes one cached file.
type Entry struct {
	Key   Key
	Bytes int64     // of the file
	Used  time.Time // about when it was last written or read
}

// Stat counts what is there, and what this process did.
type Stat struct {
	Entries int
	Bytes   int64
	Limit   int64
	Hits    uint64
	Misses  uint64
	Corrupt uint64 // damaged entries found and removed
	Evicted uint64
}

// Cache is a directory of entries. The zero value and nil are a cache that is switched off.
type Cache struct {
	dir   string
	limit int64
	warn  func(string)

	hits, misses, corrupt, evicted atomic.Uint64

	mu      lockrank.Mutex[lockrank.Cache]
	total   int64 // bytes in the directory as last counted plus what we wrote since; guarded by mu
	counted bool  // guarded by mu
	warned  bool  // guarded by mu
}

// An entry's file: magic, length of the payload, BLAKE3 of key and payload, payload. The key is hashed in, so that a
// renamed file is as wrong as a damaged one.
const (
	magic      = "KZCACHE1"
	sumOffset  = 16
	headerSize = sumOffset + 32
	suffix     = ".kzc"
	tempPrefix = "tmp-"
	lockName   = "lock" // held by who evicts; has the size of all entries as it was then

	maxEntry   = 1 << 30
	freshness  = time.Hour // an entry's time is brought up to date only when it is older: a read stays a read
	staleAfter = time.Hour // a temporary file this old belongs to nobody
)

// Open prepares the directory. When it cannot be used the cache is off and cfg.Warn hears why.
func Open(cfg Config) *Cache {
	c := &Cache{limit: cfg.Size, warn: cfg.Warn}
	if c.limit <= 0 {
		c.limit = DefaultSize
	}
	if cfg.Off {
		return c
	}
	if cfg.Dir == "" {
		c.complain("no directory for the kernel cache: neither KUDZU_CACHE_DIR nor HOME is set")
		return c
	}
	if err := prepare(cfg.Dir); err != nil {
		c.complain(fmt.Sprintf("kernels are not cached: %v", err))
		return c
	}
	c.dir = cfg.Dir
	return c
}

// prepare creates dir and checks that nobody else can have put code there.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		if err := unix.Stat(dir, &st); err != nil {
			return &os.PathError{Op: "stat", Path: dir, Err: err}
		}
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("%s is not a directory", dir)
	case trusted(&st):
		return nil
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, not to us (%d)", dir, st.Uid, os.Geteuid())
	}
	return fmt.Errorf("%s can be written by others (mode %03o): chmod go-w it", dir, st.Mode&0o777)
}

// trusted reports a file or folder that nobody but us can have written to.
func trusted(st *unix.Stat_t) bool { return int(st.Uid) == os.Geteuid() && st.Mode&0o022 == 0 }

// complain says something once in the cache's life.
func (c *Cache) complain(text string) {
	c.mu.Lock()
	said := c.warned
	c.warned = true
	c.mu.Unlock()
	if !said && c.warn != nil {
		c.warn(text)
	}
}

// On says whether there is a directory behind the cache.
func (c *Cache) On() bool { return c != nil && c.dir != "" }

// Dir is the directory, "" when the cache is off.
func (c *Cache) Dir() string {
	if c == nil {
		return ""
	}
	return c.dir
}

// Limit is how many bytes the directory may have.
func (c *Cache) Limit() int64 { return c.limit }

// path spreads entries over 256 folders.
func (c *Cache) path(k Key) string {
	name := k.String()
	return filepath.Join(c.dir, name[:2], name+suffix)
}

// Get gives an entry's bytes, which are the caller's. A damaged entry is removed and counts as a miss.
func (c *Cache) Get(k Key) ([]byte, bool) {
	if !c.On() {
		return nil, false
	}
	path := c.path(k)
	b, used, err := read(path)
	if err == nil {
		b, err = open(k, b)
	}
	if err != nil {
		c.misses.Add(1)
		if errors.Is(err, errDamaged) {
			c.corrupt.Add(1)
			_ = os.Remove(path) // if it cannot be removed it is found damaged again
		}
		return nil, false
	}
	if time.Since(used) > freshness {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // only eviction's order depends on it
	}
	c.hits.Add(1)
	return b, true
}

// read is open, fstat, read, close of an entry and its folder, with plain system calls: os.File would register with the poller.
func read(path string) ([]byte, time.Time, error) {
	dir, err := unixOpen(unix.AT_FDCWD, filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return nil, time.Time{}, err
	}
	if !trusted(&st) {
		return nil, time.Time{}, errDamaged
	}
	fd, err := unixOpen(dir, filepath.Base(path), unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, time.Time{}, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size < headerSize || st.Size > maxEntry || !trusted(&st) {
		return nil, time.Time{}, errDamaged
	}
	b := make([]byte, st.Size)
	for n := 0; n < len(b); {
		m, err := retry(func() (int, error) { return unix.Read(fd, b[n:]) })
		if err != nil {
			return nil, time.Time{}, err
		}
		if m == 0 {
			return nil, time.Time{}, errDamaged // cut short while we read
		}
		n += m
	}
	return b, time.Unix(st.Mtim.Unix()), nil
}

func unixOpen(dir int, name string, flags int) (int, error) {
	return retry(func() (int, error) { return unix.Openat(dir, name, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0) })
}

func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}

var errDamaged = errors.New("damaged entry")

// seal puts the header before a payload.
func seal(k Key, payload []byte) []byte {
	b := make([]byte, headerSize, headerSize+len(payload))
	copy(b, magic)
	binary.LittleEndian.PutUint64(b[8:], uint64(len(payload)))
	sum := checksum(k, payload)
	copy(b[sumOffset:], sum[:])
	return append(b, payload...)
}

// open is seal's inverse.
func open(k Key, b []byte) ([]byte, error) {
	if len(b) < headerSize || string(b[:8]) != magic || binary.LittleEndian.Uint64(b[8:]) != uint64(len(b)-headerSize) {
		return nil, errDamaged
	}
	payload := b[headerSize:]
	if sum := checksum(k, payload); string(sum[:]) != string(b[sumOffset:headerSize]) {
		return nil, errDamaged
	}
	return payload, nil
}

func checksum(k Key, payload []byte) [32]byte {
	h := blake3.New(32, nil)
	h.Write(k[:])
	h.Write(payload)
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}

// Put stores an entry. The error is for the log only: whoever computed the bytes has them.
func (c *Cache) Put(k Key, payload []byte) error {
	if !c.On() {
		return nil
	}
	size := int64(headerSize + len(payload))
	if size > maxEntry || size > c.limit {
		return fmt.Errorf("cache entry of %d bytes is larger than allowed", size)
	}
	if err := c.write(k, seal(k, payload)); err != nil {
		c.complain(fmt.Sprintf("kernels are not cached: %v", err))
		return err
	}
	c.grew(size)
	return nil
}

// write makes the file under a name of its own and renames it: readers see all of it or nothing. There is no fsync: after
// a crash of the machine a half-written file fails its checksum.
func (c *Cache) write(k Key, b []byte) error {
	path := c.path(k)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := os.CreateTemp(c.dir, tempPrefix+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // else evict removes it later
	}
	return err
}

// Remove deletes an entry; one that is not there is fine.
func (c *Cache) Remove(k Key) error {
	if !c.On() {
		return nil
	}
	if err := os.Remove(c.path(k)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// keyOf reads the key off a file's name.
func keyOf(name string) (Key, bool) {
	var k Key
	stem, ok := strings.CutSuffix(name, suffix)
	if !ok || len(stem) != 2*len(k) {
		return k, false
	}
	n, err := hex.Decode(k[:], []byte(stem))
	return k, err == nil && n == len(k)
}
