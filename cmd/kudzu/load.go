package main

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The ways to put our libraries under a program; docs/loading.md says what each reaches.
const (
	loadAudit   = "audit"   // the loader asks libkudzu-audit.so before it looks for a library
	loadPreload = "preload" // ours are there before the program asks
	loadPath    = "path"    // ours are found first where no RPATH or path says otherwise
)

// auditName is the library LD_AUDIT names, devicesName the one that answers for the files of a GPU.
const auditName, devicesName = "libkudzu-audit.so", "libkudzu-devices.so"

// loadEnv adds to env what makes the loader of a program take our libraries from dir. An empty way chooses the best one that
// the program's loader knows. notes are for the user: what will not be reached.
func loadEnv(env []string, way, dir, program string) (out, notes []string, err error) {
	audit := filepath.Join(dir, auditName)
	l := loaderOf(program)
	if l.note != "" {
		notes = append(notes, l.note)
	}
	if way == "" {
		way = loadPath
		if l.interp != "" && auditsWell(l.interp, audit) {
			way = loadAudit
		}
	}
	switch way {
	case loadAudit:
		if _, err := os.Stat(audit); err != nil {
			return nil, nil, fmt.Errorf("no %s in %s: build it with make dist, or choose --load=path", auditName, dir)
		}
		env = withStaticTLS(frontOf(env, "LD_AUDIT", audit))
	case loadPreload:
		for _, f := range fronts(dir) {
			env = frontOf(env, "LD_PRELOAD", f)
		}
	case loadPath:
	default:
		return nil, nil, errUsage{fmt.Sprintf("no way of loading %q; there are %s, %s, %s", way, loadAudit, loadPreload, loadPath)}
	}
	if devices := filepath.Join(dir, devicesName); way != loadPath {
		if _, err := os.Stat(devices); err == nil {
			env = frontOf(env, "LD_PRELOAD", devices)
		}
	}
	// In every way: programs that are linked statically, and those that look through the variable themselves, know only this.
	return frontOf(env, "LD_LIBRARY_PATH", dir), notes, nil
}

// fronts are our libraries with the vendor's sonames.
func fronts(dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "lib*.so.*"))
	if err != nil {
		return nil
	}
	return files
}

// withStaticTLS has the loader keep room for the thread-local variables of libraries that want them at a fixed place. With an auditor
// glibc fixes the size of that area before it has seen the program's libraries, so that all of these share what is meant for later
// ones, 512 bytes. jemalloc takes 2632 of them (Blender is linked with it). 4096 leaves threads with the least stack enough of it.
func withStaticTLS(env []string) []string {
	const tunables, room = "GLIBC_TUNABLES", "glibc.rtld.optional_static_tls="
	for _, e := range env {
		if strings.HasPrefix(e, tunables+"=") && strings.Contains(e, room) {
			return env
		}
	}
	return frontOf(env, tunables, room+"4096")
}

// frontOf puts a value before what a list in the environment has, once.
func frontOf(env []string, name, val string) []string {
	list := val
	for _, e := range env {
		if old, ok := strings.CutPrefix(e, name+"="); ok {
			for _, v := range strings.Split(old, ":") {
				if v != "" && v != val {
					list += ":" + v
				}
			}
		}
	}
	return setEnv(env, name, list)
}

// loader is who loads a program's libraries.
type loader struct {
	interp string // the file of the dynamic loader; empty if there is none or the program cannot be read
	note   string // why the program itself will not find us
}

// loaderOf looks at a program, or at the interpreter of a script.
func loaderOf(program string) loader {
	for range 4 { // a script of a script of …: the kernel follows four
		st, err := os.Stat(program)
		if err != nil {
			return loader{}
		}
		if st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			return loader{note: fmt.Sprintf("%s is setuid or setgid: the loader ignores LD_ variables for it, so it will not find Kudzu. Run a copy without that bit", program)}
		}
		next, ok := scriptOf(program)
		if !ok {
			break
		}
		program = next
	}
	f, err := elf.Open(program)
	if err != nil {
		return loader{} // not ours to judge: exec will say
	}
	defer f.Close()
	interp := ""
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
			b, err := io.ReadAll(p.Open())
			if err != nil {
				return loader{}
			}
			interp = strings.TrimRight(string(b), "\x00")
		}
	}
	if interp == "" {
		return loader{note: fmt.Sprintf("%s is statically linked: no loader takes part, so only what it opens itself through LD_LIBRARY_PATH and the programs it starts find Kudzu", program)}
	}
	return loader{interp: interp}
}

// auditNode is a version of the interface that the loader of glibc 2.35 and every newer one defines, whatever the machine
// (it came with __rseq_offset). Functions are no such mark: _dl_find_object is the loader's in some builds, libc's in others.
const auditNode = "GLIBC_2.35"

// auditsWell tells a glibc of 2.35 or newer for the auditor's own machine. Before that every call between libraries went a
// slow way while an auditor was there; musl knows no auditors; a loader of another machine complains about ours and goes on.
func auditsWell(interp, audit string) bool {
	f, err := elf.Open(interp)
	if err != nil {
		return false
	}
	defer f.Close()
	a, err := elf.Open(audit)
	if err != nil {
		return false
	}
	defer a.Close()
	if f.Class != a.Class || f.Machine != a.Machine {
		return false
	}
	nodes, err := f.DynamicVersions()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(nodes, func(v elf.DynamicVersion) bool { return v.Name == auditNode })
}

// scriptOf is the interpreter that a script names.
func scriptOf(path string) (string, bool) {
	words := scriptWords(path)
	if len(words) == 0 {
		return "", false
	}
	return words[0], true
}

// scriptWords are those of a script's first line behind #!: its interpreter, and what that is given.
func scriptWords(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "#!") {
		return nil
	}
	return strings.Fields(line[2:])
}
