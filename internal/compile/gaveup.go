package compile

import (
	"encoding/binary"
	"fmt"
	"time"

	"lukechampine.com/blake3"

	"kudzu/internal/cache"
)

// Optimising a kernel of megabytes can take longer than a compilation may. Nobody waits for it, but every process would begin it again
// and burn a processor for minutes. So the cache has, beside the entry that never came, the processor time that was spent on it.

// GaveUp is a background compilation that is not begun: others of the same key took long and came to nothing.
type GaveUp struct {
	Kernel string
	Spent  time.Duration // processor time of all attempts
}

// Error says how long they took.
func (e *GaveUp) Error() string {
	return fmt.Sprintf("kernel %s: compilations took %.0f s of processor time and gave no code; none is begun again", e.Kernel, e.Spent.Seconds())
}

// enough is how much processor time may be spent in vain: half of what one attempt has on a free processor.
func enough(timeout time.Duration) time.Duration { return timeout / 2 }

// spentKey names the entry that says what was spent on key. That has the compiler's build and libLLVM in it: a new one tries again.
func spentKey(key cache.Key) cache.Key {
	return blake3.Sum256(append([]byte("kudzu spent 1 "), key[:]...))
}

// spent is the processor time that attempts at key took in vain.
func spent(c *cache.Cache, key cache.Key) time.Duration {
	b, ok := c.Get(spentKey(key))
	if !ok || len(b) != 8 {
		return 0
	}
	return time.Duration(binary.LittleEndian.Uint64(b))
}

// spend adds an attempt. Two processes that add at once may lose one of both: it is tried once more, then.
func spend(c *cache.Cache, key cache.Key, took time.Duration) error {
	if took <= 0 {
		return nil
	}
	return c.Put(spentKey(key), binary.LittleEndian.AppendUint64(nil, uint64(spent(c, key)+took)))
}
