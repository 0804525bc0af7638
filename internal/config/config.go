// Package config is the table of what the environment can set: every variable of ours that the product reads, what it takes and
// what it does. README.md's section is generated from it, and a test of this package holds that nobody reads another one.
package config

// Names of the variables, for Get and Lookup.
const (
	Backend        = "KUDZU_BACKEND"
	Threads        = "KUDZU_THREADS"
	Memory         = "KUDZU_MEMORY"
	Devices        = "KUDZU_DEVICES"
	Capability     = "KUDZU_COMPUTE_CAPABILITY"
	DriverVersion  = "KUDZU_DRIVER_VERSION"
	CacheDir       = "KUDZU_CACHE_DIR"
	CacheSize      = "KUDZU_CACHE_SIZE"
	PackDir        = "KUDZU_PACK_DIR"
	LLVM           = "KUDZU_LLVM"
	Clang          = "KUDZU_CLANG"
	CCCL           = "KUDZU_CCCL"
	Compiler       = "KUDZU_COMPILER"
	CompilerJobs   = "KUDZU_COMPILER_JOBS"
	CompilerMemory = "KUDZU_COMPILER_MEMORY"
	NaN            = "KUDZU_NAN"
	Tier           = "KUDZU_TIER"
	LaunchTimeout  = "KUDZU_LAUNCH_TIMEOUT"
	CuDNNVersion   = "KUDZU_CUDNN_VERSION"
	NCCLTimeout    = "KUDZU_NCCL_TIMEOUT"
	NCCLTransport  = "KUDZU_NCCL_TRANSPORT"

	BLAS             = "KUDZU_BLAS"
	DNN              = "KUDZU_DNN"
	HIPLibrary       = "KUDZU_HIP_LIBRARY"
	ROCBLASLibrary   = "KUDZU_ROCBLAS_LIBRARY"
	HIPBLASLtLibrary = "KUDZU_HIPBLASLT_LIBRARY"
	ROCSOLVERLibrary = "KUDZU_ROCSOLVER_LIBRARY"
	ROCFFTLibrary    = "KUDZU_ROCFFT_LIBRARY"
	ROCSPARSELibrary = "KUDZU_ROCSPARSE_LIBRARY"
	MIOpenLibrary    = "KUDZU_MIOPEN_LIBRARY"
	RCCLLibrary      = "KUDZU_RCCL_LIBRARY"
	ROCmSMILibrary   = "KUDZU_ROCM_SMI_LIBRARY"
	UCXLibrary       = "KUDZU_UCX_LIBRARY"
	AMDMatrix        = "KUDZU_AMD_MATRIX"
	CUDALibrary      = "KUDZU_CUDA_LIBRARY"
	CUDAVia          = "KUDZU_CUDA_VIA"

	Log              = "KUDZU_LOG"
	Progress         = "KUDZU_PROGRESS"
	Perf             = "KUDZU_PERF"
	GDB              = "KUDZU_GDB"
	Stats            = "KUDZU_STATS"
	Trace            = "KUDZU_TRACE"
	TraceReal        = "KUDZU_TRACE_REAL"
	Tell             = "KUDZU_TELL"
	Compare          = "KUDZU_COMPARE"
	CompareReport    = "KUDZU_COMPARE_REPORT"
	CompareDump      = "KUDZU_COMPARE_DUMP"
	CompareWith      = "KUDZU_COMPARE_WITH"
	CompareBounds    = "KUDZU_COMPARE_TOLERANCE"
	CompareLibraries = "KUDZU_COMPARE_LIBRARIES"
	Dump             = "KUDZU_DUMP"
	DumpKernel       = "KUDZU_DUMP_KERNEL"
	DumpLaunch       = "KUDZU_DUMP_LAUNCH"
)

