// Package pass turns the IR of a kernel into the form that warp code is written from; for GPUs, whose threads are lanes already,
// only the passes that know nothing of warps run (Config.Threads).
//
// Run applies an ordered table of passes. Each is one file whose first sentence says what is true after it; what must
// come before what, and why, is a second table that a test checks. Afterwards every branch is taken by a warp as a
// whole, every operation with effects knows the lanes that act, and every point where a warp waits is a resume point.
package pass

import (
	"fmt"
	"io"
	"slices"

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
	Jam      int // so many jammed warps, or half as many and so on, whether it pays or not; 0: where it pays
	Stack    int // bytes a thread for calls whose depth is not known; 0: 64 KB
	// Force has passes of Forcible applied wherever they may be (true) or never (false), whether it pays or not: tests compare the code.
	Force map[string]bool
}

// Pass is one row of the table.
type Pass struct {
	Name  string
	Run   func(*state) error
	Marks marks
	Keeps aspects // what of the kernel's function it never changes (cache.go)
	Why   string
}

type marks uint8

const (
	perThread marks = 1 << iota // code for one thread a lane (Config.Threads) goes through it too
	optional                    // it gives the same program another form where that seems to pay: Config.Force decides instead
)

// Forcible lists the optional passes, in order.
func Forcible() []string {
	var names []string
	for _, p := range passes {
		if p.Marks&optional != 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// Plain is the setting of Config.Force that leaves out all that only makes code faster. Width also says what is too large for vectors.
func Plain() map[string]bool {
	none := map[string]bool{}
	for _, name := range Forcible() {
		if name != "width" {
			none[name] = false
		}
	}
	return none
}

// state is what the passes hand on to each other.
type state struct {
	m   *ir.Module
	f   *ir.Func // the kernel
	cfg Config

	got  results // analyses of f
	same bool    // the pass that runs has changed nothing
}

var passes = [...]Pass{
	{"inline", inline, perThread, nothing, "small functions cost nothing"},
	{"calls", calls, 0, nothing, "functions that cannot be inlined are part of the graph, each once"},
	{"simplify", simplify, perThread, nothing, "fewer operations to analyse"},
	{"specialise", specialise, 0, graph, "the block's shape becomes numbers"},
	{"simplify 2", simplify, 0, nothing, "the numbers fold branches and addresses"},
	{"implied_phis", impliedPhis, 0, graph, "a constant that a branch implies hides that lanes are neighbours"},
	{"narrow", narrow, optional, graph, "numbers of 16 bits need half as many vectors"},
	{"cse", cse, perThread, graph, "equal addresses become one value, so that one check serves both"},
	{"dce", dce, perThread, graph, "dead values would be latched and saved like live ones"},
	{"locks", locks, perThread, nothing, "lanes in step cannot hold a lock behind the loop that others wait for it in"},
	{"fix_irreducible", fixIrreducible, perThread, nothing, "loops have one header"},
	{"unify_loop_exits", unifyLoopExits, perThread, nothing, "LLVM keeps account of lanes that leave one loop at a time"},
	{"width", width, optional, nothing, "lanes that wait on each other cannot share a vector"},
	{"load_once", loadOnce, optional, graph, "a block that ends by what it loads ends as a whole"},
	{"reroll", reroll, optional, nothing, "threads that run alone guess the end of one loop, not of two"},
	{"unswitch", unswitch, optional, nothing, "an index that only overflow would change is an induction variable"},
	{"uniform_versioning", uniformVersioning, optional, nothing, "loops that lanes leave together have no masks"},
	{"loop_simplify", loopSimplify, 0, nothing, "loops have one latch, one way in, and values leave them through phis"},
	{"linearize", linearize, 0, nothing, "branches are uniform, effects have masks"},
	{"simplify 3", simplify, 0, nothing, "masks fold"},
	{"cse 2", cse, 0, graph, "masks are computed more than once"},
	{"dce 2", dce, 0, graph, "latches of values nobody reads"},
	{"warp_pacing", warpPacing, 0, graph, "no warp runs far ahead of others that still read what it writes"},
	{"warp_jam", warpJam, optional, nothing, "warps that share what they read are jammed"},
	{"full_mask_versioning", fullMaskVersioning, optional, nothing, "warps without a lane on the border need no masks"},
	{"full_block_versioning", fullBlockVersioning, optional, nothing, "what lies inside, warp or block, is asked once"},
	{"full_mask_loops", fullMaskLoops, optional, nothing, "warps of which no lane has left need no masks"},
	{"row_versioning", rowVersioning, optional, nothing, "lanes in one row of a tensor have one base, and follow each other"},
	{"lane_strides", laneStrides, optional, nothing, "lanes a uniform distance apart are one number to compare"},
	{"block_stride_barriers", blockStrideBarriers, optional, nothing, "loops that jump through memory get barriers of their own"},
	{"prefetch", prefetch, optional, graph, "the next block's row is on its way while this one's is read"},
	{"cross_block_memo", crossBlockMemo, optional, graph, "what blocks share is made once"},
	{"pack_stores", packStores, optional, nothing, "what a warp keeps is stored in order"},
	{"window", window, 0, graph, "wherever an offset in shared memory leads, the engine has reserved it"},
	{"regions", regions, 0, nothing, "barriers are resume points with their live values"},
	{"shape", shape, 0, all, "facts for the emitter; changes nothing"},
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
	{"calls", "fix_irreducible", "recursion makes loops with several entries"},
	{"inline", "specialise", "callees read tid too"},
	{"calls", "regions", "a barrier in a callee would suspend half a warp's state"},
	{"specialise", "loop_simplify", "constants remove whole loops"},
	{"specialise", "simplify 2", "folding is what specialising is for"},
	{"simplify 2", "implied_phis", "comparisons have their constant on the right"},
	{"implied_phis", "cse", "what was a phi is computed already"},
	{"simplify 2", "narrow", "constants are on the right side, copies are gone"},
	{"narrow", "dce", "extensions that nobody reads are left behind"},
	{"width", "linearize", "linearized locks deadlock"},
	{"width", "uniform_versioning", "lanes that run alone are always together"},
	{"width", "reroll", "only threads that run alone gain"},
	{"width", "load_once", "threads that run alone are not blocks"},
	{"load_once", "linearize", "masks hide where all threads of a block come by"},
	{"load_once", "warp_jam", "jammed warps go together"},
	{"load_once", "block_stride_barriers", "warps take turns where they are known to meet"},
	{"reroll", "loop_simplify", "phis that close loops would be in the way"},
	{"width", "unswitch", "threads that run alone have no neighbours"},
	{"unswitch", "uniform_versioning", "an induction variable is what makes a version worth it"},
	{"unswitch", "loop_simplify", "the copy needs a preheader and a latch of its own"},
	{"uniform_versioning", "loop_simplify", "the copy needs preheaders and latches of its own"},
	{"cse", "locks", "a lock and its release are known by their address"},
	{"fix_irreducible", "loop_simplify", "a loop with two headers has no latch"},
	{"fix_irreducible", "unify_loop_exits", "a loop with two headers has no exits"},
	{"fix_irreducible", "width", "a loop with two headers is not seen to wait"},
	{"loop_simplify", "linearize", "values must leave loops through phis to be latched"},
	{"linearize", "regions", "masks live across barriers"},
	{"dce 2", "regions", "dead values would be saved in frames"},
	{"linearize", "block_stride_barriers", "a warp without lanes in the loop must be able to stay in it"},
	{"dce 2", "block_stride_barriers", "the frames of dead values would cost more than the turns save"},
	{"block_stride_barriers", "regions", "turns are barriers"},
	{"linearize", "warp_pacing", "every warp comes to every place that is not behind a branch of the warp"},
	{"warp_pacing", "warp_jam", "jammed warps take the part between two barriers one after the other"},
	{"linearize", "warp_jam", "a warp without lanes must be able to go where others go"},
	{"dce 2", "warp_jam", "dead values would be counted as work"},
	{"warp_jam", "full_block_versioning", "a test is for all jammed warps together"},
	{"full_mask_versioning", "full_block_versioning", "where a branch asks already, its code is smaller"},
	{"full_block_versioning", "row_versioning", "one version in another would multiply"},
	{"full_block_versioning", "full_mask_loops", "loops of blocks that are inside have fewer masks to ask for"},
	{"warp_jam", "full_mask_loops", "it is the masks of several warps that cost"},
	{"full_mask_loops", "shape", "without masks what is chosen is affine again"},
	{"warp_jam", "full_mask_versioning", "jammed warps have branches that any lane decides"},
	{"full_mask_versioning", "shape", "addresses that were chosen lane by lane are contiguous again"},
	{"warp_jam", "row_versioning", "jammed warps have no first lane"},
	{"full_mask_versioning", "row_versioning", "one version in another would multiply"},
	{"row_versioning", "lane_strides", "what is divided is no multiple of the lane"},
	{"warp_jam", "lane_strides", "jammed warps have no first lane"},
	{"lane_strides", "shape", "bases become scalars"},
	{"row_versioning", "block_stride_barriers", "code that is copied has no barriers"},
	{"warp_jam", "block_stride_barriers", "a block that goes as one needs no turns"},
	{"block_stride_barriers", "prefetch", "turns move loads between blocks of code"},
	{"prefetch", "cross_block_memo", "loads that are kept need no prefetch, and are told by their addresses"},
	{"warp_jam", "cross_block_memo", "jammed warps share no memo"},
	{"cross_block_memo", "regions", "what was kept is live across barriers like anything else"},
	{"warp_jam", "window", "addresses are told by their sums"},
	{"cross_block_memo", "window", "likewise"},
	{"linearize", "pack_stores", "masks say which lanes keep what"},
	{"warp_jam", "pack_stores", "jammed warps store for several"},
	{"cross_block_memo", "pack_stores", "passes before know nothing of such stores"},
	{"pack_stores", "window", "places are told by their sums, and one address is left to cut"},
	{"window", "regions", "offsets are cut where they are used, behind the barrier"},
	{"prefetch", "regions", "what prefetches need must be kept across barriers"},
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
		if !slices.Contains(Forcible(), name) {
			return fmt.Errorf("pass %s cannot be forced", name)
		}
	}
	st := &state{m: m, f: m.Funcs[0], cfg: cfg}
	for i := range passes {
		p := &passes[i]
		if cfg.Threads && p.Marks&perThread == 0 {
			continue
		}
		if err := st.run(p); err != nil {
			return err
		}
		if cfg.DumpTo != nil && (cfg.Dump == p.Name || cfg.Dump == "all") {
			fmt.Fprintf(cfg.DumpTo, "; after %s\n%s", p.Name, m)
			st.changed(graph) // the text has numbers of its own
		}
	}
	return nil
}

// run applies one pass.
func (st *state) run(p *Pass) error {
	st.same = false
	if err := p.Run(st); err != nil {
		return err
	}
	if !st.same {
		st.changed(all &^ p.Keeps)
	}
	if !st.cfg.Verify {
		return nil
	}
	err := ir.Verify(st.m)
	if err == nil {
		err = st.check()
	}
	if err != nil {
		return fmt.Errorf("BUG: after pass %s: %w", p.Name, err)
	}
	return nil
}
