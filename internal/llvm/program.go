package llvm

// Unit is one module of a program: a text, or bitcode.
type Unit struct {
	Name string
	IR   string
	Ours bool // made here, for a linker
	Lazy bool // a library: only what the others need of it is linked, and nobody sees its names
}

// Program is several modules that become one assembler text.
type Program struct {
	Units []Unit
	Options
	Verify  bool // only read, check and link
	Bitcode bool // the result is the linked module, for another program

	// Check refuses a module by what it says of itself.
	Check func(u *Unit, h *Header) error

	// Supply gives a library with functions that are called and that no module has, "" if it knows none of them.
	Supply func(names []string) string

	// Reflect are answers of __nvvm_reflect, by what is asked. LLVM itself knows __CUDA_FTZ and __CUDA_ARCH, and
	// answers 0 to everything else.
	Reflect map[string]int

	// Common tells, by their names, functions that modules made here bring along with the headers that they include: one of them
	// is enough, and none if nobody calls it.
	Common func(name string) bool

	Rename   map[string]string // functions that modules declare, and what they are called when they are linked
	FlushF32 bool              // subnormal single precision numbers are zeros
	Contract bool              // products may be fused with sums
	Replace  map[string]string // "fdiv" and "sqrt" of single precision become this inline assembly of their operands
}

// Header is what a module says of itself.
type Header struct {
	Triple  string
	Version []uint64 // the operands of its version metadata, nil without one
}

// UnitError is an Error of one module.
type UnitError struct {
	Unit string
	Err  *Error
}

func (e *UnitError) Error() string { return e.Unit + ": " + e.Err.Error() }

// Bitcode is the bitcode of a module's text.
func (l *Lib) Bitcode(text string) ([]byte, error) { return l.bitcode(text) }

// Link gives the assembler text of a program, or its bitcode.
func (l *Lib) Link(p *Program) ([]byte, error) { return l.link(p) }
