package simt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// target is what the kinds of GPU do in ways of their own.
type target interface {
	triple() string
	features() string
	narrow(sp ir.Space) bool                     // pointers of 32 bits
	attributes(flush bool, threads int) []string // of every function; threads: the most that a block has
	trailer(Config) string                       // text at the module's end
	pointers() bool                              // functions have addresses, in variables too
	// own is the target's way to write an operation, nil where the common one serves.
	own(op ir.Op) emitFn
	// way tells how own writes it, for the page.
	way(op ir.Op) Way
	// space is LLVM's number of a state space.
	space(sp ir.Space) int
	// head is a kernel's function up to its body, and what its parameters are is set in e.
	head(e *emitter) string
	// param reads a value of type t at byte off of the parameters.
	param(e *emitter, off int, t ir.Type) ll.Val
	// paramAddr is the address of byte off of the parameters, in ParamSpace.
	paramAddr(e *emitter, off int) ll.Val
	// variable is the address of a module's variable in its own space.
	variable(e *emitter, in *ir.Inst) ll.Val
	// prologue is what a kernel does before its own code.
	prologue(e *emitter)
	// crosses reports an atomic operation that the machine does on whatever memory the program's scope reaches.
	crosses(in *ir.Inst) bool
	// exit ends the thread.
	exit(e *emitter)
	// frame makes e.f's local memory and gives its address as a pointer to private memory.
	frame(e *emitter, bytes, align int) ll.Val
}

var (
	smName  = regexp.MustCompile(`^sm_[0-9]+[af]?$`)
	smNames = []string{"sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"}
	gfxName = regexp.MustCompile(`^gfx(\d+)([0-9a-f]{2})$`)
)

// targetOf reads a target's name.
func targetOf(name string) (target, error) {
	if smName.MatchString(name) {
		if !slices.Contains(smNames, name) {
			return nil, fmt.Errorf("target %s: there are %s", name, strings.Join(smNames, ", "))
		}
		sm, err := strconv.Atoi(strings.TrimRight(name[len("sm_"):], "a"))
		if err != nil {
			panic("BUG: " + err.Error())
		}
		return nvptx{name: name, sm: sm}, nil
	}
	if gfxName.MatchString(name) {
		if t, ok := amdgcnTargets[name]; ok {
			return t, nil
		}
	}
	return nil, fmt.Errorf("target %s: there are sm_70 … sm_90a and %s", name, amdgcnNames())
}
