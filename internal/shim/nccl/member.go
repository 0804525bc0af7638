package nccl

import (
	"encoding/binary"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"kudzu/internal/config"
)

// secret names a communicator. Only its ranks know it; a connection that does not is dropped.
type secret [16]byte

func newSecret() (s secret, err error) {
	_, err = unix.Getrandom(s[:], 0)
	return s, err
}

// member is what ranks know of each other. It is sent as it is laid out.
type member struct {
	Process secret // of this process alone
	Host    [36]byte
	Space   uint64 // of process numbers
	PID     uint32
	Device  int32
	Reach   reach
	Addr    endpoint // where its process takes connections
}

// endpoint is an address of TCP. Port 0: none.
type endpoint struct {
	IP   [16]byte
	Port uint16
	V6   bool
}

const memberSize = 16 + 36 + 8 + 4 + 4 + 4 + 19

func (m *member) append(b []byte) []byte {
	b, err := binary.Append(b, binary.LittleEndian, m)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}

func (m *member) decode(b []byte) error {
	_, err := binary.Decode(b, binary.LittleEndian, m)
	return err
}

// self is this process as others see it, without an address.
var self = sync.OnceValues(func() (member, error) {
	m := member{PID: uint32(os.Getpid())}
	var err error
	if m.Process, err = newSecret(); err != nil {
		return m, err
	}
	if id := config.Get("NCCL_HOSTID"); id != "" {
		copy(m.Host[:], id)
	} else if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		copy(m.Host[:], strings.TrimSpace(string(b)))
	} else {
		copy(m.Host[:], m.Process[:]) // a host of its own
	}
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) == nil {
		m.Space = st.Ino
	}
	return m, nil
})

func (m *member) sameProcess(o *member) bool { return m.Process == o.Process }

// near reports that the kernel may copy between the two.
func (m *member) near(o *member) bool {
	return m.Host == o.Host && m.Space == o.Space && m.Space != 0
}
