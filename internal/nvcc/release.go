package nvcc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"kudzu/internal/config"
	"kudzu/internal/cudacc"
	"kudzu/internal/driver"
)

// presented is the release that the program answers to: that of KUDZU_DRIVER_VERSION, else that of the runtime in the process which
// this compiler works for, else that of the driver.
func presented() cudacc.Release {
	if config.Get(config.DriverVersion) == "" {
		if major := loadedRuntime(os.Getppid(), "/proc"); major != 0 {
			return releaseOf(major)
		}
	}
	return releaseOf(driver.Version() / 1000)
}

func releaseOf(major int) cudacc.Release {
	if major < 13 {
		return cudacc.Release12
	}
	return cudacc.Release13
}

// loadedRuntime is the major version of libcudart in the process or in the nearest of its ancestors that has one, 0 where none has.
// PyTorch's cpp_extension refuses a compiler of another major version than its own runtime's, and starts it directly or through
// ninja. Of two versions in one process the lower counts: an extension may have brought the other. proc is /proc.
func loadedRuntime(pid int, proc string) int {
	const prefix = "libcudart.so."
	for pid > 1 {
		folder := filepath.Join(proc, strconv.Itoa(pid))
		maps, err := os.ReadFile(filepath.Join(folder, "maps"))
		if err != nil {
			return 0
		}
		lowest := 0
		for line := range strings.Lines(string(maps)) {
			_, rest, ok := strings.Cut(filepath.Base(strings.TrimSpace(line)), prefix)
			if !ok {
				continue
			}
			// Behind it stand further numbers, or " (deleted)".
			if n, err := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]); err == nil && (lowest == 0 || n < lowest) {
				lowest = n
			}
		}
		if lowest != 0 {
			return lowest
		}
		if pid, err = parentOf(folder); err != nil {
			return 0
		}
	}
	return 0
}

// parentOf reads the parent's number of a process's folder. The name before it is in parentheses and may contain any character.
func parentOf(folder string) (pid int, err error) {
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return 0, err
	}
	var state byte
	_, err = fmt.Sscanf(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " %c %d", &state, &pid)
	return pid, err
}
