package isa

// PTX ISA, "Half Precision Floating Point Instructions".
func halfForms() []Form {
	return []Form{
		{Op: Add, Syntax: "add{.rnd}{.ftz}{.sat}.type  d, a, b", Sets: with(rndRN, typ(f16s)), PTX: v(4, 2), SM: 53},
		{Op: Add, Syntax: "add{.rnd}.type  d, a, b", Sets: with(rndRN, typ(bf16s)), PTX: v(7, 8), SM: 90},
		{Op: Sub, Syntax: "sub{.rnd}{.ftz}{.sat}.type  d, a, b", Sets: with(rndRN, typ(f16s)), PTX: v(4, 2), SM: 53},
		{Op: Sub, Syntax: "sub{.rnd}.type  d, a, b", Sets: with(rndRN, typ(bf16s)), PTX: v(7, 8), SM: 90},
		{Op: Mul, Syntax: "mul{.rnd}{.ftz}{.sat}.type  d, a, b", Sets: with(rndRN, typ(f16s)), PTX: v(4, 2), SM: 53},
		{Op: Mul, Syntax: "mul{.rnd}.type  d, a, b", Sets: with(rndRN, typ(bf16s)), PTX: v(7, 8), SM: 90},
		{Op: Fma, Syntax: "fma.rnd{.ftz}{.sat}.type  d, a, b, c", Sets: with(rndRN, typ(f16s)), PTX: v(4, 2), SM: 53},
		{Op: Fma, Syntax: "fma.rnd{.ftz}.relu.type  d, a, b, c", Sets: with(rndRN, typ(f16s)), PTX: v(7, 0), SM: 80},
		{Op: Fma, Syntax: "fma.rnd{.relu}.type  d, a, b, c", Sets: with(rndRN, typ(bf16s)), PTX: v(7, 0), SM: 80},
		{Op: Fma, Syntax: "fma.rnd.oob{.relu}.type  d, a, b, c", Sets: with(rndRN, typ(cat(f16s, bf16s))), PTX: v(8, 1), SM: 90},
		{Op: Neg, Syntax: "neg{.ftz}.type  d, a", Sets: typ(f16s), PTX: v(6, 0), SM: 53},
		{Op: Neg, Syntax: "neg.type  d, a", Sets: typ(bf16s), PTX: v(7, 0), SM: 80},
		{Op: Abs, Syntax: "abs{.ftz}.type  d, a", Sets: typ(f16s), PTX: v(6, 5), SM: 53},
		{Op: Abs, Syntax: "abs.type  d, a", Sets: typ(bf16s), PTX: v(7, 0), SM: 80},
		{Op: Min, Syntax: "min{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b", Sets: typ(f16s), PTX: v(7, 0), SM: 80},
		{Op: Min, Syntax: "min{.NaN}{.xorsign}{.abs}.type  d, a, b", Sets: typ(bf16s), PTX: v(7, 0), SM: 80},
		{Op: Max, Syntax: "max{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b", Sets: typ(f16s), PTX: v(7, 0), SM: 80},
		{Op: Max, Syntax: "max{.NaN}{.xorsign}{.abs}.type  d, a, b", Sets: typ(bf16s), PTX: v(7, 0), SM: 80},
		{Op: Tanh, Syntax: "tanh.approx.type  d, a", Sets: typ(f16s), PTX: v(7, 0), SM: 75},
		{Op: Tanh, Syntax: "tanh.approx.type  d, a", Sets: typ(bf16s), PTX: v(7, 8), SM: 90},
		{Op: Ex2, Syntax: "ex2.approx.type  d, a", Sets: typ(f16s), PTX: v(7, 0), SM: 75},
		{Op: Ex2, Syntax: "ex2.approx.ftz.type  d, a", Sets: typ(bf16s), PTX: v(7, 8), SM: 90},
	}
}
