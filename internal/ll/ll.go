// Package ll writes LLVM's textual IR. It knows functions, blocks, typed operands, declarations and debug lines, and
// nothing of PTX or of warps.
package ll

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Module is a module being written.
type Module struct {
	decls map[string]string
	funcs []*Func
	attrs []string // of the functions
	lines map[int32]int
	file  string
	raw   []string
	plain bool
}

// NewModule starts a module; file is the name that debug lines refer to, attrs go on every function.
func NewModule(file string, attrs ...string) *Module {
	return &Module{decls: map[string]string{}, lines: map[int32]int{}, file: file, attrs: attrs}
}

// Plain leaves the debug information out, but for the empty node !0 that marks what needs one.
func (m *Module) Plain() { m.plain = true }

// Func is a function being written.
type Func struct {
	m      *Module
	head   string
	sub    bool     // has debug lines
	allocs []string // first of the entry block
	text   []string
	n      int
	labels int
	cur    string
	// Line is the source line of what is written next; 0: none.
	Line int32
	at   int32  // the line that mark is for
	mark string // what stands behind its instructions
}

// Func starts a function: head is "i32 @f(ptr %p)".
func (m *Module) Func(head string, debug bool) *Func {
	f := &Func{m: m, head: head, sub: debug, cur: "entry"}
	m.funcs = append(m.funcs, f)
	return f
}

// Raw adds text as it is: functions written by hand.
func (m *Module) Raw(text string) { m.raw = append(m.raw, text) }

// Declare makes an external function or an intrinsic known, once.
func (m *Module) Declare(ret, name string, args ...string) {
	m.decls[name] = "declare " + ret + " @" + name + "(" + strings.Join(args, ", ") + ")"
}

const firstLineID = 10

func (f *Func) dbg() string {
	if !f.sub || f.Line == 0 {
		return ""
	}
	id, ok := f.m.lines[f.Line]
	if !ok {
		id = firstLineID + len(f.m.lines)
		f.m.lines[f.Line] = id
	}
	if f.at != f.Line {
		f.at, f.mark = f.Line, ", !dbg !"+strconv.Itoa(id)
	}
	return f.mark
}

// Do writes an instruction without a result.
func (f *Func) Do(format string, args ...any) { f.write("", fmt.Sprintf(format, args...)) }

// Op writes an instruction with a result of type t.
func (f *Func) Op(t Type, format string, args ...any) Val {
	return f.result(t, fmt.Sprintf(format, args...))
}

// result is Op of a text in parts. Most of the front half's time was fmt's: the builder's methods do without it.
func (f *Func) result(t Type, parts ...string) Val {
	v := f.name(t)
	f.write(v.S, parts...)
	return v
}

