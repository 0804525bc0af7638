package check

import (
	"fmt"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Limits are the sizes past which a device's assembler refuses a module, in bytes.
type Limits struct {
	Shared uint64 // static shared memory that one kernel uses
	Const  uint64 // all variables of the constant space
}

// MaxLocal is how much local memory a thread may have on any device. A kernel that declares more is loaded and not launched.
const MaxLocal = 512 << 10

// Sizes checks a module's use of the spaces that a device has little of. The text of the error is the assembler's; these faults
// have no line.
func Sizes(m *ptx.Module, l Limits) error {
	if n := constBytes(m); n > l.Const {
		return sizeError("File uses too much global constant data (0x%x bytes, 0x%x max)", n, l.Const)
	}
	for _, f := range m.Funcs {
		if f.Kind != ptx.Entry || f.Body == nil {
			continue
		}
		if n := SharedBytes(m, f); n > l.Shared {
			return sizeError("Entry function '%s' uses too much shared data (0x%x bytes, 0x%x max)", f.Name, n, l.Shared)
		}
	}
	return nil
}

// SizeError says which space is too small.
type SizeError string

func (e SizeError) Error() string { return "ptxas error   : " + string(e) }

func sizeError(format string, args ...any) error { return SizeError(fmt.Sprintf(format, args...)) }

// constBytes counts what the module declares, used or not.
func constBytes(m *ptx.Module) uint64 {
	n := uint64(0)
	count := func(vars []*ptx.Var) {
		for _, v := range vars {
			if v.Space == ptx.SpaceConst && v.Linkage != ptx.Extern {
				n = place(n, v)
			}
		}
	}
	count(m.Vars)
	for _, f := range m.Funcs {
		if f.Body != nil {
			count(f.Body.Vars)
		}
	}
	return n
}

// tooMuch is what a sum of sizes is bounded by, so that no hostile size wraps it around.
const tooMuch = 1 << 40

// place adds a variable behind n bytes.
func place(n uint64, v *ptx.Var) uint64 {
	a := uint64(max(v.Align, 1))
	return min((n+a-1)/a*a+min(v.Size, tooMuch), tooMuch)
}

// SharedBytes counts the static shared variables that a kernel and the functions it names use.
func SharedBytes(m *ptx.Module, kernel *ptx.Func) uint64 {
	n := uint64(0)
	met := map[*ptx.Var]bool{}
	seen := map[*ptx.Func]bool{kernel: true}
	queue := []*ptx.Func{kernel}
	visit := func(o *ptx.Operand) {
		if v := o.Var; v != nil && v.Space == ptx.SpaceShared && !met[v] {
			met[v] = true
			n = place(n, v)
		}
		if o.Kind != ptx.OpFunc {
			return
		}
		if g := m.Func(o.Name); g != nil && g.Body != nil && !seen[g] {
			seen[g] = true
			queue = append(queue, g)
		}
	}
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		for i := range f.Body.Insts {
			Operands(f.Body.Insts[i].Args, visit)
		}
	}
	return n
}

// Operands visits operands, and those within them.
func Operands(args []ptx.Operand, visit func(*ptx.Operand)) {
	for i := range args {
		visit(&args[i])
		Operands(args[i].Elems, visit)
	}
}

// smallParams and largeParams bound a kernel's parameters: every device and release takes the first; 8.1 takes the second from sm_70 on.
const (
	smallParams = 4352
	largeParams = 32764
)

// paramBytes checks how large a kernel's parameters are together.
func (c *checker) paramBytes(f *ptx.Func) {
	n, most := uint64(0), uint64(smallParams)
	for _, p := range f.Params {
		n = max(n, p.Offset+p.Size)
	}
	newer := c.m.Version >= isa.V(8, 1)
	if newer && c.m.Target.SM >= 70 {
		most = largeParams
	}
	if n <= most {
		return
	}
	c.errorf(f.Pos, "Entry function '%s' uses too much parameter space (0x%x bytes, 0x%x max).", f.Name, n, most)
	if !newer {
		c.errorf(f.Pos, "Feature 'Kernel parameter size larger than %d bytes' requires PTX ISA .version 8.1 or later", smallParams)
	}
}
