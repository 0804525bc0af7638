// Package rccl gives NCCL's operations to RCCL where all ranks are on AMD GPUs. The library is opened when the first such rank is made;
// what of it stands in for what of NCCL is internal/spec/rccl.api (docs/zamd_libraries.md).
package rccl

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/logx"
	"kudzu/internal/shim/nccl"
	"kudzu/internal/spec/ncclapi"
	"kudzu/internal/spec/rccl"
)

// Config makes a provider.
type Config struct {
	Library string // the path of librccl; "" looks for it
	Env     func(string) string
}

// Provider is RCCL.
type Provider struct {
	cfg Config

	once sync.Once
	lib  *dl.Library // nil: there is none
	err  error       // why
}

var _ nccl.Vendor = (*Provider)(nil)

// New returns the provider; nothing is opened.
func New(cfg Config) *Provider {
	if cfg.Env == nil {
		cfg.Env = config.Get
	}
	return &Provider{cfg: cfg}
}

// Name is the library's.
func (p *Provider) Name() string { return "RCCL" }

// library opens librccl, once; nil if there is none that has all we call: communicators that do not block came with ROCm 5.5.
func (p *Provider) library() *dl.Library {
	p.once.Do(func() {
		look := dl.Look{
			What: "RCCL", Path: p.cfg.Library, Variable: config.RCCLLibrary, Env: p.cfg.Env, Names: []string{"librccl.so.1"},
			Folders: []string{"/opt/rocm/lib/", "/opt/rocm/lib64/"}, Symbol: rccl.Rows[rccl.NcclCommInitRankConfig].Name,
		}
		lib, err := look.Open()
		for _, r := range rccl.Rows {
			if err == nil {
				_, err = lib.Find(r.Name)
			}
		}
		if err != nil {
			p.err = err
			logx.Infof("NCCL on this GPU: through host memory (%v)", err)
			return
		}
		p.lib = lib
		logx.Infof("NCCL on this GPU: RCCL (%s)", lib.Path())
	})
	return p.lib
}

// Ready reports whether there is a library.
func (p *Provider) Ready() bool { return p.library() != nil }

// Library says in one line which library there is, and which version of NCCL it answers.
func (p *Provider) Library() (string, error) {
	if p.library() == nil {
		return "", p.err
	}
	version, err := p.get(rccl.NcclGetVersion)
	return p.lib.Path() + ", answers NCCL " + strconv.Itoa(int(int32(version))), err
}

func answered(f rccl.Func, status int64) error {
	if status == rccl.NcclSuccess || status == rccl.NcclInProgress {
		return nil
	}
	code, ok := rccl.ToNcclResult_t(status)
	if !ok {
		code = int64(ncclapi.NcclInternalError)
	}
	return nccl.Fail(ncclapi.NcclResult_t(code), fmt.Sprintf("RCCL: %s answered %d", rccl.Rows[f].Name, status))
}

// call calls a function of the library.
func (p *Provider) call(f rccl.Func, args ...uintptr) error {
	row := &rccl.Rows[f]
	status, err := p.lib.Status(row.Name, row.Params, args...)
	if err != nil {
		return err
	}
	return answered(f, int64(status))
}

// get calls a function that writes a number where its parameter points, the one after args.
func (p *Provider) get(f rccl.Func, args ...uintptr) (uint64, error) {
	out := dl.Alloc(8)
	defer out.Free()
	err := p.call(f, append(args, out.Addr())...)
	return binary.LittleEndian.Uint64(out.Bytes()), err
}

// NewID makes the id of a communicator.
func (p *Provider) NewID() (id nccl.VendorID, err error) {
	out := dl.Alloc(len(id))
	defer out.Free()
	err = p.call(rccl.NcclGetUniqueId, out.Addr())
	return nccl.VendorID(out.Bytes()), err
}

// Begin makes a rank on the device that is current.
func (p *Provider) Begin(n, rank int, id *nccl.VendorID) (uintptr, error) {
	f, err := p.lib.Find(rccl.Rows[rccl.NcclCommInitRankConfig].Name)
	if err != nil {
		return 0, err
	}
	out, cfg, by := dl.Alloc(8), dl.Alloc(rccl.RCCLCONFIGBYTES), dl.Alloc(len(id))
	defer out.Free()
	defer cfg.Free()
	defer by.Free()
	b := binary.LittleEndian.AppendUint64(nil, rccl.RCCLCONFIGBYTES)
	b = binary.LittleEndian.AppendUint32(b, rccl.RCCLCONFIGMAGIC)
	copy(cfg.Bytes(), binary.LittleEndian.AppendUint32(b, rccl.RCCLCONFIGVERSION)) // and does not block
	copy(by.Bytes(), id[:])
	// The id is passed by value: 128 bytes lie on the stack behind the six registers, or its address is passed.
	args := []uintptr{out.Addr(), uintptr(n), by.Addr(), uintptr(rank), cfg.Addr()}
	if runtime.GOARCH == "amd64" {
		args = []uintptr{out.Addr(), uintptr(n), uintptr(rank), cfg.Addr(), 0, 0}
		for i := 0; i < len(id); i += 8 {
			args = append(args, uintptr(binary.LittleEndian.Uint64(id[i:])))
		}
	}
	err = answered(rccl.NcclCommInitRankConfig, int64(int32(f.Call(args...))))
	return uintptr(binary.LittleEndian.Uint64(out.Bytes())), err
}

