// Package cudacc has what is known of CUDA C++ as a language to compile at run time: NVRTC's options, how clang is asked for the same,
// and how what clang says becomes NVRTC's log. The library (in the program) and the front end (in the compiler's process) share it. It
// starts nothing and reads no file.
package cudacc

// Release is a release of NVRTC that is presented.
type Release int32

// The releases.
const (
	Release12 Release = 1209
	Release13 Release = 1300
)

// Version is the release's number.
func (r Release) Version() (major, minor int32) { return int32(r) / 100, int32(r) % 100 }

// Major is its first part.
func (r Release) Major() int32 { return int32(r) / 100 }

// facts are what differs between the releases.
var facts = map[Release]struct {
	archs        []int32
	defaultArch  string
	ptx          string // the version of PTX that is written, in LLVM's spelling
	build        int
	builtinLines int // of the header that NVRTC includes by itself: its log names the last one
}{
	Release12: {[]int32{50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121}, "52", "8.8", 86, 5557},
	Release13: {[]int32{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121}, "75", "9.0", 88, 5796},
}

// Archs are the architectures that a release compiles for.
func (r Release) Archs() []int32 { return facts[r].archs }

// PTX is the version of PTX that a release writes.
func (r Release) PTX() string { return facts[r].ptx }

// Build is the last part of its number.
func (r Release) Build() int { return facts[r].build }

// Options are those of a compilation.
type Options struct {
	Release Release
	Arch    string // what stands behind sm_: "80", "90a"
	Cubin   bool   // sm_: code is asked for, not only PTX
	Std     string // "c++17"

	Relocatable bool `json:",omitempty"` // functions may be elsewhere
	LTO         bool `json:",omitempty"` // the result is for a linker that optimises
	OptiX       bool `json:",omitempty"`
	Debug       bool `json:",omitempty"` // -G: not optimised
	Optimise    bool `json:",omitempty"` // -dopt=on: all the same
	Lines       bool `json:",omitempty"`
	SyntaxOnly  bool `json:",omitempty"`

	FTZ      bool `json:",omitempty"` // subnormal single precision numbers are zeros
	NoFMA    bool `json:",omitempty"`
	FastDiv  bool `json:",omitempty"` // single precision divisions need not be rounded correctly
	FastSqrt bool `json:",omitempty"`
	Approx   bool `json:",omitempty"` // sinf and its like are the hardware's approximations

	Restrict      bool `json:",omitempty"` // pointers of kernels are __restrict__
	DefaultDevice bool `json:",omitempty"` // functions without a mark are __device__
	NoMove        bool `json:",omitempty"` // no std::move and std::forward of our own
	NoInitList    bool `json:",omitempty"` // no std::initializer_list of our own
	Minimal       bool `json:",omitempty"` // few declarations of our own
	NoSourceDir   bool `json:",omitempty"` // the folder of the source's name is not searched

	Macros     []Macro  `json:",omitempty"`
	Includes   []string `json:",omitempty"` // folders
	PreInclude []string `json:",omitempty"` // headers

	NoWarnings bool           `json:",omitempty"`
	Severity   map[int]string `json:",omitempty"` // by number of EDG's messages: error, warning, ""
	Brief      bool           `json:",omitempty"` // no source lines in the log
	NoNumbers  bool           `json:",omitempty"`

	// What is not clang's.
	Registers int    `json:"-"` // -maxrregcount
	Verbose   bool   `json:"-"` // -Xptxas -v
	TimeFile  string `json:"-"`
	TraceFile string `json:"-"`
	MakePCH   bool   `json:"-"`
}

// Macro is a -D or -U.
type Macro struct {
	Text  string // NAME, NAME=VALUE
	Undef bool   `json:",omitempty"`
}

// Source is a program's text under its name.
type Source struct {
	Name string
	Text string
}

// DefaultName is a program's that was given none.
const DefaultName = "default_program"
