package isa

var (
	video32  = Sets{{"dtype", []string{".u32", ".s32"}}, {"atype", []string{".u32", ".s32"}}, {"btype", []string{".u32", ".s32"}}}
	videoOp2 = set("op2", ".add", ".min", ".max")
	videoCmp = cmp([]string{".eq", ".ne", ".lt", ".le", ".gt", ".ge"})
)

// PTX ISA, "Video Instructions": scalar, then SIMD. A selector after an operand picks bytes (.b0) or half words (.h1).
func videoForms() []Form {
	return []Form{
		{Op: Vadd, Syntax: "vadd.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}", Sets: video32, PTX: v(2, 0), SM: 20},
		{Op: Vadd, Syntax: "vadd.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", Sets: with(video32, videoOp2), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vadd, Syntax: "vadd.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", Sets: video32, Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vsub, Syntax: "vsub.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}", Sets: video32, PTX: v(2, 0), SM: 20},
		{Op: Vsub, Syntax: "vsub.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", Sets: with(video32, videoOp2), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vsub, Syntax: "vsub.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", Sets: video32, Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vabsdiff, Syntax: "vabsdiff.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}", Sets: video32, PTX: v(2, 0), SM: 20},
		{Op: Vabsdiff, Syntax: "vabsdiff.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", Sets: with(video32, videoOp2), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vabsdiff, Syntax: "vabsdiff.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", Sets: video32, Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vmin, Syntax: "vmin.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}", Sets: video32, PTX: v(2, 0), SM: 20},
		{Op: Vmin, Syntax: "vmin.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", Sets: with(video32, videoOp2), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vmin, Syntax: "vmin.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", Sets: video32, Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vmax, Syntax: "vmax.dtype.atype.btype{.sat}  d, a{.asel}, b{.bsel}", Sets: video32, PTX: v(2, 0), SM: 20},
		{Op: Vmax, Syntax: "vmax.dtype.atype.btype{.sat}.op2  d, a{.asel}, b{.bsel}, c", Sets: with(video32, videoOp2), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vmax, Syntax: "vmax.dtype.atype.btype{.sat}  d.dsel, a{.asel}, b{.bsel}, c", Sets: video32, Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vshl, Syntax: "vshl.dtype.atype.btype{.sat}.mode  d, a{.asel}, b{.bsel}", Sets: with(dtype(int32s...), atype(int32s...), btype(".u32"), mode(".clamp", ".wrap")), PTX: v(2, 0), SM: 20},
		{Op: Vshl, Syntax: "vshl.dtype.atype.btype{.sat}.mode.op2  d, a{.asel}, b{.bsel}, c", Sets: with(dtype(int32s...), atype(int32s...), btype(".u32"), mode(".clamp", ".wrap"), videoOp2), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vshl, Syntax: "vshl.dtype.atype.btype{.sat}.mode  d.dsel, a{.asel}, b{.bsel}, c", Sets: with(dtype(int32s...), atype(int32s...), btype(".u32"), mode(".clamp", ".wrap")), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vshr, Syntax: "vshr.dtype.atype.btype{.sat}.mode  d, a{.asel}, b{.bsel}", Sets: with(dtype(int32s...), atype(int32s...), btype(".u32"), mode(".clamp", ".wrap")), PTX: v(2, 0), SM: 20},
		{Op: Vshr, Syntax: "vshr.dtype.atype.btype{.sat}.mode.op2  d, a{.asel}, b{.bsel}, c", Sets: with(dtype(int32s...), atype(int32s...), btype(".u32"), mode(".clamp", ".wrap"), videoOp2), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vshr, Syntax: "vshr.dtype.atype.btype{.sat}.mode  d.dsel, a{.asel}, b{.bsel}, c", Sets: with(dtype(int32s...), atype(int32s...), btype(".u32"), mode(".clamp", ".wrap")), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vmad, Syntax: "vmad.dtype.atype.btype{.sat}{.scale}  d, {-}a{.asel}, {-}b{.bsel}, {-}c", Sets: with(video32, set("scale", ".shr7", ".shr15")), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vmad, Syntax: "vmad.dtype.atype.btype.po{.sat}{.scale}  d, a{.asel}, b{.bsel}, c", Sets: with(video32, set("scale", ".shr7", ".shr15")), Types: "c=dtype", PTX: v(2, 0), SM: 20},
		{Op: Vset, Syntax: "vset.atype.btype.cmp  d, a{.asel}, b{.bsel}", Sets: with(abtypes(int32s), videoCmp), Types: "d=u32", PTX: v(2, 0), SM: 20},
		{Op: Vset, Syntax: "vset.atype.btype.cmp.op2  d, a{.asel}, b{.bsel}, c", Sets: with(abtypes(int32s), videoCmp, videoOp2), Types: "d=u32 c=u32", PTX: v(2, 0), SM: 20},
		{Op: Vset, Syntax: "vset.atype.btype.cmp  d.dsel, a{.asel}, b{.bsel}, c", Sets: with(abtypes(int32s), videoCmp), Types: "d=u32 c=u32", PTX: v(2, 0), SM: 20},
		{Op: Vadd2, Syntax: "vadd2.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vadd2, Syntax: "vadd2.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vsub2, Syntax: "vsub2.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vsub2, Syntax: "vsub2.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vavrg2, Syntax: "vavrg2.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vavrg2, Syntax: "vavrg2.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vabsdiff2, Syntax: "vabsdiff2.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vabsdiff2, Syntax: "vabsdiff2.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vmin2, Syntax: "vmin2.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vmin2, Syntax: "vmin2.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vmax2, Syntax: "vmax2.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vmax2, Syntax: "vmax2.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vset2, Syntax: "vset2.atype.btype.cmp  d{.mask}, a{.asel}, b{.bsel}, c", Sets: with(abtypes(int32s), videoCmp), Types: "d=u32 a=$atype b=$btype c=$u32", PTX: v(3, 0), SM: 30},
		{Op: Vset2, Syntax: "vset2.atype.btype.cmp.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: with(abtypes(int32s), videoCmp), Types: "d=u32 a=$atype b=$btype c=$u32", PTX: v(3, 0), SM: 30},
		{Op: Vadd4, Syntax: "vadd4.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vadd4, Syntax: "vadd4.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vsub4, Syntax: "vsub4.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vsub4, Syntax: "vsub4.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vavrg4, Syntax: "vavrg4.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vavrg4, Syntax: "vavrg4.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vabsdiff4, Syntax: "vabsdiff4.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vabsdiff4, Syntax: "vabsdiff4.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vmin4, Syntax: "vmin4.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vmin4, Syntax: "vmin4.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vmax4, Syntax: "vmax4.dtype.atype.btype{.sat}  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vmax4, Syntax: "vmax4.dtype.atype.btype.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: video32, Types: "a=$atype b=$btype c=$dtype", PTX: v(3, 0), SM: 30},
		{Op: Vset4, Syntax: "vset4.atype.btype.cmp  d{.mask}, a{.asel}, b{.bsel}, c", Sets: with(abtypes(int32s), videoCmp), Types: "d=u32 a=$atype b=$btype c=$u32", PTX: v(3, 0), SM: 30},
		{Op: Vset4, Syntax: "vset4.atype.btype.cmp.add  d{.mask}, a{.asel}, b{.bsel}, c", Sets: with(abtypes(int32s), videoCmp), Types: "d=u32 a=$atype b=$btype c=$u32", PTX: v(3, 0), SM: 30},
	}
}
