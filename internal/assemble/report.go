package assemble

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kudzu/internal/cubin"
	"kudzu/internal/devrt"
	"kudzu/internal/ptx"
)

// Link makes one text of several modules, and of the functions of the device runtime that they use.
func Link(parts []ptx.Part) (string, error) {
	texts := make([]string, len(parts))
	for i := range parts {
		texts[i] = parts[i].Text
	}
	if g := devrt.Groups(texts...); g != "" {
		parts = append(parts[:len(parts):len(parts)], ptx.Part{Name: "device runtime", Text: g})
	}
	return ptx.Link(parts)
}

// Keep removes the kernels of a text that are not in names. Functions and variables stay: whether somebody uses them is known
// when kernels are compiled.
func Keep(text string, names []string) (string, error) {
	x, err := ptx.IndexModule(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	at := 0
	for _, k := range x.Kernels() {
		if !slices.Contains(names, k.Name) {
			b.WriteString(text[at:k.Start])
			at = k.End
		}
	}
	b.WriteString(text[at:])
	return b.String(), nil
}

// Remark is one line of the assembler's statistics. More is a line that goes on from the one before.
type Remark struct {
	Text string
	More bool
}

// Report says what a module and its kernels need, as the assembler does: the last kernel of the text comes first.
func Report(f *cubin.File, took time.Duration) []Remark {
	out := []Remark{{Text: memory(f)}}
	for i := len(f.Kernels) - 1; i >= 0; i-- {
		k := &f.Kernels[i]
		out = append(out,
			Remark{Text: fmt.Sprintf("Compiling entry function '%s' for '%s'", k.Name, f.Target())},
			Remark{Text: "Function properties for " + k.Name},
			Remark{Text: fmt.Sprintf("%d bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", k.Local), More: true},
			Remark{Text: needs(f, k)},
			Remark{Text: fmt.Sprintf("Compile time = %.3f ms", took.Seconds()*1000/float64(len(f.Kernels)))})
	}
	return out
}

// ownBank is the first architecture for which the assembler does not count constant banks.
const ownBank = 90

// memory is the line about a module's variables.
func memory(f *cubin.File) string {
	global, constant := uint64(0), uint64(0)
	for _, v := range f.Vars {
		if v.Const {
			constant += v.Size
		} else {
			global += v.Size
		}
	}
	s := fmt.Sprintf("%d bytes gmem", global)
	if constant > 0 && f.SM < ownBank {
		s += fmt.Sprintf(", %d bytes cmem[3]", constant)
	}
	return s
}

// needs is the line about a kernel.
func needs(f *cubin.File, k *cubin.Kernel) string {
	s := fmt.Sprintf("Used %d registers, used %d barriers", k.Registers, k.Barriers)
	if k.Local > 0 {
		s += fmt.Sprintf(", %d bytes cumulative stack size", k.Local)
	}
	if k.Shared > 0 {
		s += fmt.Sprintf(", %d bytes smem", k.Shared)
	}
	if f.SM < ownBank {
		s += fmt.Sprintf(", %d bytes cmem[0]", f.ConstBank(k))
	}
	return s
}
