package truth

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var (
	claimDir   = flag.String("claims", "", "share the work with other processes that name this folder: what one of them takes has a file there")
	claimLimit = flag.Duration("limit", 0, "with -claims: take nothing more after this time")
)

// claims is the part of a comparison that this process does: all of it, or with -claims what no other has taken, as long as there is time.
type claims struct {
	test  string // the name of the test
	begun time.Time
}

func newClaims(t *testing.T) *claims { return &claims{test: t.Name(), begun: time.Now()} }

// shared says that others do a part.
func (c *claims) shared() bool { return *claimDir != "" }

// workers is how many kernels a process has at a time: alone n, else enough for one processor.
func (c *claims) workers(n int) int {
	if c.shared() {
		return 1
	}
	return n
}

// over says that the time is.
func (c *claims) over() bool {
	return c.shared() && *claimLimit > 0 && time.Since(c.begun) > *claimLimit
}

// take says that piece i is this process's.
func (c *claims) take(i int) bool {
	if c.over() {
		return false
	}
	if c.shared() {
		f, err := os.OpenFile(filepath.Join(*claimDir, fmt.Sprintf("%s.%d", c.test, i)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return false
		}
		f.Close()
	}
	return true
}
