package nvcc

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// whole is everything that makes one file of all inputs: -lib, -dlink, -run, and a program or shared library.
func (b *build) whole() error {
	var objects []string // in the order of the inputs, with libraries between
	for i, in := range b.files {
		switch in.kind {
		case "cu", "c", "c++":
			out := b.between(fmt.Sprintf("%s.%d.o", stem(in.path), i))
			if err := b.object(in, out); err != nil {
				return err
			}
			objects = append(objects, out)
		case "ptx", "cubin", "fatbin":
			if b.phase != optDeviceLink {
				return fatalf("Don't know what to do with '%s'", in.path)
			}
			objects = append(objects, in.path)
		default:
			objects = append(objects, in.path)
		}
	}
	switch b.phase {
	case optLib:
		return b.archive(objects)
	case optDeviceLink:
		_, err := b.deviceLink(objects, b.get(optOutput, "a_dlink."+cmp.Or(b.linked, "o")))
		return err
	}
	if !b.has(optNoLink) && !b.has(optDryrun) {
		linked, err := b.deviceLink(objects, "")
		if err != nil {
			return err
		}
		if linked != "" {
			objects = append([]string{linked}, objects...)
		}
	}
	out := b.get(optOutput, filepath.Join(b.get(optFolder, ""), "a.out"))
	if err := b.link(objects, out); err != nil || b.phase != optRun || b.has(optDryrun) {
		return err
	}
	return b.start(program(out), b.set[optRunArgs]...)
}

// program is a path that the system does not look for elsewhere.
func program(path string) string {
	if strings.Contains(path, "/") {
		return path
	}
	return "./" + path
}

// archive is -lib.
func (b *build) archive(objects []string) error {
	out := b.get(optOutput, "a.a")
	if !b.has(optDryrun) {
		if err := os.Remove(out); err != nil && !os.IsNotExist(err) {
			return fatalf("Could not open output file '%s'", out)
		}
	}
	ar := b.get(optArchiver, "ar")
	if _, err := exec.LookPath(ar); err != nil {
		return fatalf("Failed to start '%s': %v", ar, err)
	}
	return b.start(ar, append(append([]string{"qcs"}, b.set[optXarchive]...), append([]string{out}, objects...)...)...)
}

// link is the host's linker. The runtime library is ours unless the loader finds another: the folder is noted in the program.
func (b *build) link(objects []string, out string) error {
	lib := filepath.Join(b.home, "lib")
	args := b.hostOptions()
	if b.has(optShared) {
		args = append(args, "-shared")
	}
	args = append(args, b.linkOptions()...)
	args = append(append(args, "-Wl,--start-group"), objects...)
	for _, p := range b.set[optLibPath] {
		args = append(args, "-L"+p)
	}
	args = append(args, "-L"+lib)
	runtime := b.get(optRuntime, "static")
	if runtime != "none" {
		args = append(args, "-lcudadevrt")
	}
	switch {
	case runtime != "none" && b.release.Major() < 13:
		args = append(args, fmt.Sprintf("-l:libcudart.so.%d", b.release.Major()))
	case runtime == "shared":
		args = append(args, "-lcudart")
	case runtime == "static":
		args = append(args, "-lcudart_static")
	}
	if runtime == "static" {
		args = append(args, "-lrt", "-lpthread", "-ldl")
	}
	args = append(args, "-Wl,--end-group")
	if b.parallel() {
		if lib := b.libomp(); lib != "" {
			args = append(args, lib)
		}
	}
	for _, l := range b.set[optXlinker] {
		args = append(args, "-Xlinker", l)
	}
	args = append(args, b.toLinker...)
	if runtime != "none" {
		args = append(args, "-Wl,-rpath,"+lib)
	}
	return b.start(b.host, append(args, "-o", out)...)
}
