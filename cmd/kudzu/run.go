package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"kudzu/internal/config"
)

// libraryDir is the folder with our libcuda.so.1: beside the program in a tree made by make dist.
func libraryDir() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(self), "..", "lib")
	if _, err := os.Stat(filepath.Join(dir, "libcuda.so.1")); err != nil {
		return "", fmt.Errorf("no libcuda.so.1 in %s: build it with make dist, and keep bin/ and lib/ side by side", dir)
	}
	return filepath.Clean(dir), nil
}

// backends that can be asked for by name.
var backendNames = []string{"cpu", "interp", "cuda"}

// runRun replaces this process by the program, with our libraries in the place of the vendor's.
func runRun(args []string, _ io.Writer) error {
	env, err := os.Environ(), error(nil)
	stats, statsFile, way := false, "", ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		a := args[0]
		args = args[1:]
		if a == "--" {
			break
		}
		name, val, inline := strings.Cut(a, "=")
		if name == "--stats" {
			if inline && val == "" {
				return errUsage{"--stats= needs a file"}
			}
			stats, statsFile = true, val
			continue
		}
		if name != "--backend" && name != "--load" {
			return errUsage{"unknown option " + a}
		}
		if !inline {
			if len(args) == 0 {
				return errUsage{name + " needs a name"}
			}
			val, args = args[0], args[1:]
		}
		if name == "--load" {
			if val == "" {
				return errUsage{"--load needs a name"}
			}
			way = val
			continue
		}
		ok := false
		for _, b := range backendNames {
			ok = ok || b == val
		}
		if !ok {
			return errUsage{fmt.Sprintf("no backend %q; there are %s", val, strings.Join(backendNames, ", "))}
		}
		env = setEnv(env, config.Backend, val)
	}
	if len(args) == 0 {
		return errUsage{"which program?"}
	}
	if env, err = withTools(env); err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return notRun(args[0], err)
	}
	dir, err := libraryDir()
	if err != nil {
		return err
	}
	env, notes, err := loadEnv(env, way, dir, path)
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(os.Stderr, "kudzu: %s\n", n)
	}
	if stats {
		return runCounted(path, args, env, statsFile)
	}
	return notRun(path, syscall.Exec(path, args, env))
}

// notRun says why a program could not be started, with the codes that shells use: 127 not found, 126 not executable.
func notRun(program string, err error) error {
	var lookup *exec.Error
	if errors.As(err, &lookup) {
		err = lookup.Err
	}
	code := exitCode(126)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = 127
	}
	fmt.Fprintf(os.Stderr, "kudzu: program %s: %v\n", program, err)
	return code
}

// withTools has programs find our nvidia-smi, where it is beside this program; so does the search for the program itself.
func withTools(env []string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return nil, err
	}
	dir := filepath.Dir(self)
	if _, err := os.Stat(filepath.Join(dir, smiName)); err != nil {
		return env, nil
	}
	env = frontOf(env, "PATH", dir)
	path, _ := strings.CutPrefix(env[len(env)-1], "PATH=")
	return env, os.Setenv("PATH", path)
}

func setEnv(env []string, name, val string) []string {
	out := env[:0:0]
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			out = append(out, e)
		}
	}
	return append(out, name+"="+val)
}
