// Package config is the table of what the environment can set: every variable of ours that the product reads, what it takes and
// what it does. README.md's section is generated from it, and a test of this package holds that nobody reads another one.
package config

// Names of the variables, for os.Getenv and its like.
const (
	Backend        = "KUDZU_BACKEND"
	Threads        = "KUDZU_THREADS"
	Memory         = "KUDZU_MEMORY"
	Devices        = "KUDZU_DEVICES"
	Capability     = "KUDZU_COMPUTE_CAPABILITY"
	DriverVersion  = "KUDZU_DRIVER_VERSION"
	CacheDir       = "KUDZU_CACHE_DIR"
	CacheSize      = "KUDZU_CACHE_SIZE"
	LLVM           = "KUDZU_LLVM"
	Compiler       = "KUDZU_COMPILER"
	CompilerJobs   = "KUDZU_COMPILER_JOBS"
	CompilerMemory = "KUDZU_COMPILER_MEMORY"
	NaN            = "KUDZU_NAN"

	BLAS             = "KUDZU_BLAS"
	HIPLibrary       = "KUDZU_HIP_LIBRARY"
	ROCBLASLibrary   = "KUDZU_ROCBLAS_LIBRARY"
	HIPBLASLtLibrary = "KUDZU_HIPBLASLT_LIBRARY"
	ROCmSMILibrary   = "KUDZU_ROCM_SMI_LIBRARY"
	AMDMatrix        = "KUDZU_AMD_MATRIX"
	CUDALibrary      = "KUDZU_CUDA_LIBRARY"
	CUDAVia          = "KUDZU_CUDA_VIA"

	Log           = "KUDZU_LOG"
	Progress      = "KUDZU_PROGRESS"
	Perf          = "KUDZU_PERF"
	GDB           = "KUDZU_GDB"
	Stats         = "KUDZU_STATS"
	Compare       = "KUDZU_COMPARE"
	CompareReport = "KUDZU_COMPARE_REPORT"
	CompareDump   = "KUDZU_COMPARE_DUMP"
)

// Setting is one variable.
type Setting struct {
	Name   string
	Values string // an example, or alternatives separated by |
	Does   string // a sentence in Markdown, with what holds when it is not set
}

// Group is settings that belong together.
type Group struct {
	Title    string
	Settings []Setting
}

// Groups are all settings, in the order of the README.
var Groups = []Group{
	{"What runs the kernels", []Setting{
		{Backend, "cpu|interp|cuda|hip", "the executor, or several in the order of their device numbers: `hip,cpu`; default: the CPU"},
		{Threads, "8", "threads that run kernels; default: one a processor"},
		{Memory, "8G", "bytes of device memory that are claimed; default: four fifths of the machine's, shared by the devices"},
		{Devices, "2", "devices that are shown, of the CPU and the interpreter; default: 1"},
		{Capability, "9.0", "compute capability that is claimed; default: 8.9, and another for a few programs ([docs/compute-capability.md](docs/compute-capability.md))"},
		{DriverVersion, "13.0", "what `cuDriverGetVersion` and NVML answer; default: the newest whose PTX we take, 13.4"},
		{NaN, "exact", "payload and sign of an f64 NaN follow the card in loops too ([docs/numerics.md](docs/numerics.md)); slower"},
	}},
	{"The compiler and its cache", []Setting{
		{CacheDir, "dir", "compiled kernels; default: `CUDA_CACHE_PATH`, then `~/.cache/kudzu`"},
		{CacheSize, "4G", "the cache's size; default: `CUDA_CACHE_MAXSIZE`, then 4G"},
		{LLVM, "libLLVM.so.19.1", "the LLVM library; default: the best tested one (`kudzu info`)"},
		{Compiler, "bin/kudzu", "the program that compiles; default: the one beside the library"},
		{CompilerJobs, "2", "kernels that are compiled at the same time; default: one a processor, at most 8"},
		{CompilerMemory, "4096", "MiB that a compilation may take; default: half of the machine's, at most 16 GiB"},
	}},
	{"Libraries of others", []Setting{
		{BLAS, "cpu|ref|openblas", "who multiplies matrices for cuBLAS, or a path ([docs/libraries.md](docs/libraries.md))"},
		{HIPLibrary, "libamdhip64.so.6", "AMD's runtime ([docs/amd.md](docs/amd.md))"},
		{ROCBLASLibrary, "librocblas.so.4", "rocBLAS, or `none`"},
		{HIPBLASLtLibrary, "libhipblaslt.so.0", "hipBLASLt, or `none`"},
		{ROCmSMILibrary, "librocm_smi64.so.7", "AMD's management library, or `none`"},
		{AMDMatrix, "off", "no matrix instructions on AMD's GPUs"},
		{CUDALibrary, "libcuda.so.1", "NVIDIA's driver, for `KUDZU_BACKEND=cuda`"},
		{CUDAVia, "simt", "PTX goes through our passes to NVIDIA's driver ([docs/bench/nvptx.md](docs/bench/nvptx.md))"},
	}},
	{"Seeing what happens", []Setting{
		{Log, "error|warn|info|debug", "what is said on standard error; default: warn"},
		{Progress, "0|1", "a line while kernels compile; default: on a terminal"},
		{Perf, "1", "kernels by name in perf: `/tmp/perf-PID.map`"},
		{GDB, "1", "kernels by name and PTX line in GDB"},
		{Stats, "file", "counters of launches and compilations, for `kudzu stats`"},
		{Compare, "1", "launches are compared with the interpreter ([docs/compare.md](docs/compare.md))"},
		{CompareReport, "file", "where its report goes"},
		{CompareDump, "dir", "where launches that differ are kept"},
	}},
}
