package nvcc

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

func processors() int { return runtime.NumCPU() }

// hostOptions are what the command line says to the host's compiler.
func (b *build) hostOptions() []string {
	args := []string{"-m64"}
	if runtime.GOARCH != "amd64" {
		args = nil
	}
	for _, f := range []struct {
		on  bool
		arg string
	}{
		{b.has(optLevel), "-O" + b.get(optLevel, "")}, {b.has(optDebug), "-g"}, {b.has(optProfile), "-pg"}, {b.has(optQuiet), "-w"}, {b.has(optNoEH), "-fno-exceptions"},
	} {
		if f.on {
			args = append(args, f.arg)
		}
	}
	for _, kind := range b.set[optWerror] {
		if kind == "all-warnings" {
			args = append(args, "-Werror")
		}
	}
	return args
}

// depsOptions ask for the rule for make.
func (b *build) depsOptions(in input, object string) []string {
	var args []string
	switch {
	case b.has(optDeps):
		args = append(args, "-M")
	case b.has(optUserDeps):
		args = append(args, "-MM")
	case b.has(optDepsToo):
		args = append(args, "-MD")
	case b.has(optUserToo):
		args = append(args, "-MMD")
	default:
		return nil
	}
	if b.has(optDepsPhony) {
		args = append(args, "-MP")
	}
	target := b.set[optDepsTarget]
	if len(target) == 0 {
		target = []string{object}
	}
	for _, t := range target {
		args = append(args, "-MT", t)
	}
	if b.has(optDepsToo) || b.has(optUserToo) {
		args = append(args, "-MF", b.get(optDepsFile, strings.TrimSuffix(object, filepath.Ext(object))+".d"))
	}
	return args
}

// tolerant are the options by which clang takes those of gcc that it does not have.
var tolerant = []string{"-Qunused-arguments", "-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Wno-pass-failed", "-Wno-unknown-pragmas"}

// gccOnly are options of gcc that clang has nothing for.
var gccOnly = map[string]bool{"-fno-gnu-unique": true, "-fno-var-tracking-assignments": true, "-fno-devirtualize": true, "-fno-ipa-icf": true}

// hostArgs compile a source of CUDA C++ for the host.
func (b *build) hostArgs(in input, fatbin string) []string {
	args := slices.Concat(b.compiler(in, "").Host(&b.place, fatbin), b.hostOptions(), b.search(), tolerant)
	for _, a := range b.toCompiler() {
		if !gccOnly[a] {
			args = append(args, a)
		}
	}
	if b.parallel() {
		args = append(args, b.ompHeader()...)
	}
	return args
}

// toCompiler are the options that the command line hands on to the host's compiler. nvcc starts it by a shell, which takes quotes
// away: PyTorch's extensions quote -fPIC in the word itself.
func (b *build) toCompiler() []string {
	var args []string
	for _, a := range b.set[optXcompiler] {
		args = append(args, words(a)...)
	}
	return append(args, b.toHost...)
}

// plainArgs compile a source without CUDA.
func (b *build) plainArgs(in input) []string {
	args := append(b.hostOptions(), "-x", in.kind)
	if in.kind == "c++" && b.has(optStd) {
		args = append(args, "-std="+b.std())
	}
	args = append(args, b.search()...)
	args = append(args, "-isystem", filepath.Join(b.home, "include"))
	return append(args, b.toCompiler()...)
}

// preprocess is -E, -M and -MM.
func (b *build) preprocess(in input) error {
	args, program := b.plainArgs(in), b.host
	if in.kind == "cu" {
		over, err := b.overlay(in)
		if err != nil {
			return err
		}
		args, program = append(over, b.hostArgs(in, "")...), b.clang
	}
	if b.phase == optPreprocess {
		args = append(args, "-E")
	}
	args = append(args, b.depsOptions(in, stem(in.path)+".o")...)
	if o := b.get(optOutput, ""); o != "" {
		args = append(args, "-o", o)
	}
	return b.start(program, append(args, in.path)...)
}

// object compiles an input to an object.
func (b *build) object(in input, out string) error {
	switch in.kind {
	case "c", "c++":
		args := append(b.plainArgs(in), b.depsOptions(in, out)...)
		if err := b.start(b.host, append(args, "-c", "-o", out, in.path)...); err != nil || !b.byClang() {
			return err
		}
		return b.parallelObject(in, out)
	case "cu":
	default:
		return fatalf("Don't know what to do with '%s'", in.path)
	}
	fatbin, err := b.fatbin(in, "")
	if err == nil {
		err = b.hostObject(in, fatbin, out)
	}
	if err == nil {
		err = b.parallelObject(in, out)
	}
	if err != nil || !b.rdc || b.has(optDryrun) {
		return err
	}
	code, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	return write(out, ownUnit(code, b.unit(in)))
}

var unitName = regexp.MustCompile(wrapperName + `__nv_([0-9a-f]{1,16})\x00`)

// ownUnit names an object's registration after its unit: clang does so after the source as it was named, which others may be, too.
func ownUnit(object []byte, unit string) []byte {
	m := unitName.FindSubmatch(object)
	if m == nil {
		return object
	}
	return bytes.ReplaceAll(object, append([]byte("__nv_"), m[1]...), []byte("__nv_"+unit[:len(m[1])]))
}

// hostObject compiles the host's side of a source.
func (b *build) hostObject(in input, fatbin, out string) error {
	args := append(b.hostArgs(in, fatbin), b.depsOptions(in, out)...)
	if !b.mentions(in, filepath.Join(b.temp, stem(in.path)+b.codes[0].virtual+".d"), "__managed__") {
		return b.front(in, append(args, "-c", "-o", out)...)
	}
	ir := b.between(stem(in.path) + ".host.ll")
	if err := b.front(in, append(args, "-S", "-emit-llvm", "-Xclang=-disable-llvm-passes", "-o", ir)...); err != nil || b.has(optDryrun) {
		return err
	}
	text, err := os.ReadFile(ir)
	if err != nil {
		return err
	}
	changed, err := managedHost(string(text))
	if err != nil {
		return err
	}
	if err := write(ir, []byte(changed)); err != nil {
		return err
	}
	return b.start(b.clang, append(b.irArgs(), "-x", "ir", "-c", "-o", out, ir)...)
}

// irArgs are the options that count after the front end.
func (b *build) irArgs() []string {
	args := b.hostOptions()
	for _, a := range b.toCompiler() {
		if gccOnly[a] {
			continue
		}
		if strings.HasPrefix(a, "-f") || strings.HasPrefix(a, "-m") || strings.HasPrefix(a, "-O") {
			args = append(args, a)
		}
	}
	return append(args, tolerant...)
}
