package driver

import (
	"bytes"
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"
)

// A handle is 64 bytes that a program may have from anywhere, and what it names is a file of another process of the user. So
// that nobody can have us map a file that was never meant for it, a file that is shared ends in a page with a random number,
// the token, which the handle must repeat; and it can neither shrink nor grow, which only files in memory can be made to.

// ipcToken is what a handle and the file it names have in common.
type ipcToken [16]byte

const (
	stampPage = 4096
	stampSize = 32
	ipcSeals  = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
)

// stamp is the beginning of the last page of a file that is shared.
func stamp(length uint64, token ipcToken) []byte {
	b := make([]byte, stampSize)
	le := binary.LittleEndian
	le.PutUint64(b, ipcMagic)
	le.PutUint64(b[8:], length)
	copy(b[16:], token[:])
	return b
}

// seal makes a file in memory of so many bytes one that a handle may name.
func seal(fd int, length uint64) (ipcToken, error) {
	if err := syscall.Ftruncate(fd, int64(length+stampPage)); err != nil {
		return ipcToken{}, errOutOfMemory
	}
	token, err := restamp(fd, length)
	if err != nil {
		return token, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, ipcSeals); err != nil {
		return token, errUnknown
	}
	return token, nil
}

// restamp makes a file that was revoked one that a new handle may name.
func restamp(fd int, length uint64) (ipcToken, error) {
	var token ipcToken
	if n, err := unix.Getrandom(token[:], 0); err != nil || n != len(token) {
		return token, errUnknown
	}
	if _, err := syscall.Pwrite(fd, stamp(length, token), int64(length)); err != nil {
		return token, errOutOfMemory
	}
	return token, nil
}

// revoke ends what seal began: handles that are still about open nothing.
func revoke(fd int, length uint64) {
	_, _ = syscall.Pwrite(fd, make([]byte, stampSize), int64(length)) // the file is about to be closed here
}

// sealed reports whether a file is the one that a handle was made for.
func (h *ipcHandle) sealed(fd int) bool {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	var st syscall.Stat_t
	if err != nil || seals&ipcSeals != ipcSeals || syscall.Fstat(fd, &st) != nil || uint64(st.Size) != h.length+stampPage {
		return false
	}
	var b [stampSize]byte
	n, err := syscall.Pread(fd, b[:], int64(h.length))
	return err == nil && n == len(b) && bytes.Equal(b[:], stamp(h.length, h.token))
}
