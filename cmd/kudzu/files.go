package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"kudzu/internal/config"
	"kudzu/internal/shim/nvml"
)

// The ways to give a program the files of a GPU; docs/loading.md says what each reaches.
const (
	filesAuto      = "auto"      // the namespace where it changes little else (inNamespace), and the preloaded library
	filesNamespace = "namespace" // both, and it is said where the kernel allows no namespace
	filesNone      = "none"
)

// enterName is the program that starts another one where the files of a GPU are, beside our libraries.
const enterName = "kudzu-enter"

// modelName is what /proc/driver/nvidia says that the devices are.
const modelName = "Kudzu"

// inNamespace decides who gets the namespace. That of users other than root is a user namespace, too, in which the files of root
// are nobody's: ssh and sudo refuse those. So auto leaves it where a library answers for the files.
func inNamespace(how string, root, preloaded bool) bool {
	return how == filesNamespace || how != filesNone && (root || !preloaded)
}

// withFiles is the command that gives a program the files of a GPU in a mount namespace of its own: it becomes the program.
// preloaded says that a library answers for them, too, so that little is lost where there is no namespace.
func withFiles(o *runWith, dir, path string, args []string, preloaded bool) (string, []string) {
	enter := filepath.Join(dir, enterName)
	if _, err := os.Stat(enter); err != nil || !inNamespace(o.files, os.Geteuid() == 0, preloaded) {
		return path, args
	}
	count, err := strconv.Atoi(valueOf(o.set, config.Devices))
	if err != nil || count < 1 || count > 64 {
		count = 1
	}
	full, err := filepath.Abs(path)
	if err != nil {
		full = path
	}
	cmd := []string{enterName}
	if o.files == filesNamespace || !preloaded {
		cmd = append(cmd, "-v")
	}
	cmd = append(cmd, strconv.Itoa(count), nvml.DriverVersion(), modelName, full)
	return enter, append(cmd, args...)
}

// valueOf is a variable that an option sets, else the environment's.
func valueOf(set [][2]string, name string) string {
	for _, kv := range set {
		if kv[0] == name {
			return kv[1]
		}
	}
	return config.Get(name)
}

// firstKept is where the file of withTell begins: programs count on the first numbers.
const firstKept = 100

// withTell has the program say at its end that it loaded CUDA libraries and used no device (c/base/tell.c). The file that its
// processes share has no name; it is open in this process, which becomes the program.
func withTell(env []string, o *runWith) []string {
	if config.Get(config.Tell) != "" || o.way == loadPreload || o.silent { // preloaded libraries are in every program
		return env
	}
	fd, err := unix.MemfdCreate("kudzu-tell", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return env
	}
	if unix.Ftruncate(fd, 1) != nil { // the byte; it is mapped, so it stays
		return env
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return env
	}
	kept, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, firstKept)
	if err != nil {
		return env
	}
	return setEnv(env, config.Tell, fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), kept))
}

// hasPreload says that the library that answers for the files of a GPU is preloaded.
func hasPreload(env []string) bool {
	for _, e := range env {
		if list, ok := strings.CutPrefix(e, "LD_PRELOAD="); ok && strings.Contains(list, devicesName) {
			return true
		}
	}
	return false
}
