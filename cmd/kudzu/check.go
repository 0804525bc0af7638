package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/cubin"
	"kudzu/internal/emit/warp"
	"kudzu/internal/fatbin"
	"kudzu/internal/ir"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// The exit codes of check, besides 1 for PTX that is not valid.
const (
	exitNoCode  exitCode = 3 // a file without PTX
	exitMissing exitCode = 4 // it is linked with functions that are not implemented
)

// checkReport is what a file's PTX comes to.
type checkReport struct {
	out        io.Writer
	quiet      bool
	fast, full bool // kernels are only lowered; compiled, whatever the size of the file
	lowered    bool // what was decided
	json       bool
	sm         int // only entries for this target; 0: all

	needs    *needs // of a program or library
	packed   *packed
	loads    *loads
	machine  map[string]int
	verdicts []kernelVerdict

	pool *pool
	all  []*checked

	bar *bar

	modules, kernels, bytes, compiled int
	assumed                           int // of compiled
	binaries                          int // pieces of machine code
	index, parse, compiling           time.Duration
	errors                            []string
	cannot                            map[string][]string // reason: kernels
	targets                           map[string]int
}

// kernelVerdict is what becomes of a kernel.
type kernelVerdict struct {
	Kernel  string `json:"kernel"`
	State   string `json:"state"` // compiled or interpreted
	Why     string `json:"why,omitempty"`
	Assumed bool   `json:"assumed,omitempty"` // it was not lowered (see survey)
}

func newCheckReport(out io.Writer) *checkReport {
	return &checkReport{cannot: map[string][]string{}, targets: map[string]int{}, machine: map[string]int{}, out: out}
}

// runCheck looks into a program, library, fat binary, PTX file or file of our assembler: its kernels, and what of them does not work here.
func runCheck(args []string, out io.Writer) error {
	r := newCheckReport(out)
	file := ""
	for _, a := range args {
		sm, isSM := strings.CutPrefix(a, "--sm=")
		switch {
		case a == "--quiet":
			r.quiet = true
		case a == "--json":
			r.json, r.quiet = true, true
		case a == "--fast":
			r.fast = true
		case a == "--full":
			r.full = true
		case isSM:
			n, err := strconv.Atoi(sm)
			if err != nil {
				return errUsage{"--sm needs a number, as in --sm=80"}
			}
			r.sm = n
		case strings.HasPrefix(a, "-"):
			return errUsage{"unknown option " + a}
		case file != "":
			return errUsage{"one file at a time"}
		default:
			file = a
		}
	}
	if file == "" {
		return errUsage{"which file?"}
	}
	if isApp(file) && !r.json {
		return runCheckApp(file, out)
	}
	data, err := readCode(file)
	if err != nil {
		return err
	}
	defer data.close()
	return r.check(file, data.bytes)
}

// check looks into a file's contents.
func (r *checkReport) check(file string, data []byte) error {
	out := r.out
	sm, err := capability(filesOf(file, data)...)
	if err != nil {
		return err
	}
	r.loads = newLoads(sm)
	r.loads.Program = findProgram(filesOf(file, data)...)
	r.pool = newPool(runtime.NumCPU())
	texts, size := ptxOf(data)
	r.lowered = r.fast || !r.full && size > lowerOnly
	r.bar = newBar(os.Stderr, texts)
	if text, ok := plainText(data); ok {
		if t, ok := fatbin.PTXTarget([]byte(text)); ok {
			r.loads.target(t)
		}
		r.module(text)
	} else if foreign := machineCode(data); foreign != "" {
		r.binaries++
		r.machine[foreign]++
	} else if r.lowered && !r.fast && size > surveyOver {
		r.survey(data)
	} else {
		r.containers(data)
	}
	r.pool.wait()
	r.bar.clear()
	r.tally()
	r.packed = packedOf(file, data)
	if dir, err := libraryDir(); err == nil {
		r.needs = needsOf(data, dir)
	} else {
		r.needs = needsOf(data, "")
	}
	if r.json {
		if err := r.writeJSON(file); err != nil {
			return err
		}
		return r.verdict()
	}
	if r.needs != nil {
		r.needs.print(out)
	}
	r.loads.Program.print(out, r.loads.Capability)
	if r.modules == 0 {
		fmt.Fprintf(out, "%s: no PTX", file)
		if r.binaries > 0 {
			fmt.Fprintf(out, ", only machine code for NVIDIA's processors (%d pieces)", r.binaries)
		}
		fmt.Fprintln(out)
		r.packed.print(out)
		return r.verdict()
	}
	r.print(file)
	return r.verdict()
}

