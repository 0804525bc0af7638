package isa

// PTX ISA, "atom", "red" and "red.async".
func atomicForms() []Form {
	return []Form{
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op{.hint}.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".and", ".or", ".xor"), hint, typ(bits3264)), PTX: v(1, 1), SM: 11},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op{.hint}.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".exch"), hint, typ(bits3264)), PTX: v(1, 1), SM: 11},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op.type  d, [a], b, c", Sets: with(semAtom, scopes, space(syncSpaces...), op(".cas"), typ(bits3264)), PTX: v(1, 1), SM: 11},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op.b16  d, [a], b, c", Sets: with(semAtom, scopes, space(syncSpaces...), op(".cas")), PTX: v(6, 3), SM: 70},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op.b128  d, [a], b, c", Sets: with(semAtom, scopes, space(syncSpaces...), op(".cas")), PTX: v(8, 3), SM: 90},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op{.hint}.b128  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".exch"), hint), PTX: v(8, 3), SM: 90},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op{.hint}.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".add"), hint, typ([]string{".u32", ".s32", ".u64", ".f32", ".f64"})), PTX: v(1, 1), SM: 11},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op{.hint}.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".inc", ".dec"), hint, typ([]string{".u32"})), PTX: v(1, 1), SM: 11},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op{.hint}.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".min", ".max"), hint, typ(int3264)), PTX: v(1, 1), SM: 11},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op.noftz{.hint}.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".add"), hint, typ([]string{".f16x2"})), PTX: v(6, 2), SM: 60},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op.noftz{.hint}.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".add"), hint, typ([]string{".f16"})), PTX: v(6, 3), SM: 70},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op.noftz{.hint}.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(syncSpaces...), op(".add"), hint, typ(bf16s)), PTX: v(7, 8), SM: 90},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op{.hint}.vec.f32  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(".global"), op(".add"), hint, vec24), Types: "d=typev b=typev", PTX: v(8, 1), SM: 90},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op.noftz{.hint}.vec.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(".global"), op(".add", ".min", ".max"), hint, vec248, typ([]string{".f16", ".bf16"})), Types: "d=typev b=typev", PTX: v(8, 1), SM: 90},
		{Op: Atom, Syntax: "atom{.sem}{.scope}{.space}.op.noftz{.hint}.vec.type  d, [a], b{, policy}", Sets: with(semAtom, scopes, space(".global"), op(".add", ".min", ".max"), hint, vec24, typ([]string{".f16x2", ".bf16x2"})), Types: "d=typev b=typev", PTX: v(8, 1), SM: 90},

		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op{.hint}.type  [a], b{, policy}", Sets: with(semRed, scopes, space(syncSpaces...), op(".and", ".or", ".xor"), hint, typ(bits3264)), PTX: v(1, 2), SM: 11},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op{.hint}.type  [a], b{, policy}", Sets: with(semRed, scopes, space(syncSpaces...), op(".add"), hint, typ([]string{".u32", ".s32", ".u64", ".f32", ".f64"})), PTX: v(1, 2), SM: 11},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op{.hint}.type  [a], b{, policy}", Sets: with(semRed, scopes, space(syncSpaces...), op(".inc", ".dec"), hint, typ([]string{".u32"})), PTX: v(1, 2), SM: 11},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op{.hint}.type  [a], b{, policy}", Sets: with(semRed, scopes, space(syncSpaces...), op(".min", ".max"), hint, typ(int3264)), PTX: v(1, 2), SM: 11},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op.noftz{.hint}.type  [a], b{, policy}", Sets: with(semRed, scopes, space(syncSpaces...), op(".add"), hint, typ([]string{".f16x2"})), PTX: v(6, 2), SM: 60},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op.noftz{.hint}.type  [a], b{, policy}", Sets: with(semRed, scopes, space(syncSpaces...), op(".add"), hint, typ([]string{".f16"})), PTX: v(6, 3), SM: 70},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op.noftz{.hint}.type  [a], b{, policy}", Sets: with(semRed, scopes, space(syncSpaces...), op(".add"), hint, typ(bf16s)), PTX: v(7, 8), SM: 90},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op{.hint}.vec.f32  [a], b{, policy}", Sets: with(semRed, scopes, space(".global"), op(".add"), hint, vec24), Types: "b=typev", PTX: v(8, 1), SM: 90},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op.noftz{.hint}.vec.type  [a], b{, policy}", Sets: with(semRed, scopes, space(".global"), op(".add", ".min", ".max"), hint, vec248, typ([]string{".f16", ".bf16"})), Types: "b=typev", PTX: v(8, 1), SM: 90},
		{Op: Red, Syntax: "red{.sem}{.scope}{.space}.op.noftz{.hint}.vec.type  [a], b{, policy}", Sets: with(semRed, scopes, space(".global"), op(".add", ".min", ".max"), hint, vec24, typ([]string{".f16x2", ".bf16x2"})), Types: "b=typev", PTX: v(8, 1), SM: 90},
	}
}
