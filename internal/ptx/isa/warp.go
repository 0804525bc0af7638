package isa

// PTX ISA, "Parallel Synchronization and Communication Instructions": votes, matches and reductions of a warp.
func warpForms() []Form {
	return []Form{
		{Op: Vote, Syntax: "vote.mode.pred  d, {!}a", Sets: mode(".all", ".any", ".uni"), PTX: v(1, 2)},
		{Op: Vote, Syntax: "vote.mode.b32  d, {!}a", Sets: mode(".ballot"), Types: "a=pred", PTX: v(2, 0), SM: 20},
		{Op: Vote, Syntax: "vote.sync.mode.pred  d, {!}a, membermask", Sets: mode(".all", ".any", ".uni"), PTX: v(6, 0), SM: 30},
		{Op: Vote, Syntax: "vote.sync.mode.b32  d, {!}a, membermask", Sets: mode(".ballot"), Types: "a=pred", PTX: v(6, 0), SM: 30},
		{Op: Match, Syntax: "match.mode.sync.type  d, a, membermask", Sets: with(mode(".any"), typ(bits3264)), Types: "d=b32", PTX: v(6, 0), SM: 70},
		{Op: Match, Syntax: "match.mode.sync.type  d[|p], a, membermask", Sets: with(mode(".all"), typ(bits3264)), Types: "d=b32", PTX: v(6, 0), SM: 70},
		{Op: Activemask, Syntax: "activemask.b32  d", PTX: v(6, 2), SM: 30},
		{Op: Redux, Syntax: "redux.sync.op.type  d, a, membermask", Sets: with(op(".add", ".min", ".max"), typ(int32s)), Types: "d=type! a=type!", PTX: v(7, 0), SM: 80},
		{Op: Redux, Syntax: "redux.sync.op.b32  d, a, membermask", Sets: op(".and", ".or", ".xor"), Types: "d=type! a=type!", PTX: v(7, 0), SM: 80},
		{Op: Redux, Syntax: "redux.sync.op{.abs}{.NaN}.f32  d, a, membermask", Sets: op(".min", ".max"), PTX: v(8, 6), SM: 100, Arch: "100f"},
		{Op: Elect, Syntax: "elect.sync  d|p, membermask", Types: "d=b32", PTX: v(8, 0), SM: 90},
	}
}
