package hipdouble

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/codeobject"
	"kudzu/internal/compile"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devrt"
	"kudzu/internal/dl"
	"kudzu/internal/driver"
	"kudzu/internal/ptx"
	"kudzu/internal/spec/hip"
)

// Interpreted stands in for the compiler: its code objects have the metadata, descriptor, arguments and symbols of a kernel, and
// instead of code the hash of the PTX. Launched, they run on the interpreter, in the double's memory. So everything between
// the compiler and the GPU is tried with every kernel, and what it must compute is known.
type Interpreted struct {
	lib *dl.Library

	mu         sync.Mutex
	texts      map[[sha256.Size]byte]*entry // guarded by mu
	built, ran int                          // code objects and launches; guarded by mu
}

type entry struct {
	m    *backend.Module
	dev  interp.Device
	k    backend.KernelDecl
	vars []string

	lends bool // it asks for the workspace of a cooperative launch
}

// explicit is where the hidden arguments begin.
func (e *entry) explicit() int {
	n := (e.k.ParamBytes + 7) &^ 7
	if e.lends {
		n += 8
	}
	return n
}

// capability is what the interpreter reads PTX for: modules that are for less load, too.
const capability = 100

// NewInterpreted makes the compiler for a double, and its runner.
func NewInterpreted(t testing.TB, library string) *Interpreted {
	t.Helper()
	lib, err := dl.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	c := &Interpreted{lib: lib, texts: map[[sha256.Size]byte]*entry{}}
	Serve(t, c.run)
	return c
}

// Find looks an address up in the double's memory.
func (c *Interpreted) Find(addr uint64) (base, size uint64, ok bool) {
	f, err := c.lib.Find("kz_double_find")
	if err != nil {
		return 0, 0, false
	}
	out := dl.Alloc(16)
	defer out.Free()
	ok = f.Call(uintptr(addr), out.Addr(), out.Addr()+8) == 1
	return binary.LittleEndian.Uint64(out.Bytes()), binary.LittleEndian.Uint64(out.Bytes()[8:]), ok
}

// Live is how many things of a kind the double still holds: allocations 0, streams 1, events 2, modules 3.
func (c *Interpreted) Live(kind int) int {
	f, err := c.lib.Find("kz_double_live")
	if err != nil {
		return -1
	}
	return int(int64(f.Call(uintptr(kind))))
}

// Reset makes the double forget a fault.
func (c *Interpreted) Reset() { reset(c.lib) }

func reset(lib *dl.Library) {
	if f, err := lib.Find("kz_double_reset"); err == nil {
		f.Call()
	}
}

// Reset does the same for the double at a path that is open already.
func Reset(library string) {
	if lib, err := dl.Open(library); err == nil {
		reset(lib)
	}
}

// Alloc gives the interpreter memory for what it needs beside the program's: device malloc, the state of a cooperative grid.
func (c *Interpreted) Alloc(n, _ uint64) (backend.Addr, error) {
	f, err := c.lib.Find(hip.Rows[hip.HipHostMalloc].Name)
	if err != nil {
		return 0, err
	}
	out := dl.Alloc(8)
	defer out.Free()
	if int32(f.Call(out.Addr(), uintptr(n), 0)) != 0 {
		return 0, backend.ErrNoMemory
	}
	return backend.Addr(binary.LittleEndian.Uint64(out.Bytes())), nil
}

// Free gives it back.
func (c *Interpreted) Free(a backend.Addr) error {
	f, err := c.lib.Find(hip.Rows[hip.HipHostFree].Name)
	if err == nil && int32(f.Call(uintptr(a))) != 0 {
		err = backend.ErrNotFound
	}
	return err
}

// withRuntime has what the compiler adds to a kernel: instructions on textures are calls of its functions.
func withRuntime(text string) (string, error) {
	m, err := ptx.ParseModule(text)
	if err != nil {
		return "", err
	}
	text, _ = worker.WithRuntime(m)
	return text, nil
}

