// Package roster is the list of processes that use devices, with the memory each has and the time its kernels took: what
// NVML and `kudzu smi` tell of other processes. Every process that uses a device has one page in a folder that only its
// user may look into; it writes there as it goes, others read. Pages of processes that ended are removed by whoever sees them.
package roster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"kudzu/internal/config"
	"kudzu/internal/quota"
)

// Devices is how many devices a page has room for.
const Devices = 64

const (
	pageSize = 4096
	magic    = 0x6b7a726f73746572 // changes with the layout
)

// The words of a page.
const (
	wordMagic = iota
	wordPid
	wordStart   // when the process started, in the system's ticks: a number that came again is another process
	wordKernels // nanoseconds of all threads in kernels
	wordThreads // threads that run kernels
	wordUsed    = 16
)

// Process is what a page tells.
type Process struct {
	Pid     int
	Kernels uint64 // nanoseconds of all threads in kernels, since it began
	Threads int    // that run kernels
	Used    [Devices]uint64
}

// folder is where pages are, made if asked for. Anything but a folder of ours that nobody else may enter is refused: what
// lies in it would be believed.
func folder(make bool) (string, error) {
	if config.Restricted() {
		return "", errors.New("a program with more rights than its user is not listed")
	}
	base := "/dev/shm"
	if st, err := os.Stat(base); err != nil || !st.IsDir() {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "kudzu-"+strconv.Itoa(os.Getuid()))
	if make {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return "", err
		}
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || st.Mode().Perm()&0o077 != 0 || !ok || int(sys.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a folder of this user alone", dir)
	}
	return dir, nil
}

// started is when a process started, in the system's ticks.
func started(pid int) (uint64, error) {
	p, err := quota.Own.Process(pid)
	return p.Started, err
}

// List is every process that lives and has a page, in order of their numbers as text.
func List() ([]Process, error) {
	dir, err := folder(false)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return sweep(dir)
}

// unfinished begins the name of a page that is being made.
const unfinished = ".new-"

// sweep reads the pages and removes those nobody has any more.
func sweep(dir string) ([]Process, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Process
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		number, making := strings.CutPrefix(e.Name(), unfinished)
		pid, err := strconv.Atoi(number)
		if err != nil || !e.Type().IsRegular() {
			continue
		}
		if making {
			if _, err := started(pid); errors.Is(err, os.ErrNotExist) {
				_ = os.Remove(path) // it ended before the page was whole
			}
			continue
		}
		p, start, ok := read(path)
		if at, err := started(pid); !ok || p.Pid != pid || err != nil || at != start {
			_ = os.Remove(path)
			continue
		}
		all = append(all, p)
	}
	return all, nil
}

func read(path string) (p Process, start uint64, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return p, 0, false
	}
	defer f.Close()
	var b [8 * (wordUsed + Devices)]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return p, 0, false
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
	if word(wordMagic) != magic {
		return p, 0, false
	}
	p = Process{Pid: int(word(wordPid)), Kernels: word(wordKernels), Threads: int(word(wordThreads))}
	for i := range p.Used {
		p.Used[i] = word(wordUsed + i)
	}
	return p, word(wordStart), true
}
