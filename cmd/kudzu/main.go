// Command kudzu runs CUDA programs without NVIDIA's driver and shows what happens to them: a verb a file. It is also the
// compiler process that libkudzu.so starts ("kudzu compiler").
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kudzu/internal/driver"
	"kudzu/internal/nvcc"
	"kudzu/internal/toolkit"
)

// Version is Kudzu's; the CUDA version it answers to is driver.Version.
const Version = "0.1.0"

// verb is one command of the program.
type verb struct {
	name  string
	args  string
	about string
	run   func(args []string, out io.Writer) error
	inner bool // for other programs, not listed
	helps bool // has a help of its own
}

// errUsage asks main to print the verb's usage; the text says what was wrong.
type errUsage struct{ msg string }

func (e errUsage) Error() string { return e.msg }

// exitCode ends the process with a program's own code and no message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// verbs is a function because help lists itself.
func verbs() []verb {
	return []verb{
		{name: "run", args: "[--backend cpu|interp|hip] [--load audit|preload|path] [--files auto|namespace|none] [--no-tell] [--timeout SECONDS] [--stats[=file.json]] [--] program [arguments]", about: "run a CUDA program on this machine", run: runRun},
		{name: "dump", args: "[--kernel NAME|REGEXP] [--launch N] [--every] [--all] [--memory 4G] [-o FILE] [--backend cpu|interp|cuda|hip] [--load audit|preload|path] [--] program [arguments]",
			about: "run a program and write one launch of a kernel to a file, with the memory that it reaches, before and after", run: runDump},
		{name: "replay", args: "FILE [--backend cpu|cpu:avx2|cpu:avx512|cpu:baseline|interp|cuda|hip] [--capability 9.0] [--tier optimised|baseline] [--width warp|thread] [--passes A,-B] [--llvm-passes TEXT] [--level N]\n" +
			"       [--order forward|reverse|random:SEED] [--threads N] [--ptx FILE] [--tolerance f32=4ulp,f16=1e-3] [--repeat N] [--save FILE]\n" +
			"       kudzu replay FILE --show | --reduce FILE [--against BACKEND] [--tries N] | --c FILE.c",
			about: "run a dumped launch again, on any backend, and compare what it leaves; shrink it; write it as a C program", run: runReplay},
		{name: "compare", args: "[--with interp|cuda|hip|cpu:avx2|cpu:avx512|cpu:baseline] [--backend cpu|interp|cuda|hip] [--every N] [--kernel REGEXP] [--launches N] [--threads N] [--seconds N] [--memory 1G] [--tolerance FILE] [--libraries ref|openblas|PATH] [-o DIR] [--keep-code] [--load audit|preload|path] [--] program [arguments]",
			about: "run a program and each of its launches also on another executor, and say where they leave different memory", run: runCompare},
		{name: "info", args: "[--json]", about: "show devices, backends, compiler and cache, and what was not found", run: runInfo},
		{name: "compile", args: "file.ptx [--kernel NAME] [--block X,Y,Z] [--emit ptx,ir,ll,opt,asm,obj,image] [--dump PASS] [--target cpu|sm_90|gfx1100] [--cpu NAME] [--tier optimised|baseline] [-o DIR]\n" +
			"       kudzu compile --all program|library|file.ptx [--kernel NAME] [--block X,Y,Z]... [--tier optimised|baseline] [--jobs N]",
			about: "compile PTX and show any stage of it; --all: every kernel of a file into the cache, ahead of its first run", run: runCompile},
		{name: "cc", args: "[nvcc's options] file.cu ...", about: "compile CUDA C++, as nvcc does; its options, which --help lists", run: runCC, helps: true},
		{name: "check", args: "[--json] [--quiet] [--fast|--full] [--sm=NN] program|library|file.ptx|script.py|folder|package",
			about: "show what a program needs: libraries, functions, kernels, and what of it is not there", run: runCheck},
		{name: "trace", args: "[-o DIR] [--format text|json|binary] [--log FILE] [--only REGEXP] [--lib NAMES] [--real[=DIRS]] [--backend NAME] [--] program [arguments]\n" +
			"       kudzu trace show|grep|stats|diff ... (kudzu trace show --help)",
			about: "record a program's calls of the CUDA libraries, with arguments and times; look at such traces and compare them", run: runTrace, helps: true},
		{name: "smi", args: "[-L] [-q] [-x] [--query-gpu=FIELDS --format=csv[,noheader,nounits]] [dmon|pmon|topo]", about: "show devices, their memory and use, and who uses them, as nvidia-smi does", run: runSMI, helps: true},
		{name: "report", args: "", about: "write what someone who looks into a problem asks first, with a self-test of every device", run: runReport},
		{name: "pack", args: "add FILE|FOLDER|PACKAGE [--version=V] | ls | rm LIBRARY [VERSION] | dir",
			about: "keep the PTX of a library's build, for builds of the same version without", run: runPack},
		{name: "cache", args: "[ls|clear|dir]", about: "look at or empty the cache of compiled kernels", run: runCache},
		{name: "version", args: "", about: "print the version", run: runVersion},
		{name: "help", args: "[verb]", about: "this text, or one verb's", run: runHelp},
		{name: "links", about: "the names under which this program is other programs", run: runLinks, inner: true},
		{name: "libdevice", args: "file.bc", about: "write the library of device functions as bitcode", run: runLibdevice, inner: true},
		{name: "compiler", about: "the compiler process (started by libkudzu.so)", run: runCompiler, inner: true},
	}
}

