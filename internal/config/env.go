package config

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// restricted is a process with more rights than the user who set its environment.
var restricted atomic.Bool

// Restrict lets only harmless variables count from here on. The process is one of the kind that the loader treats with care
// (AT_SECURE: setuid, setgid, file capabilities): who starts it must not choose its code or the files it writes.
func Restrict() { restricted.Store(true) }

// Restricted reports that Restrict was called.
func Restricted() bool { return restricted.Load() }

// others are variables that are not ours and as harmless as those in the table.
var others = []string{"CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING", "CUDA_CACHE_DISABLE", "CUDA_CACHE_MAXSIZE"}

var harmless = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for s := range All {
		set[s.Name] = s.Secure
	}
	for _, name := range others {
		set[name] = true
	}
	return set
})

// Get is a variable's value, "" where it is not set or does not count.
func Get(name string) string {
	v, _ := Lookup(name)
	return v
}

// Lookup is Get that tells an empty value from none.
func Lookup(name string) (string, bool) {
	if restricted.Load() && !harmless()[name] {
		return "", false
	}
	return os.LookupEnv(name)
}

// ForCompiler is the environment of the compiler process: our variables that count, and nothing else of the program's.
func ForCompiler() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "KUDZU_") && (!restricted.Load() || harmless()[name]) {
			env = append(env, kv)
		}
	}
	return env
}

// All yields every setting, in the order of the README.
func All(yield func(Setting) bool) {
	for _, g := range Groups {
		for _, s := range g.Settings {
			if !yield(s) {
				return
			}
		}
	}
}
