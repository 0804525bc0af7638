package cache

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// List gives all entries, the most recently used first.
func (c *Cache) List() ([]Entry, error) {
	if !c.On() {
		return nil, nil
	}
	folders, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, f := range folders {
		if !f.IsDir() || len(f.Name()) != 2 {
			continue
		}
		files, err := os.ReadDir(filepath.Join(c.dir, f.Name()))
		if err != nil {
			if errors.Is(err, os.ErrNotExist) { // cleared meanwhile
				continue
			}
			return nil, err
		}
		for _, file := range files {
			k, ok := keyOf(file.Name())
			info, err := file.Info()
			if !ok || err != nil { // not ours, or removed meanwhile
				continue
			}
			all = append(all, Entry{Key: k, Bytes: info.Size(), Used: info.ModTime()})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Used.After(all[j].Used) })
	return all, nil
}

// Stat counts the directory and gives this process's counters.
func (c *Cache) Stat() Stat {
	if c == nil {
		return Stat{}
	}
	s := Stat{Limit: c.limit, Hits: c.hits.Load(), Misses: c.misses.Load(), Corrupt: c.corrupt.Load(), Evicted: c.evicted.Load()}
	all, err := c.List()
	if err != nil {
		return s
	}
	s.Entries = len(all)
	for _, e := range all {
		s.Bytes += e.Bytes
	}
	return s
}

// Clear removes every entry and leaves the directory.
func (c *Cache) Clear() error {
	if !c.On() {
		return nil
	}
	all, err := c.List()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range all {
		errs = append(errs, c.Remove(e.Key))
	}
	c.sweep(0)
	c.mu.Lock()
	c.total, c.counted = 0, true
	c.mu.Unlock()
	return errors.Join(errs...)
}

// grew counts a new file and evicts when the directory is too full. The first Put of a process lists the directory, unless some
// process did so lately and found room; afterwards it is listed only when our own writes reach the limit.
func (c *Cache) grew(size int64) {
	c.mu.Lock()
	if !c.counted {
		if total, ok := c.recorded(); ok {
			c.total, c.counted = c.total+total, true
		}
	}
	c.total += size
	full := !c.counted || c.total > c.limit
	c.mu.Unlock()
	if full {
		c.evict()
	}
}

// recount is how long a listing counts for other processes: a directory of 30,000 entries takes a quarter of a second to list.
const recount = time.Hour

// recorded is the size that a listing wrote to the lock file, if it is of late and far enough from the limit.
func (c *Cache) recorded() (int64, bool) {
	f, err := os.OpenFile(filepath.Join(c.dir, lockName), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	info, err := f.Stat()
	var b [8]byte
	if err != nil || time.Since(info.ModTime()) > recount {
		return 0, false
	}
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return 0, false
	}
	total := int64(binary.LittleEndian.Uint64(b[:]))
	return total, total >= 0 && total <= c.limit/4*3
}

// evict removes the entries used longest ago until a tenth of the limit is free again. One process does it at a time;
// the others go on.
func (c *Cache) evict() {
	lock, err := unix.Open(filepath.Join(c.dir, lockName), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return
	}
	defer unix.Close(lock) // releases the lock
	if unix.Flock(lock, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	c.sweep(staleAfter)
	all, err := c.List()
	if err != nil {
		return
	}
	var total int64
	for _, e := range all {
		total += e.Bytes
	}
	if total > c.limit {
		for i := len(all) - 1; i > 0 && total > c.limit/10*9; i-- {
			if c.Remove(all[i].Key) == nil {
				total -= all[i].Bytes
				c.evicted.Add(1)
			}
		}
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(total))
	_, _ = unix.Pwrite(lock, b[:], 0) // else others list, too
	c.mu.Lock()
	c.total, c.counted = total, true
	c.mu.Unlock()
}

// sweep removes temporary files that a killed process left.
func (c *Cache) sweep(older time.Duration) {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), tempPrefix) {
			continue
		}
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) >= older {
			_ = os.Remove(filepath.Join(c.dir, f.Name())) // next time, then
		}
	}
}
