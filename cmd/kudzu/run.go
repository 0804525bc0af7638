package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kudzu/internal/config"
	"kudzu/internal/engine"
	"kudzu/internal/libdevice"
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

// runWith is what the options of kudzu run ask for.
type runWith struct {
	set       [][2]string // variables of the program
	stats     bool
	statsFile string
	way       string // of loading our libraries
	files     string // how the files of a GPU are there
	silent    bool   // no word about a program that uses no device
}

// runOptions reads the options before the program's name.
func runOptions(args []string) (o runWith, rest []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		a := args[0]
		args = args[1:]
		if a == "--" {
			break
		}
		name, val, inline := strings.Cut(a, "=")
		if name == "--stats" {
			if inline && val == "" {
				return o, nil, errUsage{"--stats= needs a file"}
			}
			o.stats, o.statsFile = true, val
			continue
		}
		if a == "--no-tell" {
			o.silent = true
			continue
		}
		take, ok := runTakes[name]
		if !ok {
			return o, nil, errUsage{"unknown option " + a}
		}
		if !inline && len(args) > 0 {
			val, args = args[0], args[1:]
		}
		if val == "" {
			return o, nil, errUsage{name + " needs a " + take.what}
		}
		if err := take.put(&o, val); err != nil {
			return o, nil, err
		}
	}
	return o, args, nil
}

// runTakes are the options with a value.
var runTakes = map[string]struct {
	what string
	put  func(o *runWith, val string) error
}{
	"--backend": {"name", func(o *runWith, val string) error {
		if !slices.Contains(backendNames, val) {
			return errUsage{fmt.Sprintf("no backend %q; there are %s", val, strings.Join(backendNames, ", "))}
		}
		o.set = append(o.set, [2]string{config.Backend, val})
		return nil
	}},
	"--load": {"name", func(o *runWith, val string) error {
		o.way = val
		return nil
	}},
	"--files": {"name", func(o *runWith, val string) error {
		if !slices.Contains([]string{filesAuto, filesNamespace, filesNone}, val) {
			return errUsage{fmt.Sprintf("no way to have the files of a GPU %q; there are %s, %s, %s", val, filesAuto, filesNamespace, filesNone)}
		}
		o.files = val
		return nil
	}},
	"--timeout": {"number of seconds", func(o *runWith, val string) error {
		if _, err := engine.ParseLimit(val); err != nil {
			return errUsage{"--timeout " + val + ": " + err.Error()}
		}
		o.set = append(o.set, [2]string{config.LaunchTimeout, val})
		return nil
	}},
}

// runRun replaces this process by the program, with our libraries in the place of the vendor's.
func runRun(args []string, _ io.Writer) error {
	o, args, err := runOptions(args)
	if err != nil {
		return err
	}
	env := os.Environ()
	for _, kv := range o.set {
		env = setEnv(env, kv[0], kv[1])
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
	env, notes, err := loadEnv(env, o.way, dir, path)
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(os.Stderr, "kudzu: %s\n", n)
	}
	start, args := withFiles(&o, dir, path, args, hasPreload(env))
	if o.stats {
		return runCounted(start, args, env, o.statsFile)
	}
	return notRun(path, syscall.Exec(start, args, withTell(env, &o)))
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

// toolVars name our programs to clients that do not look in PATH first: the assembler to Triton, and to torch.compile through
// it; the folder with bin/ptxas to JAX, with include to CuPy. The values are relative to the folder of this program.
var toolVars = [][2]string{{"TRITON_PTXAS_PATH", "ptxas"}, {"TRITON_PTXAS_BLACKWELL_PATH", "ptxas"}, {"CUDA_ROOT", ".."}, {"CUDA_PATH", ".."}}

// withTools has programs find our nvidia-smi, assembler and the rest, where they are beside this program; so does the search for
// the program itself. A variable that is set stays.
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
	for _, v := range toolVars {
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, v[0]+"=") }) {
			env = append(env, v[0]+"="+filepath.Join(dir, v[1]))
		}
	}
	env = withToolkit(env, filepath.Dir(dir), "/usr/local/cuda")
	env = frontOf(env, "PATH", dir)
	path, _ := strings.CutPrefix(env[len(env)-1], "PATH=")
	return env, os.Setenv("PATH", path)
}

// withToolkit has clients that look for a folder of CUDA's take ours, which has libNVVM and libdevice where those are: only if
// the environment names none, and none is installed.
func withToolkit(env []string, ours, installed string) []string {
	named := func(e string) bool { return strings.HasPrefix(e, "CUDA_HOME=") || strings.HasPrefix(e, "CUDA_PATH=") }
	if slices.ContainsFunc(env, named) {
		return env
	}
	if _, err := os.Stat(installed); err == nil {
		return env
	}
	if _, err := os.Stat(filepath.Join(ours, libdevice.File)); err != nil {
		return env
	}
	return append(env, "CUDA_HOME="+ours)
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