// describe reads a kernel's PTX.
func (c *Interpreted) describe(req *compile.Request) (*entry, *backend.KernelInfo, error) {
	text, err := withRuntime(req.PTX)
	if err != nil {
		return nil, nil, err
	}
	m, err := driver.Describe("slice", text, capability)
	if err != nil {
		return nil, nil, err
	}
	e := &entry{m: m, dev: interp.NewDevice(&backend.Info{WarpSize: 32, Major: capability / 10, MaxThreads: 1024, Processors: 4}, c, c, io.Discard, io.Discard)}
	for i := range m.Kernels {
		if m.Kernels[i].Name == req.Kernel {
			e.k = m.Kernels[i]
		}
	}
	e.lends = strings.Contains(req.PTX, "%envreg")
	for i := range m.Vars {
		e.vars = append(e.vars, m.Vars[i].Name)
	}
	p, err := e.dev.LoadWith(m, func(string) (backend.Addr, uint64, error) { return 0, 0, nil })
	if err != nil {
		return nil, nil, err
	}
	k, err := p.Kernel(req.Kernel)
	if err != nil {
		return nil, nil, err
	}
	in, err := k.Info()
	return e, in, err
}

// Facts are the interpreter's.
func (c *Interpreted) Facts(req *compile.Request) (*compile.Facts, error) {
	e, in, err := c.describe(req)
	if err != nil {
		return nil, err
	}
	return &compile.Facts{SharedStatic: uint32(in.StaticShared), PTXVersion: uint32(in.PTXVersion), Vars: e.vars}, nil
}

// hidden are the arguments behind the explicit ones, as code of version 5 has them.
var hidden = []codeobject.Arg{
	{Offset: 0, Size: 4, Kind: "hidden_block_count_x"}, {Offset: 4, Size: 4, Kind: "hidden_block_count_y"}, {Offset: 8, Size: 4, Kind: "hidden_block_count_z"},
	{Offset: 12, Size: 2, Kind: "hidden_group_size_x"}, {Offset: 14, Size: 2, Kind: "hidden_group_size_y"}, {Offset: 16, Size: 2, Kind: "hidden_group_size_z"},
}

const hiddenBytes = 256

// endProgram is s_endpgm of RDNA 3 and 4; nothing executes it.
var endProgram = []byte{0, 0, 0xb0, 0xbf}

// Object builds the code object.
func (c *Interpreted) Object(req *compile.Request, check func([]byte) error) (*compile.Result, error) {
	e, in, err := c.describe(req)
	if err != nil {
		return nil, &compile.Unsupported{What: err.Error()}
	}
	id := req.Target.CPU
	if f := req.Target.Features; f != "" {
		return nil, fmt.Errorf("features %s: the double's devices have none set", f)
	}
	target, err := codeobject.ParseTarget(id)
	if err != nil {
		return nil, err
	}
	k := codeobject.Kernel{Name: req.Kernel, GroupFixed: in.StaticShared, Wave: target.Wave, VGPRs: 24, SGPRs: 16, MaxFlat: 1024}
	if e.k.ParamBytes > 0 {
		k.Args = append(k.Args, codeobject.Arg{Offset: 0, Size: e.k.ParamBytes, Kind: "by_value"})
	}
	if e.lends {
		k.Args = append(k.Args, codeobject.Arg{Name: devrt.Workspace, Offset: (e.k.ParamBytes + 7) &^ 7, Size: 8, Kind: "by_value"})
	}
	at := e.explicit()
	for _, h := range hidden {
		h.Offset += at
		k.Args = append(k.Args, h)
	}
	k.KernargSize = at + hiddenBytes
	hash := sha256.Sum256([]byte(req.Kernel + "\x00" + req.PTX))
	obj, err := codeobject.Build(&codeobject.Source{
		Target: target, Version: max(req.Options.CodeObject, 4), Kernels: []codeobject.Kernel{k},
		Code: [][]byte{append(append([]byte(nil), endProgram...), hash[:]...)}, Externs: e.vars,
	})
	if err != nil {
		return nil, err
	}
	if obj, err = codeobject.Link(obj); err != nil {
		return nil, err
	}
	if err := check(obj); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts[hash] = e
	c.built++
	return &compile.Result{Image: obj}, nil
}

// Counts is how many code objects were made and how many launches ran.
func (c *Interpreted) Counts() (built, ran int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.built, c.ran
}

// errHandOver reports arguments that did not arrive as they were given.
var errHandOver = errors.New("the launch was not handed over as it should")

