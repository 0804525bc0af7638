package pack

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FileAt is the file that is mapped at an address of this process; empty if it is none's.
func FileAt(addr uint64) string {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		span, rest, _ := strings.Cut(s.Text(), " ")
		from, to, _ := strings.Cut(span, "-")
		low, err1 := strconv.ParseUint(from, 16, 64)
		high, err2 := strconv.ParseUint(to, 16, 64)
		if err1 != nil || err2 != nil || addr < low || addr >= high {
			continue
		}
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return strings.TrimSuffix(rest[i:], " (deleted)")
		}
		return ""
	}
	return ""
}

// NameOf is the library that a file is, and its version: of the Python distribution that installed it, else the number in its name.
// The version is empty where neither says.
func NameOf(file string) Name {
	if to, err := filepath.EvalSymlinks(file); err == nil {
		file = to
	}
	base := filepath.Base(file)
	stem, number, _ := strings.Cut(base, ".so")
	n := Name{Library: stem, Version: distribution(file)}
	if number = strings.TrimPrefix(number, "."); n.Version == "" && strings.Contains(number, ".") {
		n.Version = number
	}
	n.Version = Release(n.Version)
	return n
}

// Release is a version without what packages add to it: an epoch, the revision of a package, how it was built.
func Release(v string) string {
	if _, rest, ok := strings.Cut(v, ":"); ok {
		v = rest
	}
	if i := strings.IndexAny(v, "+-"); i >= 0 {
		v = v[:i]
	}
	return v
}

// distribution is the version of the Python distribution whose record lists the file.
func distribution(file string) string {
	dir := filepath.Dir(file)
	for dir != filepath.Dir(dir) {
		base := filepath.Base(dir)
		if base == "site-packages" || base == "dist-packages" {
			break
		}
		dir = filepath.Dir(dir)
	}
	infos, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil {
		return ""
	}
	for _, info := range infos {
		stem, ok := strings.CutSuffix(info.Name(), ".dist-info")
		if ok && lists(filepath.Join(dir, info.Name(), "RECORD"), rel) {
			_, version, _ := strings.Cut(stem, "-")
			return version
		}
	}
	return ""
}

// lists reports whether a distribution's record has a file.
func lists(record, file string) bool {
	f, err := os.Open(record)
	if err != nil {
		return false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), file); ok && strings.HasPrefix(rest, ",") {
			return true
		}
	}
	return false
}
