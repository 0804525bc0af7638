// Package openblas does products of cuBLAS with OpenBLAS, where a program asks for it: KUDZU_BLAS=openblas. The library is opened at the
// first product. Only whole matrices in memory that the driver knows reach it (cublas.HostProduct), as a fault in it would be the
// program's end. Why it is not the default: RATIONALE.md.
package openblas

import (
	"math"
	"os"
	"strings"
	"sync"

	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// Config says how.
type Config struct {
	Library string // the path of the library; "": by its usual names
	Threads int    // of the library; 0: as many as it likes
}

// Provider is OpenBLAS as a multiplier.
type Provider struct {
	cfg  Config
	open func() *library
}

// library is what is called. The Fortran names are those that every BLAS has, so that a program's favourite may stand in.
type library struct {
	gemm map[cublas.Elem]*dl.Func
	mu   lockrank.Mutex[lockrank.OpenBLAS] // one product at a time: each takes all threads
}

// Names are tried in this order.
var Names = []string{"libopenblas.so.0", "libopenblas.so"}

// New makes a provider. Nothing is opened yet.
func New(cfg Config) *Provider {
	p := &Provider{cfg: cfg}
	p.open = sync.OnceValue(p.load)
	return p
}

// Name is the library's.
func (p *Provider) Name() string { return "OpenBLAS" }

var functions = map[cublas.Elem]string{cublas.F32: "sgemm_", cublas.F64: "dgemm_", cublas.C32: "cgemm_", cublas.C64: "zgemm_"}

// load opens the library, or says once why it does not.
func (p *Provider) load() *library {
	names := Names
	if p.cfg.Library != "" {
		names = []string{p.cfg.Library}
	}
	defer kernelsFor(cpuFlags())()
	var err error
	for _, name := range names {
		var so *dl.Library
		if so, err = dl.Open(name); err != nil {
			continue
		}
		l := &library{gemm: map[cublas.Elem]*dl.Func{}}
		for e, f := range functions {
			if l.gemm[e], err = so.Find(f); err != nil {
				logx.Warnf(config.BLAS+": %v; our own kernels do all products", err)
				return nil
			}
		}
		if set, err := so.Find("openblas_set_num_threads"); err == nil && p.cfg.Threads > 0 {
			set.Call(uintptr(p.cfg.Threads))
		}
		logx.Debugf("products by %s", name)
		return l
	}
	logx.Warnf(config.BLAS+": %v; our own kernels do all products", err)
	return nil
}

// Takes: products in one type, with 32-bit sides.
func (p *Provider) Takes(q *cublas.Product) bool {
	if functions[q.Sum] == "" || q.TA != q.Sum || q.TC != q.Sum || !q.Plain() {
		return false
	}
	for _, n := range []int64{q.M, q.N, q.K, q.A.LD, q.B.LD, q.C.LD} {
		if n > math.MaxInt32 {
			return false
		}
	}
	return p.open() != nil
}

var letters = map[blas.CublasOperation_t]byte{blas.CUBLAS_OP_N: 'N', blas.CUBLAS_OP_T: 'T', blas.CUBLAS_OP_C: 'C'}

// Multiply calls the library for every matrix of the batch.
func (p *Provider) Multiply(h *cublas.HostProduct) {
	l := p.open()
	l.mu.Lock()
	defer l.mu.Unlock()
	fortran(l.gemm[h.Sum], h)
}

// Call has a function of the program, with Fortran's arguments, do a product.
func Call(fn uint64, h *cublas.HostProduct) { fortran(dl.At(fn), h) }

// fortran calls a gemm. Its arguments lie in C memory: Fortran takes addresses of everything.
func fortran(gemm *dl.Func, h *cublas.HostProduct) {
	const alpha, beta, sides, ops, room = 0, 16, 32, 56, 64
	args := dl.Alloc(room)
	defer args.Free()
	b := args.Bytes()
	copy(b[alpha:], cublas.Encode(h.Sum, h.Alpha))
	copy(b[beta:], cublas.Encode(h.Sum, h.Beta))
	for i, n := range []int64{h.M, h.N, h.K, h.A.LD, h.B.LD, h.C.LD} {
		for j := range 4 {
			b[sides+4*i+j] = byte(n >> (8 * j))
		}
	}
	b[ops], b[ops+1] = letters[h.A.Op], letters[h.B.Op]
	at := func(off int) uintptr { return args.Addr() + uintptr(off) }
	for _, x := range h.At {
		gemm.Call(at(ops), at(ops+1), at(sides), at(sides+4), at(sides+8), at(alpha), uintptr(x[0]), at(sides+12),
			uintptr(x[1]), at(sides+16), at(beta), uintptr(x[2]), at(sides+20), 1, 1) // 1, 1: the lengths of the letters
	}
}

// coreTypes are OpenBLAS's names of kernels, best first, with the features they need. It chooses by model numbers, and takes slow ones
// for a processor newer than itself.
var coreTypes = []struct {
	name  string
	needs []string
}{
	{"Cooperlake", []string{"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512_bf16"}},
	{"SkylakeX", []string{"avx512f", "avx512dq", "avx512bw", "avx512vl"}},
	{"Haswell", []string{"avx2", "fma"}},
}

// coreVariable is what OpenBLAS reads when it is opened.
const coreVariable = "OPENBLAS_CORETYPE"

// coreType is the best kernels for a processor with these features, or "".
func coreType(flags map[string]bool) string {
next:
	for _, c := range coreTypes {
		for _, f := range c.needs {
			if !flags[f] {
				continue next
			}
		}
		return c.name
	}
	return ""
}

// kernelsFor sets the variable, unless the program did; what it returns takes it back.
func kernelsFor(flags map[string]bool) func() {
	name := coreType(flags)
	if _, set := os.LookupEnv(coreVariable); set || name == "" || os.Setenv(coreVariable, name) != nil {
		return func() {}
	}
	return func() { _ = os.Unsetenv(coreVariable) }
}

// cpuFlags are the features of the processor that the system lets programs use.
func cpuFlags() map[string]bool {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	flags := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "flags" {
			for _, f := range strings.Fields(v) {
				flags[f] = true
			}
			break
		}
	}
	return flags
}
