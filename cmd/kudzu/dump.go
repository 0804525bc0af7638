package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dump"
)

// dumpArgs is what the options of kudzu dump ask for.
type dumpArgs struct {
	kernel, out, backend, load string
	launch                     []string // of config.DumpLaunch
	every                      bool
}

func parseDump(args []string) (a *dumpArgs, rest []string, err error) {
	a = &dumpArgs{out: "launch.kzd"}
	rest, err = programOptions(args, func(name string) bool {
		switch name {
		case "--all":
			a.launch = append(a.launch, "all")
		case "--every":
			a.launch, a.every = append(a.launch, "every"), true
		default: // it has a value
			return false
		}
		return true
	}, func(name, val string) error {
		switch name {
		case "--kernel":
			if _, err := regexp.Compile(val); err != nil {
				return errUsage{"--kernel: " + err.Error()}
			}
			a.kernel = val
		case "--launch":
			if n, err := strconv.Atoi(val); err != nil || n < 1 {
				return errUsage{"--launch counts from 1"}
			}
			a.launch = append(a.launch, val)
		case "--memory":
			if _, err := backend.ParseBytes(val); err != nil {
				return errUsage{"--memory: " + err.Error()}
			}
			a.launch = append(a.launch, "memory="+val)
		case "-o", "--output":
			a.out = val
		case "--backend":
			a.backend = val
		case "--load":
			a.load = val
		default:
			return errUsage{"unknown option " + name}
		}
		return nil
	})
	return a, rest, err
}

// runDump runs a program and has one launch of it written to a file.
func runDump(args []string, out io.Writer) error {
	a, args, err := parseDump(args)
	if err != nil {
		return err
	}
	file, err := filepath.Abs(a.out)
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if a.every {
		if err := removeNumbered(file); err != nil {
			return err
		}
	}
	set := [][2]string{{config.Dump, file}, {config.DumpKernel, kernelPattern(a.kernel)}, {config.DumpLaunch, strings.Join(a.launch, ",")}}
	if a.backend != "" {
		set = append(set, [2]string{config.Backend, a.backend})
	}
	code, err := runChild(args, a.load, set)
	if err != nil {
		return err
	}
	if a.every {
		return code.orNil()
	}
	f, err := dump.Open(file, dump.DefaultLimit())
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "kudzu: no such launch: %s was not written\n", a.out)
		if code == 0 {
			code = 1
		}
		return code.orNil()
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "kudzu: %s: ", a.out)
	describeDump(f, os.Stderr)
	return code.orNil()
}

// kernelPattern is an expression for kernels: one that is given, or a name as it is and as C++ spells a function of it, also in namespaces
// and classes that are no templates. Lengths stand before all names there, so no other name fits.
func kernelPattern(kernel string) string {
	if kernel == "" || regexp.QuoteMeta(kernel) != kernel {
		return kernel
	}
	var scopes []string
	for n := range 99 {
		scopes = append(scopes, fmt.Sprintf("%d[A-Za-z_][0-9A-Za-z_$]{%d}", n+1, n))
	}
	name := fmt.Sprintf("L?%d%s", len(kernel), kernel)
	return fmt.Sprintf("^%s$|^_Z%s|^_ZN(L?(%s))+%s[EI]", kernel, name, strings.Join(scopes, "|"), name)
}

// removeNumbered removes what an earlier run with --every left: nothing would say which files are whose.
func removeNumbered(file string) error {
	list, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return err
	}
	ext := filepath.Ext(file)
	stem := strings.TrimSuffix(filepath.Base(file), ext) + "-"
	for _, e := range list {
		number, ok := strings.CutPrefix(e.Name(), stem)
		number, is := strings.CutSuffix(number, ext)
		if n, err := strconv.Atoi(number); !ok || !is || err != nil || n < 1 || strconv.Itoa(n) != number {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(file), e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (e exitCode) orNil() error {
	if e == 0 {
		return nil
	}
	return e
}

// runChild runs a program with our libraries and these variables, and waits for it.
func runChild(args []string, way string, set [][2]string) (exitCode, error) {
	o := &runWith{set: set, way: way}
	if valueOf(set, config.Backend) == "cuda" { // the real files of a real GPU
		o.files = filesNone
	}
	p, err := o.prepare(args)
	if err != nil {
		return 0, err
	}
	wait, err := p.begin()
	if err != nil {
		return 0, err
	}
	err = wait()
	var code exitCode
	if err != nil && !errors.As(err, &code) {
		return 0, err
	}
	return code, nil
}
