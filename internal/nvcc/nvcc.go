// Package nvcc compiles CUDA C++ to programs, objects and libraries: `kudzu cc`, and the same under the name nvcc, with its options,
// messages and exit codes. clang reads the sources, once for the device and once for the host; the machine's own compiler takes what
// is plain C and C++, and links. What comes out registers its kernels as NVIDIA's programs do and carries PTX, which Kudzu and
// NVIDIA's driver translate when it is loaded.
package nvcc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/cudacc"
	"kudzu/internal/libdevice"
)

// Name is the program's.
const Name = "nvcc"

// The phases after which the program stops; all but linkAll are options.
const linkAll = "link"

var phases = []string{optCUDA, optCubin, optFatbin, optPTX, optPreprocess, optDeps, optUserDeps, optCompile, optDeviceC, optDeviceW, optDeviceLink, optLib, optRun}

// build is one run of the program.
type build struct {
	*options
	home    string // the folder with bin, include and lib
	out     io.Writer
	errs    io.Writer
	phase   string
	linked  string // what a device link makes: optCubin, optFatbin; "": an object
	rdc     bool
	release cudacc.Release
	codes   []code
	clang   string
	host    string // the machine's compiler
	place   cudacc.Place
	temp    string // a folder
	files   []input
	// overlays are, for each source, what clang sees otherwise than it is; see launches.go. showing guards them.
	overlays map[string]*cudacc.Overlay
	showing  sync.Mutex
}

// input is a file of the command line.
type input struct {
	path string
	kind string // what it is: the endings below, without the dot
}

// kinds are the endings of files that the program knows what to do with.
var kinds = map[string]string{
	".cu": "cu", ".c": "c", ".cc": "c++", ".cxx": "c++", ".cpp": "c++", ".ptx": "ptx", ".cubin": "cubin", ".fatbin": "fatbin",
	".o": "o", ".obj": "o", ".a": "a", ".lib": "a", ".so": "so", ".res": "o",
}

// failure is a program that failed; it has said why.
type failure int

func (f failure) Error() string { return fmt.Sprintf("exit status %d", int(f)) }

// Variables of nvcc's: options before and after those of the command line.
const prependFlags, appendFlags = "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"

func withVariables(args []string) []string {
	return slices.Concat(words(config.Get(prependFlags)), args, words(config.Get(appendFlags)))
}

// Run is the program. home is the folder with Kudzu's bin, include and lib.
func Run(args []string, home string, out, errs io.Writer) int {
	o, err := parse(withVariables(args))
	if err == nil {
		b := &build{options: o, home: home, out: out, errs: errs, release: presented()}
		err = b.run()
		b.clean()
	}
	var code failure
	var bad fatal
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &bad):
		fmt.Fprintf(errs, "%s fatal   : %s\n", Name, string(bad))
	default:
		fmt.Fprintln(errs, err)
	}
	return 1
}

// native is the machine that this one has.
func native() string {
	c, err := backend.ClaimedCapability(config.Get(config.Capability), backend.ProcessFiles()...)
	if err != nil {
		c = backend.DefaultCapability
	}
	return fmt.Sprint(c.SM())
}

func (b *build) run() error {
	switch {
	case b.has(optVersion):
		b.version()
		return nil
	case b.has(optHelp):
		help(b.out)
		return nil
	case b.has(optListArch) || b.has(optListCode):
		for _, n := range b.release.Archs() {
			fmt.Fprintf(b.out, "%s_%d\n", map[bool]string{true: "compute", false: "sm"}[b.has(optListArch)], n)
		}
		return nil
	}
	for _, w := range b.warnings {
		fmt.Fprintf(b.errs, "%s warning : %s\n", Name, w)
	}
	if err := b.prepare(); err != nil {
		return err
	}
	switch b.phase {
	case optPreprocess, optDeps, optUserDeps:
		return b.eachSource(b.preprocess)
	case optPTX, optCubin, optFatbin:
		return b.eachSource(b.deviceFile)
	case optCompile, optDeviceC, optDeviceW:
		return b.eachSource(func(in input) error { return b.object(in, b.outputOf(in, ".o")) })
	}
	return b.whole()
}

// prepare looks at everything that can be wrong before a program is started.
func (b *build) prepare() error {
	if err := b.choosePhase(); err != nil {
		return err
	}
	var err error
	if b.codes, err = b.archs(b.release, native); err != nil {
		return err
	}
	if b.has(optVerbose) || b.has(optDryrun) {
		b.variables()
	}
	if err := b.classify(); err != nil {
		return err
	}
	sources := 0
	for _, in := range b.files {
		if in.kind != "library" {
			sources++
		}
	}
	switch {
	case sources == 0:
		return fatal("No input files specified; use option --help for more information")
	case b.phase != linkAll && b.phase != optRun && b.phase != optLib && b.phase != optDeviceLink && b.has(optOutput) && sources > 1:
		return fatal("A single input file is required for a non-link phase when an outputfile is specified")
	case (b.phase == optPTX || b.phase == optCubin || b.linked == optCubin) && len(b.codes) > 1:
		name := cmp.Or(b.linked, b.phase)
		return fatalf("Option '--%s (-%s)' is not allowed when compiling for multiple GPU architectures", name, name)
	}
	if err := b.tools(); err != nil {
		return err
	}
	if b.temp, err = os.MkdirTemp("", "kudzu-cc-*"); err != nil {
		return err
	}
	return b.joinAll()
}

