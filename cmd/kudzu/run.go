package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kudzu/internal/config"
	"kudzu/internal/engine"
	"kudzu/internal/libdevice"
	"kudzu/internal/toolkit"
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

// option is one before the program's name.
type option struct {
	what     string // its value; empty: it has none
	optional bool   // the value may be missing, and follows = only
	put      func(o *runWith, val string) error
}

// runOptions reads the options before the program's name: those of kudzu run that set something for the program, and more.
func runOptions(args []string, more map[string]option) (o runWith, rest []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		a := args[0]
		args = args[1:]
		if a == "--" {
			break
		}
		name, val, inline := strings.Cut(a, "=")
		take, ok := more[name]
		if !ok {
			take, ok = runTakes[name]
		}
		if !ok {
			return o, nil, errUsage{"unknown option " + a}
		}
		if take.what == "" && inline {
			return o, nil, errUsage{name + " takes no value"}
		}
		if take.what != "" && !take.optional && !inline && len(args) > 0 {
			val, args = args[0], args[1:]
		}
		if take.what != "" && val == "" && (!take.optional || inline) {
			return o, nil, errUsage{name + " needs a " + take.what}
		}
		if err := take.put(&o, val); err != nil {
			return o, nil, err
		}
	}
	return o, args, nil
}

// runTakes are the options of every verb that runs a program.
var runTakes = map[string]option{
	"--backend": {what: "name", put: func(o *runWith, val string) error {
		if !slices.Contains(backendNames, val) {
			return errUsage{fmt.Sprintf("no backend %q; there are %s", val, strings.Join(backendNames, ", "))}
		}
		o.set = append(o.set, [2]string{config.Backend, val})
		return nil
	}},
	"--load": {what: "name", put: func(o *runWith, val string) error {
		o.way = val
		return nil
	}},
	"--files": {what: "name", put: func(o *runWith, val string) error {
		if !slices.Contains([]string{filesAuto, filesNamespace, filesNone}, val) {
			return errUsage{fmt.Sprintf("no way to have the files of a GPU %q; there are %s, %s, %s", val, filesAuto, filesNamespace, filesNone)}
		}
		o.files = val
		return nil
	}},
	"--timeout": {what: "number of seconds", put: func(o *runWith, val string) error {
		if _, err := engine.ParseLimit(val); err != nil {
			return errUsage{"--timeout " + val + ": " + err.Error()}
		}
		o.set = append(o.set, [2]string{config.LaunchTimeout, val})
		return nil
	}},
}

// child is a program with our libraries in the place of the vendor's, ready to run.
type child struct {
	path      string // of the program
	args, env []string
	start     string // what is executed, with argv: the program, or what prepares its files and becomes it
	argv      []string
}

// prepare finds the program and makes its environment.
func (o *runWith) prepare(args []string) (child, error) {
	p, err := o.find(args)
	if err != nil {
		return p, err
	}
	dir, err := libraryDir()
	if err != nil {
		return p, err
	}
	var notes []string
	if p.env, notes, err = loadEnv(p.env, o.way, dir, p.path); err != nil {
		return p, err
	}
	for _, n := range notes {
		fmt.Fprintf(os.Stderr, "kudzu: %s\n", n)
	}
	p.env = withNVTX(p.env, dir)
	p.env = withXLA(p.env, filepath.Dir(dir), p.path)
	p.start, p.argv = withFiles(o, dir, p.path, args, hasPreload(p.env))
	return p, nil
}

// find is prepare without the libraries.
func (o *runWith) find(args []string) (p child, err error) {
	p.args, p.env = args, os.Environ()
	for _, kv := range o.set {
		p.env = setEnv(p.env, kv[0], kv[1])
	}
	if len(args) == 0 {
		return p, errUsage{"which program?"}
	}
	if p.env, err = withTools(p.env); err != nil {
		return p, err
	}
	if p.path, err = exec.LookPath(args[0]); err != nil {
		return p, notRun(args[0], err)
	}
	p.start, p.argv = p.path, args
	return p, nil
}

// runRun replaces this process by the program, with our libraries in the place of the vendor's.
func runRun(args []string, _ io.Writer) error {
	o, args, err := runOptions(args, map[string]option{
		"--no-tell": {put: func(o *runWith, _ string) error {
			o.silent = true
			return nil
		}},
		"--stats": {what: "file", optional: true, put: func(o *runWith, val string) error {
			o.stats, o.statsFile = true, val
			return nil
		}},
	})
	if err != nil {
		return err
	}
	p, err := o.prepare(args)
	if err != nil {
		return err
	}
	if o.stats {
		return runCounted(p, o.statsFile)
	}
	return notRun(p.path, syscall.Exec(p.start, p.argv, withTell(p.env, &o)))
}

// begin runs the program as a child and passes signals on to it. wait returns when it has ended: nil, or its exit code.
func (p child) begin() (wait func() error, err error) {
	cmd := exec.Command(p.start)
	cmd.Args, cmd.Env = p.argv, p.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := cmd.Start(); err != nil {
		return nil, notRun(p.path, err)
	}
	go func() {
		for s := range signals {
			if s != syscall.SIGINT && s != syscall.SIGQUIT { // a terminal sends those to the child too
				_ = cmd.Process.Signal(s) // it may be gone
			}
		}
	}()
	return func() error {
		err := cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return err
		}
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return exitCode(128 + int(ws.Signal()))
		}
		return exitCode(exit.ExitCode())
	}, nil
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
// it, under the name whose release every Triton knows; the folder with bin/ptxas to JAX, with include to CuPy. The values are relative to the folder of this program.
var toolVars = [][2]string{{"TRITON_PTXAS_PATH", toolkit.TritonPTXAS}, {"TRITON_PTXAS_BLACKWELL_PATH", "ptxas"}, {"CUDA_ROOT", ".."}, {"CUDA_PATH", ".."}}

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
	env = withToolkit(env, filepath.Dir(dir), "/usr/local/cuda")
	for _, v := range toolVars {
		if _, set := lookEnv(env, v[0]); !set {
			env = append(env, v[0]+"="+filepath.Join(dir, v[1]))
		}
	}
	env = frontOf(env, "PATH", dir)
	path, _ := strings.CutPrefix(env[len(env)-1], "PATH=")
	return env, os.Setenv("PATH", path)
}

// withToolkit has clients that look for a folder of CUDA's take ours, which has libNVVM and libdevice where those are: only if
// the environment names none, and none is installed.
func withToolkit(env []string, ours, installed string) []string {
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if _, set := lookEnv(env, name); set {
			return env
		}
	}
	if _, err := os.Stat(installed); err == nil {
		return env
	}
	if _, err := os.Stat(filepath.Join(ours, libdevice.File)); err != nil {
		return env
	}
	return append(env, "CUDA_HOME="+ours)
}

// lookEnv is a variable of an environment.
func lookEnv(env []string, name string) (val string, set bool) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			val, set = v, true
		}
	}
	return val, set
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
