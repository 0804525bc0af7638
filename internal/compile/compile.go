// Package compile is the client of the compiler: it turns a kernel's PTX into a native image, from the cache when it is
// there and otherwise through the compiler process, which it starts at the first miss and keeps. The process is
// invisible to the program we live in (spawn_unsafe.go), and nothing that happens in it, a crash of LLVM included, is more
// than an error here.
package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"kudzu/internal/cache"
	"kudzu/internal/image"
	"kudzu/internal/lockrank"
	"kudzu/internal/nvvmir"
)

// Request is one kernel to compile.
type Request struct {
	PTX     string // the kernel and what it reaches, as PTX text of its own
	Kernel  string
	Target  Target
	Block   [3]uint32 // the block shape to specialise to; zero: any
	Options Options
	Emit    []string // also give these texts: "ptx", "ir", "ll", "opt", "asm"
	Dump    string   // also give the IR after this pass, as Emitted["dump"]

	// Background: nobody waits for the code. The compiler process yields to others, and when its client ends it ends what it has begun.
	Background bool

	Store *Store // where a background request's answer belongs if the client is gone by then; the client sets it

	FactsOnly bool // the answer is no image but what EncodeFacts writes; Client.Facts sets it

	NVVM *NVVM // the text is NVVM IR, and the answer PTX; Client.PTX sets it
	CUDA *CUDA // the text is CUDA C++, and the answer what CUDACode.Encode writes; Client.CUDA sets it
}

// NVVM is a program in NVVM IR.
type NVVM struct {
	Units   []NVVMUnit // in the order in which they are linked; their texts are Request.PTX, one behind the other
	Options nvvmir.Options
}

// NVVMUnit is a module of it.
type NVVMUnit struct {
	Name  string
	Bytes int
	Lazy  bool // a library, of which only what is needed is linked
}

// needsLLVM reports a request that only libLLVM can answer.
func (r *Request) needsLLVM() bool {
	return !r.FactsOnly && r.CUDA == nil && r.Options.Tier == Optimised
}

// Facts are what a program may ask about a kernel before its first launch. They come from the text alone: compiling the
// variant for any block shape only to answer would take longer than the one that is launched.
type Facts struct {
	SharedStatic uint32 // bytes a block
	LocalThread  uint32 // bytes a thread
	Registers    uint32 // as image.Meta has them
	PTXVersion   uint32
	Vars         []string // the module's variables it names
	Launches     bool     `json:",omitempty"` // as image.Meta has it
}

// Target is the machine that the image is for; the zero value is the one we run on.
type Target struct {
	Triple, CPU, Features string
}

// GPU reports a target whose code is no image: PTX for nvptx64, an ELF object for amdgcn, as it came out of LLVM. A request
// for one may leave the kernel's name out, which means all of the module.
func (t Target) GPU() bool {
	return strings.HasPrefix(t.Triple, "nvptx64") || strings.HasPrefix(t.Triple, "amdgcn")
}

// GPUTarget is the target of a GPU's name: sm_90, gfx1100.
func GPUTarget(name string) (Target, bool) {
	switch {
	case strings.HasPrefix(name, "sm_"):
		return Target{Triple: "nvptx64-nvidia-cuda", CPU: name}, true
	case strings.HasPrefix(name, "gfx"):
		return Target{Triple: "amdgcn-amd-amdhsa", CPU: name}, true
	}
	return Target{}, false
}

// Options change the code and are part of the key.
type Options struct {
	Tier   Tier   `json:",omitempty"`
	Level  int    // 0 is the default; 1 compiles faster, 2 and 3 harder
	Passes string // LLVM passes instead of the level's
	AMX    bool   // tile registers may be used

	Clusters bool `json:",omitempty"` // for launches in clusters of several blocks
	// ExactNaN: f64 NaNs as the card chooses them in loops too, which costs more than the arithmetic.
	ExactNaN bool `json:",omitempty"`
	// Bounds: the code tests its offsets in shared memory, because nothing is reserved around it.
	Bounds bool `json:",omitempty"`
	// Stack is a thread's room for calls whose depth the compiler does not know; 0 is its own choice, 64 KB.
	Stack uint32 `json:",omitempty"`

	// Force has passes applied wherever they may be, or never (pass.Config).
	Force map[string]bool `json:",omitempty"`
	// Plain is set by the compiler process, for a second attempt without the passes that only make code faster: it says why the first
	// one failed.
	Plain string `json:",omitempty"`

	// NoMatrix: AMD's matrix units are not used.
	NoMatrix   bool `json:",omitempty"`
	CodeObject int  `json:",omitempty"` // of AMD's GPUs: the version of code objects that the runtime takes, 0 for LLVM's own
}

