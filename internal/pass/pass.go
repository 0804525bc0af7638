// Package pass turns the IR of a kernel into the form that warp code is written from; for GPUs, whose threads are lanes already,
// only the passes that know nothing of warps run (Config.Threads).
//
// Run applies an ordered table of passes. Each is one file whose first sentence says what is true after it; what must
// come before what, and why, is a second table that a test checks. Afterwards every branch is taken by a warp as a
// whole, every operation with effects knows the lanes that act, and every place where a warp waits is a resume point.
package pass

import (
	"fmt"
	"io"

	"kudzu/internal/ir"
)

// Config says what the code is for and what to show on the way.
type Config struct {
	Block  [3]uint32 // the launch's block shape; zero: unknown
	Dump   string    // name of a pass: print the module after it; "all": after each
	DumpTo io.Writer
	Verify bool // check the module after each pass
	// Threads: code for one thread a lane. Branches, barriers and calls stay as they are.
	Threads bool
	// Lockstep: with Threads, lanes of a warp cannot run by themselves (locks).
	Lockstep bool
	Jam      int // so many warps side by side, or half as many and so on, whether it pays or not; 0: where it pays
	Stack    int // bytes a thread for calls whose depth is not known; 0: 64 KB
	// Force has passes of Forcible applied wherever they may be (true) or never (false), whether it pays or not: tests compare the code.
	Force map[string]bool
}

// Pass is one row of the table.
type Pass struct {
	Name string
	Run  func(*state) error
	Why  string
}

// forcible are the passes that give the same program another form where they think that it pays.
var forcible = map[string]bool{"narrow": true, "width": true, "reroll": true, "together": true, "jam": true, "inside": true, "turns": true, "nextrows": true, "keep": true}

// Forcible lists them, in order.
func Forcible() []string {
	var names []string
	for _, p := range passes {
		if forcible[p.Name] {
			names = append(names, p.Name)
		}
	}
	return names
}

// threaded are the passes that code for one thread a lane goes through too.
var threaded = map[string]bool{"inline": true, "simplify": true, "cse": true, "dce": true, "locks": true, "reduce": true, "ways": true}

// state is what the passes hand on to each other.
type state struct {
	m   *ir.Module
	f   *ir.Func // the kernel
	cfg Config
}

var passes = [...]Pass{
	{"inline", inline, "small functions cost nothing"},
	{"calls", calls, "functions that cannot be inlined are part of the graph, each once"},
	{"simplify", simplify, "fewer operations to analyse"},
	{"specialise", specialise, "the block's shape becomes numbers"},
	{"simplify 2", simplify, "the numbers fold branches and addresses"},
	{"narrow", narrow, "numbers of 16 bits need half as many vectors"},
	{"cse", cse, "equal addresses become one value, so that one check serves both"},
	{"dce", dce, "dead values would be latched and saved like live ones"},
	{"locks", locks, "lanes in step cannot hold a lock behind the loop that others wait for it in"},
	{"reduce", reduce, "loops have one header"},
	{"ways", ways, "LLVM keeps account of lanes that leave one loop at a time"},
	{"width", width, "lanes that wait on each other cannot share a vector"},
	{"reroll", reroll, "threads that run alone guess the end of one loop, not of two"},
	{"together", together, "loops that lanes leave together have no masks"},
	{"structure", structure, "loops have one latch, one way in, and values leave them through phis"},
	{"linearize", linearize, "branches are uniform, effects have masks"},
	{"simplify 3", simplify, "masks fold"},
	{"cse 2", cse, "masks are computed more than once"},
	{"dce 2", dce, "latches of values nobody reads"},
	{"pace", pace, "no warp runs far ahead of others that still read what it writes"},
	{"jam", jam, "warps that share what they read go side by side"},
	{"inside", inside, "warps without a lane on the border need no masks"},
	{"turns", turns, "loops that jump through memory get barriers of their own"},
	{"nextrows", nextRows, "the next block's row is on its way while this one's is read"},
	{"keep", keep, "what blocks share is made once"},
	{"regions", regions, "barriers are resume points with their live values"},
	{"shape", shape, "facts for the emitter; changes nothing"},
}

