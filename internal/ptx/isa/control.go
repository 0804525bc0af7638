package isa

// PTX ISA, "Control Flow Instructions", "Stack Manipulation Instructions" and "Miscellaneous Instructions".
// The operands of call are parsed by hand: (results), callee, (arguments), targets or prototype.
func controlForms() []Form {
	return []Form{
		{Op: Bra, Syntax: "bra{.uni}  label", Types: "label=label", PTX: v(1, 0)},
		{Op: Brx, Syntax: "brx.idx{.uni}  a, table", Types: "a=u32 table=table", PTX: v(6, 0), SM: 30},
		{Op: Call, Syntax: "call{.uni}  results, callee, args, targets", Types: "results=call callee=call args=call targets=call", PTX: v(1, 0)},
		{Op: Ret, Syntax: "ret{.uni}", PTX: v(1, 0)},
		{Op: Exit, Syntax: "exit", PTX: v(1, 0)},

		{Op: Stacksave, Syntax: "stacksave.type  d", Sets: typ([]string{".u32", ".u64"}), PTX: v(7, 3), SM: 52},
		{Op: Stackrestore, Syntax: "stackrestore.type  a", Sets: typ([]string{".u32", ".u64"}), Types: "a=$type", PTX: v(7, 3), SM: 52},
		{Op: Alloca, Syntax: "alloca.type  d, a{, align}", Sets: typ([]string{".u32", ".u64"}), Types: "align=#u32", PTX: v(7, 3), SM: 52},

		{Op: Brkpt, Syntax: "brkpt", PTX: v(1, 0), SM: 11},
		{Op: Nanosleep, Syntax: "nanosleep.u32  a", PTX: v(6, 3), SM: 70},
		{Op: Pmevent, Syntax: "pmevent  a", Types: "a=#u32:0..15", PTX: v(1, 4)},
		{Op: Pmevent, Syntax: "pmevent.mask  a", Types: "a=#u32", PTX: v(3, 0), SM: 20},
		{Op: Trap, Syntax: "trap", PTX: v(1, 0)},
		{Op: Setmaxnreg, Syntax: "setmaxnreg.action.sync.aligned.u32  a", Sets: set("action", ".inc", ".dec"), Types: "a=#u32:24..256", PTX: v(8, 0), SM: 90, Arch: "90a 100f 110f 120f"},
	}
}
