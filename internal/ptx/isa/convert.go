package isa

// PTX ISA, "cvt" and "cvt.pack". The slot of the rounding mode is "rnd" in every row; for f32 to f32 and the like both
// an integer (.rni) and a float (.rn) rounding may be legal, and the checker has the manual's table of which.
var convertForms = []Form{
	{Op: Cvt, Syntax: "cvt{.rnd}{.ftz}{.sat}.dtype.atype  d, a", Sets: with(rndCvt, dtype(cvtTypes...), atype(cvtTypes...)), Types: "d=dtype+ a=atype+", PTX: v(1, 0)},
	{Op: Cvt, Syntax: "cvt.rnd{.relu}{.satfinite}.f16.f32  d, a", Sets: rnd2, PTX: v(7, 0), SM: 80},
	{Op: Cvt, Syntax: "cvt.rnd{.relu}{.satfinite}.f16x2.f32  d, a, b", Sets: rnd2, Types: "d=dtype+ a=atype+ b=f32+", PTX: v(7, 0), SM: 80},
	{Op: Cvt, Syntax: "cvt.rs{.relu}{.satfinite}.f16x2.f32  d, a, b, rbits", Types: "d=dtype+ a=atype+ b=f32+ rbits=$u32", PTX: v(8, 7), SM: 100, Arch: "100a 103a 107a"},
	{Op: Cvt, Syntax: "cvt.rnd{.relu}{.satfinite}.bf16.f32  d, a", Sets: rnd2, PTX: v(7, 0), SM: 80},
	{Op: Cvt, Syntax: "cvt.rnd{.relu}{.satfinite}.bf16x2.f32  d, a, b", Sets: rnd2, Types: "b=f32", PTX: v(7, 0), SM: 80},
	{Op: Cvt, Syntax: "cvt.rs{.relu}{.satfinite}.bf16x2.f32  d, a, b, rbits", Types: "b=f32 rbits=$u32", PTX: v(8, 7), SM: 100, Arch: "100a 103a 107a"},
	{Op: Cvt, Syntax: "cvt.rna{.satfinite}.tf32.f32  d, a", Types: "d=b32", PTX: v(7, 0), SM: 80},
	{Op: Cvt, Syntax: "cvt.rnd{.satfinite}{.relu}.tf32.f32  d, a", Sets: rnd2, Types: "d=b32", PTX: v(7, 8), SM: 90},
	{Op: Cvt, Syntax: "cvt.rn.satfinite{.relu}.dtype.f32  d, a, b", Sets: dtype(f8x2...), Types: "d=b16 b=f32", PTX: v(7, 8), SM: 89},
	{Op: Cvt, Syntax: "cvt.rn.satfinite{.relu}.dtype.f16x2  d, a", Sets: dtype(f8x2...), Types: "d=b16 a=$atype", PTX: v(7, 8), SM: 89},
	{Op: Cvt, Syntax: "cvt.rn{.relu}.f16x2.atype  d, a", Sets: atype(f8x2...), Types: "d=b32 a=$b16", PTX: v(7, 8), SM: 89},
	{Op: Cvt, Syntax: "cvt.rs{.relu}.satfinite.dtype.f32  d, {a, b, e, f}, rbits", Sets: dtype(cat(f8x4, f6x4)...), Types: "d=b32 a=$4f32 rbits=$u32", PTX: v(8, 7), SM: 100, Arch: "100a 103a 107a"},
	{Op: Cvt, Syntax: "cvt.rn.satfinite{.relu}.e2m1x2.f32  d, a, b", Types: "d=b8 b=f32", PTX: v(8, 6), SM: 100, Arch: "100f 110f 120f"},
	{Op: Cvt, Syntax: "cvt.rn{.relu}.f16x2.e2m1x2  d, a", Types: "d=b32 a=$b8", PTX: v(8, 6), SM: 100, Arch: "100f 110f 120f"},
	{Op: Cvt, Syntax: "cvt.rs{.relu}.satfinite.e2m1x4.f32  d, {a, b, e, f}, rbits", Types: "d=b16 a=$4f32 rbits=$u32", PTX: v(8, 7), SM: 100, Arch: "100a 103a 107a"},
	{Op: Cvt, Syntax: "cvt.rn.satfinite{.relu}.dtype.f32  d, a, b", Sets: dtype(f6x2...), Types: "d=b16 b=f32", PTX: v(8, 6), SM: 100, Arch: "100f 110f 120f"},
	{Op: Cvt, Syntax: "cvt.rn{.relu}.f16x2.atype  d, a", Sets: atype(f6x2...), Types: "d=b32 a=$b16", PTX: v(8, 6), SM: 100, Arch: "100f 110f 120f"},
	{Op: Cvt, Syntax: "cvt.rnd{.satfinite}.ue8m0x2.f32  d, a, b", Sets: Sets{"rnd": {".rz", ".rp"}}, Types: "d=b16 b=f32", PTX: v(8, 6), SM: 100, Arch: "100f 110f 120f"},
	{Op: Cvt, Syntax: "cvt.rnd{.satfinite}.ue8m0x2.bf16x2  d, a", Sets: Sets{"rnd": {".rz", ".rp"}}, Types: "d=b16 a=$atype", PTX: v(8, 6), SM: 100, Arch: "100f 110f 120f"},
	{Op: Cvt, Syntax: "cvt.rn.bf16x2.ue8m0x2  d, a", Types: "d=b32 a=$b16", PTX: v(8, 6), SM: 100, Arch: "100f 110f 120f"},
	{Op: CvtPack, Syntax: "cvt.pack.sat.dtype.atype  d, a, b", Sets: with(dtype(".u16", ".s16"), atype(".s32")), Types: "d=u32+ a=atype+ b=s32+", PTX: v(6, 5), SM: 72},
	{Op: CvtPack, Syntax: "cvt.pack.sat.dtype.atype.ctype  d, a, b, c", Sets: with(dtype(".u8", ".s8"), atype(".s32"), ctype(".b32")), Types: "d=u32+ a=atype+ b=s32+ c=ctype+", PTX: v(6, 5), SM: 72},
	{Op: CvtPack, Syntax: "cvt.pack.sat.dtype.atype.ctype  d, a, b, c", Sets: with(dtype(".u4", ".s4", ".u2", ".s2"), atype(".s32"), ctype(".b32")), Types: "d=u32+ a=atype+ b=s32+ c=ctype+", PTX: v(6, 5), SM: 75},
}