// always reports a pass that is applied wherever it may be, never one that is not applied.
func (st *state) always(name string) bool { return st.cfg.Force[name] }

func (st *state) never(name string) bool {
	on, ok := st.cfg.Force[name]
	return ok && !on
}

// order is what the table must keep.
var order = [...]struct{ before, after, why string }{
	{"inline", "calls", "what is inlined needs no frame"},
	{"calls", "reduce", "recursion makes loops with several entries"},
	{"inline", "specialise", "callees read tid too"},
	{"calls", "regions", "a barrier in a callee would suspend half a warp's state"},
	{"specialise", "structure", "constants remove whole loops"},
	{"specialise", "simplify 2", "folding is what specialising is for"},
	{"simplify 2", "narrow", "constants are on the right side, copies are gone"},
	{"narrow", "dce", "extensions that nobody reads are left behind"},
	{"width", "linearize", "linearized locks deadlock"},
	{"width", "together", "lanes that run alone are always together"},
	{"width", "reroll", "only threads that run alone gain"},
	{"reroll", "structure", "phis that close loops would be in the way"},
	{"together", "structure", "the copy needs preheaders and latches of its own"},
	{"cse", "locks", "a lock and its release are known by their address"},
	{"reduce", "structure", "a loop with two headers has no latch"},
	{"reduce", "ways", "a loop with two headers has no exits"},
	{"reduce", "width", "a loop with two headers is not seen to wait"},
	{"structure", "linearize", "values must leave loops through phis to be latched"},
	{"linearize", "regions", "masks live across barriers"},
	{"dce 2", "regions", "dead values would be saved in frames"},
	{"linearize", "turns", "a warp without lanes in the loop must be able to stay in it"},
	{"dce 2", "turns", "the frames of dead values would cost more than the turns save"},
	{"turns", "regions", "turns are barriers"},
	{"linearize", "pace", "every warp comes to every place that is not behind a branch of the warp"},
	{"pace", "jam", "warps side by side take the part between two barriers one after the other"},
	{"linearize", "jam", "a warp without lanes must be able to go where others go"},
	{"dce 2", "jam", "dead values would be counted as work"},
	{"jam", "inside", "warps side by side have branches that any lane decides"},
	{"inside", "shape", "addresses that were chosen lane by lane are side by side again"},
	{"jam", "turns", "a block that goes as one needs no turns"},
	{"turns", "nextrows", "turns move loads between blocks of code"},
	{"nextrows", "keep", "loads that are kept need no prefetch, and are told by their addresses"},
	{"jam", "keep", "warps side by side share no place"},
	{"keep", "regions", "what was kept is live across barriers like anything else"},
	{"nextrows", "regions", "what prefetches need must be kept across barriers"},
	{"regions", "shape", "splitting blocks moves phis"},
}

// Names lists the passes in order, for --dump.
func Names() []string {
	var names []string
	for _, p := range passes {
		names = append(names, p.Name)
	}
	return names
}

// Run applies all passes to m. An *ir.Unsupported says that the kernel is valid but not for this compiler.
func Run(m *ir.Module, cfg Config) (err error) {
	if len(m.Funcs) == 0 || len(m.Funcs[0].Blocks) == 0 {
		return fmt.Errorf("kernel %s: no code", m.Kernel)
	}
	for name := range cfg.Force {
		if !forcible[name] {
			return fmt.Errorf("pass %s cannot be forced", name)
		}
	}
	st := &state{m: m, f: m.Funcs[0], cfg: cfg}
	for i := range passes {
		p := &passes[i]
		if cfg.Threads && !threaded[p.Name] {
			continue
		}
		if err := p.Run(st); err != nil {
			return err
		}
		if cfg.DumpTo != nil && (cfg.Dump == p.Name || cfg.Dump == "all") {
			fmt.Fprintf(cfg.DumpTo, "; after %s\n%s", p.Name, m)
		}
		if cfg.Verify {
			if err := ir.Verify(m); err != nil {
				return fmt.Errorf("BUG: after pass %s: %w", p.Name, err)
			}
		}
	}
	return nil
}
