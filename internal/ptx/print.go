package ptx

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"kudzu/internal/ptx/isa"
)

// Print writes the module as PTX text that parses to the same module. Blocks are flat in the tree, so names that shadowed one
// another get a suffix; functions are declared first, then variables, then the definitions.
func Print(w io.Writer, m *Module) error {
	p := &printer{m: m}
	p.f(".version %d.%d\n.target %s\n.address_size %d\n", m.Version.Major(), m.Version.Minor(), m.Target, m.AddressSize)
	for _, f := range m.Files {
		p.f(".file %d \"%s\"\n", f.Index, f.Name)
	}
	for _, d := range m.Pragmas {
		p.directive(&d)
	}
	seen := map[string]bool{}
	early := addressed(m)
	for _, f := range m.Funcs {
		if (f.Kind == DeviceFunc || f.Body == nil || early[f.Name]) && !seen[f.Name] {
			seen[f.Name] = true
			p.head(f)
			p.f(";\n")
		}
	}
	for _, v := range m.Vars {
		p.moduleVar(v)
	}
	for _, a := range m.Aliases {
		p.f(".alias %s, %s;\n", a.Name, a.Of)
	}
	for _, f := range m.Funcs {
		if f.Body != nil {
			p.head(f)
			p.body(f)
		}
	}
	_, err := w.Write(p.b.Bytes())
	return err
}

// PrintVars writes the module's variables of global and constant memory and its objects (textures), as Print does, and those of its
// functions under the names by which the module holds them.
func PrintVars(w io.Writer, m *Module) error {
	p := &printer{m: m, names: map[any]string{}}
	for _, v := range m.Vars {
		if v.Space != SpaceShared {
			p.moduleVar(v)
		}
	}
	for _, f := range m.Funcs {
		if f.Body == nil {
			continue
		}
		for _, v := range f.Body.Vars {
			if v.Symbol != "" {
				p.names[v] = v.Symbol
				p.bodyVar(v)
			}
		}
	}
	_, err := w.Write(p.b.Bytes())
	return err
}

// PerfText is the directives of a kernel that stand behind its parameters: .maxntid and the like, "" if there are none.
func (f *Func) PerfText() string {
	p := &printer{}
	p.perf(f)
	return p.b.String()
}

// addressed are the symbols that initialisers and instructions name: kernels among them must be declared early.
func addressed(m *Module) map[string]bool {
	names := map[string]bool{}
	var walk func(ops []Operand)
	walk = func(ops []Operand) {
		for i := range ops {
			if ops[i].Kind == OpFunc {
				names[ops[i].Name] = true
			}
			walk(ops[i].Elems)
		}
	}
	inits := func(vars []*Var) {
		for _, v := range vars {
			if v.Init != nil {
				for _, r := range v.Init.Relocs {
					names[r.Symbol] = true
				}
			}
		}
	}
	inits(m.Vars)
	for _, f := range m.Funcs {
		if f.Body != nil {
			inits(f.Body.Vars)
			for i := range f.Body.Insts {
				walk(f.Body.Insts[i].Args)
			}
		}
	}
	return names
}

// String is the module as Print writes it.
func (m *Module) String() string {
	var b bytes.Buffer
	if err := Print(&b, m); err != nil {
		panic("BUG: a bytes.Buffer refused text")
	}
	return b.String()
}

type printer struct {
	m     *Module
	b     bytes.Buffer
	regs  []string // names of the body's registers
	names map[any]string
}

