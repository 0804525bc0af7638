// Package simt writes LLVM text for GPUs: one thread of the program is one lane of the machine, and one function of the IR is one
// function of LLVM. Two targets: nvptx64, whose result is PTX again and proves the pipeline on real hardware, and amdgcn.
//
// The chapters are files, as in emit/warp: each operation of the IR has a common way (table.go) made of plain LLVM, and a target
// may have its own (nvptx*.go, amdgcn*.go): an intrinsic, or an instruction as inline assembly. What a target has no way to do is
// *ErrForm, never silence; a test and the page docs/zsimt.md count the ways.
package simt

import (
	"fmt"
	"strings"

	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Config says what the code is for.
type Config struct {
	Target     string // "sm_90", "gfx1100"
	CodeObject int    // of AMD's: the version of code objects, 0 for 5
	NoMatrix   bool   // of AMD's: products by shuffles and plain arithmetic, not on matrix units
}

// Kernel is one kernel to write, after the passes for one thread a lane.
type Kernel struct {
	IR     *ir.Module
	Params []Param
}

// Param is a parameter of a kernel and its offset.
type Param struct{ Offset, Size, Align int }

// Code is kernels in LLVM's language.
type Code struct {
	LLVM   string
	Triple string
	CPU    string
	// Features is LLVM's list for the target.
	Features string
	// Ways counts the operations written, by how.
	Ways [NumWays]int
}

// Way is how an operation is written.
type Way uint8

// The ways, from the most common to none.
const (
	Common    Way = iota // plain LLVM, the same for every target
	Native               // the target's intrinsics or a sequence of its own
	Assembly             // the instruction as inline assembly
	Kept                 // an instruction of the program that was kept as it was (ir.Asm)
	Missing              // ErrForm
	Elsewhere            // made by passes that this code does not go through
	NumWays
)

var wayNames = [NumWays]string{"plain LLVM", "intrinsic or sequence", "inline assembly", "kept", "missing", "not for GPUs"}

// String names the way.
func (w Way) String() string { return wayNames[w] }

// ErrForm is a valid operation that the target has no way to do yet.
type ErrForm = ir.Unsupported

// Known reports a target that there is code for.
func Known(target string) bool {
	_, err := targetOf(target)
	return err == nil
}

// Emit writes the kernels as one LLVM module. Their names differ.
func Emit(kernels []Kernel, cfg Config) (code *Code, err error) {
	t, err := targetOf(cfg.Target)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			u, ok := p.(*ErrForm)
			if !ok {
				panic(p)
			}
			code, err = nil, u
		}
	}()
	flush := !t.pointers() && allFlushed(kernels) // NVIDIA's instructions say it themselves
	mod := ll.NewModule("", t.attributes(flush, mostThreads(kernels))...)
	mod.Plain()
	code = &Code{Triple: t.triple(), CPU: cfg.Target, Features: t.features()}
	g := &globals{vars: map[string]bool{}, owners: map[string]string{}}
	for i := range kernels {
		e := &emitter{cfg: cfg, k: &kernels[i], m: kernels[i].IR, t: t, mod: mod, code: code, g: g}
		e.Flush = flush
		e.Target = float.Target{Fail: e.fail, Fence: e.fence, Directed: e.directed, ToF32: e.cutToFloat, ToF16: e.CutToHalf, Half: true}
		e.kernel()
	}
	mod.Raw(g.text.String())
	if t.pointers() {
		mod.Raw(g.used())
	}
	mod.Raw(t.trailer(cfg))
	code.LLVM = mod.String()
	return code, nil
}

// mostThreads is the largest block that one of the kernels may be launched with: registers are dealt out accordingly.
func mostThreads(kernels []Kernel) int {
	const limit = 1024
	most := 0
	for _, k := range kernels {
		n := limit
		for _, b := range [][3]uint32{k.IR.MaxBlock, k.IR.ReqBlock} {
			if all := uint64(b[0]) * uint64(b[1]) * uint64(b[2]); b[0] > 0 && b[1] > 0 && b[2] > 0 && uint64(max(b[0], b[1], b[2])) <= limit && all < uint64(n) {
				n = int(all)
			}
		}
		most = max(most, n)
	}
	return most
}

// globals are the module's variables that the kernels name, each declared once.
type globals struct {
	vars   map[string]bool
	owners map[string]string // the kernel whose function has the plain name
	funcs  []string          // device functions, which the program's variables may name
	text   strings.Builder
}

// used keeps the device functions where pointers to them may be in memory that LLVM does not see.
func (g *globals) used() string {
	if len(g.funcs) == 0 {
		return ""
	}
	return fmt.Sprintf("@llvm.compiler.used = appending global [%d x ptr] [%s], section \"llvm.metadata\"\n", len(g.funcs), strings.Join(g.funcs, ", "))
}

// declare adds a global variable's line once and gives its name in LLVM's spelling.
func (g *globals) declare(name, line string) string {
	q := quote(name)
	if !g.vars[name] {
		g.vars[name] = true
		fmt.Fprintf(&g.text, "@%s = %s\n", q, line)
	}
	return "@" + q
}

// quote spells a name as LLVM reads it.
func quote(name string) string {
	for _, c := range name {
		if !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.", c) {
			return fmt.Sprintf("%q", name)
		}
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return `"` + name + `"`
	}
	return name
}