// verdict is the exit code as an error.
func (r *checkReport) verdict() error {
	switch {
	case len(r.errors) > 0:
		return fmt.Errorf("%d modules are not valid PTX", len(r.errors))
	case r.modules == 0 && (r.packed == nil || r.packed.Found == 0):
		return exitNoCode
	case r.needs != nil && len(r.needs.missing(true)) > 0:
		return exitMissing
	}
	return nil
}

// writeJSON is the report for other programs; names are kept from version to version.
func (r *checkReport) writeJSON(file string) error {
	e := json.NewEncoder(r.out)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		File    string          `json:"file"`
		Needs   *needs          `json:"needs,omitempty"`
		PTX     map[string]int  `json:"ptx"`
		Machine map[string]int  `json:"machine_code"`
		Load    *loads          `json:"load"`
		Errors  []string        `json:"errors,omitempty"`
		Kernels []kernelVerdict `json:"kernels"`
		Pack    *packed         `json:"pack,omitempty"`
	}{file, r.needs, r.targets, r.machine, r.loads, r.errors, r.verdicts, r.packed})
}

// containers walks the fat binaries of a file.
func (r *checkReport) containers(data []byte) {
	for c := range fatBinaries(data) {
		r.loads.container(c)
		for k := range c.Entries {
			r.entry(&c.Entries[k])
		}
	}
}

// lowerOnly is the PTX above which kernels are lowered and not compiled further: it is there that the compiler says nearly all that it
// cannot do, and the rest takes ten times as long.
const lowerOnly = 4 << 20

// ptxOf is how many texts of PTX a file holds, and about how much that is.
func ptxOf(data []byte) (texts int, n uint64) {
	if text, ok := plainText(data); ok {
		return 1, uint64(len(text))
	}
	for c := range fatBinaries(data) {
		for i := range c.Entries {
			if e := &c.Entries[i]; e.Kind == fatbin.PTX {
				texts++
				n += max(e.FullSize, uint64(len(e.Payload)))
			}
		}
	}
	return texts, n
}

// isPTX tells PTX text from everything else that holds some.
func isPTX(data []byte) bool {
	start := data[:min(len(data), 4096)]
	return bytes.Contains(start, []byte(".version")) && bytes.IndexByte(start, 0) < 0
}

// plainText is the one text of a file: PTX, or what our assembler made of it.
func plainText(data []byte) (string, bool) {
	if isPTX(data) {
		return string(data), true
	}
	if !cubin.Ours(data) {
		return "", false
	}
	text, err := cubin.Text(data)
	return text, err == nil
}

// machineCode is the target of a cubin of NVIDIA's, "" for other files.
func machineCode(data []byte) string {
	sm, ok := cubin.Arch(data)
	if !ok || fatbin.Sniff(data) != fatbin.FormatELF {
		return ""
	}
	return fmt.Sprintf("sm_%d", sm)
}

// fatBinaries are the containers of a file: of the sections that hold them in a program, else of the file itself.
func fatBinaries(data []byte) iter.Seq[*fatbin.Container] {
	return func(yield func(*fatbin.Container) bool) {
		for _, part := range fatbinParts(data) {
			for len(part) >= fatbin.HeaderSize {
				i := bytes.Index(part, binary.LittleEndian.AppendUint32(nil, fatbin.HeaderMagic))
				if i < 0 {
					break
				}
				part = part[i:]
				c, err := fatbin.Parse(part)
				size, sizeErr := fatbin.Size(part)
				if err != nil || sizeErr != nil { // the number occurs by chance too
					part = part[4:]
					continue
				}
				part = part[min(size, uint64(len(part))):]
				if !yield(c) {
					return
				}
			}
		}
	}
}

// fatbinParts are the sections of a program that nvcc puts fat binaries into.
func fatbinParts(data []byte) [][]byte {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return [][]byte{data}
	}
	var parts [][]byte
	for _, s := range f.Sections {
		if (s.Name == ".nv_fatbin" || s.Name == "__nv_relfatbin") && s.Offset < uint64(len(data)) {
			parts = append(parts, data[s.Offset:min(s.Offset+s.FileSize, uint64(len(data)))])
		}
	}
	return parts
}

// wants says whether an entry is PTX that is looked at; machine code is counted.
func (r *checkReport) wants(e *fatbin.Entry) bool {
	if r.sm != 0 && e.SM != r.sm {
		return false
	}
	if e.Kind != fatbin.PTX {
		r.binaries++
		r.machine[fmt.Sprintf("sm_%d", e.SM)]++
		return false
	}
	return true
}

func (r *checkReport) entry(e *fatbin.Entry) {
	if !r.wants(e) {
		return
	}
	text, err := e.Text()
	if err != nil {
		r.errors = append(r.errors, err.Error())
		return
	}
	r.module(strings.TrimRight(string(text), "\x00"))
	r.bar.draw(e.Name, 1)
}