func (b *build) choosePhase() error {
	b.phase = linkAll
	for _, p := range phases {
		if !b.has(p) {
			continue
		}
		switch {
		case b.phase == linkAll:
			b.phase = p
		case p == optDeviceC && (b.phase == optPTX || b.phase == optCubin || b.phase == optFatbin): // the file, of code that can be linked
		case p == optDeviceLink && (b.phase == optCubin || b.phase == optFatbin): // the link is that file and no object
			b.linked, b.phase = b.phase, p
		default:
			return fatalf("More than one compilation phase specified: '--%s' and '--%s'", b.phase, p)
		}
	}
	b.rdc = b.get(optRDC, "false") == "true" || b.has(optDeviceC)
	return nil
}

func (b *build) classify() error {
	forced := map[string]string{"cu": "cu", "c": "c", "c++": "c++"}[b.get(optLanguage, "")]
	for _, path := range b.inputs {
		kind, ok := kinds[filepath.Ext(path)]
		switch {
		case strings.HasPrefix(path, "-l"):
			kind, ok = "library", true
		case forced != "":
			kind, ok = forced, true
		case !ok && strings.Contains(filepath.Base(path), ".so."):
			kind, ok = "so", true
		}
		if !ok {
			return fatalf("Don't know what to do with '%s'", path)
		}
		b.files = append(b.files, input{path, kind})
	}
	return nil
}

// tools finds the programs that are needed.
func (b *build) tools() error {
	b.host = b.get(optHost, "")
	if st, err := os.Stat(b.host); err == nil && st.IsDir() {
		b.host = filepath.Join(b.host, "g++")
	}
	b.clang = compile.Clang()
	if b.host == "" {
		b.host = "g++"
		if _, err := exec.LookPath(b.host); err != nil && b.clang != "" {
			b.host = filepath.Join(filepath.Dir(b.clang), "clang++")
		}
	}
	if !slices.ContainsFunc(b.files, func(in input) bool { return in.kind == "cu" }) {
		return nil
	}
	if b.clang == "" {
		return fatal(compile.NoClang)
	}
	b.place.Headers = filepath.Join(b.home, "include")
	b.place.Resources, b.place.Major = compile.ClangResources()
	if b.place.Major == 0 {
		return fatalf("clang's own headers are not installed: %s has none; on Debian and Ubuntu they are in package libclang-common-VERSION-dev", b.clang)
	}
	if _, err := os.Stat(filepath.Join(b.place.Headers, cudacc.Prelude)); err != nil {
		return fatalf("the headers of CUDA C++ are not installed: %v", err)
	}
	if lib := filepath.Join(b.home, libdevice.File); exists(lib) {
		b.place.Libdevice = lib
	}
	if lib := filepath.Join(b.home, libdevice.CFile); exists(lib) {
		b.place.CNames = lib
	}
	return b.parallelSources()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// clean removes what is between.
func (b *build) clean() {
	if b.temp != "" {
		_ = os.RemoveAll(b.temp) // it is in a folder that the system empties
	}
}

// eachSource does something to every input, in its order.
func (b *build) eachSource(do func(input) error) error {
	for _, in := range b.files {
		switch in.kind {
		case "library", "o", "a", "so":
			continue
		}
		if err := do(in); err != nil {
			return err
		}
	}
	return nil
}

// outputOf is where the result of an input goes.
func (b *build) outputOf(in input, ext string) string {
	if o := b.get(optOutput, ""); o != "" {
		return o
	}
	base := filepath.Base(in.path)
	return filepath.Join(b.get(optFolder, ""), strings.TrimSuffix(base, filepath.Ext(base))+ext)
}

// version prints what CMake, PyTorch and others look for.
func (b *build) version() {
	major, minor := b.release.Version()
	fmt.Fprintf(b.out, "nvcc: NVIDIA (R) Cuda compiler driver\nas Kudzu has it: clang, the machine's compiler, and PTX\nCuda compilation tools, release %d.%d, V%d.%d.%d\n", major, minor, major, minor, b.release.Build())
}

// help lists the options.
func help(out io.Writer) {
	fmt.Fprint(out, "\nUsage  : nvcc [options] <inputfile>...\n\nOptions\n=======\n\n")
	for _, t := range table {
		arg := map[takes]string{value: " <value>", list: " <value>,...", each: " <value>"}[t.takes]
		if t.allowed != "" {
			arg = " {" + strings.ReplaceAll(t.allowed, " ", "|") + "}"
		}
		fmt.Fprintf(out, "%-52s(-%s)\n", "--"+t.long+arg, t.short)
	}
}
