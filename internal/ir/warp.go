package ir

import "fmt"

// Unsupported is a valid program that this compiler cannot translate yet. The kernel runs on the interpreter instead.
type Unsupported struct {
	What string
	Line int // of the PTX text, 0: unknown
}

// Error is "line 12: grid-wide barrier is not supported".
func (e *Unsupported) Error() string {
	s := e.What + " is not supported"
	if e.Line != 0 {
		s = fmt.Sprintf("line %d: %s", e.Line, s)
	}
	return s
}

// Regions is how warp code suspends at barriers, set by the last pass.
type Regions struct {
	PerWarp bool // warps may stand at different barriers: a program counter each. Otherwise all warps of a block meet at each barrier.
	Points  []Resume
}

// Resume is one place where a warp stops and goes on later. Its number is its index plus one; 0 is the kernel's start.
type Resume struct {
	At   *Inst    // Bar, GridSync, or the CallRt of a yield; the last of its block but for the Br to After
	Next *Block   // runs when the warp goes on; its only predecessor is At's block
	Live []*Value // what Next and what follows it need of the time before
}

// NumValues is a bound on the numbers of f's values, exact after Renumber.
func (f *Func) NumValues() int { return f.nextValue }
