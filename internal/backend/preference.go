package backend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Preference is a program or library for which our devices claim another compute capability than DefaultCapability.
type Preference struct {
	Name string // of the executable, or of a library that the process has loaded: libx.so stands for libx.so.1.2 too
	Capability
	Why string
}

// preferences are in the order in which they are looked for. docs/compute-capability.md says how a row is found.
var preferences = []Preference{
	{"blender", Capability{8, 0}, "Cycles takes machine code made for just the capability that it sees, else PTX; its default build makes none for 8.0, and its source up to 4.3 refuses more than 8.9"},
}

// FindPreference is the first row that one of the files belongs to: paths or names of an executable and of libraries.
func FindPreference(files ...string) (Preference, bool) {
	for _, p := range preferences {
		for _, f := range files {
			if name := filepath.Base(f); name == p.Name || strings.HasSuffix(p.Name, ".so") && strings.HasPrefix(name, p.Name+".") {
				return p, true
			}
		}
	}
	return Preference{}, false
}

// ClaimedCapability is what a device that runs our own compiler's code claims in a process of the files: the variable's value, else
// that of the files' row, else the default.
func ClaimedCapability(variable string, files ...string) (Capability, error) {
	claim := DefaultCapability
	if p, ok := FindPreference(files...); ok {
		claim = p.Capability
	}
	return ParseCapability(variable, claim)
}

// ProcessFiles are the paths of this process's executable and, if a preference is for a library, of those that it has loaded so far:
// that list is thousands of lines in some programs.
func ProcessFiles() []string {
	var files []string
	if exe, err := os.Readlink("/proc/self/exe"); err == nil {
		files = append(files, exe)
	}
	if !slices.ContainsFunc(preferences, func(p Preference) bool { return strings.HasSuffix(p.Name, ".so") }) {
		return files
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return files
	}
	return append(files, mappedFiles(string(maps))...)
}

// mappedFiles are the paths in a list of mappings as /proc/self/maps has it. The pieces of a file stand together.
func mappedFiles(maps string) []string {
	var files []string
	for line := range strings.Lines(maps) {
		if at := strings.IndexByte(line, '/'); at >= 0 {
			files = append(files, strings.TrimSuffix(line[at:], "\n"))
		}
	}
	return slices.Compact(files)
}