// Stage is one step of a compilation and its time.
type Stage struct {
	Name  string
	Nanos int64
}

// Result is a compiled kernel.
type Result struct {
	Image     []byte
	Parsed    *image.Image // of Image
	Emitted   map[string]string
	FromCache bool
	Nanos     int64   // of the whole call
	Stages    []Stage // of the compiler process; none from the cache
	LLVM      string  // version of the library that compiled it, "" from the cache
	Plain     string  // the mistake of ours for which passes were left out; "" if none was
}

// Config makes a client.
type Config struct {
	Command []string                          // the compiler process: program (a path) and arguments
	Cache   *cache.Cache                      // nil: none
	Version string                            // of the compiler, for keys; "" reads the program's build id
	Jobs    int                               // compilations at a time; 0 chooses
	Timeout time.Duration                     // of one compilation before its process is killed; 0 is 5 minutes
	Log     func(string)                      // hears of process starts, deaths and cache hits; may be nil
	Busy    func(kernel string) (done func()) // hears of each compilation and of its end; may be nil
	Target  Target                            // of requests that name none; the zero value is this machine
	Env     []string                          // for the compiler process; nil is what config.ForCompiler gives
}

// Client asks for images. Its methods may be called from any goroutine.
type Client struct {
	cfg     Config
	version func() string // of the compiler

	mu    lockrank.Mutex[lockrank.CompileClient]
	early *adopted            // a process that is there and not used yet; guarded by mu
	calls map[cache.Key]*call // compilations under way; guarded by mu
	proc  *process            // guarded by mu
	// starting is closed when the process that is just coming up is there, or is not; guarded by mu.
	starting chan struct{}
	missing  *NoCompiler // why there is no compiler process and will be none; guarded by mu
	noLLVM   *NoCompiler // why it has no libLLVM; guarded by mu
	closed   bool        // guarded by mu
}

// call is one compilation that several callers may wait for.
type call struct {
	done   chan struct{}
	result *Result
	err    error
}

// defaultTimeout is far beyond any kernel seen: the largest real ones take seconds.
const defaultTimeout = 5 * time.Minute

// New makes a client. Nothing is started.
func New(cfg Config) *Client {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Log == nil {
		cfg.Log = func(string) {}
	}
	c := &Client{cfg: cfg, calls: map[cache.Key]*call{}}
	c.version = sync.OnceValue(func() string { // a program that compiles nothing need not read the file
		if cfg.Version == "" && len(cfg.Command) > 0 {
			return buildID(cfg.Command[0])
		}
		return cfg.Version
	})
	return c
}

// Key names the image that req gives.
func (c *Client) Key(req *Request) cache.Key { return keyOf(c.targeted(req), c.version()) }

// targeted is req with the client's target if it has none of its own.
func (c *Client) targeted(req *Request) *Request {
	if req.Target != (Target{}) || c.cfg.Target == (Target{}) {
		return req
	}
	r := *req
	r.Target = c.cfg.Target
	return &r
}

// Cached gives the image if the cache has it; it never starts anything.
func (c *Client) Cached(req *Request) (*Result, bool) {
	start := time.Now()
	if r, ok := c.fromCache(c.Key(req), native); ok {
		r.Nanos = time.Since(start).Nanoseconds()
		return r, true
	}
	return nil, false
}

// native accepts an image for a CPU.
func native(r *Result) (err error) {
	r.Parsed, err = image.Parse(r.Image)
	return err
}

func (c *Client) fromCache(k cache.Key, accept func(*Result) error) (*Result, bool) {
	b, ok := c.cfg.Cache.Get(k)
	if !ok {
		return nil, false
	}
	r := &Result{Image: b, FromCache: true}
	if accept(r) != nil { // written by another version of us
		_ = c.cfg.Cache.Remove(k) // it will be written over anyway
		return nil, false
	}
	return r, true
}

// Compile gives the image of a kernel. Callers that ask for the same image at the same time share one compilation.
// Errors are *PTXError, *Unsupported, *Crash, *NoCompiler or *Failed, in the background also *GaveUp.
func (c *Client) Compile(req *Request) (*Result, error) { return c.compile(req, native) }

// Object gives the code of a kernel for a GPU: Result.Image is what that target's compiler writes, and Parsed is nil. What
// check refuses is neither used nor kept.
func (c *Client) Object(req *Request, check func(code []byte) error) (*Result, error) {
	return c.compile(req, func(r *Result) error { return check(r.Image) })
}

// IRCompiler makes PTX of programs in NVVM IR: a Client, or who stands in for it in tests of libraries.
type IRCompiler interface {
	PTX(p *NVVM, texts string) (string, error)
}

