package nvcc

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kudzu/internal/assemble"
	"kudzu/internal/config"
	"kudzu/internal/cubin"
	"kudzu/internal/cudacc"
	"kudzu/internal/fatbin"
)

// compiler is what clang is asked for, for one architecture; "" for the host.
func (b *build) compiler(in input, arch string) *cudacc.Compiler {
	fast := b.has(optFast)
	truth := func(name string, other bool) bool { return b.get(name, strconv.FormatBool(other)) == "true" }
	c := &cudacc.Compiler{
		Options: cudacc.Options{
			Release: b.release, Arch: arch, Std: b.std(), Relocatable: b.rdc, Debug: b.has(optDeviceG), Optimise: b.has(optDopt), Lines: b.has(optLines),
			FTZ: truth(optFTZ, fast), NoFMA: !truth(optFMA, true), FastDiv: !truth(optDiv, !fast), FastSqrt: !truth(optSqrt, !fast), Approx: fast,
		},
		Lambdas: b.has(optLambda) || b.has(optLambdaOld), Relaxed: b.has(optRelaxed), Streams: b.get(optStream, "") == "per-thread", Unit: b.unit(in),
	}
	for _, code := range b.codes {
		c.Archs = append(c.Archs, code.virtual)
	}
	return c
}

// std is the dialect: nvcc's is C++17 with GNU's extensions and macros where none is named.
func (b *build) std() string { return b.get(optStd, "gnu++17") }

// unit names a source among those that are linked together: by where it is, and where its object goes.
func (b *build) unit(in input) string {
	path, err := filepath.Abs(in.path)
	if err != nil {
		path = in.path
	}
	out, err := filepath.Abs(b.get(optOutput, ""))
	if err != nil {
		out = ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(path+"\x00"+out)))[:16]
}

// search are the options that both sides read: macros, and where headers are.
func (b *build) search() []string {
	var args []string
	for _, d := range b.set[optDefine] {
		args = append(args, "-D"+d)
	}
	for _, u := range b.set[optUndefine] {
		args = append(args, "-U"+u)
	}
	for _, p := range b.set[optPath] {
		if !standard(p) {
			args = append(args, "-I"+p)
		}
	}
	for _, p := range b.set[optSystem] {
		if !standard(p) {
			args = append(args, "-isystem", p)
		}
	}
	if dir := b.cccl(); dir != "" && !standard(dir) {
		args = append(args, "-isystem", dir)
		if filepath.Base(dir) == "cccl" { // <cccl/cuda/std/…> is the same to toolkits since 13
			args = append(args, "-idirafter", filepath.Dir(dir))
		}
	}
	for _, f := range b.set[optInclude] {
		args = append(args, "-include", f)
	}
	if b.has(optTemplate) {
		args = append(args, "-ftemplate-depth="+b.get(optTemplate, ""))
	}
	if b.get(optStdlib, "") != "" {
		args = append(args, "-stdlib="+b.get(optStdlib, ""))
	}
	return args
}

// standard reports a folder that is searched anyway. gcc leaves it where it is; clang would search it before the C++ library, whose
// headers include the next of a name.
func standard(dir string) bool {
	dir = filepath.Clean(dir)
	return dir == "/usr/include" || dir == "/usr/local/include"
}

// cccl is the folder of Thrust, CUB and cuda/std: KUDZU_CCCL, or where toolkits since 13 have it. "" is none.
func (b *build) cccl() string {
	dir := config.Get(config.CCCL)
	if dir == "" {
		dir = filepath.Join(b.home, "include", "cccl")
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return ""
	}
	return dir
}

// hostSearch are those among the host compiler's options that the device's side must read too.
func (b *build) hostSearch() []string {
	var args []string
	all := b.toCompiler()
	for i, a := range all {
		switch {
		case a == "-isystem" || a == "-include":
			if i+1 < len(all) {
				args = append(args, a, all[i+1])
			}
		case a == "-fopenmp":
			args = append(args, b.ompHeader()...)
		case strings.HasPrefix(a, "-D") || strings.HasPrefix(a, "-U") || strings.HasPrefix(a, "-I"):
			args = append(args, a)
		}
	}
	return args
}

// deviceFile is -ptx, -cubin and -fatbin.
func (b *build) deviceFile(in input) error {
	if b.phase == optFatbin {
		_, err := b.fatbin(in, b.outputOf(in, ".fatbin"))
		return err
	}
	f, err := b.device(in, b.codes[0])
	if err != nil || f == nil {
		return err
	}
	if b.phase == optPTX {
		return write(b.outputOf(in, ".ptx"), []byte(f.Text))
	}
	code, err := f.Encode()
	if err != nil {
		return err
	}
	return write(b.outputOf(in, ".cubin"), code)
}

func write(path string, b []byte) error {
	if path == "-" {
		_, err := os.Stdout.Write(b)
		return err
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		return fatalf("Could not open output file '%s'", path)
	}
	return nil
}

// device is the device's side of an input for one architecture, nil if nothing is to be done.
func (b *build) device(in input, c code) (*cubin.File, error) {
	switch in.kind {
	case "cu":
		return b.deviceCode(in, c)
	case "ptx", "cubin", "fatbin":
		texts, err := b.texts(in.path, c)
		if err != nil {
			return nil, err
		}
		return b.assemble(in, texts[0], c)
	}
	return nil, fatalf("Don't know what to do with '%s'", in.path)
}