// write writes a line, with the name of its result if it has one.
func (f *Func) write(name string, parts ...string) {
	dbg := f.dbg()
	n := len(name) + len(dbg) + 5
	for _, p := range parts {
		n += len(p)
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteString("  ")
	if name != "" {
		b.WriteString(name)
		b.WriteString(" = ")
	}
	for _, p := range parts {
		b.WriteString(p)
	}
	b.WriteString(dbg)
	f.text = append(f.text, b.String())
}

func (f *Func) name(t Type) Val {
	f.n++
	return Val{t, "%v" + strconv.Itoa(f.n)}
}

// Call calls a function by name, declaring it, and gives its result (none for void).
func (f *Func) Call(ret Type, name string, args ...Val) Val {
	types := make([]string, len(args))
	texts := make([]string, len(args))
	for i, a := range args {
		types[i], texts[i] = string(a.T), a.String()
	}
	f.m.Declare(string(ret), name, types...)
	return f.CallKnown(ret, name, texts)
}

// CallKnown calls a function that is declared or defined elsewhere.
func (f *Func) CallKnown(ret Type, name string, args []string) Val {
	parts := []string{"call ", string(ret), " @", name, "(", strings.Join(args, ", "), ")"}
	if ret == "void" {
		f.write("", parts...)
		return Val{}
	}
	return f.result(ret, parts...)
}

// Alloca reserves memory in the function's entry block.
func (f *Func) Alloca(t Type, align int) Val {
	v := f.name("ptr")
	f.allocs = append(f.allocs, fmt.Sprintf("  %s = alloca %s, align %d", v.S, t, align))
	return v
}

// AllocaIn is Alloca in a target's own space of pointers: t is their type, "ptr addrspace(5)".
func (f *Func) AllocaIn(t, elem Type, align int) Val {
	v := f.name(t)
	_, space, _ := strings.Cut(string(t), " ")
	f.allocs = append(f.allocs, fmt.Sprintf("  %s = alloca %s, align %d, %s", v.S, elem, align, space))
	return v
}

// EntryOp writes an instruction with a result of type t into the function's entry block, where it is computed once.
func (f *Func) EntryOp(t Type, format string, args ...any) Val {
	v := f.name(t)
	f.allocs = append(f.allocs, "  "+v.S+" = "+fmt.Sprintf(format, args...))
	return v
}

// NewLabel makes a fresh block name.
func (f *Func) NewLabel(hint string) string {
	f.labels++
	return hint + "." + strconv.Itoa(f.labels)
}

// Label starts a block. The one before must have ended.
func (f *Func) Label(name string) {
	f.text = append(f.text, name+":")
	f.cur = name
}

// Cur is the name of the block being written.
func (f *Func) Cur() string { return f.cur }

// Br jumps.
func (f *Func) Br(label string) { f.write("", "br label %", label) }

// CondBr branches on an i1.
func (f *Func) CondBr(c Val, yes, no string) {
	check(c.T == "i1", "a branch on %s", c.T)
	f.write("", "br i1 ", c.S, ", label %", yes, ", label %", no)
}

// Phi is a phi whose incoming values come later.
type Phi struct {
	Val
	f    *Func
	at   int
	pair []string
}

// Phi writes a phi of type t at this place. Without an incoming value it stands in a block that nothing leads to, such as one that
// only a trap would; LLVM has no such phi.
func (f *Func) Phi(t Type) *Phi {
	v := f.name(t)
	f.text = append(f.text, "  "+v.S+" = freeze "+string(t)+" poison")
	return &Phi{v, f, len(f.text) - 1, nil}
}

// Add adds an incoming value.
func (p *Phi) Add(v Val, label string) {
	check(v.T == p.T, "a phi of %s gets %s", p.T, v.T)
	p.pair = append(p.pair, "["+v.S+", %"+label+"]")
	p.f.text[p.at] = "  " + p.S + " = phi " + string(p.T) + " " + strings.Join(p.pair, ", ")
}

// String is the module's text.
func (m *Module) String() string {
	var b strings.Builder
	names := make([]string, 0, len(m.decls))
	for n := range m.decls {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		b.WriteString(m.decls[n])
		b.WriteByte('\n')
	}
	for _, f := range m.funcs {
		fmt.Fprintf(&b, "\ndefine %s #0", f.head)
		if f.sub {
			fmt.Fprintf(&b, " !dbg !%d", 3)
		}
		b.WriteString(" {\nentry:\n")
		for _, a := range f.allocs {
			b.WriteString(a)
			b.WriteByte('\n')
		}
		for _, t := range f.text {
			b.WriteString(t)
			b.WriteByte('\n')
		}
		b.WriteString("}\n")
	}
	for _, r := range m.raw {
		b.WriteString(r)
	}
	fmt.Fprintf(&b, "\nattributes #0 = { %s }\n", strings.Join(m.attrs, " "))
	m.debug(&b)
	return b.String()
}

// debug writes the lines: one subprogram, one location a line.
func (m *Module) debug(b *strings.Builder) {
	if m.plain {
		b.WriteString("!0 = !{}\n")
		return
	}
	fmt.Fprintf(b, `
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!4, !5}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "kudzu", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: %q, directory: "/")
!2 = !DISubroutineType(types: !6)
!3 = distinct !DISubprogram(name: "kernel", file: !1, line: 1, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = !{i32 7, !"Dwarf Version", i32 5}
!6 = !{}
!7 = !{!"branch_weights", i32 1, i32 1048576}
`, m.file)
	all := make([]int32, len(m.lines))
	for line, id := range m.lines {
		all[id-firstLineID] = line
	}
	for i, line := range all {
		fmt.Fprintf(b, "!%d = !DILocation(line: %d, column: 1, scope: !3)\n", firstLineID+i, line)
	}
}
