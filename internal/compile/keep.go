package compile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"kudzu/internal/cache"
	"kudzu/internal/image"

	"golang.org/x/sys/unix"
)

// Store is where code belongs that is there after its client has gone.
type Store struct {
	Dir  string
	Size int64
	Key  cache.Key
}

// storeOf is where the answer to a background request belongs; nil without a cache.
func (c *Client) storeOf(req *Request) *Store {
	if !req.Background || !c.cfg.Cache.On() {
		return nil
	}
	return &Store{Dir: c.cfg.Cache.Dir(), Size: c.cfg.Cache.Limit(), Key: c.Key(req)}
}

// Finishing is the right to go on without a client. One process at a time has it in a cache: programs that are started again and again
// leave one compiler behind, not one each.
func (s *Store) Finishing() bool {
	f, err := unix.Open(filepath.Join(s.Dir, "finishing"), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return false
	}
	if unix.Flock(f, unix.LOCK_EX|unix.LOCK_NB) != nil {
		unix.Close(f)
		return false
	}
	return true // until the process ends
}

// Keep puts the image of an answer into the cache, or what it cost that there is none.
func (s *Store) Keep(answer Frame) error {
	if _, err := os.Stat(s.Dir); err != nil { // somebody has removed it since
		return err
	}
	c := cache.Open(cache.Config{Dir: s.Dir, Size: s.Size})
	r, failure, broken := DecodeAnswer(answer)
	if crash := (*Crash)(nil); errors.As(failure, &crash) {
		return spend(c, s.Key, crash.Spent)
	}
	if err := errors.Join(failure, broken); err != nil {
		return err
	}
	if _, err := image.Parse(r.Image); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	return c.Put(s.Key, r.Image)
}
