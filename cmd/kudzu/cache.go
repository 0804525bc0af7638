package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"kudzu/internal/cache"
	"kudzu/internal/config"
)

func openCache() *cache.Cache {
	cfg := cache.FromEnv(config.Get)
	cfg.Warn = func(s string) { fmt.Fprintln(os.Stderr, "kudzu: "+s) }
	return cache.Open(cfg)
}

func runCache(args []string, out io.Writer) error {
	what := "ls"
	if len(args) > 1 {
		return errUsage{"one word, please"}
	}
	if len(args) == 1 {
		what = args[0]
	}
	c := openCache()
	if !c.On() {
		fmt.Fprintln(out, "the cache is off")
		return nil
	}
	switch what {
	case "dir":
		fmt.Fprintln(out, c.Dir())
	case "clear":
		st := c.Stat()
		if err := c.Clear(); err != nil {
			return err
		}
		fmt.Fprintf(out, "removed %d entries, %s\n", st.Entries, size(st.Bytes))
	case "ls":
		list, err := c.List()
		if err != nil {
			return err
		}
		for _, e := range list {
			fmt.Fprintf(out, "%s  %8s  used %s\n", e.Key.String()[:16], size(e.Bytes), e.Used.Format(time.DateTime))
		}
		st := c.Stat()
		fmt.Fprintf(out, "%d entries, %s of %s in %s\n", st.Entries, size(st.Bytes), size(st.Limit), c.Dir())
	default:
		return errUsage{fmt.Sprintf("cache %q: there are ls, clear and dir", what)}
	}
	return nil
}

// size shows bytes as people read them.
func size(n int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	f, u := float64(n), 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[u])
}
