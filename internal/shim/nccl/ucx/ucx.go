// Package ucx is the transport between hosts that UCX has: RDMA where there is a device for it, else TCP. The library is found when the
// program runs (libucp.so.0); its interface is that of UCX 1.10 and newer. Each connection is an endpoint of its own worker, and carries a
// stream of bytes.
package ucx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/logx"
)

// Numbers and layouts of ucp.h. Structures are read by their masks, so fields that came later do not matter.
const (
	major, minor = 1, 10 // of the interface

	featureWakeup, featureStream = 1 << 4, 1 << 5
	modeSerialized               = 1
	netOnly                      = 1
	errorsOfPeer                 = 1
	closeForce                   = 1
	waitAll                      = 1

	ok         = 0
	inProgress = 1
	busy       = -15
	lastError  = -100

	paramsSize, workerParamsSize, workerAttrSize, endpointParamsSize, requestParamsSize = 128, 256, 128, 160, 128
)

// api is the library's functions.
type api struct {
	lib     *dl.Library
	context uintptr

	create, query, release, efd, arm, progress, destroy *dl.Func
	connect, close                                      *dl.Func
	send, recv, check, free                             *dl.Func
}

// status is a ucs_status_t: one byte.
func status(r uintptr) int { return int(int8(r)) }

// text is a status in the library's words where it has some.
func (a *api) text(what string, st int) error {
	why := fmt.Sprintf("status %d", st)
	for _, x := range []struct {
		st   int
		text string
	}{{-2, "no resources"}, {-3, "input or output failed"}, {-4, "no memory"}, {-5, "invalid parameter"}, {-6, "unreachable"}, {-12, "no such element"},
		{-16, "cancelled"}, {-19, "exceeds a limit"}, {-20, "timed out"}, {-22, "unsupported"}, {-24, "not connected"}, {-25, "connection reset"}, {-80, "the endpoint timed out"}} {
		if x.st == st {
			why = x.text
		}
	}
	return fmt.Errorf("UCX: %s: %s", what, why)
}

// load finds the library once, and makes its context.
var load = sync.OnceValues(func() (*api, error) {
	a, err := open()
	if err != nil {
		logx.Infof("NCCL: %v", err)
	}
	return a, err
})

func open() (*api, error) {
	look := dl.Look{What: "UCX", Variable: config.UCXLibrary, Env: config.Get, Names: []string{"libucp.so.0"}, Symbol: "ucp_stream_recv_nbx"}
	lib, err := look.Open()
	if err != nil {
		return nil, err
	}
	// It takes the signals of faults when it is loaded. They are ours.
	core, err := dl.Open("libucs.so.0")
	if err != nil {
		return nil, err
	}
	quiet, err := core.Find("ucs_debug_disable_signals")
	if err != nil {
		return nil, err
	}
	quiet.Call()
	a := &api{lib: lib}
	var initialize, readConfig, modify, releaseConfig *dl.Func
	for name, f := range map[string]**dl.Func{
		"ucp_init_version": &initialize, "ucp_config_read": &readConfig, "ucp_config_modify": &modify, "ucp_config_release": &releaseConfig,
		"ucp_worker_create": &a.create, "ucp_worker_query": &a.query, "ucp_worker_release_address": &a.release, "ucp_worker_get_efd": &a.efd,
		"ucp_worker_arm": &a.arm, "ucp_worker_progress": &a.progress, "ucp_worker_destroy": &a.destroy, "ucp_ep_create": &a.connect,
		"ucp_ep_close_nbx": &a.close, "ucp_stream_send_nbx": &a.send, "ucp_stream_recv_nbx": &a.recv, "ucp_request_check_status": &a.check,
		"ucp_request_free": &a.free,
	} {
		if *f, err = lib.Find(name); err != nil {
			return nil, err
		}
	}
	out := dl.Alloc(8)
	defer out.Free()
	if st := status(readConfig.Call(0, 0, out.Addr())); st != ok {
		return nil, a.text("ucp_config_read", st)
	}
	cfg := uintptr(binary.NativeEndian.Uint64(out.Bytes()))
	defer releaseConfig.Call(cfg)
	if list := devices(); list != "" {
		name, value := text("NET_DEVICES"), text(list)
		defer name.Free()
		defer value.Free()
		if st := status(modify.Call(cfg, name.Addr(), value.Addr())); st != ok {
			return nil, a.text("NET_DEVICES="+list, st)
		}
	}
	p := dl.Alloc(paramsSize)
	defer p.Free()
	put64(p, 0, 1<<0|1<<5) // features, mt_workers_shared
	put64(p, 8, featureStream|featureWakeup)
	put32(p, 48, 1)
	if st := status(initialize.Call(major, minor, p.Addr(), cfg, out.Addr())); st != ok {
		return nil, a.text("ucp_init", st)
	}
	a.context = uintptr(binary.NativeEndian.Uint64(out.Bytes()))
	return a, nil
}

// Available says whether the library is there and has a network.
func Available() error {
	_, err := load()
	return err
}

// HasRDMA reports whether this machine has what UCX is better at than plain TCP.
func HasRDMA() bool {
	list, err := os.ReadDir("/sys/class/infiniband")
	return err == nil && len(list) > 0
}

// devices are the interfaces that NCCL_SOCKET_IFNAME names, with all of RDMA: "" leaves the choice to the library. Exact names only: a
// prefix or ^ would have to be looked up here, where the library looks itself.
func devices() string {
	names := strings.TrimPrefix(config.Get("NCCL_SOCKET_IFNAME"), "=")
	if names == "" || strings.HasPrefix(names, "^") || config.Get("UCX_NET_DEVICES") != "" {
		return ""
	}
	var list []string
	for _, n := range strings.Split(names, ",") {
		if _, err := os.Stat("/sys/class/net/" + n); err != nil {
			return ""
		}
		list = append(list, n)
	}
	if ports, err := os.ReadDir("/sys/class/infiniband"); err == nil {
		for _, p := range ports {
			list = append(list, p.Name()+":1")
		}
	}
	return strings.Join(list, ",")
}

func text(s string) *dl.Buffer {
	b := dl.Alloc(len(s) + 1)
	copy(b.Bytes(), s)
	return b
}

func put64(b *dl.Buffer, at int, v uint64) { binary.NativeEndian.PutUint64(b.Bytes()[at:], v) }
func put32(b *dl.Buffer, at int, v uint32) { binary.NativeEndian.PutUint32(b.Bytes()[at:], v) }
func get64(b *dl.Buffer, at int) uintptr   { return uintptr(binary.NativeEndian.Uint64(b.Bytes()[at:])) }

var errLate = errors.New("UCX: no answer in time")
