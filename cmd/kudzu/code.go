package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// code is a file that holds device code, in memory.
type code struct {
	bytes []byte
	close func()
}

// maxCode is the largest file that is looked into. The vendor's largest library has under 2 GiB: code reaches no further.
const maxCode = 16 << 30

// readCode maps a file. What has no end, or none that can be known, is refused.
func readCode(file string) (*code, error) {
	i, err := os.Stat(file) // before it is opened: that waits for who writes to a pipe
	if err != nil {
		return nil, err
	}
	if i.Mode()&(fs.ModeType&^fs.ModeSymlink) != 0 {
		return nil, fmt.Errorf("%s is a %s, not a file with a size", file, kindOf(i.Mode()))
	}
	if i.Size() > maxCode {
		return nil, fmt.Errorf("%s has %d bytes: more than any program", file, i.Size())
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := unix.Mmap(int(f.Fd()), 0, int(i.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	switch {
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENODEV): // empty, or made when it is read, as files of /proc are
		b, err := os.ReadFile(file)
		return &code{b, func() {}}, err
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &code{b, func() { _ = unix.Munmap(b) }}, nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeDevice != 0:
		return "device"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "special file"
}

// pool runs functions on so many goroutines.
type pool struct {
	work chan func()
	all  sync.WaitGroup
}

func newPool(n int) *pool {
	p := &pool{work: make(chan func(), 4*n)} // few wait: each holds its module
	for range n {
		p.all.Go(func() {
			for f := range p.work {
				f()
			}
		})
	}
	return p
}

func (p *pool) do(f func()) { p.work <- f }

func (p *pool) wait() {
	close(p.work)
	p.all.Wait()
}
