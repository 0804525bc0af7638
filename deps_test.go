package kudzu_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// rule says what a room may import of ours. Names are below internal/ unless they begin with cmd/; a trailing /* stands
// for every room below. "*" is anything. A rule for room/* is for the rooms below that have none of their own.
type rule struct {
	room string
	may  string // space separated
	cgo  bool
	why  string // where the house's rule is bent
}

// The floors, from the facts up. An arrow never points up; the compiler never imports the runtime; only abi, engine and
// dl speak C.
var rules = []rule{
	// facts
	{room: "ptx/isa"}, {room: "ir"}, {room: "ll"}, {room: "fatbin", may: "cubin zstd"}, {room: "cubin"}, {room: "zstd"}, {room: "bcn"}, {room: "handle"}, {room: "backend"}, {room: "cache"},
	{room: "image"}, {room: "hostmem"}, {room: "llvm", may: "llvm/release"}, {room: "llvm/release"}, {room: "nvvmir", may: "lazyre"}, {room: "cudacc", may: "lazyre"}, {room: "lazyre"}, {room: "approx"}, {room: "softfloat"}, {room: "logx"}, {room: "tensormap"},
	{room: "demangle"}, {room: "trace/emit"}, {room: "roster", may: "quota"}, {room: "quota"}, {room: "codeobject"}, {room: "packed"}, {room: "devrt", may: "packed"}, {room: "libdevice", may: "packed"}, {room: "config", why: "names of variables: every room may import it"},
	{room: "lockrank", why: "the order of locks: every room may import it"},
	{room: "spec"}, {room: "spec/*", may: "spec/*", why: "generated: an interface names the types of another"},
	// compiler
	{room: "ptx", may: "ptx/isa"},
	{room: "ptx/check", may: "ptx ptx/isa"}, {room: "ptx/isa/spell", may: "ptx/isa"},
	{room: "assemble", may: "cubin devrt fatbin ptx ptx/check ptx/isa", why: "devrt has the calls of CUDA's device runtime, which need no definition"},
	{room: "lower", may: "ptx ptx/check ptx/isa ir approx image tensormap devrt", why: "approx defines the .approx functions once; image names the runtime entries; tensormap has the layout of maps, devrt the calls of CUDA's device runtime"},
	{room: "analysis", may: "ir"},
	{room: "pass", may: "analysis ir"},
	{room: "emit", may: "ir ll"},
	{room: "emit/float", may: "emit ir ll"},
	{room: "emit/warp", may: "analysis emit emit/float ir ll image", why: "the calling convention is image's"},
	{room: "emit/simt", may: "analysis emit emit/float ir ll image devrt", why: "functions' numbers are image's, the memory of the device runtime is devrt's"},
	{room: "baseline/x86"},
	{room: "baseline", may: "baseline/x86 image"},
	{room: "compile", may: "image cache cudacc llvm/release logx nvvmir"},
	{room: "compile/worker", may: "quota baseline cache cudacc libdevice nvvmir ptx ptx/check lower analysis pass ir emit/* llvm image compile codeobject devrt"},
	// leaves
	{room: "engine", may: "quota", cgo: true},
	{room: "dl", may: "spec", cgo: true},
	// runtime
	{room: "backend/interp", may: "trace/emit backend engine ptx ptx/check ptx/isa softfloat approx image logx tensormap devrt", why: "softfloat and approx are the arithmetic it defines"},
	{room: "backend/cpu", may: "trace/emit backend engine compile image logx quota roster"},
	{room: "dump", may: "backend lazyre quota"}, {room: "shrink"},
	{room: "backend/tap", may: "backend dump logx"},
	{room: "backend/compare", may: "backend backend/tap demangle dump lazyre logx"},
	{room: "backend/dumper", may: "backend backend/tap dump logx"},
	{room: "backend/cuda", may: "backend compile dl lazyre spec/cu"},
	{room: "backend/hip", may: "backend codeobject compile devrt dl image logx spec/hip spec/rsmi"},
	{room: "driver/rangemap"}, {room: "driver/orderlock"}, {room: "driver/occupancy", may: "backend"},
	{room: "pack", may: "config cubin fatbin lockrank logx ptx", why: "PTX of one build for the machine code of another: it reads both, and the store"},
	{room: "driver", may: "trace/emit driver/* pack assemble backend bcn cubin fatbin ptx ptx/check ptx/isa handle hostmem spec/cu logx tensormap devrt", why: "modules are checked at load, as the real driver does; devrt has what linked programs call in the device runtime"},
	{room: "cudart", may: "driver handle hostmem spec/cu spec/rt logx"},
	{room: "shim", may: "driver spec/cu"},
	{room: "shim/lto", may: "compile nvvmir", why: "functions that programs hand to libraries"},
	{room: "shim/again", may: "driver hostmem lockrank spec/cu", why: "calls of libraries, done again"},
	{room: "shim/cublas", may: "packed shim shim/again shim/cublas/ref driver cudart handle hostmem softfloat spec/cu spec/rt spec/blas logx"},
	{room: "shim/cublas/ref", may: "spec/blas"},
	{room: "shim/cublas/openblas", may: "dl shim/cublas spec/blas logx"},
	{room: "shim/cusolver/direct"},
	{room: "shim/cusolver", may: "packed dl driver cudart shim shim/again shim/cublas shim/cusolver/direct handle hostmem spec/cu spec/rt spec/blas spec/solver", why: "factors on the host are memory of C, which the program frees"},
	{room: "shim/cudnn", may: "logx config driver cudart handle hostmem lockrank shim shim/cudnn/* spec/cu spec/rt spec/dnn"},
	{room: "shim/cudnn/graph", may: "hostmem lockrank shim/cudnn/fuse shim/cudnn/nn spec/dnn"},
	{room: "shim/cudnn/fuse", may: "lockrank packed shim shim/cudnn/nn"},
	{room: "shim/cudnn/nn", may: "packed driver shim shim/cublas softfloat spec/cu spec/blas"},
	{room: "shim/cusolvermg", may: "driver cudart handle hostmem shim/cublas shim/cusolver spec/blas spec/cu spec/rt spec/solver spec/solvermg"},
	{room: "shim/cublaslt", may: "packed driver shim shim/again shim/cublas handle hostmem spec/cu spec/rt spec/blas spec/lt logx"},
	{room: "shim/cusparse", may: "packed driver shim shim/again shim/lto shim/cublas cudart handle hostmem lockrank spec/cu spec/rt spec/blas spec/sparse", why: "elements and scalars are those of cuBLAS"},
	{room: "shim/abroad", may: "config dl logx", why: "a vendor's library, opened once"},
	{room: "shim/cusolver/rocsolver", may: "backend config dl driver shim/abroad shim/cublas shim/cublas/rocblas shim/cusolver spec/cu spec/rocsolver", why: "rocSOLVER works with handles of rocBLAS's"},
	{room: "shim/cusparse/rocsparse", may: "backend config dl driver lockrank shim/abroad shim/cusparse spec/sparse spec/rocsparse"},
	{room: "shim/cudnn/onednn", may: "config dl hostmem lockrank logx shim/cudnn/nn"},
	{room: "shim/cudnn/miopen", may: "backend config dl driver lockrank shim/abroad shim/cudnn shim/cudnn/nn spec/miopen"},
	{room: "shim/cufft/rocfft", may: "backend config dl driver shim/abroad shim/cufft spec/rocfft"},
	{room: "shim/cublas/rocblas", may: "backend dl driver shim/cublas spec/blas spec/rocblas logx"},
	{room: "shim/cublaslt/hipblaslt", may: "backend dl driver shim/cublas shim/cublaslt spec/blas spec/cu spec/hipblaslt logx"},
	{room: "shim/nccl", may: "shim trace/emit backend config cudart driver engine handle hostmem softfloat spec/* logx", why: "reductions are loops of the engine"},
	{room: "shim/nccl/rccl", may: "config dl shim/nccl spec/ncclapi spec/rccl logx", why: "AMD's NCCL, found when the program runs"},
	{room: "shim/nccl/ucx", may: "config dl hostmem logx", why: "found when the program runs; it does not know NCCL, so that NCCL's tests may use it"},
	{room: "shim/nvvm", may: "compile driver handle hostmem nvvmir spec/nvvmapi"},
	{room: "shim/nvrtc", may: "assemble compile cubin cudacc driver handle hostmem ptx spec/nvrtcapi", why: "machine code is the assembler's file"},
	{room: "shim/nvfatbin", may: "cubin driver fatbin handle hostmem nvvmir spec/fb", why: "it writes what the rooms of containers read"},
	{room: "shim/nvjitlink", may: "assemble compile cubin driver fatbin handle hostmem nvvmir ptx ptx/check ptx/isa spec/jl", why: "it is the assembler as a library"},
	{room: "shim/cufft", may: "packed shim shim/again shim/lto driver cudart handle hostmem lockrank softfloat spec/* logx"},
	{room: "shim/cusparselt", may: "packed shim shim/cublas driver cudart handle hostmem spec/*", why: "products are cuBLAS's"},
	{room: "shim/*", may: "packed shim shim/again backend driver cudart handle hostmem roster softfloat spec/* logx", why: "a library that has no row of its own"},
	{room: "libraries", may: "backend/compare compile shim/* shim/cublas/* shim/cublaslt/* shim/cudnn/* shim/cufft/* shim/cusolver/* shim/cusparse/* shim/nccl/* logx", why: "the one list of what libraries need before their first call"},
	{room: "toolkit", may: "assemble cubin fatbin driver ptx ptx/check ptx/isa", why: "NVIDIA's programs under their names; driver has the version that is presented"},
	{room: "nvcc", may: "assemble backend compile cubin cudacc driver fatbin libdevice ptx", why: "the compiler driver; backend has the capability of this machine, driver the version that is presented, libdevice the names of its files"},
	{room: "devices", may: "backend backend/* cache compile dump logx", why: "the image, the CLI and the tests share one list of backends"},
	{room: "trace", may: "cubin demangle fatbin ptx ptx/isa spec", why: "decodes by the tables of the interfaces; the PTX of modules has the layout of parameters"},
	{room: "replay", may: "backend backend/interp compile config devices driver dump pass shrink spec/cu", why: "it runs launches without a program: a module is read as the driver reads it, and passes are forced by name"},
	// border
	{room: "abi", may: "spec spec/*", cgo: true},
	{room: "bind", may: "abi spec spec/* driver cudart shim/* hostmem logx"},
	{room: "trace/timeline", may: "demangle trace"},
	{room: "c", why: "no code: the tests of the C side"},
	{room: "testkit", may: "*"}, {room: "testkit/truth", may: "*"}, {room: "testkit/progen", may: "*"}, {room: "testkit/texels", may: "*"}, {room: "testkit/devicemath", may: "*"}, {room: "testkit/pages", may: "*"}, {room: "testkit/bench", may: "*"}, {room: "testkit/contract", may: "*"}, {room: "testkit/hipdouble", may: "*"}, {room: "testkit/libdouble", may: "*"}, {room: "testkit/apinet", may: "spec"},
	{room: "testkit/gguf"}, {room: "testkit/gguf/make", may: "testkit/gguf"}, {room: "testkit/compared", may: "*"}, {room: "testkit/compiled", may: "*"}, {room: "testkit/cudacc", may: "*"},
	{room: "cmd/gen", may: "packed spec spec/* ptx/isa"},
	{room: "cmd/kudzu", may: "*"},
	{room: "cmd/libkudzu", may: "*", cgo: true}, {room: "cmd/libkudzu/relr"},
}