func (b *build) deviceCode(in input, c code) (*cubin.File, error) {
	comp := b.compiler(in, c.virtual)
	ptx, deps := b.between(fmt.Sprintf("%s.compute_%s.ptx", stem(in.path), c.virtual)), filepath.Join(b.temp, stem(in.path)+c.virtual+".d")
	args := slices.Concat(comp.Device(&b.place), b.search(), b.hostSearch())
	switch {
	case b.has(optQuiet):
		args = append(args, "-w")
	case b.phase == optPTX || b.phase == optCubin || b.phase == optFatbin: // there is no host's side: what nvcc warns of by itself
		args = append(args, "-Wunused-variable", "-Wunused-but-set-variable")
	case !b.has(optDeviceG):
		args = append(args, "-w") // the host's side says it
	}
	if err := b.front(in, append(args, "-MD", "-MF", deps, "-S", "-o", ptx)...); err != nil || b.has(optDryrun) {
		return nil, err
	}
	text, err := os.ReadFile(ptx)
	if err != nil {
		return nil, err
	}
	code, _ := comp.Finish(string(text), 0)
	code = ownStatics(code)
	if b.mentions(in, deps, cudacc.AnnotationWords...) {
		notes, err := b.annotations(in, append(args, "-S", "-emit-llvm", "-Xclang=-disable-llvm-passes"))
		if err != nil {
			return nil, err
		}
		code = notes.Mark(code)
	}
	return b.assemble(in, code, c)
}

// assemble checks PTX as the assembler does, and says what it says.
func (b *build) assemble(in input, text string, c code) (*cubin.File, error) {
	target := c.virtual
	if b.phase == optCubin && len(c.real) > 0 {
		target = c.real[len(c.real)-1]
	}
	number := strings.TrimRight(target, "af")
	sm, _ := strconv.Atoi(number) // archs has looked at it
	limit, _ := strconv.Atoi(b.get(optRegisters, "0"))
	begin := time.Now()
	f, err := assemble.Text(text, assemble.Options{SM: sm, Suffix: target[len(number):], Relocatable: b.rdc || b.phase == optPTX, MaxRegisters: limit})
	if err != nil {
		if !strings.HasPrefix(err.Error(), "ptxas") {
			err = fmt.Errorf("ptxas %s: %w", in.path, err)
		}
		fmt.Fprintln(b.errs, err)
		return nil, failure(255)
	}
	if b.has(optUsage) || strings.Contains(","+strings.Join(b.set[optXptxas], ",")+",", "-v,") || strings.Contains(strings.Join(b.set[optXptxas], ","), "--verbose") {
		for _, r := range assemble.Report(f, time.Since(begin)) {
			head := "ptxas info    : "
			if r.More {
				head = "    "
			}
			fmt.Fprintln(b.errs, head+r.Text)
		}
	}
	return f, nil
}

var staticName = regexp.MustCompile(`(?m)^\.visible \.(?:global|const)[^\n=;]* (_Z\w+?)(__static__\w+)(?:\[\d+\])?(?: =|;)`)

// keptExterns is clang's list of variables elsewhere that the host uses: its compiler needs it, a linker does not.
var keptExterns = regexp.MustCompile(`(?m)^[^\n]*\.global [^\n]* __clang_gpu_used_external\[\d+\] = [^\n]*;\n`)

// ownStatics gives uses of a file's own variables the name of their definition. With -fgpu-rdc clang renames a variable that the host
// uses, and uses before that keep the old name.
func ownStatics(ptx string) string {
	ptx = keptExterns.ReplaceAllLiteralString(ptx, "")
	for _, m := range staticName.FindAllStringSubmatch(ptx, -1) {
		use := regexp.MustCompile(`(?m)^\.extern [^\n]*\b` + m[1] + `\b[^\n]*;\n`)
		ptx = use.ReplaceAllLiteralString(ptx, "")
		ptx = regexp.MustCompile(`\b`+m[1]+`\b`).ReplaceAllLiteralString(ptx, m[1]+m[2])
	}
	return ptx
}

// fatbin compiles an input for every architecture and writes the container; "" as its path is a file of its own. It is the path.
func (b *build) fatbin(in input, path string) (string, error) {
	if path == "" {
		path = b.between(stem(in.path) + ".fatbin")
	}
	files := make([]*cubin.File, len(b.codes))
	errs := make([]error, len(b.codes))
	slots := make(chan bool, b.workers())
	var wait sync.WaitGroup
	for i, c := range b.codes {
		wait.Go(func() {
			slots <- true
			files[i], errs[i] = b.device(in, c)
			<-slots
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return "", err
		}
	}
	if !b.say("fatbinary", "-64", "--create="+path) {
		return path, nil
	}
	var texts []string
	for _, f := range files {
		texts = append(texts, f.Text)
	}
	data, err := container(texts)
	if err != nil {
		return "", err
	}
	return path, write(path, data)
}

// workers is how many compilers run at once: -t, and 0 is as many as there are processors.
func (b *build) workers() int {
	n, err := strconv.Atoi(b.get(optThreads, "1"))
	if err != nil || n == 0 {
		return processors()
	}
	return max(n, 1)
}

// container puts PTX into a fat binary. Machine code is not in it: NVIDIA's driver would take a file of our assembler for its own.
func container(texts []string) ([]byte, error) {
	var parts []fatbin.Part
	for _, text := range texts {
		p := fatbin.Part{Kind: fatbin.PTX, Data: []byte(text)}
		t, ok := fatbin.PTXTarget(p.Data)
		if !ok {
			return nil, fatal("PTX without a target")
		}
		p.SM = t.SM
		_, rest, _ := bytes.Cut(p.Data, []byte(".version"))
		if _, err := fmt.Sscanf(string(rest[:min(len(rest), 16)]), " %d.%d", &p.Major, &p.Minor); err != nil {
			return nil, fatal("PTX without a version")
		}
		parts = append(parts, p)
	}
	return fatbin.Write(parts)
}