// run executes a launch on the interpreter.
func (c *Interpreted) run(l *Launch) error {
	const slots = 40 // behind the code: the end of the program, the hash, up to a multiple of 8
	code := memory(l.Entry, slots)
	var hash [sha256.Size]byte
	copy(hash[:], code[len(endProgram):])
	c.mu.Lock()
	e := c.texts[hash]
	c.ran++
	c.mu.Unlock()
	if e == nil || e.k.Name != l.Kernel || !bytes.Equal(code[:4], endProgram) {
		return fmt.Errorf("%w: code of %s", errHandOver, l.Kernel)
	}
	args := memory(l.Kernarg, l.Bytes)
	if err := checkHidden(l, args, e.explicit()); err != nil {
		return err
	}
	if e.lends {
		if err := c.checkWorkspace(l, args[e.explicit()-8:]); err != nil {
			return err
		}
	}
	vars := map[string]backend.Addr{}
	table := memory(l.Entry+slots, uint64(8*len(e.vars)))
	for i, name := range e.vars {
		vars[name] = backend.Addr(binary.LittleEndian.Uint64(table[8*i:]))
	}
	p, err := e.dev.LoadWith(e.m, func(name string) (backend.Addr, uint64, error) {
		a, ok := vars[name]
		if !ok {
			return 0, 0, backend.ErrNotFound
		}
		_, n, _ := c.Find(uint64(a))
		return a, n, nil
	})
	if err != nil {
		return err
	}
	k, err := p.Kernel(l.Kernel)
	if err != nil {
		return err
	}
	err = interp.RunNow(k, &backend.Launch{Grid: l.Grid, Block: l.Block, DynamicShared: l.LDS, Cooperative: l.Cooperative == 1, Params: append([]byte(nil), args[:e.k.ParamBytes]...)})
	var f *backend.Fault
	if box := vars[devrt.Mailbox]; box != 0 && errors.As(err, &f) && f.Kind == backend.FaultTrap { // our code says so there, and ends
		binary.LittleEndian.PutUint32(memory(uint64(box)+devrt.TrappedAt, 4), 1)
		return nil
	}
	return err
}

// checkWorkspace looks at the memory that a cooperative launch is lent, which must be the device's and as a grid expects it; other launches have
// none.
func (c *Interpreted) checkWorkspace(l *Launch, arg []byte) error {
	at := binary.LittleEndian.Uint64(arg)
	if l.Cooperative != 1 {
		if at != 0 {
			return fmt.Errorf("%w: a workspace at %#x without a cooperative launch", errHandOver, at)
		}
		return nil
	}
	base, size, ok := c.Find(at)
	if !ok || at-base+devrt.WorkspaceBytes > size || at%8 != 0 {
		return fmt.Errorf("%w: the workspace at %#x is nowhere", errHandOver, at)
	}
	want := binary.LittleEndian.AppendUint32(nil, devrt.WorkspaceBytes)
	want = append(want, make([]byte, devrt.WorkspaceBytes-len(want))...)
	got := memory(at, devrt.WorkspaceBytes)
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: workspace % x, want % x", errHandOver, got, want)
	}
	// as a kernel may leave it: the next launch must not see it
	binary.LittleEndian.PutUint32(got[devrt.WorkspaceCount:], 0x80000000)
	return nil
}

// checkHidden compares what the runtime fills in with the launch, byte for byte.
func checkHidden(l *Launch, args []byte, at int) error {
	want := make([]byte, hiddenBytes)
	le := binary.LittleEndian
	for i := range 3 {
		le.PutUint32(want[4*i:], l.Grid[i])
		le.PutUint16(want[12+2*i:], uint16(l.Block[i]))
	}
	if len(args) != at+hiddenBytes || !bytes.Equal(args[at:], want) {
		return fmt.Errorf("%w: hidden arguments % x, want % x", errHandOver, args[at:], want)
	}
	return nil
}

// code is HIP's number for how a kernel ended.
func code(err error) int {
	var f *backend.Fault
	if !errors.As(err, &f) {
		return hip.HipErrorUnknown
	}
	switch f.Kind {
	case backend.FaultAddress, backend.FaultStack, backend.FaultMisaligned:
		return hip.HipErrorIllegalAddress
	case backend.FaultAssert:
		return hip.HipErrorAssert
	case backend.FaultTimeout, backend.FaultDeadlock:
		return hip.HipErrorLaunchTimeOut
	case backend.FaultTrap, backend.FaultInstruction:
		return hip.HipErrorLaunchFailure
	}
	return hip.HipErrorUnknown
}