// never are arrows that no "*" allows.
var never = map[string]string{
	"cmd/kudzu":    "abi bind",
	"cmd/libkudzu": "compile/worker llvm lower pass emit/* ll",
}

type pkg struct {
	ImportPath string
	Imports    []string
	CgoFiles   []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,CgoFiles", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}

// TestLean: what a standard package brings along, every process that loads the driver has: crypto/rand and all hashes of crypto
// have 32 MiB of variables behind them (crypto/internal/fips140/drbg).
func TestLean(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/libkudzu").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, p := range strings.Fields(string(out)) {
		if strings.HasPrefix(p, "crypto/") {
			t.Errorf("libkudzu.so has %s", p)
		}
		if dir, ours := strings.CutPrefix(p, "kudzu/"); ours {
			for _, at := range compiledAtStart(t, dir) {
				t.Errorf("%s: a regular expression that every process compiles at its start: lazyre.New", at)
			}
		}
	}
}

// compiledAtStart finds the calls of regexp.MustCompile in a room's variables, where they run before anything else does.
func compiledAtStart(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			ast.Inspect(vars, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
					found = append(found, set.Position(s.Pos()).String())
				}
				_, inFunction := n.(*ast.FuncLit)
				return !inFunction
			})
		}
	}
	return found
}

func room(importPath string) (string, bool) {
	r, ok := strings.CutPrefix(importPath, "kudzu/")
	return strings.TrimPrefix(r, "internal/"), ok
}