func (p *printer) f(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

func (p *printer) s(s string) { p.b.WriteString(s) }

var linkageWords = [...]string{Internal: "", Visible: ".visible ", Extern: ".extern ", Weak: ".weak ", Common: ".common "}

var spaceWords = [...]string{
	SpaceGeneric: "", SpaceReg: ".reg", SpaceSReg: ".sreg", SpaceConst: ".const", SpaceGlobal: ".global", SpaceLocal: ".local",
	SpaceParam: ".param", SpaceShared: ".shared", SpaceTex: ".tex",
}

func (p *printer) attrs(attrs []string) {
	for i, a := range attrs {
		if i == 0 {
			p.s(".attribute(")
		} else {
			p.s(", ")
		}
		p.s("." + a)
	}
	if len(attrs) > 0 {
		p.s(") ")
	}
}

// decl writes a variable without linkage, initialiser and semicolon.
func (p *printer) decl(v *Var, name string) {
	p.s(spaceWords[v.Space])
	if v.Bank >= 0 {
		p.f("[%d]", v.Bank)
	}
	p.s(" ")
	if v.Role != ModuleVar {
		p.attrs(v.Attrs)
	}
	if v.Space != SpaceReg {
		p.f(".align %d ", v.Align)
	}
	if v.Vec > 1 {
		p.f(".v%d ", v.Vec)
	}
	p.f(".%v ", v.Type)
	if v.PtrAlign != 0 {
		p.s(".ptr ")
		if v.PtrSpace != SpaceGeneric {
			p.s(spaceWords[v.PtrSpace] + " ")
		}
		p.f(".align %d ", v.PtrAlign)
	}
	p.s(name)
	for _, n := range v.Dims {
		if n < 0 {
			p.s("[]")
		} else {
			p.f("[%d]", n)
		}
	}
}

func (p *printer) moduleVar(v *Var) {
	p.s(linkageWords[v.Linkage])
	p.attrs(v.Attrs)
	p.declInit(v, v.Name)
}

// bodyVar writes a variable of a body, whose name must be known.
func (p *printer) bodyVar(v *Var) { p.declInit(v, p.names[v]) }

func (p *printer) declInit(v *Var, name string) {
	p.decl(v, name)
	if v.Init != nil {
		p.s(" = ")
		p.init(v)
	}
	p.s(";\n")
}

// init writes an initialiser, in the nested braces of the variable's shape.
func (p *printer) init(v *Var) {
	shape := append([]int{}, v.Dims...)
	if v.Vec > 1 {
		shape = append(shape, v.Vec)
	}
	w := &initWriter{p: p, v: v, elem: max(v.Type.Bytes(), 1), relocs: map[uint64]Reloc{}}
	for _, r := range v.Init.Relocs {
		w.relocs[r.Offset] = r
	}
	w.list(shape, 0)
}

type initWriter struct {
	p      *printer
	v      *Var
	elem   int
	relocs map[uint64]Reloc
}

func (w *initWriter) list(shape []int, at uint64) {
	if len(shape) == 0 {
		w.element(at)
		return
	}
	stride := uint64(w.elem)
	for _, n := range shape[1:] {
		stride *= uint64(n)
	}
	w.p.s("{")
	for i := range shape[0] {
		off := at + uint64(i)*stride
		if off >= uint64(len(w.v.Init.Bytes)) {
			break
		}
		if i > 0 {
			w.p.s(", ")
		}
		w.list(shape[1:], off)
	}
	w.p.s("}")
}

func (w *initWriter) element(at uint64) {
	p := w.p
	if r, ok := w.relocs[at]; ok {
		sym := r.Symbol
		if r.Var != nil {
			sym = p.names[r.Var]
		}
		if r.Generic {
			sym = "generic(" + sym + ")"
		}
		if r.Addend != 0 {
			sym += fmt.Sprintf("%+d", r.Addend)
		}
		if r.Mask != 0 {
			sym = fmt.Sprintf("%#x(%s)", r.Mask, sym)
		}
		p.s(sym)
		return
	}
	var bits uint64
	buf := w.v.Init.Bytes[at:]
	for i := range min(w.elem, 8, len(buf)) {
		bits |= uint64(buf[i]) << (8 * i)
	}
	switch w.v.Type {
	case isa.F32:
		p.f("0f%08X", uint32(bits))
	case isa.F64:
		p.f("0d%016X", bits)
	default:
		p.s(strconv.FormatUint(bits, 10))
	}
}

// head writes a function up to its body.
func (p *printer) head(f *Func) {
	p.s(linkageWords[f.Linkage])
	p.attrs(f.Attrs)
	if f.Kind == Entry {
		p.s(".entry ")
	} else {
		p.s(".func ")
		if len(f.Results) > 0 {
			p.params(f.Results)
		}
	}
	p.s(f.Name)
	p.params(f.Params)
	p.perf(f)
}

func (p *printer) perf(f *Func) {
	if f.NoReturn {
		p.s(" .noreturn")
	}
	for _, d := range f.Perf {
		if d.Name == "pragma" {
			p.s(" ")
			p.directive(&d)
			continue
		}
		p.s(" ." + d.Name)
		for i, n := range d.Nums {
			if i > 0 {
				p.s(",")
			}
			p.f(" %d", n)
		}
	}
}

func (p *printer) params(vars []*Var) {
	p.s("(")
	for i, v := range vars {
		if i > 0 {
			p.s(", ")
		}
		p.decl(v, v.Name)
	}
	p.s(") ")
}

func (p *printer) directive(d *Directive) {
	p.s("." + d.Name + " ")
	for i, s := range d.Strs {
		if i > 0 {
			p.s(", ")
		}
		p.f("\"%s\"", s)
	}
	p.s(";\n")
}

// nameAll gives every register, variable, label, table and prototype of a body a name of its own.
func (p *printer) nameAll(f *Func) {
	b := f.Body
	taken := map[string]bool{}
	last := map[string]int{} // the last suffix given to a name
	unique := func(name string) string {
		n := name
		for taken[n] {
			last[name]++
			n = name + "$" + strconv.Itoa(last[name])
		}
		taken[n] = true
		return n
	}
	p.names = map[any]string{}
	p.regs = make([]string, len(b.Regs))
	regParams := 0
	for _, list := range [][]*Var{f.Results, f.Params} {
		for _, v := range list {
			taken[v.Name] = true
			p.names[v] = v.Name
			if v.Space == SpaceReg && v.Name != "_" {
				p.regs[regParams] = v.Name
				regParams++
			}
		}
	}
	for i := regParams; i < len(b.Regs); i++ {
		r := &b.Regs[i]
		name := r.Name
		if r.Num >= 0 {
			name += strconv.Itoa(int(r.Num))
		}
		p.regs[i] = unique(name)
	}
	for _, v := range b.Vars {
		p.names[v] = unique(v.Name)
	}
	for i := range b.Labels {
		p.names[&b.Labels[i]] = unique(b.Labels[i].Name)
	}
	for i := range b.Tables {
		p.names[&b.Tables[i]] = unique(b.Tables[i].Name)
	}
	for _, f := range b.Protos {
		p.names[f] = unique(f.Name)
	}
}

func (p *printer) body(f *Func) {
	b := f.Body
	p.nameAll(f)
	p.s("{\n")
	p.decls(f)
	label, loc, pragma := 0, 0, 0
	for i := 0; i <= len(b.Insts); i++ {
		for ; pragma < len(b.Pragmas) && b.Pragmas[pragma].Nums[0] <= int64(i); pragma++ {
			p.directive(&b.Pragmas[pragma])
		}
		for ; label < len(b.Labels) && int(b.Labels[label].Inst) <= i; label++ {
			p.s(p.names[&b.Labels[label]] + ":\n")
		}
		for ; loc < len(b.Locs) && int(b.Locs[loc].Inst) <= i; loc++ {
			l := &b.Locs[loc]
			p.f(".loc %d %d %d\n", l.File, l.Line, l.Col)
		}
		if i < len(b.Insts) {
			p.inst(f, &b.Insts[i])
		}
	}
	p.s("}\n")
}

func (p *printer) decls(f *Func) {
	b := f.Body
	first := 0
	for _, list := range [][]*Var{f.Results, f.Params} {
		for _, v := range list {
			if v.Space == SpaceReg && v.Name != "_" {
				first++
			}
		}
	}
	for i := first; i < len(b.Regs); i++ {
		r := &b.Regs[i]
		p.s(".reg ")
		if r.Vec > 1 {
			p.f(".v%d ", r.Vec)
		}
		p.f(".%v %s;\n", r.Type, p.regs[i])
	}
	for _, v := range b.Vars {
		p.bodyVar(v)
	}
	for _, proto := range b.Protos {
		p.s(p.names[proto] + ": .callprototype ")
		if len(proto.Results) > 0 {
			p.params(proto.Results)
		}
		p.s("_ ")
		p.params(proto.Params)
		p.perf(proto)
		p.s(";\n")
	}
	for i := range b.Tables {
		t := &b.Tables[i]
		p.s(p.names[t])
		if t.Labels != nil {
			p.s(": .branchtargets ")
		} else {
			p.s(": .calltargets ")
		}
		for j, l := range t.Labels {
			if j > 0 {
				p.s(", ")
			}
			p.s(p.names[&b.Labels[l]])
		}
		for j, n := range t.Funcs {
			if j > 0 {
				p.s(", ")
			}
			p.s(n)
		}
		p.s(";\n")
	}
}

func (p *printer) inst(f *Func, in *Inst) {
	if in.Pred >= 0 {
		p.s("@")
		if in.Not {
			p.s("!")
		}
		p.s(p.regs[in.Pred] + " ")
	}
	p.s(in.Form.Prefix())
	for _, m := range in.Mods {
		if !in.Unsaid(m) {
			p.s(m.String())
		}
	}
	sep := " "
	for i := range in.Args {
		if in.Args[i].Kind == None {
			continue
		}
		p.s(sep)
		p.operand(f.Body, &in.Args[i])
		sep = ", "
	}
	p.s(";\n")
}
