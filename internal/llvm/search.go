package llvm

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"kudzu/internal/config"
	"kudzu/internal/llvm/release"
)

// candidates lists what to try to open, best first: the given name, or KUDZU_LLVM, and nothing else if there is one;
// otherwise each major version in the order of release.Majors, by soname and by folder.
func candidates(path string) []string {
	if path == "" {
		path = config.Get(config.LLVM)
	}
	if path != "" {
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			return inOrder(inFolder(path), nil)
		}
		return []string{path}
	}
	folders, _ := filepath.Glob("/usr/lib/llvm-*/lib") // the pattern is well formed
	more, _ := filepath.Glob("/usr/lib/llvm/*/lib*")
	var files []file
	for _, f := range append(append(folders, more...), "/usr/lib64", "/usr/local/lib", "/opt/llvm/lib") {
		files = append(files, inFolder(f)...)
	}
	return append(inOrder(files, release.Names), "libLLVM.so")
}

// inOrder gives names that are asked of the dynamic loader and files, best major version first. Files that do not say
// their version come last, and after versions that are not looked for by name.
func inOrder(files []file, sonames func(major int) []string) []string {
	majors := release.Majors()
	for _, f := range files {
		if f.major > 0 && !slices.Contains(majors, f.major) {
			majors = append(majors, f.major)
		}
	}
	var names []string
	for _, v := range append(majors, 0) {
		if sonames != nil && v > 0 {
			names = append(names, sonames(v)...)
		}
		for _, f := range files {
			if f.major == v {
				names = append(names, f.path)
			}
		}
	}
	return names
}

var libName = regexp.MustCompile(`^libLLVM(?:-(\d+))?\.so(?:\.(\d+)(?:\.\d+)*)?$`)

// file is a libLLVM of a folder.
type file struct {
	path  string
	major int // 0: its name does not say
}

// inFolder lists the libLLVM files of a folder that are not known to be too old.
func inFolder(dir string) []file {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []file
	for _, e := range entries {
		m := libName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		major := 0
		for _, s := range []string{m[1], m[2]} {
			if n, err := strconv.Atoi(s); err == nil && n > 1 {
				major = n
				break
			}
		}
		if major == 0 || major >= release.Oldest {
			all = append(all, file{filepath.Join(dir, e.Name()), major})
		}
	}
	return all
}
