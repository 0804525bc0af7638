package nccl

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"kudzu/internal/config"
	"kudzu/internal/spec/ncclapi"
)

func word(b []byte) int { return int(int32(binary.LittleEndian.Uint32(b))) }

func appendWords(b []byte, words ...int) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, uint32(w))
	}
	return b
}

func (e *endpoint) String() string {
	a := netip.AddrFrom4([4]byte(e.IP[:4]))
	if e.V6 {
		a = netip.AddrFrom16(e.IP)
	}
	return netip.AddrPortFrom(a, e.Port).String()
}

func endpointOf(a netip.Addr, port uint16) (e endpoint) {
	e.Port, e.V6 = port, a.Is6()
	copy(e.IP[:], a.AsSlice())
	return e
}

// netif is an address of this machine.
type netif struct {
	name string
	addr netip.Addr
}

// interfaces are this machine's addresses, as the kernel lists them.
func interfaces() ([]netif, error) {
	names := map[uint32]string{}
	err := ask(unix.RTM_GETLINK, func(m *syscall.NetlinkMessage) {
		if len(m.Data) < unix.SizeofIfInfomsg || binary.NativeEndian.Uint32(m.Data[8:])&unix.IFF_UP == 0 {
			return
		}
		attributes(m, func(kind uint16, value []byte) {
			if kind == unix.IFLA_IFNAME {
				names[binary.NativeEndian.Uint32(m.Data[4:])] = strings.TrimRight(string(value), "\x00")
			}
		})
	})
	if err != nil {
		return nil, err
	}
	var list []netif
	err = ask(unix.RTM_GETADDR, func(m *syscall.NetlinkMessage) {
		if len(m.Data) < unix.SizeofIfAddrmsg {
			return
		}
		name := names[binary.NativeEndian.Uint32(m.Data[4:])]
		var local, addr netip.Addr
		attributes(m, func(kind uint16, value []byte) {
			switch kind {
			case unix.IFA_LOCAL: // of a link between two, IFA_ADDRESS is the other end
				local, _ = netip.AddrFromSlice(value)
			case unix.IFA_ADDRESS:
				addr, _ = netip.AddrFromSlice(value)
			}
		})
		if local.IsValid() {
			addr = local
		}
		if addr.IsValid() && name != "" {
			list = append(list, netif{name, addr})
		}
	})
	return list, err
}

// ask calls f for each answer of the kernel.
func ask(what int, f func(*syscall.NetlinkMessage)) error {
	raw, err := syscall.NetlinkRIB(what, unix.AF_UNSPEC)
	if err != nil {
		return err
	}
	list, err := syscall.ParseNetlinkMessage(raw)
	for i := range list {
		f(&list[i])
	}
	return err
}

func attributes(m *syscall.NetlinkMessage, f func(kind uint16, value []byte)) {
	list, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return // an answer that cannot be read is no address
	}
	for _, a := range list {
		f(a.Attr.Type, a.Value)
	}
}

// ownAddress is the address that others reach this process at: of the interfaces that NCCL_SOCKET_IFNAME names, else of one that leads
// out, else the loopback.
func ownAddress() (endpoint, error) {
	list, err := interfaces()
	if err != nil {
		return endpoint{}, err
	}
	want := config.Get("NCCL_SOCKET_IFNAME")
	list = slices.DeleteFunc(list, func(c netif) bool { return c.addr.IsLinkLocalUnicast() || want != "" && !chosen(c.name, want) })
	slices.SortStableFunc(list, func(a, b netif) int { return a.rank(want) - b.rank(want) })
	if len(list) == 0 {
		return endpoint{}, failf(ncclapi.NcclSystemError, "no interface with an address: NCCL_SOCKET_IFNAME=%s", want)
	}
	return endpointOf(list[0].addr, 0), nil
}

// rank orders addresses: IPv4 first, and without a wish bridges of containers and the loopback last.
func (c netif) rank(want string) int {
	n := 0
	if c.addr.Is6() {
		n++
	}
	if want == "" && strings.HasPrefix(c.name, "docker") {
		n += 2
	}
	if want == "" && c.addr.IsLoopback() {
		n += 4
	}
	return n
}

// chosen reports whether a list of interfaces names one: prefixes, or exact names behind =, all others behind ^.
func chosen(name, want string) bool {
	want, not := strings.CutPrefix(want, "^")
	want, exact := strings.CutPrefix(want, "=")
	in := slices.ContainsFunc(strings.Split(want, ","), func(w string) bool {
		return w == name || !exact && w != "" && strings.HasPrefix(name, w)
	})
	return in != not
}

// parseEndpoint reads NCCL_COMM_ID: an address, or [address], and a port.
func parseEndpoint(s string) (endpoint, error) {
	if a, err := netip.ParseAddrPort(s); err == nil {
		return endpointOf(a.Addr().Unmap(), a.Port()), nil
	}
	host, port, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(port, 10, 16)
	if !ok || err != nil || host != "localhost" {
		return endpoint{}, fmt.Errorf("NCCL_COMM_ID=%s: not ADDRESS:PORT", s)
	}
	return endpointOf(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(n)), nil
}