func main() {
	args := os.Args[1:]
	switch name := filepath.Base(os.Args[0]); name { // a link to this program, or c/named started it
	case smiName:
		args = append([]string{"smi"}, args...)
	case nvcc.Name:
		args = append([]string{"cc"}, args...)
	default:
		if p, ok := toolkit.Find(name); ok {
			os.Exit(p.Run(args, os.Stdout, os.Stderr))
		}
	}
	err := dispatch(args, os.Stdout)
	var code exitCode
	if errors.As(err, &code) {
		os.Exit(int(code))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "kudzu: %v\n", err)
		os.Exit(1)
	}
}

func dispatch(args []string, out io.Writer) error {
	if len(args) == 0 {
		return runHelp(nil, out)
	}
	name := args[0]
	if name == "-h" || name == "--help" {
		name = "help"
	}
	if name == "--version" {
		name = "version"
	}
	v, ok := find(name)
	if !ok {
		return fmt.Errorf("no verb %q; kudzu help lists them", args[0])
	}
	if !v.helps && len(args) > 1 && (args[1] == "-h" || args[1] == "--help") {
		return runHelp([]string{name}, out)
	}
	err := v.run(args[1:], out)
	var usage errUsage
	if errors.As(err, &usage) {
		return fmt.Errorf("%s\nusage: kudzu %s", usage.msg, strings.TrimSpace(v.name+" "+v.args))
	}
	return err
}

func find(name string) (verb, bool) {
	all := verbs()
	i := slices.IndexFunc(all, func(v verb) bool { return v.name == name })
	if i < 0 {
		return verb{}, false
	}
	return all[i], true
}

func runHelp(args []string, out io.Writer) error {
	if len(args) > 0 {
		v, ok := find(args[0])
		if !ok {
			return fmt.Errorf("no verb %q; kudzu help lists them", args[0])
		}
		fmt.Fprintf(out, "usage: kudzu %s\n\n%s\n", strings.TrimSpace(v.name+" "+v.args), v.about)
		return nil
	}
	fmt.Fprint(out, "Kudzu runs unmodified CUDA programs on machines without NVIDIA's driver.\n\n")
	for _, v := range verbs() {
		if !v.inner {
			fmt.Fprintf(out, "  kudzu %-8s %s\n", v.name, v.about)
		}
	}
	fmt.Fprint(out, `
Try:  kudzu run ./your_cuda_program
      kudzu info

Variables: KUDZU_BACKEND=cpu|interp|cuda|hip (or several: hip,cpu), KUDZU_THREADS=n, KUDZU_MEMORY=8G, KUDZU_COMPUTE_CAPABILITY=8.0, KUDZU_DRIVER_VERSION=13.0,
KUDZU_DEVICES=n, KUDZU_CACHE_DIR=dir, KUDZU_LLVM=libLLVM.so, KUDZU_LOG=error|warn|info|debug.
`)
	return nil
}

func runVersion(args []string, out io.Writer) error {
	if len(args) > 0 {
		return errUsage{"version takes no arguments"}
	}
	fmt.Fprintf(out, "kudzu %s (CUDA driver API %s)\n", Version, driver.VersionText(driver.Version()))
	return nil
}

// runLinks prints the names that dist/bin has beside kudzu (c/named).
func runLinks(_ []string, out io.Writer) error {
	fmt.Fprintln(out, smiName)
	fmt.Fprintln(out, nvcc.Name)
	for _, p := range toolkit.Programs {
		fmt.Fprintln(out, p.Name)
	}
	return nil
}