// Setting is one variable.
type Setting struct {
	Name   string
	Secure bool   // counts in programs with more rights than their user, too: it names no file and no code (Restrict)
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
		{Backend, true, "cpu|interp|cuda|hip", "the executor, or several in order: `hip,cpu`; default: cpu"},
		{Threads, true, "8", "threads that run kernels; default: one per processor"},
		{Memory, true, "8G", "device memory that is reported; default: four fifths of what the process may use"},
		{Devices, true, "2", "number of CPU or interpreter devices; default: 1"},
		{Capability, true, "9.0", "reported capability; default: 8.9 ([exceptions](docs/compute-capability.md))"},
		{DriverVersion, true, "13.0", "what `cuDriverGetVersion` and NVML report; default: 13.4, the newest whose PTX we read"},
		{CuDNNVersion, true, "9.10.2", "what `libcudnn.so.9` reports, or `libcudnn.so.8` (8.9.2); default: 9.27.0, 8.9.7"},
		{NCCLTimeout, true, "15", "seconds that another host may give no sign ([NCCL](docs/libraries.md)); default: 15"},
		{NCCLTransport, true, "ucx|tcp", "what carries [NCCL](docs/nccl.md) between hosts; default: ucx with RDMA"},
		{LaunchTimeout, true, "10", "seconds after which a launch is stopped ([how](docs/security.md)); default: no limit"},
		{NaN, true, "exact", "f64 NaN payloads as on hardware in loops too; slower ([numerics](docs/numerics.md))"},
	}},
	{"The compiler and its cache", []Setting{
		{Tier, true, "auto|baseline|optimised", "code that is there at once, or fast, or both in turn; default: auto"},
		{CacheDir, false, "dir", "where compiled kernels are kept; default: `CUDA_CACHE_PATH`, then `~/.cache/kudzu`"},
		{CacheSize, true, "4G", "the cache's size; default: `CUDA_CACHE_MAXSIZE`, then 4G"},
		{PackDir, false, "dir", "where PTX packs are kept ([packs](docs/packs.md)); default: `~/.local/share/kudzu/packs`"},
		{LLVM, false, "libLLVM.so.19.1", "the LLVM library; default: the best tested one (`kudzu info`)"},
		{Clang, false, "/usr/bin/clang-19", "the clang that reads CUDA C++; default: libLLVM's release, or the best tested one"},
		{CCCL, false, "dir", "the folder with `thrust`, `cub` and `cuda` for `kudzu cc`; default: `include/cccl` beside it"},
		{Compiler, false, "bin/kudzu", "the program that compiles; default: the one next to the library"},
		{CompilerJobs, true, "2", "kernels compiled at the same time; default: one per processor, at most 8"},
		{CompilerMemory, true, "4096", "MiB that a compilation may take; default: half of the machine's, at most 16 GiB"},
	}},
	{"Other vendors' libraries", []Setting{
		{BLAS, false, "cpu|ref|openblas", "what multiplies matrices for cuBLAS, or a path ([libraries](docs/libraries.md))"},
		{DNN, false, "cpu|onednn", "what convolves and multiplies for cuDNN, or a path ([libraries](docs/libraries.md))"},
		{HIPLibrary, false, "libamdhip64.so.6", "AMD's runtime ([AMD GPUs](docs/amd.md))"},
		{ROCBLASLibrary, false, "librocblas.so.4", "rocBLAS, or `none`"},
		{HIPBLASLtLibrary, false, "libhipblaslt.so.0", "hipBLASLt, or `none`"},
		{ROCSOLVERLibrary, false, "librocsolver.so.0", "rocSOLVER, or `none`"},
		{ROCFFTLibrary, false, "librocfft.so.0", "rocFFT, or `none`"},
		{ROCSPARSELibrary, false, "librocsparse.so.1", "rocSPARSE, or `none`"},
		{MIOpenLibrary, false, "libMIOpen.so.1", "MIOpen, or `none`"},
		{RCCLLibrary, false, "librccl.so.1", "RCCL, or `none`"},
		{ROCmSMILibrary, false, "librocm_smi64.so.7", "AMD's management library, or `none`"},
		{UCXLibrary, false, "libucp.so.0", "UCX, or `none`"},
		{AMDMatrix, true, "off", "no matrix instructions on AMD's GPUs"},
		{CUDALibrary, false, "libcuda.so.1", "NVIDIA's driver, for `KUDZU_BACKEND=cuda`"},
		{CUDAVia, true, "simt", "PTX goes through our passes to NVIDIA's driver ([results](docs/bench/nvptx.md))"},
	}},
	{"Logs and tools", []Setting{
		{Log, true, "error|warn|info|debug", "messages on standard error; default: warn"},
		{Progress, true, "0|1", "a line while kernels compile; default: on a terminal"},
		{Perf, false, "1", "kernels by name in perf: `/tmp/perf-PID.map`"},
		{GDB, false, "1", "kernels by name and PTX line in GDB"},
		{Stats, false, "file", "counters of launches and compilations, for `kudzu stats`"},
		{Trace, false, "dir", "calls of the C interfaces are recorded there, for `kudzu trace`"},
		{TraceReal, false, "dir", "the calls go to NVIDIA's libraries in these folders (`kudzu trace --real`)"},
		{Tell, false, "0", "no line when a program of `kudzu run` loads CUDA libraries and uses no device"},
		{Compare, false, "1", "launches are compared with another executor ([how](docs/tools.md))"},
		{CompareReport, false, "file", "the file of its report"},
		{CompareDump, false, "dir", "a folder for launches that differ"},
		{CompareWith, false, "socket", "where `kudzu compare` listens; default: the interpreter in the process"},
		{CompareBounds, false, "file", "tolerances by kernel"},
		{CompareLibraries, false, "ref|openblas", "calls of cuBLAS and others are done again, and compared"},
		{Dump, false, "file", "a launch is written to it, as `kudzu dump` has it ([how](docs/tools.md))"},
		{DumpKernel, false, "regexp", "names of the kernels; default: any"},
		{DumpLaunch, true, "1,all,memory=4G", "which launch of theirs, or `every`; all memory; at most so much"},
	}},
}
