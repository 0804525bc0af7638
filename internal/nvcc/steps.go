package nvcc

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"kudzu/internal/config"
)

// variables prints what nvcc prints before its steps; CMake reads TOP, PATH, INCLUDES, LIBRARIES, and the architectures.
func (b *build) variables() {
	bin := filepath.Join(b.home, "bin")
	var archs strings.Builder
	for _, c := range b.codes {
		archs.WriteString(" -arch compute_" + c.virtual)
	}
	for _, line := range []string{
		"_NVVM_BRANCH_=nvvm", "_SPACE_= ", "_CUDART_=cudart", "_HERE_=" + bin, "_THERE_=" + bin, "_TARGET_SIZE_=", "_TARGET_DIR_=", "_TARGET_SIZE_=64",
		"TOP=" + b.home, "NVVMIR_LIBRARY_DIR=" + filepath.Join(b.home, "nvvm/libdevice"), "LD_LIBRARY_PATH=" + filepath.Join(b.home, "lib") + ":" + config.Get("LD_LIBRARY_PATH"),
		"PATH=" + bin + ":" + config.Get("PATH"), `INCLUDES="-I` + filepath.Join(b.home, "include") + `"  `, "LIBRARIES=  " + quote("-L"+filepath.Join(b.home, "lib")),
		"CUDAFE_FLAGS=", "PTXAS_FLAGS=", "DEVICE_FLAGS=" + archs.String(),
	} {
		fmt.Fprintln(b.errs, "#$ "+line)
	}
}

var plain = regexp.MustCompile(`^[\w=+./,:@%-]+$`)

// quote writes an argument as a shell takes it.
func quote(arg string) string {
	if plain.MatchString(arg) && !strings.HasPrefix(arg, "-L") && !strings.HasPrefix(arg, "-I") {
		return arg
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(arg) + `"`
}

// say prints a step if it is asked for. It reports whether the step is to be done.
func (b *build) say(program string, args ...string) bool {
	if b.has(optVerbose) || b.has(optDryrun) {
		words := []string{quote(program)}
		for _, a := range args {
			words = append(words, quote(a))
		}
		fmt.Fprintln(b.errs, "#$ "+strings.Join(words, " "))
	}
	return !b.has(optDryrun)
}

// start runs a program and waits for it. What it prints is ours.
func (b *build) start(program string, args ...string) error {
	return b.startTo(b.errs, program, args...)
}

// startTo is start with another place for messages.
func (b *build) startTo(errs io.Writer, program string, args ...string) error {
	if !b.say(program, args...) {
		return nil
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = b.out, errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return failure(exit.ExitCode())
	case errors.As(err, &exit):
		return fatalf("'%s' died due to %v", filepath.Base(program), exit)
	case err != nil:
		return fatalf("Failed to start '%s': %v", program, err)
	}
	return nil
}

// between is the path of a file that is not a result; with --keep it stays.
func (b *build) between(name string) string {
	switch {
	case b.has(optDryrun):
	case b.has(optKeep) || b.has(optSaveTemps):
		return filepath.Join(b.get(optKeepDir, ""), name)
	}
	return filepath.Join(b.temp, name)
}

// stem is a file's name without folder and ending.
func stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
