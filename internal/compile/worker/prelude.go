package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
)

// prelude is the precompiled prelude for options, "" if there is none: made once, and kept in the cache.
func (f *clangs) prelude(o *cudacc.Options, p *cudacc.Place, store *compile.Store, timeout time.Duration) (string, error) {
	args := o.PCHArgs(p, "")
	id := strings.Join(args, "\x00")
	f.mu.Lock()
	path, one := f.pch[id], f.making[id]
	if one == nil {
		one = &sync.Mutex{}
		f.making[id] = one
	}
	work := f.work
	f.mu.Unlock()
	if path != "" {
		return path, nil
	}
	one.Lock()
	defer one.Unlock()
	f.mu.Lock()
	path = f.pch[id]
	f.mu.Unlock()
	if path != "" {
		return path, nil
	}
	fields := []string{"prelude 3", compile.ClangStamp(), id}
	own, _ := filepath.Glob(filepath.Join(p.Headers, filepath.Dir(cudacc.Prelude), "*")) // the pattern is good
	for _, name := range own {
		st, err := os.Stat(name)
		if err != nil {
			return "", err
		}
		fields = append(fields, fmt.Sprint(name, st.Size(), st.ModTime().UnixNano())) // clang looks at the same
	}
	key := compile.PCHKey(fields...)
	var kept *cache.Cache
	if store != nil {
		kept = cache.Open(cache.Config{Dir: store.Dir, Size: store.Size})
	}
	code, ok := kept.Get(key)
	if !ok {
		out, err := f.clang(&clangJob{timeout: timeout}, o.PCHArgs(p, "-"))
		if err != nil {
			return "", err
		}
		if out.code != 0 {
			return "", nil // the program's own compilation says why
		}
		code = []byte(out.stdout)
		if p.Major <= newestPCH {
			withoutDeferred(code) // if it is not there, so much the better
		}
		_ = kept.Put(key, code) // if not, it is made again
	}
	path = filepath.Join(work, key.String()+".pch")
	if err := os.WriteFile(path, code, 0o600); err != nil {
		return "", err
	}
	f.mu.Lock()
	f.pch[id] = path
	f.mu.Unlock()
	return path, nil
}