func matches(list, name string) bool {
	for _, w := range strings.Fields(list) {
		if w == "*" || w == name || (strings.HasSuffix(w, "/*") && path.Dir(name) == strings.TrimSuffix(w, "/*")) {
			return true
		}
	}
	return false
}

func TestImports(t *testing.T) {
	byRoom := map[string]rule{}
	for _, r := range rules {
		byRoom[r.room] = r
	}
	for _, p := range list(t) {
		name, ours := room(p.ImportPath)
		if !ours || strings.HasPrefix(name, "examples") {
			continue
		}
		r, ok := byRoom[name]
		if !ok {
			r, ok = byRoom[path.Dir(name)+"/*"]
		}
		if !ok {
			t.Errorf("%s has no row in deps_test.go", name)
			continue
		}
		if len(p.CgoFiles) > 0 && !r.cgo {
			t.Errorf("%s uses cgo: only abi, engine, dl and cmd/libkudzu speak C", name)
		}
		for _, i := range p.Imports {
			to, ours := room(i)
			if ours && to != "config" && to != "lockrank" && (!matches(r.may, to) || matches(never[name], to)) {
				t.Errorf("%s may not import %s", name, to)
			}
		}
	}
}

// TestImageHasNoCompiler keeps the worker and libLLVM out of the library that lives in other people's processes.
func TestImageHasNoCompiler(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/libkudzu").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, i := range strings.Fields(string(out)) {
		if name, ours := room(i); ours && matches(never["cmd/libkudzu"], name) {
			t.Errorf("libkudzu.so contains %s", name)
		}
	}
}
