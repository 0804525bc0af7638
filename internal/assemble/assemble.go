// Package assemble makes of PTX what NVIDIA's assembler makes of it, without machine code: it checks a module for a target, says
// what its kernels need, and writes both into the file of package cubin. Our ptxas, nvlink and nvJitLink are fronts of it.
package assemble

import (
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/cubin"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
)

// Options say what a module is assembled for.
type Options struct {
	SM           int    // 90 for sm_90
	Suffix       string // "a", "f" or nothing
	Relocatable  bool   // functions may be missing
	MaxRegisters int    // of a thread, for kernels that do not say it; 0: no limit
	Entries      []string
	Checked      bool // somebody else has checked it, for a device: its target and sizes are not looked at
}

// Fatal is a fault without a line. Its text is the assembler's.
type Fatal string

func (f Fatal) Error() string { return "ptxas fatal   : " + string(f) }

// Missing is a function that is called and that nobody defines.
type Missing string

func (m Missing) Error() string {
	return Fatal(fmt.Sprintf("Unresolved extern function '%s'", string(m))).Error()
}

// Limits are what the assembler allows on every target.
var Limits = check.Limits{Shared: 48 << 10, Const: 64 << 10}

// LeastRegisters is the lowest limit of registers; lower ones are raised to it.
const LeastRegisters = 24

// Text assembles a module. The error is a ptx.ErrorList, a Fatal, a Missing or a check.SizeError.
func Text(text string, o Options) (*cubin.File, error) {
	text = strings.TrimRight(text, "\x00")
	m, err := check.Text(text)
	if err != nil {
		return nil, err
	}
	if !o.Checked {
		if err := fits(m, o); err != nil {
			return nil, err
		}
	}
	f := &cubin.File{SM: o.SM, Suffix: o.Suffix, Relocatable: o.Relocatable, Text: text}
	for _, fn := range m.Funcs {
		if fn.Kind == ptx.Entry && fn.Body != nil && (len(o.Entries) == 0 || slices.Contains(o.Entries, fn.Name)) {
			f.Kernels = append(f.Kernels, kernel(m, fn, o.MaxRegisters))
		}
	}
	for _, v := range m.Vars {
		if (v.Space == ptx.SpaceGlobal || v.Space == ptx.SpaceConst) && v.Linkage != ptx.Extern {
			f.Vars = append(f.Vars, variable(v))
		}
	}
	if o.MaxRegisters > 0 {
		if f.Text, err = ptx.LimitRegisters(text, max(o.MaxRegisters, LeastRegisters)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// fits says what keeps a module from being assembled with these options.
func fits(m *ptx.Module, o Options) error {
	if !runs(m.Target, o) {
		return Fatal("SM version specified by .target is higher than default SM version assumed")
	}
	if m.AddressSize == 32 {
		return Fatal("32-Bit compilation is no longer supported")
	}
	if name := Unresolved(m); name != "" && !o.Relocatable {
		return Missing(name)
	}
	if err := check.Sizes(m, Limits); err != nil {
		return err
	}
	for _, name := range o.Entries {
		if f := m.Func(name); f == nil || f.Kind != ptx.Entry {
			return Fatal("Unknown function " + name)
		}
	}
	return nil
}

// OldestTarget is the first architecture that release 12.9 assembles for.
const OldestTarget = 50

// Arch finds a target by its name: sm_90a, or compute_90a and lto_90a for no code.
func Arch(name string) (t isa.Target, code, ok bool) {
	kind, rest, _ := strings.Cut(name, "_")
	if kind != "sm" && kind != "compute" && kind != "lto" {
		return t, false, false
	}
	t, ok = isa.TargetOf("sm_" + rest)
	return t, kind == "sm", ok && t.SM >= OldestTarget
}

// runs reports whether text for a target may be assembled for the one asked for: one that is not newer, and for that chip or
// family only where the suffix says so.
func runs(t ptx.Target, o Options) bool {
	switch t.Suffix {
	case "a":
		return t.SM == o.SM && o.Suffix == "a"
	case "f":
		return t.SM <= o.SM && t.SM/10 == o.SM/10 && o.Suffix != ""
	}
	return t.SM <= o.SM
}

func variable(v *ptx.Var) cubin.Var {
	out := cubin.Var{Name: v.LinkName(), Const: v.Space == ptx.SpaceConst, Global: v.Linkage != ptx.Internal, Size: v.Size, Align: uint64(max(v.Align, 1))}
	if v.Init != nil {
		out.Init = v.Init.Bytes
	}
	return out
}

// kernel is what an entry and the functions that it reaches need.
func kernel(m *ptx.Module, f *ptx.Func, limit int) cubin.Kernel {
	k := cubin.Kernel{Name: f.Name, Shared: check.SharedBytes(m, f)}
	for _, p := range f.Params {
		k.Params = append(k.Params, cubin.Param{Offset: uint32(p.Offset), Size: uint32(p.Size)})
	}
	for _, g := range reached(m, f) {
		k.Registers = max(k.Registers, registers(g.Body)+reserved)
		k.Barriers = max(k.Barriers, barriers(g.Body))
		for _, v := range g.Body.Vars {
			if v.Space == ptx.SpaceLocal {
				k.Local += (min(v.Size, check.MaxLocal*2) + 7) &^ 7
			}
		}
	}
	for _, d := range f.Perf {
		switch d.Name {
		case "maxntid":
			k.MaxThreads = shape(d.Nums)
		case "reqntid":
			k.ReqThreads = shape(d.Nums)
		case "maxnreg":
			limit = int(d.Nums[0])
		}
	}
	k.Registers = min(k.Registers, maxRegisters)
	if limit > 0 {
		k.Registers = min(k.Registers, max(limit, LeastRegisters))
	}
	return k
}

// reserved are registers that every kernel has; maxRegisters is what a thread can have.
const (
	reserved     = 4
	maxRegisters = 255
)

func shape(nums []int64) [3]uint32 {
	s := [3]uint32{1, 1, 1}
	for i := range min(3, len(nums)) {
		s[i] = uint32(nums[i])
	}
	return s
}

// reached are a kernel and the functions that it names, directly or through others.
func reached(m *ptx.Module, kernel *ptx.Func) []*ptx.Func {
	list, seen := []*ptx.Func{kernel}, map[*ptx.Func]bool{kernel: true}
	for i := 0; i < len(list); i++ {
		for j := range list[i].Body.Insts {
			check.Operands(list[i].Body.Insts[j].Args, func(o *ptx.Operand) {
				if o.Kind != ptx.OpFunc {
					return
				}
				if g := m.Func(o.Name); g != nil && g.Body != nil && !seen[g] {
					seen[g] = true
					list = append(list, g)
				}
			})
		}
	}
	return list
}

// barriers is how many barriers a body uses: one more than the highest number, or all if it computes one.
func barriers(b *ptx.Body) int {
	n := 0
	for i := range b.Insts {
		in := &b.Insts[i]
		if op := in.Op(); op != isa.Bar && op != isa.Barrier {
			continue
		}
		arg := slices.IndexFunc(in.Form.Operands(), func(o isa.Operand) bool { return o.Name == "a" })
		switch {
		case arg < 0 || arg >= len(in.Args):
		case in.Args[arg].Kind == ptx.OpImm:
			n = max(n, int(min(in.Args[arg].Imm, 15))+1)
		default:
			n = 16
		}
	}
	return n
}