// PTX gives the PTX of a program in NVVM IR. Mistakes in it are *IRError.
func (c *Client) PTX(p *NVVM, texts string) (string, error) {
	req := &Request{PTX: texts, NVVM: p, Kernel: "NVVM IR", Target: Target{Triple: "nvptx64-nvidia-cuda", CPU: "sm_" + p.Options.Arch}}
	r, err := c.compile(req, func(*Result) error { return nil })
	if err != nil {
		return "", err
	}
	return string(r.Image), nil
}

func (c *Client) compile(req *Request, accept func(*Result) error) (*Result, error) {
	start := time.Now()
	req = c.targeted(req)
	key := c.Key(req)
	plain := len(req.Emit) == 0 && req.Dump == ""
	var r *Result
	var err error
	if plain {
		r, err = c.shared(key, req, accept)
	} else {
		r, err = c.run(key, req, accept)
	}
	if err != nil {
		return nil, err
	}
	out := *r // the caller's own, for its time
	out.Nanos = time.Since(start).Nanoseconds()
	if r.FromCache {
		c.cfg.Log(fmt.Sprintf("kernel %s: cached, %d µs", req.Kernel, out.Nanos/1000))
	} else {
		c.cfg.Log(fmt.Sprintf("kernel %s: compiled in %d ms", req.Kernel, out.Nanos/1e6))
	}
	return &out, nil
}

// Facts tells about a kernel without compiling it; the answer is cached as an image is.
func (c *Client) Facts(req *Request) (*Facts, error) {
	r := *c.targeted(req)
	r.FactsOnly, r.Block, r.Emit, r.Dump = true, [3]uint32{}, nil, ""
	key := c.Key(&r)
	var f Facts
	if b, ok := c.cfg.Cache.Get(key); ok && json.Unmarshal(b, &f) == nil {
		return &f, nil
	}
	res, err := c.ask(&r)
	if err != nil {
		return nil, err
	}
	f = Facts{}
	if err := json.Unmarshal(res.Image, &f); err != nil {
		return nil, &Failed{Stage: "facts", Text: err.Error()}
	}
	if err := c.cfg.Cache.Put(key, res.Image); err != nil {
		c.cfg.Log(fmt.Sprintf("kernel %s: %v", req.Kernel, err))
	}
	return &f, nil
}

// EncodeFacts is the body of an answer to a request that wants facts.
func EncodeFacts(f *Facts) ([]byte, error) { return json.Marshal(f) }

// shared looks in the cache and joins a compilation of the same key if there is one.
func (c *Client) shared(key cache.Key, req *Request, accept func(*Result) error) (*Result, error) {
	if r, ok := c.fromCache(key, accept); ok {
		return r, nil
	}
	c.mu.Lock()
	if other := c.calls[key]; other != nil {
		c.mu.Unlock()
		<-other.done
		return other.result, other.err
	}
	mine := &call{done: make(chan struct{}), err: errors.New("BUG: compilation without a result")}
	c.calls[key] = mine
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, key)
		c.mu.Unlock()
		close(mine.done)
	}()
	if r, ok := c.fromCache(key, accept); ok { // another's compilation ended between our look and the lock
		mine.result, mine.err = r, nil
		return r, nil
	}
	mine.result, mine.err = c.run(key, req, accept)
	return mine.result, mine.err
}

// lost notes what a compilation cost that gave nothing.
func (c *Client) lost(key cache.Key, req *Request, err error) {
	var crash *Crash
	if req.Store == nil || !req.Background || !errors.As(err, &crash) {
		return
	}
	if err := spend(c.cfg.Cache, key, crash.Spent); err != nil {
		c.cfg.Log(fmt.Sprintf("kernel %s: %v", req.Kernel, err))
	}
}

// run compiles and stores.
func (c *Client) run(key cache.Key, req *Request, accept func(*Result) error) (*Result, error) {
	if c.cfg.Busy != nil && !req.Background {
		defer c.cfg.Busy(req.Kernel)()
	}
	if s := c.storeOf(req); s != nil {
		if took := spent(c.cfg.Cache, key); took >= enough(c.cfg.Timeout) {
			return nil, &GaveUp{req.Kernel, took}
		}
		own := *req
		own.Store = s
		req = &own
	}
	r, err := c.ask(req)
	if err != nil {
		c.lost(key, req, err)
		return nil, err
	}
	if err := accept(r); err != nil {
		return nil, &Failed{Stage: "image", Text: err.Error()}
	}
	if err := c.cfg.Cache.Put(key, r.Image); err != nil {
		c.cfg.Log(fmt.Sprintf("kernel %s: %v", req.Kernel, err))
	}
	return r, nil
}
