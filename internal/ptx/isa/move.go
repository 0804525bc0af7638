package isa

// PTX ISA, "Data Movement and Conversion Instructions": registers, addresses and lanes.
func moveForms() []Form {
	return []Form{
		{Op: Mov, Syntax: "mov.type  d, a", Sets: typ(movTypes), Types: "d=type* a=type&*", PTX: v(1, 0)},
		{Op: Mov, Syntax: "mov.vec.type  d, a", Sets: with(vec24, typ([]string{".b16", ".b32", ".b64", ".u16", ".u32", ".u64", ".s16", ".s32", ".s64", ".f32", ".f64"})), Types: "d=typev a=typev", PTX: v(1, 0)},
		{Op: Mov, Syntax: "mov.b128  d, a", PTX: v(8, 3), SM: 70, Types: "d=b128* a=b128*"},
		{Op: Shfl, Syntax: "shfl.mode.b32  d[|p], a, b, c", Sets: mode(".up", ".down", ".bfly", ".idx"), Types: "b=b32~ c=b32~", PTX: v(3, 0), SM: 30},
		{Op: Shfl, Syntax: "shfl.sync.mode.b32  d[|p], a, b, c, membermask", Sets: mode(".up", ".down", ".bfly", ".idx"), Types: "b=b32~ c=b32~", PTX: v(6, 0), SM: 30},
		{Op: Isspacep, Syntax: "isspacep.space  p, a", Sets: space(".const", ".global", ".local", ".shared", ".shared::cta", ".shared::cluster", ".param", ".param::entry"), Types: "a=anyaddr", PTX: v(2, 0), SM: 20},
		{Op: Cvta, Syntax: "cvta.space.type  d, a", Sets: with(space(cvtaSpaces...), typ([]string{".u32", ".u64"})), Types: "d=type a=type&", PTX: v(2, 0), SM: 20},
		{Op: CvtaTo, Syntax: "cvta.to.space.type  d, a", Sets: with(space(cvtaSpaces...), typ([]string{".u32", ".u64"})), PTX: v(2, 0), SM: 20},
		{Op: Mapa, Syntax: "mapa{.space}.type  d, a, b", Sets: with(space(".shared::cluster"), typ([]string{".u32", ".u64"})), Types: "a=type& b=u32", PTX: v(7, 8), SM: 90},
		{Op: Getctarank, Syntax: "getctarank{.space}.type  d, a", Sets: with(space(".shared::cluster"), typ([]string{".u32", ".u64"})), Types: "d=u32 a=type&", PTX: v(7, 8), SM: 90},
	}
}