// module indexes, parses and checks a module, and compiles each of its kernels.
func (r *checkReport) module(text string) {
	r.modules++
	r.bytes += len(text)
	start := time.Now()
	x, err := ptx.IndexModule(text)
	r.index += time.Since(start)
	if err != nil {
		r.errors = append(r.errors, err.Error())
		return
	}
	start = time.Now()
	m, err := check.Text(text)
	r.parse += time.Since(start)
	if err != nil {
		r.errors = append(r.errors, err.Error())
		return
	}
	r.targets[m.Target.String()]++
	taken := lower.TakenIn(m)
	for _, k := range x.Kernels() {
		c := &checked{name: k.Name}
		r.all = append(r.all, c)
		r.pool.do(func() {
			start := time.Now()
			c.err = r.compile(m, k.Name, taken)
			c.took = time.Since(start)
			r.bar.draw(k.Name, 0)
		})
	}
}

// checked is a kernel that was looked at.
type checked struct {
	name    string
	err     error    // why it is interpreted
	words   []string // its instructions, until it is lowered
	assumed bool     // it was not lowered, as others with its instructions were
	took    time.Duration
}

// tally says what became of the kernels, in the order of the file.
func (r *checkReport) tally() {
	for _, c := range r.all {
		r.kernels++
		r.compiling += c.took
		verdict, row := "compiled", kernelVerdict{Kernel: c.name, State: "compiled"}
		if err := c.err; err != nil {
			verdict = "interpreted: " + err.Error()
			row.State, row.Why = "interpreted", err.Error()
			var u *ir.Unsupported
			if errors.As(err, &u) {
				err = errors.New(u.What)
			}
			r.cannot[err.Error()] = append(r.cannot[err.Error()], c.name)
		} else if r.compiled++; c.assumed {
			r.assumed++
			verdict, row.Assumed = "compiled (assumed: its instructions are those of kernels that were lowered)", true
		}
		if r.json {
			r.verdicts = append(r.verdicts, row)
		}
		if !r.quiet {
			fmt.Fprintf(r.out, "%s\t%s\n", c.name, verdict)
		}
	}
}

// compile takes a kernel as far as LLVM's text, or only through lowering. A fault of the compiler's own is an answer too, as
// it is in the compiler process: the kernel is interpreted.
func (r *checkReport) compile(m *ptx.Module, kernel string, taken *lower.Taken) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("fault of the compiler: %v", p)
		}
	}()
	k, err := lower.Kernel(m, kernel, lower.Options{Taken: taken})
	if err != nil || r.lowered {
		return err
	}
	if err := pass.Run(k, pass.Config{}); err != nil {
		return err
	}
	_, err = warp.Emit(k, warp.Config{CPU: "x86-64-v3"})
	return err
}

func (r *checkReport) print(file string) {
	out, stage := r.out, "compile to LLVM's text"
	if r.lowered {
		stage = "lower"
	}
	mb := float64(r.bytes) / 1e6
	fmt.Fprintf(out, "%s: %d modules (%s), %d kernels, %.1f MB of PTX\n", file, r.modules, strings.Join(counted(r.targets), ", "), r.kernels, mb)
	if r.binaries > 0 {
		fmt.Fprintf(out, "  and machine code for NVIDIA's processors, not used here: %d pieces\n", r.binaries)
	}
	r.loads.print(out)
	if r.assumed > 0 {
		fmt.Fprintf(out, "  index %.0f MB/s; %d kernels parsed, checked and lowered in %.1f s\n", rate(mb, r.index), r.kernels-r.assumed, (r.parse + r.compiling).Seconds())
	} else {
		fmt.Fprintf(out, "  index %.0f MB/s, parse and check %.1f MB/s, %s %.1f MB/s\n", rate(mb, r.index), rate(mb, r.parse), stage, rate(mb, r.compiling))
	}
	fmt.Fprintf(out, "  %d modules with errors, %d kernels compile, %d are interpreted\n", len(r.errors), r.compiled, r.kernels-r.compiled)
	if r.assumed > 0 {
		fmt.Fprintf(out, "  %d of them were not lowered: others with the same instructions compile (--fast lowers each, --full compiles it)\n", r.assumed)
	}
	for _, e := range r.errors[:min(len(r.errors), 20)] {
		fmt.Fprintf(out, "  error: %.500s\n", e)
	}
	var why []string
	for w := range r.cannot {
		why = append(why, w)
	}
	slices.SortFunc(why, func(a, b string) int { return len(r.cannot[b]) - len(r.cannot[a]) })
	for _, w := range why {
		fmt.Fprintf(out, "  %6d kernels: %s (%s …)\n", len(r.cannot[w]), w, r.cannot[w][0])
	}
}

func rate(mb float64, t time.Duration) float64 { return mb / max(t, time.Nanosecond).Seconds() }
