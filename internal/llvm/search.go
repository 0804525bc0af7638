package llvm

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
)

// newestKnown bounds the sonames asked of the dynamic loader; newer ones are still found by folder or KUDZU_LLVM.
const newestKnown = 24

// candidates lists what to try to open, best first: the given name, or KUDZU_LLVM, and nothing else if there is one;
// otherwise the oldest version we are tested with first, then newer ones, by soname and by folder.
func candidates(path string) []string {
	if path == "" {
		path = os.Getenv("KUDZU_LLVM")
	}
	if path != "" {
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			return inFolder(path)
		}
		return []string{path}
	}
	var names []string
	for v := MinVersion; v <= newestKnown; v++ {
		n := strconv.Itoa(v)
		names = append(names, "libLLVM.so."+n+".1", "libLLVM-"+n+".so.1", "libLLVM-"+n+".so")
	}
	folders, _ := filepath.Glob("/usr/lib/llvm-*/lib") // the pattern is well formed
	more, _ := filepath.Glob("/usr/lib/llvm/*/lib*")
	folders = append(append(folders, more...), "/usr/lib64", "/usr/local/lib", "/opt/llvm/lib")
	for _, f := range folders {
		names = append(names, inFolder(f)...)
	}
	return append(names, "libLLVM.so")
}

var libName = regexp.MustCompile(`^libLLVM(?:-(\d+))?\.so(?:\.(\d+)(?:\.\d+)*)?$`)

// inFolder lists the libLLVM files of a folder that are not known to be too old, oldest first.
func inFolder(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	type found struct {
		name    string
		version int
	}
	var all []found
	for _, e := range entries {
		m := libName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		version := newestKnown + 1 // "libLLVM.so" says nothing: last
		for _, s := range []string{m[1], m[2]} {
			if n, err := strconv.Atoi(s); err == nil && n > 1 {
				version = n
				break
			}
		}
		if version >= MinVersion {
			all = append(all, found{filepath.Join(dir, e.Name()), version})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].version < all[j].version })
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.name
	}
	return names
}
