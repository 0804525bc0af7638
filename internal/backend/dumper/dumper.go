// Package dumper writes one launch of a program into a file, with the memory that it could reach before and after (internal/dump). The
// program goes on as if nothing had happened.
package dumper

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/backend/tap"
	"kudzu/internal/config"
	"kudzu/internal/dump"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// Config says which launch, and where to.
type Config struct {
	File   string
	Kernel *regexp.Regexp // names of kernels; nil: any
	Launch int            // which of theirs, from 1; 0 is the first
	Every  bool           // each of them, into FILE with a number before its extension
	All    bool           // all memory, not only what was found to be reachable
	Limit  uint64         // bytes of memory
}

// Parse reads what KUDZU_DUMP_LAUNCH says: some of N, every, all and memory=4G, separated by commas.
func (c *Config) Parse(s string) error {
	c.Limit = 4 << 30
	for _, part := range strings.Split(s, ",") {
		var err error
		switch name, value, _ := strings.Cut(part, "="); name {
		case "":
		case "all":
			c.All = true
		case "every":
			c.Every = true
		case "memory":
			c.Limit, err = backend.ParseBytes(value)
		default:
			c.Launch, err = strconv.Atoi(name)
			if err == nil && c.Launch < 1 {
				err = errors.New("launches count from 1")
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

// taker counts launches.
type taker struct {
	cfg  Config
	mu   lockrank.Mutex[lockrank.Dumper]
	seen int  // guarded by mu
	done bool // guarded by mu: nothing more is wanted
}

// New makes a backend whose launch is written.
func New(b backend.Backend, cfg Config) backend.Backend {
	cfg.Launch = max(1, cfg.Launch)
	return tap.New(b, &taker{cfg: cfg})
}

// chosen counts a launch.
func (t *taker) chosen(name string) (n int, ok bool) {
	if t.cfg.Kernel != nil && !t.cfg.Kernel.MatchString(name) {
		return 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen++
	if t.done || !t.cfg.Every && t.seen != t.cfg.Launch {
		return 0, false
	}
	t.done = !t.cfg.Every
	return t.seen, true
}

// Launch writes the launch down if it is the one.
func (t *taker) Launch(q *tap.Queue, k *tap.Kernel, l *backend.Launch) error {
	direct := func() error { return q.Direct(k, l) }
	n, ok := t.chosen(k.Name())
	if !ok {
		return q.Put(direct)
	}
	return q.Quiet(func() error {
		c, err := q.Capture(k, l, t.cfg.All, t.cfg.Limit)
		if err != nil {
			logx.Warnf("launch %d of %s is not dumped: %v", n, k.Name(), err)
			return direct()
		}
		c.Number = n
		if err := direct(); err != nil {
			return err
		}
		// A fault is the program's to hear of when it synchronizes.
		if err := c.Finish(q.Sync()); err != nil {
			logx.Warnf("launch %d of %s is not dumped: %v", n, k.Name(), err)
			return nil
		}
		t.write(c.File, n)
		return nil
	}, func() error {
		logx.Warnf("launch %d of %s is not dumped: other work does not end", n, k.Name())
		return direct()
	})
}

func (t *taker) write(f *dump.File, n int) {
	path := t.cfg.File
	if t.cfg.Every {
		path = Numbered(path, n)
	}
	if err := f.Write(path, true); err != nil {
		if errors.Is(err, fs.ErrExist) {
			logx.Infof(config.Dump+": %s is there already, of another process", path)
			return
		}
		logx.Warnf(config.Dump+": %v", err)
	}
}

// Numbered is the file of the n-th launch where every one is written.
func Numbered(path string, n int) string {
	stem, ext := path, ""
	if i := strings.LastIndexByte(path, '.'); i > strings.LastIndexByte(path, '/') {
		stem, ext = path[:i], path[i:]
	}
	return fmt.Sprintf("%s-%d%s", stem, n, ext)
}
