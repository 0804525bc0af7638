package nvcc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// OpenMP. gcc's code calls libgomp and clang's calls LLVM's libomp; libomp has the names of both, libgomp has not. Sources of CUDA C++
// are compiled by clang: their parallel regions need libomp. Everything else of OpenMP (omp.h, parallel regions of .cpp files) is the
// host compiler's, whose library is there with it.

const openMP = "-fopenmp"

// parallel reports whether the command line asks for OpenMP.
func (b *build) parallel() bool { return slices.Contains(b.toCompiler(), openMP) }

// found is a file that a compiler knows by its name, "" if it does not.
func found(compiler, name string) string {
	out, err := exec.Command(compiler, "-print-file-name="+name).Output()
	if path := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(path) && exists(path) {
		return path
	}
	return ""
}

// libomp is LLVM's library of OpenMP, "" where it is not installed.
func (b *build) libomp() string {
	if b.clang == "" {
		return found(b.host, "libomp.so")
	}
	return found(b.clang, "libomp.so")
}

// ompHeader lets clang find OpenMP's header: its own, or else that of the host's compiler, behind all others.
func (b *build) ompHeader() []string {
	for _, compiler := range []string{b.host, b.clang} {
		for _, name := range []string{"include/omp.h", "omp.h"} {
			if path := found(compiler, name); path != "" {
				return []string{"-idirafter", filepath.Dir(path)}
			}
		}
	}
	return nil
}

// byClang reports whether the host's compiler is clang, too.
func (b *build) byClang() bool { return strings.Contains(filepath.Base(b.host), "clang") }

// region is a pragma that starts threads, as it stands in a source.
var region = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+(parallel|teams)\b`)

// parallelSources refuses a source with a parallel region before anything is compiled, where nothing could run it.
func (b *build) parallelSources() error {
	if !b.parallel() || b.libomp() != "" {
		return nil
	}
	for _, in := range b.files {
		if in.kind != "cu" && (in.kind != "c++" && in.kind != "c" || !b.byClang()) {
			continue
		}
		if text, err := os.ReadFile(in.path); err == nil && region.Match(text) {
			return b.noOpenMP(in.path)
		}
	}
	return nil
}

// parallelObject does the same for an object: headers and macros have regions, too.
func (b *build) parallelObject(in input, object string) error {
	if b.has(optDryrun) || !b.parallel() || b.libomp() != "" {
		return nil
	}
	code, err := os.ReadFile(object)
	if err != nil || !bytes.Contains(code, []byte("__kmpc_fork_call")) {
		return err
	}
	_ = os.Remove(object) // nothing could link it
	return b.noOpenMP(in.path)
}

func (b *build) noOpenMP(path string) error {
	name := "libomp-dev"
	if b.place.Major > 0 {
		name = fmt.Sprintf("libomp-%d-dev", b.place.Major)
	}
	return fatalf("'%s' has parallel regions of OpenMP: clang compiles them for libomp, which is not installed; on Debian and Ubuntu it is in package %s", path, name)
}

// linkOptions are the host compiler's options for linking. clang links libomp by itself, and where there is none, gcc's library, which
// has the functions of omp.h.
func (b *build) linkOptions() []string {
	args := slices.Clone(b.toCompiler())
	for i, a := range args {
		if a == openMP && b.byClang() && b.libomp() == "" {
			args[i] = "-fopenmp=libgomp"
		}
	}
	return args
}
