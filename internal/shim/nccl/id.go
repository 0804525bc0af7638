package nccl

import (
	"encoding/binary"
	"hash/fnv"

	"kudzu/internal/config"
	"kudzu/internal/spec/ncclapi"
)

// uniqueID names a communicator to be made: its secret, and where its hub is.
type uniqueID struct {
	key   secret
	hub   endpoint
	fixed bool // by NCCL_COMM_ID: rank 0 opens the hub

	derived bool // of another communicator: the hub is behind the data port of its process
	here    bool // which is this one
}

const idMagic = 0x4c43434e5544554b // "KUDUNCCL"

func (u *uniqueID) bytes() (id ncclapi.NcclUniqueId) {
	b := binary.LittleEndian.AppendUint64(nil, idMagic)
	b = append(b, u.key[:]...)
	b = append(b, u.hub.IP[:]...)
	b = binary.LittleEndian.AppendUint16(b, u.hub.Port)
	b = append(b, flag(u.hub.V6), flag(u.fixed))
	copy(id.Internal[:], b)
	return id
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func readID(id *ncclapi.NcclUniqueId) (*uniqueID, error) {
	b := id.Internal[:]
	if binary.LittleEndian.Uint64(b) != idMagic {
		return nil, badArgument("the unique id is not one of this library")
	}
	u := &uniqueID{key: secret(b[8:24]), fixed: b[43] != 0}
	u.hub = endpoint{IP: [16]byte(b[24:40]), Port: binary.LittleEndian.Uint16(b[40:]), V6: b[42] != 0}
	return u, nil
}

// newID makes a hub in this process that others can reach.
func newID() (*uniqueID, error) {
	key, err := newSecret()
	if err != nil {
		return nil, err
	}
	at, err := ownAddress()
	if err != nil {
		return nil, err
	}
	u := &uniqueID{key: key}
	u.hub, err = someHub(key).open(at)
	return u, err
}

// fixedID is what NCCL_COMM_ID says. Every process makes the same one, so its secret is none.
func fixedID(text string) (*uniqueID, error) {
	at, err := parseEndpoint(text)
	if err != nil {
		return nil, badArgument("%v", err)
	}
	u := &uniqueID{hub: at, fixed: true}
	h := fnv.New128a()
	h.Write([]byte(text))
	h.Sum(u.key[:0])
	return u, nil
}

// GetUniqueId names a communicator to be made.
func (t *Thread) GetUniqueId() (id ncclapi.NcclUniqueId, err error) {
	var u *uniqueID
	if text := config.Get("NCCL_COMM_ID"); text != "" {
		u, err = fixedID(text)
	} else {
		u, err = newID()
	}
	if err != nil {
		return id, err
	}
	return u.bytes(), nil
}

// bootstrap finds the way to the hub for a rank. A hub that others may come to makes this process take their connections, too.
func (u *uniqueID) bootstrap(c *comm, me *member) (bootstrap, error) {
	h := findHub(u.key)
	if u.derived && u.here {
		h = someHub(u.key)
	}
	if h != nil && u.fixed && c.rank == 0 && h.failed() { // the one before; its program tries again
		h.mu.Lock()
		h.shut()
		h.mu.Unlock()
		h.forget()
		h = nil
	}
	if h == nil && u.fixed && c.rank == 0 {
		h = someHub(u.key)
		if _, err := h.open(u.hub); err != nil {
			return nil, err
		}
	}
	if h != nil && u.hub.Port == 0 { // of this process only
		return &local{hub: h}, nil
	}
	var err error
	if me.Addr, err = dataPort(); err != nil {
		return nil, err
	}
	if h != nil {
		return &local{hub: h}, nil
	}
	return c.dialHub(u)
}