// State asks what became of a communicator.
func (p *Provider) State(comm uintptr) error {
	v, err := p.get(rccl.NcclCommGetAsyncError, comm)
	switch {
	case err != nil:
		return err
	case int32(v) == rccl.NcclInProgress:
		return nccl.ErrBusy
	}
	return answered(rccl.NcclCommGetAsyncError, int64(int32(v)))
}

// Start begins a group of this thread.
func (p *Provider) Start() error { return p.call(rccl.NcclGroupStart) }

// End ends it.
func (p *Provider) End() error { return p.call(rccl.NcclGroupEnd) }

// Finalize, Destroy and Abort end a communicator.
func (p *Provider) Finalize(comm uintptr) error { return p.call(rccl.NcclCommFinalize, comm) }

// Destroy frees one that is finalized.
func (p *Provider) Destroy(comm uintptr) error { return p.call(rccl.NcclCommDestroy, comm) }

// Abort ends one with its work under way.
func (p *Provider) Abort(comm uintptr) error { return p.call(rccl.NcclCommAbort, comm) }

// Call is one operation.
func (p *Provider) Call(x *nccl.VendorCall) (err error) {
	send, recv, count, typ, root := uintptr(x.Send), uintptr(x.Recv), uintptr(x.Count), uintptr(x.Type), uintptr(x.Root)
	op := uintptr(x.Op)
	if x.Op == ncclapi.NcclNumOps {
		made, err := p.factor(x)
		if err != nil {
			return err
		}
		defer func() { _ = p.call(rccl.NcclRedOpDestroy, made, x.Comm) }() // the call has what it needs of it
		op = made
	}
	switch x.Func {
	case "ncclAllReduce":
		return p.call(rccl.NcclAllReduce, send, recv, count, typ, op, x.Comm, x.Stream)
	case "ncclReduceScatter":
		return p.call(rccl.NcclReduceScatter, send, recv, count, typ, op, x.Comm, x.Stream)
	case "ncclReduce":
		return p.call(rccl.NcclReduce, send, recv, count, typ, op, root, x.Comm, x.Stream)
	case "ncclBroadcast":
		return p.call(rccl.NcclBroadcast, send, recv, count, typ, root, x.Comm, x.Stream)
	case "ncclAllGather":
		return p.call(rccl.NcclAllGather, send, recv, count, typ, x.Comm, x.Stream)
	case "ncclAlltoAll":
		return p.call(rccl.NcclAllToAll, send, recv, count, typ, x.Comm, x.Stream)
	case "ncclGather":
		return p.call(rccl.NcclGather, send, recv, count, typ, root, x.Comm, x.Stream)
	case "ncclScatter":
		return p.call(rccl.NcclScatter, send, recv, count, typ, root, x.Comm, x.Stream)
	case "ncclSend":
		return p.call(rccl.NcclSend, send, count, typ, root, x.Comm, x.Stream)
	case "ncclRecv":
		return p.call(rccl.NcclRecv, recv, count, typ, root, x.Comm, x.Stream)
	}
	return nccl.Fail(ncclapi.NcclInternalError, "RCCL has no "+x.Func)
}

// factor makes the reduction of a PreMulSum.
func (p *Provider) factor(x *nccl.VendorCall) (uintptr, error) {
	out, by := dl.Alloc(8), dl.Alloc(8)
	defer out.Free()
	defer by.Free()
	at, where := uintptr(x.FactorAt), rccl.NcclScalarDevice
	if x.Factor != nil {
		copy(by.Bytes(), x.Factor)
		at, where = by.Addr(), rccl.NcclScalarHostImmediate
	}
	err := p.call(rccl.NcclRedOpCreatePreMulSum, out.Addr(), at, uintptr(x.Type), uintptr(where), x.Comm)
	return uintptr(binary.LittleEndian.Uint32(out.Bytes())), err
}
