package cache

import (
	"path/filepath"
	"strconv"
	"strings"

	"kudzu/internal/config"
)

// DefaultSize bounds the directory when nobody says otherwise: 4 GiB.
const DefaultSize = 4 << 30

// Config says where a cache is.
type Config struct {
	Dir  string
	Size int64        // bytes; 0 is DefaultSize
	Off  bool         // no cache, and no word about it
	Warn func(string) // hears, at most once, why there is no cache
}

// FromEnv reads the environment: KUDZU_CACHE_DIR, else CUDA_CACHE_PATH, else XDG_CACHE_HOME, else HOME give the
// directory; KUDZU_CACHE_SIZE (bytes, or with K, M, G), else CUDA_CACHE_MAXSIZE its size; CUDA_CACHE_DISABLE=1 turns
// it off, and so does a process with more rights than its user, who may write to the folder. A size that is no number is
// ignored, as CUDA does.
func FromEnv(getenv func(string) string) Config {
	c := Config{Off: getenv("CUDA_CACHE_DISABLE") == "1" || config.Restricted(), Size: DefaultSize}
	switch {
	case getenv(config.CacheDir) != "":
		c.Dir = getenv(config.CacheDir)
	case getenv("CUDA_CACHE_PATH") != "":
		c.Dir = filepath.Join(getenv("CUDA_CACHE_PATH"), "kudzu")
	case filepath.IsAbs(getenv("XDG_CACHE_HOME")): // the standard says to ignore a relative one
		c.Dir = filepath.Join(getenv("XDG_CACHE_HOME"), "kudzu")
	case getenv("HOME") != "":
		c.Dir = filepath.Join(getenv("HOME"), ".cache", "kudzu")
	}
	for _, name := range []string{"CUDA_CACHE_MAXSIZE", config.CacheSize} {
		if n, ok := parseSize(getenv(name)); ok {
			c.Size = n
		}
	}
	return c
}

// parseSize reads "512M". Zero turns nothing off: CUDA_CACHE_DISABLE does.
func parseSize(s string) (int64, bool) {
	s = strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B")
	s = strings.TrimSuffix(s, "I")
	shift := 0
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]); i >= 0 {
			shift, s = 10*(i+1), s[:len(s)-1]
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > 1<<62>>shift {
		return 0, false
	}
	return n << shift, true
}
