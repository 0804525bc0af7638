package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// tellFile is what the kernel calls the file that kudzu run makes for this (cmd/kudzu's withTell).
const tellFile = "/memfd:kudzu-tell (deleted)"

// noteUse tells kudzu run's program, in the file that all its processes share, that a device is used (c/base/tell.c reads it).
// The program may have closed it, and the number, or that of the process, may be another's now: nothing is written to other files,
// and nothing here waits for one.
func noteUse(file string) {
	if is, err := os.Readlink(file); err != nil || is != tellFile {
		return // nobody reads it any more
	}
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 0 {
		_, _ = unix.Write(fd, []byte{1})
	}
	_ = unix.Close(fd)
}
